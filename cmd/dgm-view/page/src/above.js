// Position from above: the track, the predicted path with ellipses, and the path that was predicted one horizon ago.
import { fixed } from "./format.js";
import { Range } from "./range.js";

// An ellipse of 95 % of a normal distribution in the plane: the square root of the 95 % quantile of χ² with two degrees of freedom.
const half95 = 2.4477;

/** Names of positions in a plane, the one to the right first. */
const planes = [["x", "y"], ["px", "py"], ["pos_x", "pos_y"], ["position_x", "position_y"], ["position.x", "position.y"], ["east", "north"], ["e", "n"], ["pe", "pn"], ["lateral", "forward"]];

/** The columns of the position, to the right and up; null where there are none. */
export function planeOf(p) {
  const names = p.channels.map((n, k) => (p.units[k] === "m" ? n.toLowerCase() : ""));
  const found = planes.find((pair) => pair.every((n) => names.includes(n)));
  return found ? found.map((n) => names.indexOf(n)) : null;
}

/** The points of the horizon at which ellipses are drawn. */
export const ellipses = (p) => Array.from({ length: 6 }, (_, n) => Math.ceil(((n + 1) * p.h.length) / 6) - 1).filter((i, n, all) => i >= 0 && i !== all[n - 1]);

/** Half axes of an ellipse, and the angle of the first from the right, upwards, by its half widths and its correlation. */
export function axes(a, b, correlation) {
  const [sum, difference, c] = [(a * a + b * b) / 2, (a * a - b * b) / 2, correlation * a * b];
  const root = Math.hypot(difference, c);
  return [Math.sqrt(sum + root), Math.sqrt(Math.max(sum - root, 0)), Math.atan2(c, difference) / 2];
}

/** Makes a canvas as large as it is shown and returns its context, with lengths in CSS pixels, cleared. */
export function prepare(canvas) {
  const scale = devicePixelRatio;
  const width = Math.round(canvas.clientWidth * scale);
  const height = Math.round(canvas.clientHeight * scale);
  if (canvas.width !== width || canvas.height !== height) Object.assign(canvas, { width, height });
  const ctx = canvas.getContext("2d");
  ctx.setTransform(scale, 0, 0, scale, 0, 0);
  ctx.clearRect(0, 0, canvas.clientWidth, canvas.clientHeight);
  return ctx;
}

export class Above {
  ranges = [new Range(), new Range()];

  constructor(canvas, flight, view) {
    Object.assign(this, { canvas, flight, view });
  }

  draw(time, [kx, ky]) {
    const { flight, view } = this;
    const ctx = prepare(this.canvas);
    const width = this.canvas.clientWidth;
    const height = this.canvas.clientHeight;
    const from = flight.now - view.window;
    const paths = [flight.newest, view.ghost ? flight.ghost : null].filter(Boolean);
    const bounds = [[Infinity, -Infinity], [Infinity, -Infinity]];
    const include = (i, v, half) => {
      bounds[i][0] = Math.min(bounds[i][0], v - half);
      bounds[i][1] = Math.max(bounds[i][1], v + half);
    };
    const track = flight.x.filter((row, i) => flight.t[i] >= from && !Number.isNaN(row[kx] + row[ky]));
    for (const row of track) {
      include(0, row[kx], 0);
      include(1, row[ky], 0);
    }
    for (const p of paths) {
      for (let i = 0; i < p.h.length; i++) {
        include(0, p.mean[i * p.channels.length + kx], this.half(p, i, kx));
        include(1, p.mean[i * p.channels.length + ky], this.half(p, i, ky));
      }
    }
    bounds.forEach(([low, high], i) => this.ranges[i].update(low, high, time));
    const [rx, ry] = this.ranges;
    const scale = Math.min((width - 20) / (rx.high - rx.low), (height - 20) / (ry.high - ry.low)); // pixels per metre, the same in both directions
    const x = (v) => width / 2 + scale * (v - (rx.low + rx.high) / 2);
    const y = (v) => height / 2 - scale * (v - (ry.low + ry.high) / 2);
    this.grid(ctx, width, height, scale, flight.newest.channels[kx], flight.newest.channels[ky]);
    ctx.strokeStyle = view.colour.measured;
    ctx.lineWidth = 1.5;
    ctx.beginPath();
    for (const row of track) ctx.lineTo(x(row[kx]), y(row[ky]));
    ctx.stroke();
    paths.forEach((p, past) => this.path(ctx, p, kx, ky, x, y, scale, past));
  }

  half(p, i, k) {
    const j = i * p.channels.length + k;
    return half95 * p.std[j] * (this.view.factor && p.factor ? p.factor[j] : 1);
  }

  path(ctx, p, kx, ky, x, y, scale, past) {
    const { colour } = this.view;
    const K = p.channels.length;
    ctx.strokeStyle = past ? colour.ghost : colour.mean;
    ctx.fillStyle = past ? colour.ghost : colour.band;
    ctx.beginPath();
    for (let i = 0; i < p.h.length; i++) ctx.lineTo(x(p.mean[i * K + kx]), y(p.mean[i * K + ky]));
    ctx.stroke();
    const all = ellipses(p);
    for (const [n, i] of past ? [[all.length - 1, all.at(-1)]] : all.entries()) {
      const [long, short, angle] = axes(this.half(p, i, kx), this.half(p, i, ky), p.correlation[n] ?? 0);
      ctx.beginPath();
      ctx.ellipse(x(p.mean[i * K + kx]), y(p.mean[i * K + ky]), scale * long, scale * short, -angle, 0, 2 * Math.PI);
      ctx.globalAlpha = 0.16;
      ctx.fill();
      ctx.globalAlpha = 1;
      ctx.stroke();
    }
  }

  /** A grid whose squares are 1, 2 or 5 times a power of ten wide, with its width in words. */
  grid(ctx, width, height, scale, right, up) {
    const least = 50 / scale;
    const power = 10 ** Math.floor(Math.log10(least));
    const step = [1, 2, 5, 10].map((n) => n * power).find((s) => s >= least);
    const [rx, ry] = this.ranges;
    ctx.strokeStyle = this.view.colour.line;
    ctx.lineWidth = 1;
    ctx.beginPath();
    for (const [r, size, line] of [[rx, width, (v) => (ctx.moveTo(v, 0), ctx.lineTo(v, height))], [ry, height, (v) => (ctx.moveTo(0, height - v), ctx.lineTo(width, height - v))]]) {
      const low = (r.low + r.high) / 2 - size / 2 / scale;
      for (let v = Math.ceil(low / step) * step; v < low + size / scale; v += step) line(scale * (v - low));
    }
    ctx.stroke();
    ctx.fillStyle = this.view.colour.faint;
    ctx.font = "12px system-ui, sans-serif";
    ctx.fillText(`squares of ${fixed(step, Math.max(0, -Math.floor(Math.log10(step) + 1e-9)))} m, ${right} to the right, ${up} upwards`, 6, height - 7);
  }
}
