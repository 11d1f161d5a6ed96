// The log of a fleet's decisions (estimator/model/FORMAT.md, Statements), read from its beginning and then from where it was read before. Each
// decision has its place and the hash of the log before it: what was changed, left out, moved or repeated is named, and so is a log that is
// not the one which this browser has seen.
import { text as clean, statement, signedBy } from "./wire.js";

const stream = "DGM_DECISIONS";
const prefix = "dgm.decision.";
const batch = 256;

const digest = async (...parts) => new Uint8Array(await crypto.subtle.digest("SHA-256", await new Blob(parts).arrayBuffer()));
const hex = (bytes) => Array.from(bytes, (b) => b.toString(16).padStart(2, "0")).join("");
const same = (a, b) => hex(a ?? []) === hex(b ?? []);

export class DecisionLog {
  broken = ""; // why the log cannot be followed

  /** key verifies signatures, null = none does; memory is where this browser keeps what it has seen of the log, under a name. */
  constructor(key, memory, name) {
    Object.assign(this, { key, memory, name, seen: null });
    try {
      this.seen = JSON.parse(memory().getItem(name));
    } catch {
      // nothing that this page wrote, or a browser that keeps nothing
    }
    this.begin();
  }

  /** Forgets what was read. */
  begin() {
    this.number = 0; // of the last message that was read
    this.hash = new Uint8Array(); // of the log up to it
    this.message = new Uint8Array(); // of its bytes
    this.last = new Map(); // by purpose and name, as installation.drone-1: what was decided last
    this.decisions = 0;
    this.faults = 0; // messages that decide nothing
    this.fault = ""; // the last of them
  }

  /** Reads what was decided since the last time; false where the log cannot be read. ask asks a stream, see fleet.js. */
  async read(ask) {
    if (!globalThis.crypto?.subtle) return this.stop("not verified: the page must come from https or the loopback");
    for (;;) {
      const from = Math.max(this.number, 1);
      const got = await ask(stream, { seq: from, next_by_subj: `${prefix}>`, batch }, (m, sequence) => ({ data: m.data, subject: m.headers.last("Nats-Subject"), sequence }));
      if (!got) return false;
      let messages = got.found;
      if (this.number) {
        const head = messages[0];
        if (!head) return this.stop(`it has lost its end: decision ${this.number}, which was its last one before, is not there`);
        if (head.sequence !== this.number || !same(await digest(head.data), this.message)) return this.stop(`decision ${this.number} is another one than before: somebody has replaced the log`);
        messages = messages.slice(1);
      }
      for (const m of messages) {
        if (m.sequence !== this.number + 1) return this.stop(`decisions are missing: after number ${this.number} comes number ${m.sequence}`);
        await this.add(m);
        if (this.number === this.seen?.number && hex(this.hash) !== this.seen.hash) {
          this.begin();
          return this.stop(`decision ${this.seen.number} is another one than this browser has seen: somebody has replaced the log`);
        }
      }
      if (!messages.length) break;
    }
    if (this.number < this.seen?.number) return this.stop(`it has lost its end: this browser has seen decision ${this.seen.number}, and it ends with number ${this.number}`);
    this.broken = "";
    if (this.number > (this.seen?.number ?? 0)) {
      this.seen = { number: this.number, hash: hex(this.hash) };
      try {
        this.memory().setItem(this.name, JSON.stringify(this.seen));
      } catch {
        // a browser that keeps nothing
      }
    }
    return true;
  }

  stop(why) {
    this.broken = why;
    return true;
  }

  /** Takes the next message. */
  async add({ data, subject, sequence, stored }) {
    const message = await digest(data);
    const key = subject.slice(prefix.length);
    let [d, fault] = [null, ""];
    try {
      d = statement(data);
      if (d.key !== key) fault = `it is that of ${d.key}`;
      else if (d.number !== sequence) fault = `it was signed as number ${d.number}`;
      else if (!same(d.decision, this.hash)) fault = "the decision before it is another one than it was signed after";
    } catch {
      fault = "it is no decision";
    }
    this.hash = fault ? await digest(this.hash, message) : message;
    [this.number, this.message] = [sequence, message];
    if (!fault && this.key && !(await signedBy(this.key, d))) fault = "it is not signed by the operator";
    if (fault) {
      this.faults++;
      this.fault = clean(`decision ${sequence}, ${key}: ${fault}`);
      return;
    }
    this.decisions++;
    this.last.set(key, { content: d.content, stored });
  }

  /** What was decided last about all names of a purpose. */
  decided(purpose) {
    const all = [];
    for (const [key, { content, stored }] of this.last) {
      if (!key.startsWith(`${purpose}.`)) continue;
      try {
        all.push({ ...JSON.parse(new TextDecoder().decode(content)), stored });
      } catch {
        // signed, and not what a fleet decides
      }
    }
    return all;
  }

  /** The state of the log: a text, and its class. */
  state() {
    if (this.broken) return [`The log of decisions: ${this.broken}.`, "bad"];
    const signed = this.key ? "each signed by the operator and following the one before" : "each following the one before; no signature was verified";
    const text = `${this.decisions} ${this.decisions === 1 ? "decision" : "decisions"}, ${signed}${this.number ? `. The last one is ${hex(this.hash).slice(0, 16)}` : ""}.`;
    if (this.faults) return [`${text} ${this.faults} ${this.faults === 1 ? "message decides" : "messages decide"} nothing, the last: ${this.fault}.`, "bad"];
    return [text, this.key ? "good" : "warn"];
  }
}
