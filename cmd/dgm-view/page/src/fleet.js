// What a fleet has stored (docs/fleet.md): what vehicles use, rollouts, training jobs and models. Of each store the newest values are read, and all of
// the log of decisions; nothing is written. Where there is no fleet, or the user may not read it, nothing is shown.
import { text as clean, number } from "./wire.js";
import { duration, fixed, percent, put, rows } from "./format.js";

const mostEntries = 200;

/** What a stream answers to a request: values, how many entries follow them, and the sequence number of the last; null where it cannot be read. */
async function ask(nc, stream, request, value = (m) => m.json()) {
  const got = { found: [], pending: 0, sequence: 0 };
  try {
    for await (const m of await nc.requestMany(`$JS.API.DIRECT.GET.${stream}`, JSON.stringify(request), { strategy: "sentinel", maxWait: 4000 })) {
      // Behind the headers of who has written it, a stored message has those of the server.
      const header = (name) => m.headers?.last(name);
      const code = header("Nats-Sequence") ? 0 : m.headers?.code;
      if (code === 404) break;
      got.pending = Number(header("Nats-Num-Pending"));
      if (code === 204) break;
      if (code) return null;
      got.sequence = Number(header("Nats-Sequence"));
      try {
        got.found.push(Object.assign(value(m, got.sequence) ?? {}, { stored: header("Nats-Time-Stamp") }));
      } catch {
        // deleted, or not an entry of a fleet
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

const since = (iso) => duration(Math.max(0, (Date.now() - Date.parse(iso)) / 1000));
const newest = (key) => (a, b) => Date.parse(b[key]) - Date.parse(a[key]);
const classes = { done: "good", running: "good", failed: "bad", cancelled: "warn", canary: "warn", shadow: "warn", following: "good", returned: "bad", stopped: "warn" };
const known = (v, key, order) => (v ?? []).filter((e) => typeof e?.[key] === "string").sort(order).slice(0, 100);

/** Reads the stores and the log of decisions and fills the tables, by id; reports whether there is a fleet. */
export async function showFleet(nc, tables, log) {
  const [there, ...stores] = await Promise.all([
    log.read((...asked) => ask(nc, ...asked)), ...["fleet-jobs", "fleet-model-index", "fleet-log-index"].map((bucket) => values(nc, bucket)),
  ]);
  if (!there && stores.every((s) => !s)) return false;
  const [state, cls] = there ? log.state() : ["The log of decisions cannot be read.", "bad"];
  put(tables.decisions, state);
  tables.decisions.className = cls;
  const signed = log.broken ? ["not verified", "bad"] : log.key ? ["verified", "good"] : ["not verified", "warn"];
  const vehicles = known(log.decided("installation"), "vehicle", (a, b) => (a.vehicle < b.vehicle ? -1 : 1));
  rows(tables.installations, vehicles.map((e) => [
    clean(e.vehicle), clean(e.flown?.model), since(e.changed), clean(e.shadow?.model), clean(e.before?.model), clean(e.pin), clean(e.reason), signed[0],
  ]), (i, c) => (c === 6 ? "long" : c === 7 ? signed[1] : ""));
  const rollouts = known(log.decided("rollout"), "group", newest("since"));
  rows(tables.rollouts, rollouts.map((e) => [
    clean(e.group), clean(e.stage), clean(e.model?.model), since(e.since), clean(e.vehicles?.[0]), clean(e.reason), signed[0],
  ]), (i, c) => (c === 1 ? classes[rollouts[i].stage] ?? "" : c === 5 ? "long" : c === 6 ? signed[1] : ""));
  const jobs = known(stores[0], "submitted", newest("submitted"));
  rows(tables.jobs, jobs.map((e) => [
    clean(e.study ? `${e.study.study} ${e.study.set} ${e.study.seed}` : e.vehicle), clean(e.state), e.state === "running" ? percent(number(e.progress)) : "", clean(e.worker), fixed(number(e.tries), 0),
    `${since(e.submitted)} ago`, clean(e.reason || e.phase || (Array.isArray(e.lines) ? e.lines.at(-1) : "")),
  ]), (i, c) => (c === 1 ? classes[jobs[i].state] ?? "" : c === 6 ? "long" : ""));
  const models = known(stores[1], "trained", newest("trained"));
  rows(tables.models, models.map((e) => [
    clean(e.job?.vehicle), clean(e.id), `${since(e.trained)} ago`, fixed(number(e.job?.logs?.length), 0),
    Array.isArray(e.held_out?.cover95) ? e.held_out.cover95.slice(0, 2).map((c) => percent(number(c))).join(" to ") : "–", clean(e.held_out?.verdict),
  ]), (i, c) => (c === 5 ? "long" : ""));
  const logs = known(stores[2], "vehicle", newest("stored"));
  const names = (v) => (Array.isArray(v) ? v.map(clean).join(", ") : "");
  rows(tables.logs, logs.map((e) => [
    clean(e.vehicle), `${since(e.stored)} ago`, duration((number(e.to) - number(e.from)) / 1e9), fixed(number(e.samples), 0), fixed(number(e.channels?.length), 0),
    names(e.models), percent(number(e.coverage)), names(e.alarms),
  ]), (i, c) => (c === 7 ? "long warn" : ""));
  return true;
}
