// What a fleet has stored (docs/fleet.md): what vehicles use, rollouts, training jobs and models. Of each store the newest values are read, of the
// log of decisions the last ones about each vehicle and group; nothing is written. Where there is no fleet, or the user may not read it, nothing is shown.
import { decision, text as clean, number } from "./wire.js";
import { duration, fixed, percent, rows } from "./format.js";

const mostEntries = 200;

/** What a stream answers to a request: values, how many entries follow them, and the sequence number of the last; null where it cannot be read. */
async function ask(nc, stream, request, value = (m) => m.json()) {
  const got = { found: [], pending: 0, sequence: 0 };
  try {
    for await (const m of await nc.requestMany(`$JS.API.DIRECT.GET.${stream}`, JSON.stringify(request), { strategy: "sentinel", maxWait: 4000 })) {
      if (m.headers?.code === 404) break;
      got.pending = Number(m.headers?.get("Nats-Num-Pending"));
      if (m.headers?.code === 204) break;
      if (m.headers?.code) return null;
      got.sequence = Number(m.headers?.get("Nats-Sequence"));
      if (!m.data.length) continue; // deleted
      try {
        got.found.push(Object.assign((await value(m)) ?? {}, { stored: m.headers?.get("Nats-Time-Stamp") }));
      } catch {
        // not an entry of a fleet
      }
      if (request.last_by_subj) break;
    }
  } catch {
    return null;
  }
  return got;
}

const from = new Map(); // store → sequence number of the first entry that is read

/** The newest values of a store; null where it cannot be read. */
async function values(nc, bucket) {
  const subject = `$KV.${bucket}.>`;
  const after = (seq, batch) => ask(nc, `KV_${bucket}`, { seq, next_by_subj: subject, batch });
  const first = from.get(bucket) ?? 1;
  const all = await after(first, mostEntries);
  if (!all || (!all.pending && (first === 1 || all.found.length >= mostEntries / 2))) return all?.found ?? null;
  let [low, high] = [1, (await ask(nc, `KV_${bucket}`, { last_by_subj: subject }))?.sequence ?? 1];
  while (high - low > 1) {
    const middle = Math.floor((low + high) / 2);
    const some = await after(middle, 1);
    if (!some) return null;
    if (some.pending >= mostEntries) low = middle;
    else high = middle;
  }
  from.set(bucket, high);
  return (await after(high, mostEntries))?.found ?? null;
}

/** The last decisions for a purpose, one for each name; null where they cannot be read. */
async function decided(nc, purpose, key) {
  const request = { multi_last: [`dgm.decision.${purpose}.*`], batch: mostEntries };
  return (await ask(nc, "DGM_DECISIONS", request, (m) => decision(m.data, m.headers?.get("Nats-Subject"), Number(m.headers?.get("Nats-Sequence")), key)))?.found ?? null;
}

/** Whether the operator has signed a decision: the word for it, and its class. */
const signed = (e) => (e.signed === null ? ["not verified", "warn"] : e.signed ? ["verified", "good"] : ["not by the operator", "bad"]);

const since = (iso) => duration(Math.max(0, (Date.now() - Date.parse(iso)) / 1000));
const newest = (key) => (a, b) => Date.parse(b[key]) - Date.parse(a[key]);
const classes = { done: "good", running: "good", failed: "bad", cancelled: "warn", canary: "warn", shadow: "warn", following: "good", returned: "bad", stopped: "warn" };
const known = (v, key, order) => (v ?? []).filter((e) => typeof e?.[key] === "string").sort(order).slice(0, 100);

/** Reads the stores and fills the tables, by id; reports whether there is a fleet. */
export async function showFleet(nc, tables, key) {
  const stores = await Promise.all([
    ...["installation", "rollout"].map((purpose) => decided(nc, purpose, key)), ...["fleet-jobs", "fleet-model-index", "fleet-log-index"].map((bucket) => values(nc, bucket)),
  ]);
  if (stores.every((s) => !s)) return false;
  const vehicles = known(stores[0], "vehicle", (a, b) => (a.vehicle < b.vehicle ? -1 : 1));
  rows(tables.installations, vehicles.map((e) => [
    clean(e.vehicle), clean(e.flown?.model), since(e.changed), clean(e.shadow?.model), clean(e.before?.model), clean(e.pin), clean(e.reason), signed(e)[0],
  ]), (i, c) => (c === 6 ? "long" : c === 7 ? signed(vehicles[i])[1] : ""));
  const rollouts = known(stores[1], "group", newest("since"));
  rows(tables.rollouts, rollouts.map((e) => [
    clean(e.group), clean(e.stage), clean(e.model?.model), since(e.since), clean(e.vehicles?.[0]), clean(e.reason), signed(e)[0],
  ]), (i, c) => (c === 1 ? classes[rollouts[i].stage] ?? "" : c === 5 ? "long" : c === 6 ? signed(rollouts[i])[1] : ""));
  const jobs = known(stores[2], "submitted", newest("submitted"));
  rows(tables.jobs, jobs.map((e) => [
    clean(e.study ? `${e.study.study} ${e.study.set} ${e.study.seed}` : e.vehicle), clean(e.state), e.state === "running" ? percent(number(e.progress)) : "", clean(e.worker), fixed(number(e.tries), 0),
    `${since(e.submitted)} ago`, clean(e.reason || e.phase || (Array.isArray(e.lines) ? e.lines.at(-1) : "")),
  ]), (i, c) => (c === 1 ? classes[jobs[i].state] ?? "" : c === 6 ? "long" : ""));
  const models = known(stores[3], "trained", newest("trained"));
  rows(tables.models, models.map((e) => [
    clean(e.job?.vehicle), clean(e.id), `${since(e.trained)} ago`, fixed(number(e.job?.logs?.length), 0),
    Array.isArray(e.held_out?.cover95) ? e.held_out.cover95.slice(0, 2).map((c) => percent(number(c))).join(" to ") : "–", clean(e.held_out?.verdict),
  ]), (i, c) => (c === 5 ? "long" : ""));
  const logs = known(stores[4], "vehicle", newest("stored"));
  const names = (v) => (Array.isArray(v) ? v.map(clean).join(", ") : "");
  rows(tables.logs, logs.map((e) => [
    clean(e.vehicle), `${since(e.stored)} ago`, duration((number(e.to) - number(e.from)) / 1e9), fixed(number(e.samples), 0), fixed(number(e.channels?.length), 0),
    names(e.models), percent(number(e.coverage)), names(e.alarms),
  ]), (i, c) => (c === 7 ? "long warn" : ""));
  return true;
}
