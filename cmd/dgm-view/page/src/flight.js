// What is kept of the vehicle that is shown: states and estimates of the window, predictions of one horizon, scores of a minute.

/** Span of a strip of scores, s, and of one bar of it. */
export const stripSpan = 60;
export const stripBar = 0.25;

const late = 1; // s; states that come later than one of a later time take their place, predictions are left out, up to this: beyond it the clock was set
const mostStates = 4000; // of the window; beyond it every other one is dropped
const mostPredictions = 128; // of one horizon
const mostEstimates = 1000; // of the window

/** Adds a score to a strip: each bar has the largest of its time. Returns the newest bar. */
function addBar(strip, t, score) {
  const bar = Math.floor(t / stripBar) * stripBar;
  if (strip.at(-1)?.[0] === bar) strip.at(-1)[1] = Math.max(strip.at(-1)[1], score);
  else strip.push([bar, score]);
  while (strip[0][0] < t - stripSpan) strip.shift();
  return strip.at(-1);
}

/** Puts the numbers of x where a row has none. */
function fill(row, x) {
  for (let k = 0; k < row.length; k++) if (Number.isNaN(row[k])) row[k] = x[k];
}

export class Flight {
  constructor() {
    this.clear();
  }

  clear() {
    this.t = []; // s, of the states
    this.x = []; // rows of them, angles unwrapped, NaN where nothing was measured
    this.last = null; // of each channel what was measured last
    this.shifts = []; // [t, offsets]: by which angles were unwrapped from t on
    this.predictions = [];
    this.ood = []; // [t, largest score of the bar]
    this.newest = null;
    this.raw = null; // the newest state as it was sent, or as a filter estimates it
    this.correlation = []; // of the position at the points of ellipses, as the estimator answered last
    this.span = 0; // s, longest horizon: single predictions may be shortened
    this.thinned = 0;
    this.version = (this.version ?? 0) + 1;
    this.clearFilter();
  }

  clearFilter() {
    this.estimate = null; // the newest
    this.estimates = []; // runs of those that count one after the other
    this.sensed = new Set(); // columns that estimates say were measured
    this.fewest = Infinity; // of them in one message
    this.nis = []; // [t, largest of the bar, whether there was an outlier]
    this.outlierAt = null; // s, when the last one was seen
  }

  /** Time of the newest message, s. */
  get now() {
    return Math.max(this.newest?.t ?? -Infinity, this.t.at(-1) ?? -Infinity);
  }

  /** Adds a state; window, s, is how long it is kept. Before the first prediction its channels are unknown. */
  addState(s, window) {
    const x = this.measured(s.x);
    if (!x) return;
    if (!this.estimate) this.raw = s.x;
    const last = this.t.at(-1);
    if (s.t < last - late || s.t > last + 4 * window + 10) this.clearTrack();
    this.unwrap(s.t, x);
    const at = this.t.findLastIndex((t) => t <= s.t);
    if (at >= 0 && s.t - this.t[at] <= this.thinned) {
      fill(this.x[at], x);
      return;
    }
    this.t.splice(at + 1, 0, s.t);
    this.x.splice(at + 1, 0, x);
    const old = this.t.findIndex((t) => t >= s.t - window);
    if (old > 64) {
      this.t.splice(0, old);
      this.x.splice(0, old);
    }
    while (this.shifts.length > 1 && this.shifts[1][0] < this.t[0] - window) this.shifts.shift();
    if (this.t.length > mostStates) {
      this.thinned = Math.max(2 * this.thinned, (2 * window) / mostStates);
      for (let i = 1; i < this.x.length; i += 2) fill(this.x[i - 1], this.x[i]); // of another sensor
      this.t = this.t.filter((_, i) => i % 2 === 0);
      this.x = this.x.filter((_, i) => i % 2 === 0);
    }
  }

  /** The row of a state: a robot may send the channels that sensors measure alone, in the order of the model. null while these are unknown. */
  measured(x) {
    const K = this.newest?.channels.length;
    const { sensed } = this;
    if (!K || (x.length !== K && x.length !== sensed.size)) return null;
    const row = new Float64Array(K).fill(NaN);
    let next = 0;
    for (let k = 0; k < K; k++) if (!this.estimate || sensed.has(k)) row[k] = x[x.length === K ? k : next++];
    return row;
  }

  /** Continues the angles of a row from what was measured last. */
  unwrap(t, x) {
    let shift = this.shifts.at(-1)?.[1];
    this.last ??= new Float64Array(x.length).fill(NaN);
    for (let k = 0; k < x.length; k++) {
      const turn = turns[this.newest.units[k]];
      const before = this.last[k];
      if (shift) x[k] += shift[k];
      if (turn && Math.abs(x[k] - before) > turn / 2) {
        const by = turn * Math.round((before - x[k]) / turn);
        shift = shift ? shift.slice() : new Float64Array(x.length);
        shift[k] += by;
        x[k] += by;
        this.shifts.push([t, shift]);
      }
      if (!Number.isNaN(x[k])) this.last[k] = x[k];
    }
  }

  clearTrack() {
    this.t = [];
    this.x = [];
    this.last = null;
    this.shifts = [];
    this.estimates = [];
    this.thinned = 0;
  }

  /** Adds an estimate of the channels of the newest prediction; window, s, is how long it is kept. */
  addEstimate(e, window) {
    const { estimate: before, estimates: runs } = this;
    if (this.newest?.channels.join() !== e.channels.join() || (e.t < before?.t && e.t > before.t - late)) return;
    if (before && (e.t < before.t || e.t > before.t + stripSpan)) this.nis = []; // the clock was set
    this.estimate = e;
    this.raw = e.x;
    const columns = e.sensors.map((name) => e.channels.indexOf(name)).filter((k) => k >= 0);
    for (const k of columns) this.sensed.add(k);
    if (columns.length) this.fewest = Math.min(this.fewest, columns.length);
    const bar = addBar(this.nis, e.t, e.nis);
    if (before && e.rejected > before.rejected) {
      bar[2] = true;
      this.outlierAt = e.t;
    }
    if (!e.settled) return;
    if (!runs.length || !before?.settled || e.t < before.t) runs.push([]);
    const run = runs.at(-1);
    if (e.t < run.at(-1)?.t + window / mostEstimates) return;
    run.push(e);
    const kept = (o) => o.t >= e.t - window && o.t <= e.t;
    while (!runs[0].some(kept)) runs.shift();
    const old = runs[0].findIndex(kept);
    if (old > 16) runs[0].splice(0, old);
  }

  addPrediction(p) {
    const last = this.newest;
    if (last && (last.channels.join() !== p.channels.join() || p.t < last.t - late || p.t > last.t + 60)) this.clear();
    else if (p.t < last?.t) return;
    else if (last && last.model !== p.model) this.clearFilter();
    this.newest = p;
    p.correlation = this.correlation;
    const span = (this.span = Math.max(this.span, p.h.at(-1)));
    const ring = this.predictions;
    if (!ring.length || p.t - ring.at(-1).t >= span / mostPredictions) ring.push(p);
    let old = 0;
    while (old + 1 < ring.length && ring[old + 1].t <= p.t - span) old++;
    if (old) ring.splice(0, old);
    addBar(this.ood, p.t, p.ood);
  }

  /** The prediction made one horizon before the newest one; null while there is none as old. */
  get ghost() {
    const [p] = this.predictions;
    return p && this.newest && p.t <= this.newest.t - 0.9 * this.span ? p : null;
  }

  /** By how much column k of a prediction is moved, so that its angle continues the track. */
  shift(p, k) {
    for (let i = this.shifts.length - 1; i >= 0; i--) if (this.shifts[i][0] <= p.t + 1e-6) return this.shifts[i][1][k];
    return 0;
  }
}

const turns = { rad: 2 * Math.PI, deg: 360, "°": 360 };
