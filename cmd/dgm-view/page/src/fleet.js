// What a fleet has stored (docs/fleet.md): what vehicles use, rollouts, training jobs and models. The last value of every key of a store comes by one request;
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
const classes = { done: "good", running: "good", failed: "bad", cancelled: "warn", canary: "warn", shadow: "warn", following: "good", returned: "bad", stopped: "warn" };
const known = (v, key) => (v ?? []).filter((e) => typeof e?.[key] === "string").slice(0, 100);

/** Reads the stores and fills the tables, by id; reports whether there is a fleet. */
export async function showFleet(nc, tables) {
  const stores = await Promise.all(["fleet-installations", "fleet-rollouts", "fleet-jobs", "fleet-model-index"].map((bucket) => values(nc, bucket)));
  if (stores.every((s) => !s)) return false;
  const vehicles = known(stores[0], "vehicle").sort((a, b) => (a.vehicle < b.vehicle ? -1 : 1));
  rows(tables.installations, vehicles.map((e) => [
    clean(e.vehicle), clean(e.flown?.model), since(e.changed), clean(e.shadow?.model), clean(e.before?.model), clean(e.pin), clean(e.reason),
  ]), (i, c) => (c === 6 ? "long" : ""));
  const rollouts = known(stores[1], "group").sort(newest("since"));
  rows(tables.rollouts, rollouts.map((e) => [
    clean(e.group), clean(e.stage), clean(e.model?.model), since(e.since), clean(e.vehicles?.[0]), clean(e.reason),
  ]), (i, c) => (c === 1 ? classes[rollouts[i].stage] ?? "" : c === 5 ? "long" : ""));
  const jobs = known(stores[2], "submitted").sort(newest("submitted"));
  rows(tables.jobs, jobs.map((e) => [
    clean(e.vehicle), clean(e.state), e.state === "running" ? percent(number(e.progress)) : "", clean(e.worker), fixed(number(e.tries), 0),
    `${since(e.submitted)} ago`, clean(e.reason || e.phase || (Array.isArray(e.lines) ? e.lines.at(-1) : "")),
  ]), (i, c) => (c === 1 ? classes[jobs[i].state] ?? "" : c === 6 ? "long" : ""));
  const models = known(stores[3], "trained").sort(newest("trained"));
  rows(tables.models, models.map((e) => [
    clean(e.job?.vehicle), clean(e.id), `${since(e.trained)} ago`, fixed(number(e.job?.logs?.length), 0),
    Array.isArray(e.held_out?.cover95) ? e.held_out.cover95.slice(0, 2).map((c) => percent(number(c))).join(" to ") : "–", clean(e.held_out?.verdict),
  ]), (i, c) => (c === 5 ? "long" : ""));
  return true;
}
