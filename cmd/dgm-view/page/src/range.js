/** Limits of an axis: enlarged at once, reduced only after they were too large for two seconds, so that the picture is calm. */
export class Range {
  low = 0;
  high = 1;
  since = 0; // time, ms, since which the limits are too large

  update(low, high, time) {
    if (!(high >= low)) return;
    const size = Math.max(Math.abs(low), Math.abs(high));
    const pad = Math.max(0.12 * (high - low), (high > low ? 1e-9 : 1e-3) * size, 1e-9);
    const needed = high - low + 2 * pad;
    const fits = low >= this.low && high <= this.high;
    if (!fits || needed > 0.5 * (this.high - this.low)) this.since = time;
    if (fits && time - this.since < 2000) return;
    const far = 3 * needed; // limits as far away are not kept
    this.low = fits ? low - pad : Math.min(low - pad, Math.max(this.low, low - far));
    this.high = fits ? high + pad : Math.max(high + pad, Math.min(this.high, high + far));
    this.since = time;
  }
}
