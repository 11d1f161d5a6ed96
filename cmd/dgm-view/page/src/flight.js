// What is kept of the vehicle that is shown: states of the window, predictions of one horizon, scores of a minute.

/** Span of the strip of the out-of-distribution score, s, and of one bar of it. */
export const stripSpan = 60;
export const stripBar = 0.25;

const late = 1; // s; messages that come later than one of a later time are left out, up to this: beyond it the clock was set
const mostStates = 4000; // of the window; beyond it every other one is dropped
const mostPredictions = 128; // of one horizon

export class Flight {
  constructor() {
    this.clear();
  }

  clear() {
    this.t = []; // s, of the states
    this.x = []; // rows of them, angles unwrapped
    this.shifts = []; // [t, offsets]: by which angles were unwrapped from t on
    this.predictions = [];
    this.ood = []; // [t, largest score of the bar]
    this.newest = null;
    this.raw = null; // the newest state as it was sent
    this.correlation = []; // of the position at the points of ellipses, as the estimator answered last
    this.span = 0; // s, longest horizon: single predictions may be shortened
    this.thinned = 0;
    this.version = (this.version ?? 0) + 1;
  }

  /** Time of the newest message, s. */
  get now() {
    return Math.max(this.newest?.t ?? -Infinity, this.t.at(-1) ?? -Infinity);
  }

  /** Adds a state; window, s, is how long it is kept. Before the first prediction its channels are unknown. */
  addState(s, window) {
    const K = this.newest?.channels.length;
    if (K !== s.x.length) return;
    this.raw = s.x;
    const last = this.t.at(-1);
    if (s.t < last - late || s.t > last + 4 * window + 10) this.clearTrack();
    else if (s.t <= last || s.t - last < this.thinned) return;
    const x = Float64Array.from(s.x);
    const before = this.x.at(-1);
    let shift = this.shifts.at(-1)?.[1];
    for (let k = 0; k < K; k++) {
      const turn = turns[this.newest.units[k]];
      if (shift) x[k] += shift[k];
      if (!turn || !before || !(Math.abs(x[k] - before[k]) > turn / 2)) continue;
      const by = turn * Math.round((before[k] - x[k]) / turn);
      shift = shift ? shift.slice() : new Float64Array(K);
      shift[k] += by;
      x[k] += by;
      this.shifts.push([s.t, shift]);
    }
    this.t.push(s.t);
    this.x.push(x);
    const old = this.t.findIndex((t) => t >= s.t - window);
    if (old > 64) {
      this.t.splice(0, old);
      this.x.splice(0, old);
    }
    while (this.shifts.length > 1 && this.shifts[1][0] < this.t[0] - window) this.shifts.shift();
    if (this.t.length > mostStates) {
      this.thinned = Math.max(2 * this.thinned, (2 * window) / mostStates);
      this.t = this.t.filter((_, i) => i % 2 === 0);
      this.x = this.x.filter((_, i) => i % 2 === 0);
    }
  }

  clearTrack() {
    this.t = [];
    this.x = [];
    this.shifts = [];
    this.thinned = 0;
  }

  addPrediction(p) {
    const last = this.newest;
    if (last && (last.channels.join() !== p.channels.join() || p.t < last.t - late || p.t > last.t + 60)) this.clear();
    else if (p.t < last?.t) return;
    this.newest = p;
    p.correlation = this.correlation;
    const span = (this.span = Math.max(this.span, p.h.at(-1)));
    const ring = this.predictions;
    if (!ring.length || p.t - ring.at(-1).t >= span / mostPredictions) ring.push(p);
    let old = 0;
    while (old + 1 < ring.length && ring[old + 1].t <= p.t - span) old++;
    if (old) ring.splice(0, old);
    const bar = Math.floor(p.t / stripBar) * stripBar;
    if (this.ood.at(-1)?.[0] === bar) this.ood.at(-1)[1] = Math.max(this.ood.at(-1)[1], p.ood);
    else this.ood.push([bar, p.ood]);
    while (this.ood[0][0] < p.t - stripSpan) this.ood.shift();
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
