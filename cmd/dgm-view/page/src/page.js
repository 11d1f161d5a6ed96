// The page: vehicles at a server, and one of them in detail.
import "./page.css";
import { Bands, colours } from "./bands.js";
import { Above, ellipses, planeOf } from "./above.js";
import { DecisionLog } from "./decisions.js";
import { showFleet } from "./fleet.js";
import { Flight } from "./flight.js";
import { duration, element, fixed, percent, put } from "./format.js";
import { keepConnected } from "./link.js";
import { drawInnovations, drawScores, showAdaptation, showAlarms, showCalibration, showFilter, showModels, showReasons } from "./panels.js";
import * as wire from "./wire.js";

const $ = (id) => document.getElementById(id);
const mostVehicles = 500;
const silent = 3500; // ms without a status after which an estimator counts as silent

const settings = await (await fetch("settings.json")).json();
const wanted = location.hash.slice(1); // vehicle
const view = { window: 3, factor: false, ghost: true, hold: false, colour: colours() };
const vehicles = new Map(); // name → {status, at, sample, box, ...}
const flight = new Flight();
let chosen = "";
let chosenAt = 0; // ms
let connection = null;
let watching = []; // subscriptions of the chosen vehicle
let pausedUntil = 0; // until then no prediction is asked for
let estimatesAgain = 0; // then an estimate may be asked for
let asksAgain = 0; // then the estimator may be asked for the correlation
let asked = null; // subscription to its next prediction
let askedEstimate = null; // and to its next estimate
let charts = [];
let made = 0; // time when they were
let plane = null; // columns of the position
let chartsOf = 0; // version of the flight that they show
let dirty = false; // whether something is to be drawn
let unreadable = 0; // messages
let frames = 0;

// ---- messages

/** Calls use with a decoded message; one that cannot be read is counted. refused is called where it is not permitted: the link reports that. */
const reading = (decode, use, refused) => (error, message) => {
  if (error) {
    refused();
    return;
  }
  try {
    use(decode(message.data), message.subject.split(".")[2]);
  } catch {
    unreadable++;
  }
};

const pause = () => (pausedUntil = performance.now() + 3000);

function watch(subject, decode, use, options, refused = pause) {
  const s = connection.subscribe(subject, { ...options, callback: reading(decode, use, refused) });
  s.closed.catch(() => {}); // not permitted: the link reports it
  return s;
}

/** Whether messages can be asked for. */
const open = () => connection && !connection.isClosed() && !document.hidden && performance.now() >= pausedUntil;

/** Subscribes to what is shown; a page that cannot be seen receives nothing. */
function subscribe() {
  unsubscribe();
  if (!connection || connection.isClosed() || document.hidden) return;
  watching.push(watch("dgm.status.*", wire.status, gotStatus));
  if (!chosen) return;
  watching.push(watch(`dgm.state.${chosen}`, wire.state, (s) => {
    if (view.hold) return;
    flight.addState(s, view.window);
    dirty = true;
  }));
}

/** Asks for the next prediction of the chosen vehicle: one at a time, so that neither a slow link nor a fast estimator gets behind. */
function nextPrediction() {
  if (!open() || !chosen || (asked && !asked.isClosed())) return;
  asked = watch(`dgm.predict.${chosen}`, wire.prediction, (p, name) => {
    if (name !== chosen) return;
    vehicles.get(name).sample = p;
    if (view.hold) return;
    flight.addPrediction(p);
    dirty = true;
  }, { max: 1 });
}

/** Asks for the next estimate of the chosen vehicle, likewise, where it has a filter. */
function nextEstimate() {
  const s = vehicles.get(chosen)?.status;
  if (!open() || !(s?.nis > 0) || (askedEstimate && !askedEstimate.isClosed()) || performance.now() < estimatesAgain) return;
  askedEstimate = watch(`dgm.estimate.${chosen}`, wire.estimate, (e, name) => {
    if (name !== chosen || view.hold) return;
    flight.addEstimate(e, view.window);
    dirty = true;
  }, { max: 1 }, () => (estimatesAgain = performance.now() + 30000));
}

/** Asks the estimator how the two positions go together: predictions do not say it. Not every user may ask. */
async function askCorrelation() {
  const { newest: p, raw, version } = flight;
  if (!plane || !raw || !open() || view.hold || !$("above").visible || performance.now() < asksAgain) return;
  asksAgain = Infinity;
  let [found, pause] = [null, 800];
  try {
    const at = ellipses(p);
    const m = await connection.request(`dgm.query.${chosen}`, wire.query(raw, at.map((i) => p.h[i])), { timeout: 2000 });
    found = wire.correlation(m.data, at.length, p.channels.length, ...plane);
  } catch {
    pause = 30000; // not permitted, or not answered
  }
  if (version === flight.version) flight.correlation = found ?? [];
  asksAgain = performance.now() + pause;
}

function unsubscribe() {
  asked?.unsubscribe();
  askedEstimate?.unsubscribe();
  asked = askedEstimate = null;
  for (const s of watching) s.unsubscribe();
  watching = [];
}

/** Reads one prediction of each of the other vehicles: for a summary, one a second is enough. */
function sampleOthers() {
  if (!open()) return;
  for (const [name, v] of vehicles) {
    if (name === chosen || (v.sampling && !v.sampling.isClosed())) continue;
    v.sampling = watch(`dgm.predict.${name}`, wire.prediction, (p) => (v.sample = p), { max: 1 });
  }
}

function gotStatus(s, name) {
  let v = vehicles.get(name);
  if (!v) {
    if (!/^[\w-]{1,64}$/.test(name)) return;
    if (vehicles.size >= mostVehicles && name !== wanted && !forget()) {
      $("more").hidden = false;
      return;
    }
    v = addVehicle(name);
    vehicles.set(name, v);
    if (!chosen || name === wanted) choose(name);
  }
  v.status = s;
  v.at = performance.now();
}

// ---- vehicles

/** Forgets the vehicles that have been silent for a minute, but for the chosen one; reports whether there was any. */
function forget() {
  const before = vehicles.size;
  for (const [name, v] of vehicles) {
    if (name === chosen || performance.now() - v.at < 60000) continue;
    v.sampling?.unsubscribe();
    v.box.remove();
    vehicles.delete(name);
  }
  return vehicles.size < before;
}

function addVehicle(name) {
  const v = { name, state: element("span"), numbers: element("span", "numbers"), trust: element("span", "numbers") };
  v.box = element("button", "", element("b", "", name), v.state, v.numbers, v.trust);
  v.box.addEventListener("click", () => choose(name));
  const after = [...vehicles.values()].filter((o) => o.name > name).sort((a, b) => (a.name < b.name ? -1 : 1))[0];
  $("vehicles").insertBefore(v.box, after?.box ?? null);
  return v;
}

function choose(name) {
  if (chosen === name) return;
  chosen = name;
  chosenAt = performance.now();
  asksAgain = 0;
  flight.clear();
  document.body.classList.add("waiting"); // the charts are those of another vehicle until its first prediction
  delete vehicles.get(name).written;
  for (const v of vehicles.values()) v.box.setAttribute("aria-pressed", v.name === name);
  vehicles.get(name)?.box.scrollIntoView({ block: "nearest", inline: "nearest" });
  history.replaceState(null, "", `#${name}`);
  subscribe();
  dirty = true;
}

/** Least coverage of all channels and buckets; NaN where nothing was compared. */
const least = (table) => table?.reduce((m, c) => (c >= 0 && !(c > m) ? c : m), NaN) ?? NaN;

/** A vehicle's state in a word, with its class. */
function stateOf(v) {
  const s = v.status;
  if (performance.now() - v.at > silent) return ["silent", "bad"];
  if (s.input !== "live") return [s.input === "stale" ? "stale" : "no states", "bad"];
  const warnings = wire.flags(v.sample?.flags ?? 0).filter(([, warns]) => warns);
  if (warnings.length) return [warnings[0][0], "warn"];
  if (s.miscalibrated) return ["miscalibrated", "warn"];
  if (s.alarms.length) return ["alarm", "warn"];
  return ["in order", "good"];
}

function writeVehicle(v) {
  const [word, cls] = stateOf(v);
  put(v.state, word);
  v.state.className = cls;
  const s = v.status;
  if (word === "silent") put(v.numbers, `last status ${duration(Math.floor((performance.now() - v.at) / 1000))} ago`);
  else put(v.numbers, `${fixed(s.predict_rate, 0)} Hz · ${duration(s.latency_p99)} · ood ${fixed(v.sample?.ood ?? NaN, 2)}`);
  put(v.trust, `coverage ≥ ${percent(least(s.coverage))}${s.alarms.length ? ` · ${s.alarms.length} alarm${s.alarms.length > 1 ? "s" : ""}` : ""}${s.adapt === "on" ? " · adapting" : ""}`);
}

/** Facts of the chosen vehicle as [name, value, class]. */
function facts(v) {
  const s = v.status;
  const p = flight.newest;
  return [
    ["model", s.model], ["states", `${fixed(s.state_rate, 1)} Hz`], ["predictions", `${fixed(s.predict_rate, 1)} Hz`],
    ["latency p50 / p99", `${duration(s.latency_p50)} / ${duration(s.latency_p99)}`],
    ["age of the state", s.input_age < 0 ? "–" : duration(s.input_age), s.input === "live" ? "" : "bad"],
    ["late", fixed(s.late, 0)], ["missed", fixed(s.missed, 0)], ["horizon", duration(p?.h.at(-1))],
    ["inputs", p?.inputs || "–"], ["running for", duration(s.uptime)], ["estimators", fixed(1 + s.others, 0), s.others ? "warn" : ""],
    ["models loaded", `${fixed(s.swaps, 0)}${s.refused ? ", one refused" : ""}`, s.refused ? "warn" : ""],
  ];
}

function writeFacts(v) {
  const all = facts(v);
  const list = $("facts");
  while (list.children.length < all.length) list.append(element("div", "", element("dt"), element("dd")));
  all.forEach(([name, value, cls], i) => {
    const [dt, dd] = list.children[i].children;
    put(dt, name);
    put(dd, value);
    dd.className = cls ?? "";
    dd.title = value;
  });
  put($("name"), v.name);
  const names = wire.flags(v.sample?.flags ?? 0);
  const key = names.join();
  if ($("flags").dataset.shown === key) return;
  $("flags").dataset.shown = key;
  $("flags").replaceChildren(...names.map(([n, warns]) => element("span", warns ? "warn" : "", n)));
}

// ---- charts

const seen = new IntersectionObserver((all) => all.forEach((e) => ((e.target.chart ?? e.target).visible = e.isIntersecting)));
const above = new Above($("above"), flight, view);
for (const id of ["above", "scores", "innovations"]) seen.observe($(id));
const sizes = new ResizeObserver(() => {
  for (const c of charts) c.resize();
  dirty = true;
});

/** Makes the charts of the channels of the newest prediction. */
function makeCharts() {
  for (const c of charts) {
    seen.unobserve(c.root);
    c.remove();
  }
  charts = flight.newest.channels.map((_, k) => new Bands($("charts"), flight, k, view));
  for (const c of charts) {
    c.root.chart = c;
    seen.observe(c.root);
    c.resize();
  }
  plane = planeOf(flight.newest);
  $("plane").hidden = !plane;
  chartsOf = flight.version;
  document.body.classList.remove("waiting");
}

function frame(time) {
  requestAnimationFrame(frame);
  nextPrediction();
  nextEstimate();
  if (!dirty) return;
  dirty = false;
  if (!flight.newest) return;
  if (chartsOf !== flight.version) {
    if (time < made + 300) return; // of two senders with other channels each
    made = time;
    makeCharts();
  }
  for (const c of charts) if (c.visible) c.draw(time);
  if (plane && $("above").visible) above.draw(time, plane);
  if ($("scores").visible) drawScores($("scores"), flight, view.colour);
  if ($("innovations").visible) drawInnovations($("innovations"), flight, vehicles.get(chosen).status, view.colour);
  frames++;
}

/** Writes all texts, a few times a second: more often nobody can read them. */
function write() {
  if (document.hidden) return;
  for (const v of vehicles.values()) writeVehicle(v);
  const v = vehicles.get(chosen);
  $("empty").hidden = Boolean(v);
  // The first vehicle appears with its charts, which would move what is below them, or after a while without a prediction.
  const early = $("shown").hidden && !(flight.newest && chartsOf === flight.version) && performance.now() < chosenAt + 2000;
  $("shown").hidden = !v || early;
  if (!v) return;
  writeFacts(v);
  $("filter").hidden = $("estimatedKey").hidden = !(v.status.nis > 0);
  showFilter({ nis: $("nis"), bound: $("bound"), filtered: $("filtered") }, flight, v.status);
  $("facts").classList.toggle("past", stateOf(v)[0] === "silent");
  if (v.status !== v.written) { // once a second
    v.written = v.status;
    showCalibration($("dials"), $("horizons"), $("coverage"), v.status);
    showAdaptation($("adaptation"), $("amounts"), v.status);
    showModels($("loaded"), v.status);
    showAlarms($("alarms"), v.status);
    showReasons($("counts"), $("reasons"), v.status);
  }
  if (!flight.newest || chartsOf !== flight.version) return;
  put($("score"), fixed(flight.newest.ood, 2));
  put($("correlation"), flight.correlation.length ? "" : ", without correlation");
  $("score").className = flight.newest.ood > 1 ? "bad" : "good";
  for (const c of charts) c.write();
}

const decisions = new DecisionLog(await wire.publicKey(settings.public_key), () => localStorage, `decisions ${settings.servers} ${settings.public_key ?? ""}`);

/** Reads what a fleet has stored, now and then again. */
async function readFleet() {
  const tables = Object.fromEntries(["decisions", "installations", "rollouts", "jobs", "models", "logs"].map((id) => [id, $(id)]));
  if (open() && (await showFleet(connection, tables, decisions))) $("fleet").hidden = false;
  setTimeout(readFleet, 5000);
}

// ---- hands

const press = (id, on) => $(id).setAttribute("aria-pressed", on);
const actions = {
  ghost() { press("ghost", (view.ghost = !view.ghost)); },
  factor() { press("factor", (view.factor = !view.factor)); },
  hold() {
    press("hold", (view.hold = !view.hold));
    if (!view.hold) flight.clearTrack();
  },
  less() { view.window = Math.max(view.window / 2, 0.375); },
  more() { view.window = Math.min(view.window * 2, 48); },
};
for (const [id, act] of Object.entries(actions)) $(id).addEventListener("click", () => { act(); dirty = true; });

const keys = { g: "ghost", f: "factor", " ": "hold", "-": "less", "+": "more", "=": "more" };
document.addEventListener("keydown", (e) => {
  if (e.ctrlKey || e.metaKey || e.altKey) return;
  if (keys[e.key] && !(e.key === " " && e.target instanceof HTMLButtonElement)) {
    e.preventDefault();
    $(keys[e.key]).click();
    return;
  }
  const step = { ArrowDown: 1, j: 1, ArrowUp: -1, k: -1 }[e.key];
  if (!step || !vehicles.size) return;
  e.preventDefault();
  const names = [...vehicles.keys()].sort();
  const next = names[(names.indexOf(chosen) + step + names.length) % names.length];
  choose(next);
  vehicles.get(next).box.focus();
});

document.addEventListener("visibilitychange", () => {
  if (!document.hidden) flight.clear();
  subscribe();
});
matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => {
  view.colour = colours();
  dirty = true;
});

sizes.observe($("charts"));
requestAnimationFrame(frame);
setInterval(write, 200);
setInterval(sampleOthers, 1000);
setInterval(askCorrelation, 200);
if (settings.fleet) setTimeout(readFleet, 500);
globalThis.dgmView = () => ({ frames, unreadable, vehicles: vehicles.size, states: flight.t.length, predictions: flight.predictions.length, estimates: flight.estimates.map((run) => run.length), correlation: flight.correlation });
keepConnected(settings, (nc) => { connection = nc; subscribe(); }, (text, ok) => {
  put($("link"), `${text}${ok ? ` to ${settings.servers.join(", ")}` : ""}`);
  $("link").className = ok ? "ok" : "";
});
