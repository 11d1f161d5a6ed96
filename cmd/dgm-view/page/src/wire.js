// Messages of estimator/wire/PROTOCOL.md. Nothing of a message is trusted: types, shapes and lengths are checked,
// and texts lose what could change how the text around them is shown.
import { Decoder, encode } from "@msgpack/msgpack";

const decoder = new Decoder({ maxStrLength: 1 << 16, maxBinLength: 1 << 23, maxArrayLength: 1 << 14, maxMapLength: 256, maxExtLength: 0 });

const hidden = /[\u0000-\u001f\u007f-\u009f\u200e\u200f\u2028-\u202e\u2066-\u2069]/g;

/** A text for people, of at most 300 characters. */
export const text = (v) => (typeof v === "string" ? v.slice(0, 300).replace(hidden, "\ufffd") : "");

/** A number, NaN for anything else. Integers beyond 53 bits lose their last digits: of a time in ns, less than 1 µs. */
export const number = (v) => (typeof v === "number" ? v : NaN);

const count = (v) => number(v) || 0;
const list = (v) => (Array.isArray(v) ? v : []);
const seconds = (v) => number(v) / 1e9;

function vector(v, wide = true) {
  if (Array.isArray(v)) return Float64Array.from(v, number);
  if (!(v instanceof Uint8Array)) return null;
  const own = v.slice().buffer; // aligned
  const size = wide ? 8 : 4;
  if (own.byteLength % size !== 0) return null;
  return wide ? new Float64Array(own) : Float64Array.from(new Float32Array(own));
}

function must(ok, what) {
  if (!ok) throw new Error(what);
}

function map(bytes) {
  const m = decoder.decode(bytes);
  must(m !== null && typeof m === "object" && !Array.isArray(m), "not a map");
  must(m.v === 1, "another version");
  return m;
}

/** The key that verifies decisions, of the base64 of its 32 bytes; null where there is none, or this browser cannot verify. */
export async function publicKey(base64) {
  try {
    return await crypto.subtle.importKey("raw", Uint8Array.from(atob(base64), (c) => c.charCodeAt(0)), "Ed25519", false, ["verify"]);
  } catch {
    return null;
  }
}

/** A decision of a fleet (estimator/model/FORMAT.md, Statements): its place, what is before it, what it is about and decides, and what was signed. */
export function statement(bytes) {
  const [signed, signature] = decoder.decode(bytes);
  const s = decoder.decode(signed);
  const name = { installation: s.vehicle, revocation: s.model }[s.purpose] ?? s.fleet;
  return { key: `${s.purpose}.${name}`, purpose: s.purpose, number: s.number, decision: s.decision, content: s.content, signed, signature };
}

/** Whether the key has signed a decision. */
export async function signedBy(key, d) {
  return crypto.subtle.verify("Ed25519", key, d.signature, await new Blob([`dgm-decision ${d.purpose}\n`, d.signed]).arrayBuffer());
}

/** Numbers beyond this are not drawn: differences of them are not finite. */
const drawable = (v) => Math.abs(v) < 1e15;

/** Most channels that are shown. */
const mostChannels = 256;

/** A Prediction: h in s, mean, std, obs and factor with T×K numbers in rows of channels. */
export function prediction(bytes) {
  const m = map(bytes);
  const p = {
    model: text(m.model), instance: text(m.instance), seq: number(m.seq), t: seconds(m.t),
    channels: list(m.channels).map(text), units: list(m.units).map(text),
    h: vector(m.horizon), mean: vector(m.mean), std: vector(m.std), obs: vector(m.obs_std),
    factor: vector(m.factor), tube: vector(m.tube),
    inputs: text(m.inputs), flags: count(m.flags), ood: number(m.ood), age: count(m.age),
  };
  const K = p.channels.length;
  must(K > 0 && K <= mostChannels && p.units.length === K, "channels and units");
  must(p.h && p.h.length > 0 && p.h.every((h, i) => h > (i ? p.h[i - 1] : 1e-6) && h < 1e6), "horizon");
  for (const v of [p.mean, p.std, p.obs]) must(v && v.length === K * p.h.length && v.every(drawable), "shape");
  if (p.factor && p.factor.length !== K * p.h.length) p.factor = null;
  if (p.tube && p.tube.length !== 3) p.tube = null;
  must(Number.isFinite(p.t), "t");
  return p;
}

/** A State: t in s, x in the model's units, NaN where nothing was measured. */
export function state(bytes) {
  const m = map(bytes);
  const s = { t: seconds(m.t), x: vector(m.x, m.dtype !== "f4") };
  must(Number.isFinite(s.t) && s.x && s.x.length <= mostChannels && s.x.every((v) => Number.isNaN(v) || drawable(v)), "t or x");
  return s;
}

/** An Estimate: x and its standard deviations std with K numbers, nis, outliers so far, names of the channels that were measured. */
export function estimate(bytes) {
  const m = map(bytes);
  const e = {
    t: seconds(m.t), channels: list(m.channels).map(text), x: vector(m.x), settled: m.settled === true,
    nis: number(m.nis), rejected: count(m.rejected), sensors: list(m.sensors).map(text),
  };
  const P = vector(m.P);
  const K = e.channels.length;
  must(K > 0 && K <= mostChannels && e.x?.length === K && e.x.every(drawable) && P?.length === K * K, "shape");
  e.std = e.x.map((_, k) => Math.sqrt(P[k * K + k]));
  must(e.std.every(drawable) && Number.isFinite(e.t) && drawable(e.nis), "P, t or nis");
  return e;
}

/** A Query for the covariance of the states that follow a state, at times of the horizon. */
export const query = (x, times) => encode({ v: 1, want: ["cov"], states: Array.from(x), times, history: "stream" });

/** The correlation of two of K columns at T times by an Answer; null where that has none. */
export function correlation(bytes, T, K, a, b) {
  const cov = vector(map(bytes).cov);
  if (cov?.length !== T * K * K) return null;
  const all = Array.from({ length: T }, (_, i) => {
    const at = (r, c) => cov[(i * K + r) * K + c];
    return Math.min(Math.max(at(a, b) / Math.sqrt(at(a, a) * at(b, b)), -1), 1);
  });
  return all.every(Number.isFinite) ? all : null;
}

const reasons = (v) => list(v).slice(0, 64).map((r) => ({ reason: text(r?.reason), count: count(r?.count), text: text(r?.text), last: text(r?.last) }));

/** A loaded model; coverage is the least of a shadow and of the model in use over the same windows. */
function model(m) {
  const least = (v) => vector(v)?.reduce((a, c) => Math.min(a, c), 1) ?? NaN;
  return {
    model: text(m?.model), role: text(m?.role), since: seconds(m?.since), windows: count(m?.windows), skipped: count(m?.skipped),
    coverage: least(m?.coverage), flownCoverage: least(m?.flown_coverage), difference: number(m?.difference), std: number(m?.difference_std),
  };
}

/** A Status. Tables of B×K numbers are null where their shape is not that of buckets and channels. */
export function status(bytes) {
  const m = map(bytes);
  const channels = list(m.channels).slice(0, mostChannels).map(text);
  const buckets = vector(m.buckets) ?? new Float64Array();
  const table = (v) => {
    const t = vector(v);
    return t && t.length > 0 && t.length === channels.length * buckets.length ? t : null;
  };
  const numbers = {};
  for (const k of ["input_age", "uptime", "state_rate", "predict_rate", "latency_p50", "latency_p99", "latency_max", "delay", "health", "adapt_share", "nis"]) numbers[k] = number(m[k]);
  for (const k of ["received", "published", "late", "missed", "miscalibrated", "swaps", "reconnects", "memory", "adapted", "no_history", "input_refused", "filter_resets"]) numbers[k] = count(m[k]);
  return {
    ...numbers, channels, buckets,
    model: text(m.model), instance: text(m.instance), input: text(m.input), inputReason: text(m.input_reason),
    refused: text(m.refused), recording: text(m.recording), adapt: text(m.adapt), adaptNote: text(m.adapt_note),
    coverage: table(m.coverage), recalibrated: table(m.recalibrated), factor: table(m.factor), checks: table(m.checks),
    reasons: reasons(m.reasons), silent: reasons(m.silent), others: list(m.others).length,
    alarms: list(m.alarms).slice(0, 32).map((a) => ({ name: text(a?.name), text: text(a?.text) })),
    models: list(m.models).slice(0, 8).map(model),
    amounts: list(m.amounts).slice(0, 256).map((a) => ({ name: text(a?.name), unit: text(a?.unit), value: number(a?.value), std: number(a?.std) })),
  };
}

/** Names of the flags, by bit. Bits below 16 are warnings. */
const flagNames = {
  0: "out of distribution", 1: "late", 2: "contested", 3: "partial", 4: "stale", 5: "shortened", 6: "miscalibrated", 7: "plan unused",
  16: "carried covariance", 17: "chained", 18: "widened", 19: "no history", 20: "plan held", 21: "plan cut", 22: "adapted",
};

/** The flags of a prediction as [name, is a warning]. */
export function flags(bits) {
  const out = [];
  for (let i = 0; i < 32; i++) if ((bits >>> i) & 1) out.push([flagNames[i] ?? `flag ${i}`, i < 16]);
  return out;
}
