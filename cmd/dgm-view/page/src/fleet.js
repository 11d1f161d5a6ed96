// What a fleet has stored (docs/fleet.md): training jobs and models. The last value of every key of a store comes by one request;
// nothing is written. Where there is no fleet, or the user may not read it, nothing is shown.
import { text as clean, number } from "./wire.js";
import { duration, fixed, percent, rows } from "./format.js";

const mostEntries = 200;

/** The values of a store, as JSON; null where it cannot be read. */
async function values(nc, bucket) {
  const found = [];
  const request = JSON.stringify({ multi_last: [`$KV.${bucket}.>`], batch: mostEntries });
  try {
    for await (const m of await nc.requestMany(`$JS.API.DIRECT.GET.KV_${bucket}`, request, { strategy: "sentinel", maxWait: 4000 })) {
      if (m.headers?.code) {
        if (m.headers.code === 404) return [];
        if (m.headers.code !== 204) return null;
        break;
      }
      if (!m.data.length) continue; // deleted
      try {
        found.push(m.json());
      } catch {
        // not an entry of a fleet
      }
    }
  } catch {
    return null;
  }
  return found;
}

const since = (iso) => duration(Math.max(0, (Date.now() - Date.parse(iso)) / 1000));
const newest = (key) => (a, b) => Date.parse(b[key]) - Date.parse(a[key]);
const classes = { done: "good", running: "good", failed: "bad", cancelled: "warn" };

/** Reads the stores and fills the tables; reports whether there is a fleet. */
export async function showFleet(nc, jobs, models) {
  const [j, m] = await Promise.all([values(nc, "fleet-jobs"), values(nc, "fleet-model-index")]);
  if (!j && !m) return false;
  const all = (j ?? []).filter((e) => e?.submitted).sort(newest("submitted")).slice(0, 50);
  rows(jobs, all.map((e) => [
    clean(e.vehicle), clean(e.state), e.state === "running" ? percent(number(e.progress)) : "", clean(e.worker), fixed(number(e.tries), 0),
    `${since(e.submitted)} ago`, clean(e.reason || e.phase || (Array.isArray(e.lines) ? e.lines.at(-1) : "")),
  ]), (i, c) => (c === 1 ? classes[all[i].state] ?? "" : c === 6 ? "long" : ""));
  const made = (m ?? []).filter((e) => e?.trained).sort(newest("trained")).slice(0, 50);
  rows(models, made.map((e) => [
    clean(e.job?.vehicle), clean(e.id), `${since(e.trained)} ago`, `${fixed(number(e.job?.logs?.length), 0)}`,
    Array.isArray(e.held_out?.cover95) ? e.held_out.cover95.slice(0, 2).map((c) => percent(number(c))).join(" to ") : "–", clean(e.held_out?.verdict),
  ]), (i, c) => (c === 5 ? "long" : ""));
  return true;
}
