// One channel over time: what was measured, what a filter estimates, the prediction of now, and the one that was made one horizon ago.
import uPlot from "uplot";
import { decimals, element, fixed, put } from "./format.js";
import { Range } from "./range.js";

/** Half widths of intervals of a normal distribution, standard deviations. */
const half50 = 0.6745;
export const half95 = 1.96;

/** Colours of the page, read again when it changes between light and dark. */
export function colours() {
  const style = getComputedStyle(document.documentElement);
  const get = (name) => style.getPropertyValue(name).trim();
  return Object.fromEntries(["text", "faint", "line", "band", "ghost", "measured", "estimated", "mean", "good", "warn", "bad", "panel"].map((n) => [n, get(`--${n}`)]));
}

export class Bands {
  /** Shows column k of the flight; view has the window (s before now), factor and ghost (whether shown) and colour. */
  constructor(parent, flight, k, view) {
    Object.assign(this, { flight, k, view, y: new Range(), visible: true });
    const { channels, units } = flight.newest;
    this.unit = units[k];
    this.reading = element("span", "reading");
    this.note = element("i");
    this.root = element("figure", "bands", element("figcaption", "", element("b", "", channels[k]), element("i", "", this.unit), this.note, this.reading));
    this.holder = element("div", "plot");
    this.root.append(this.holder);
    parent.append(this.root);
    const axis = { stroke: () => view.colour.text, grid: { stroke: () => view.colour.line, width: 1 }, ticks: { show: false }, font: "11px system-ui" };
    this.plot = new uPlot(
      {
        width: 300, height: 150, pxAlign: 0, legend: { show: false }, cursor: { show: false }, select: { show: false }, padding: [6, 20, 0, 0],
        scales: { x: { time: false, range: () => [-view.window, this.ahead()] }, y: { range: () => [this.y.low, this.y.high] } },
        axes: [{ ...axis, size: 22, gap: 2, space: 46, values: (_, v) => v.map((t) => (t === 0 ? "now" : `${String(+t.toFixed(3)).replace("-", "−")} s`)) }, { ...axis, size: 58, gap: 3, space: 30, values: (_, v) => v.map((y) => String(+y.toPrecision(6)).replace("-", "−")) }],
        series: [{}, { stroke: () => view.colour.measured, width: 1.5, points: { show: false }, spanGaps: true }],
        hooks: { drawAxes: [() => this.drawPredictions()] },
      },
      [[0], [null]],
      this.holder,
    );
  }

  ahead() {
    return this.flight.span || 1;
  }

  resize() {
    const width = Math.floor(this.holder.clientWidth);
    if (width > 0 && width !== this.plot.width) this.plot.setSize({ width, height: 150 });
  }

  /** Half width of the interval of a prediction at row i, for a number of standard deviations of a measurement. */
  half(p, i, sigmas) {
    const j = i * p.channels.length + this.k;
    return sigmas * p.obs[j] * (this.view.factor && p.factor ? p.factor[j] : 1);
  }

  draw(time) {
    const { flight, k, view } = this;
    const { now } = flight;
    const n = flight.t.length;
    const xs = new Array(n);
    const ys = new Array(n);
    let low = Infinity;
    let high = -Infinity;
    for (let i = 0; i < n; i++) {
      xs[i] = flight.t[i] - now;
      const y = flight.x[i][k];
      ys[i] = Number.isNaN(y) ? null : y;
      if (xs[i] < -view.window) continue;
      if (y < low) low = y;
      if (y > high) high = y;
    }
    for (const run of flight.estimates) for (const e of run) {
      if (e.t - now < -view.window) continue;
      low = Math.min(low, this.estimated(e, -half95));
      high = Math.max(high, this.estimated(e, half95));
    }
    for (const p of [flight.newest, view.ghost ? flight.ghost : null]) {
      if (!p) continue;
      const shift = flight.shift(p, k);
      for (let i = 0; i < p.h.length; i++) {
        const mean = p.mean[i * p.channels.length + k] + shift;
        const half = this.half(p, i, half95);
        if (mean - half < low) low = mean - half;
        if (mean + half > high) high = mean + half;
      }
    }
    this.y.update(low, high, time);
    this.plot.setData(n ? [xs, ys] : [[0], [null]]);
  }

  /** An estimate of the filter and some of its standard deviations. */
  estimated(e, sigmas) {
    return e.x[this.k] + this.flight.shift(e, this.k) + sigmas * e.std[this.k];
  }

  drawEstimates() {
    const { flight, plot, view } = this;
    const { ctx } = plot;
    const along = (sigmas, all) => all.forEach((e) => ctx.lineTo(plot.valToPos(e.t - flight.now, "x", true), plot.valToPos(this.estimated(e, sigmas), "y", true)));
    ctx.fillStyle = ctx.strokeStyle = view.colour.estimated;
    for (const run of flight.estimates) {
      ctx.globalAlpha = 0.25;
      ctx.beginPath();
      along(half95, run);
      along(-half95, run.toReversed());
      ctx.fill();
      ctx.globalAlpha = 1;
      ctx.beginPath();
      along(0, run);
      ctx.stroke();
    }
  }

  drawPredictions() {
    const { flight, view } = this;
    const { ctx, bbox } = this.plot;
    ctx.save();
    ctx.beginPath();
    ctx.rect(bbox.left, bbox.top, bbox.width, bbox.height);
    ctx.clip();
    ctx.lineWidth = devicePixelRatio;
    this.drawEstimates();
    const p = flight.newest;
    if (p) {
      if (p.tube) {
        ctx.strokeStyle = view.colour.band;
        ctx.setLineDash([4 * devicePixelRatio, 3 * devicePixelRatio]);
        this.edges(p, p.tube[2], false);
      }
      ctx.setLineDash([]);
      ctx.fillStyle = view.colour.band;
      for (const sigmas of [half95, half50]) {
        ctx.globalAlpha = 0.3;
        this.area(p, sigmas);
      }
      ctx.globalAlpha = 1;
      ctx.strokeStyle = view.colour.mean;
      this.edges(p, 0, true);
    }
    const ghost = view.ghost ? flight.ghost : null;
    if (ghost) {
      ctx.fillStyle = ctx.strokeStyle = view.colour.ghost;
      ctx.globalAlpha = 0.18;
      this.area(ghost, half95);
      ctx.globalAlpha = 1;
      this.edges(ghost, half95, true);
    }
    ctx.strokeStyle = view.colour.faint;
    const x = this.plot.valToPos(0, "x", true);
    ctx.beginPath();
    ctx.moveTo(x, bbox.top);
    ctx.lineTo(x, bbox.top + bbox.height);
    ctx.stroke();
    ctx.restore();
  }

  /** Continues a path along mean + sigmas standard deviations. */
  along(p, sigmas, back) {
    const { ctx } = this.plot;
    const { flight, k, plot } = this;
    const shift = flight.shift(p, k);
    const K = p.channels.length;
    const from = p.t - flight.now;
    for (let n = 0; n < p.h.length; n++) {
      const i = back ? p.h.length - 1 - n : n;
      const y = p.mean[i * K + k] + shift + this.half(p, i, sigmas);
      ctx.lineTo(plot.valToPos(from + p.h[i], "x", true), plot.valToPos(y, "y", true));
    }
  }

  area(p, sigmas) {
    const { ctx } = this.plot;
    ctx.beginPath();
    this.along(p, sigmas, false);
    this.along(p, -sigmas, true);
    ctx.fill();
  }

  edges(p, sigmas, middle) {
    const { ctx } = this.plot;
    const lines = [...(sigmas ? [sigmas, -sigmas] : []), ...(middle ? [0] : [])];
    for (const s of lines) {
      ctx.beginPath();
      this.along(p, s, false);
      ctx.stroke();
    }
  }

  /** Writes the last value, which is the estimate where there is a filter, and the end of the horizon. */
  write() {
    const p = this.flight.newest;
    const { estimate: e, last } = this.flight;
    const end = p.h.length - 1;
    const j = end * p.channels.length + this.k;
    const half = this.half(p, end, half95);
    const d = decimals(half);
    const width = e ? half95 * e.std[this.k] : 0;
    const now = e ? `${fixed(e.x[this.k], decimals(width))} ± ${fixed(width, decimals(width))}` : fixed(last ? last[this.k] - this.flight.shift(p, this.k) : NaN, d);
    put(this.reading, `${now} → ${fixed(p.mean[j], d)} ± ${fixed(half, d)}`);
    put(this.note, e && !this.flight.sensed.has(this.k) ? "no sensor" : "");
  }

  remove() {
    this.plot.destroy();
    this.root.remove();
  }
}
