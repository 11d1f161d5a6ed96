// What a status says of one vehicle: calibration by horizon, adaptation, refused states; its filter; and strips of scores.
import { prepare } from "./above.js";
import { half95 } from "./bands.js";
import { stripBar, stripSpan } from "./flight.js";
import { duration, element, fixed, percent, put, rows } from "./format.js";

const drawing = "http://www.w3.org/2000/svg";

function shape(tag, attributes, parent) {
  const e = document.createElementNS(drawing, tag);
  for (const [k, v] of Object.entries(attributes)) e.setAttribute(k, v);
  parent?.append(e);
  return e;
}

/** Dials begin at this coverage. */
const lowest = 0.5;
const point = (coverage, r) => {
  const angle = Math.PI * (1 - (Math.min(Math.max(coverage, lowest), 1) - lowest) / (1 - lowest));
  return [60 + r * Math.cos(angle), 58 - r * Math.sin(angle)];
};
const arc = (from, to, r) => `M ${point(from, r).join(" ")} A ${r} ${r} 0 0 1 ${point(to, r).join(" ")}`;

/** A dial: nominal coverage marked, the mean of the channels as a needle, the least as a dot. */
function makeDial(parent) {
  const svg = shape("svg", { viewBox: "0 0 120 66", "aria-hidden": "true" });
  shape("path", { d: arc(lowest, 1, 48), class: "scale" }, svg);
  shape("path", { d: arc(0.9, 0.985, 48), class: "right" }, svg);
  const [x1, y1] = point(0.95, 40);
  const [x2, y2] = point(0.95, 56);
  shape("line", { x1, y1, x2, y2, class: "nominal" }, svg);
  const needle = shape("line", { x1: 60, y1: 58, x2: 60, y2: 20, class: "needle" }, svg);
  const dot = shape("circle", { r: 4, class: "least" }, svg);
  const value = element("b");
  const least = element("small");
  const until = element("small");
  parent.append(element("div", "dial", svg, value, until, least));
  return { needle, dot, value, until, least };
}

const dials = [];

/** Shows coverage by horizon as dials and, by channel, with the factors as a table. */
export function showCalibration(parent, head, body, s) {
  const { buckets, channels, coverage, factor } = s;
  const shown = coverage ? Math.min(buckets.length, 12) : 0;
  while (dials.length < shown) dials.push(makeDial(parent));
  dials.forEach((d, b) => {
    d.value.parentElement.hidden = b >= shown;
    if (b >= shown) return;
    const known = Array.from(coverage.subarray(b * channels.length, (b + 1) * channels.length)).filter((c) => c >= 0);
    const mean = known.length ? known.reduce((a, c) => a + c, 0) / known.length : NaN;
    const low = known.length ? Math.min(...known) : NaN;
    const [x2, y2] = point(known.length ? mean : lowest, 44);
    const [cx, cy] = point(known.length ? low : lowest, 48);
    for (const [e, at] of [[d.needle, { x2, y2 }], [d.dot, { cx, cy }]]) for (const [k, v] of Object.entries(at)) e.setAttribute(k, v);
    put(d.value, percent(mean));
    d.value.className = low < 0.9 ? "bad" : mean <= 0.985 ? "good" : "";
    put(d.until, `to ${duration(buckets[b])}`);
    put(d.least, `least ${percent(low)}`);
  });
  rows(head, coverage ? [["", ...Array.from(buckets.subarray(0, shown), (b) => `to ${duration(b)}`)]] : []);
  rows(body, coverage ? channels.map((name, k) => [name, ...Array.from({ length: shown }, (_, b) => `${percent(coverage[b * channels.length + k])}  ×${fixed(factor?.[b * channels.length + k] ?? NaN, 2)}`)]) : [["Nothing was compared yet."]], (k, b) => {
    const c = coverage?.[(b - 1) * channels.length + k];
    return b > 0 && c >= 0 && c < 0.9 ? "bad" : "";
  });
}

export function showAdaptation(note, body, s) {
  const mode = { on: "corrects predictions", watch: "reports only", off: "is switched off" }[s.adapt] ?? "is not reported";
  const share = s.adapt === "on" || s.adapt === "watch" ? `, share ${percent(s.adapt_share)}` : "";
  put(note, `It ${mode}${share}${s.adaptNote ? `: ${s.adaptNote}` : ""}`);
  rows(body, s.amounts.map((a) => {
    const d = a.std > 0 ? Math.min(Math.max(1 - Math.floor(Math.log10(a.std)), 0), 9) : 3;
    return [a.name, `${fixed(a.value, d)} ± ${fixed(a.std, d)} ${a.unit}`, Math.abs(a.value) > 3 * a.std && a.std > 0 ? "differs" : ""];
  }), (i, j) => (j === 2 ? "warn" : j === 1 ? "number" : ""));
}

export function showAlarms(body, s) {
  rows(body, s.alarms.length ? s.alarms.map((a) => [a.name, a.text]) : [["no alarm"]], (i, j) => (j === 1 ? "long" : s.alarms.length ? "warn" : ""));
}

export function showReasons(note, body, s) {
  const all = [...s.reasons, ...s.silent.map((r) => ({ ...r, reason: `tick: ${r.reason}` }))];
  put(note, `${fixed(s.received, 0)} received, ${fixed(s.published, 0)} answered, ${fixed(s.missed, 0)} missed${s.inputReason ? `; now refused as ${s.inputReason}` : ""}`);
  rows(body, all.map((r) => [fixed(r.count, 0), r.reason, r.text, r.last]), (i, j) => (j === 0 ? "number" : j > 1 ? "long" : ""));
}

/** Draws a strip of the last minute: bars in the colour of their score, with a mark where a third number says so, and lines at some scores. */
function drawStrip(canvas, now, strip, lines, faint, colourOf, mark) {
  const ctx = prepare(canvas);
  const width = canvas.clientWidth;
  const height = canvas.clientHeight;
  const top = Math.max(1.5, ...strip.map(([, v]) => Math.min(v, 10)));
  const bar = Math.ceil((width * stripBar) / stripSpan);
  for (const [t, v, marked] of strip) {
    const x = width - ((now - t) / stripSpan) * width;
    const h = Math.max(1, (Math.min(v, top) / top) * height);
    ctx.fillStyle = colourOf(v);
    ctx.fillRect(x, height - h, bar, h);
    if (!marked) continue;
    ctx.fillStyle = mark;
    ctx.fillRect(x, 0, bar, 8);
  }
  ctx.strokeStyle = faint;
  ctx.setLineDash([4, 3]);
  ctx.beginPath();
  for (const at of lines) {
    ctx.moveTo(0, height - (height * at) / top);
    ctx.lineTo(width, height - (height * at) / top);
  }
  ctx.stroke();
  ctx.setLineDash([]);
}

/** Draws the score of the last minute, red above 1. */
export function drawScores(canvas, flight, colour) {
  drawStrip(canvas, flight.now, flight.ood, [1], colour.faint, (v) => (v > 1 ? colour.bad : colour.band));
}

const nisMessages = 500; // that nis is the mean of, by PROTOCOL.md
const mostNIS = 4; // beyond it the estimator alarms

/** 95 % of the means of squared innovations over their variances are within 1 ± this, where the filter is right: each has a variance of 2. NaN without an estimate. */
const nisHalf = ({ estimate, fewest }, received) => (estimate ? half95 * Math.sqrt(2 / (Math.max(1, Math.min(nisMessages, received)) * fewest)) : NaN);

/** Draws normalised innovations squared of the last minute, with outliers. */
export function drawInnovations(canvas, flight, s, colour) {
  const half = nisHalf(flight, s.received);
  drawStrip(canvas, flight.now, flight.nis, [1 - half, 1 + half], colour.faint, (v) => (v > mostNIS ? colour.bad : Math.abs(v - 1) > half ? colour.warn : colour.band), colour.bad);
}

/** Writes what is known of a filter: parts are the elements nis, bound and filtered. */
export function showFilter({ nis, bound, filtered }, flight, s) {
  const { estimate: e, sensed } = flight;
  const half = nisHalf(flight, s.received);
  if (!e) {
    put(bound, "–");
    put(nis, fixed(s.nis, 2));
    nis.className = "";
    put(filtered, "No estimate has come: may the page read dgm.estimate?");
    return;
  }
  put(bound, `${fixed(Math.max(0, 1 - half), 2)} to ${fixed(1 + half, 2)}`);
  put(nis, fixed(e.nis, 2));
  nis.className = e.nis > mostNIS ? "bad" : Math.abs(e.nis - 1) > half ? "warn" : "good";
  const without = e.channels.filter((_, k) => !sensed.has(k));
  const outliers = `${fixed(e.rejected, 0)} outlier${e.rejected === 1 ? " was" : "s were"} not used${flight.outlierAt === null ? "" : `, the last ${duration(Math.max(0, flight.now - flight.outlierAt))} ago`}`;
  put(filtered, [
    without.length ? `No sensor gives ${without.join(", ")}.` : "Sensors give all states.",
    `${outliers}; the filter began again ${fixed(s.filter_resets, 0)} time${s.filter_resets === 1 ? "" : "s"}.`,
    e.settled ? "" : "Its estimate does not count yet.",
    e.nis > 1 + half ? "Innovations are larger than it expects: its covariance is too small." : e.nis < 1 - half ? "Innovations are smaller than it expects: its covariance is too large." : "",
  ].filter(Boolean).join(" "));
}

/** Shows the model in use and, where there is one, how its shadow compares. */
export function showModels(body, s) {
  const roles = { flown: "in use", shadow: "shadow" };
  const all = s.models.length ? s.models : [{ model: s.model, role: "flown", windows: 0 }];
  rows(body, all.map((m) => [
    roles[m.role] ?? m.role, m.model, m.since > 0 ? `for ${duration(Math.max(0, Date.now() / 1000 - m.since))}` : "",
    m.role !== "shadow" ? "" : !m.windows ? "nothing was compared yet" :
      `${fixed(m.windows, 0)} windows, coverage ≥ ${percent(m.coverage)} (in use ${percent(m.flownCoverage)}), score ${fixed(m.difference, 4)} ± ${fixed((1.96 * m.std) / Math.sqrt(m.windows), 4)} against the one in use, less is better`,
  ]), (i, j) => (j === 3 ? "long" : ""));
}
