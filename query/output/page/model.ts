// SPDX-License-Identifier: BSD-3-Clause
// What is measured: a selection of profiles and time, and the values of nodes in it (query/choose/select.c, query/tree/node.c).
import { Data, Kind, NONE, SPANS, Stands, Sums, ELAPSED, floats, isCall, uints } from "./data";
import { abs, floor, max, min, round } from "./number";

export type Range = [number, number]; // of numbers, both ends in it

export interface Chosen {
  ranks: Range[] | null;
  threads: Range[] | null;
  time: Range | null; // microseconds of the run, the end not in it; Infinity: to the end
}

export enum Rule { Scope, Frame, All, None }

// A row before it is measured: a name and the contexts that it stands for.
export interface Node {
  kind: Kind;
  scope: number;                      // its name and place; NONE: `name`
  name?: string;
  file?: number; line?: number;       // of a line that no scope is of; else the scope's
  callFile: number; callLine: number; // 0, 0 none
  context: number;                    // the one context it is, NONE
  inc: ArrayLike<number>; exc: ArrayLike<number>;
  at?: ArrayLike<number>;             // callers: the context that the row names, for each of exc
  rule: Rule;
  leaf: boolean;
  rounds: number;                     // > 0: a recursion whose rounds are one row
}

export type Ranges = number[]; // first, last, first, last, ...

// Seconds, events or bytes, as query/choose/select.h has it: most scales have no exact double, their inverse has. Sums are
// whole numbers; parts of spans, in units of their own, add up to nearly one.
export function scaled(sum: number, scale: number): number {
  const inverse = round(1 / scale);
  sum = round(sum);
  return scale < 1 && abs(inverse * scale - 1) < 1e-15 ? sum / inverse : sum * scale;
}

export const inRanges = (ranges: Range[] | null, number: number): boolean => !ranges || ranges.some(([a, b]) => number >= a && number <= b);

// Values by position: those of p are start[p] .. start[p + 1], each of a group.
interface Spread { start: Uint32Array; group: Uint32Array; sum: Float64Array }

export class Selection {
  #sums: (Sums | null)[] = [];
  #grouped: { of: Int32Array; count: number } | null = null;
  #spreads: Spread[] = [];
  readonly #profiles: Uint8Array | null; // 1: chosen; null: all
  readonly plain: boolean;
  readonly #elapsed: boolean; // helpers and launchers take no part (query/choose/helpers.h)

  constructor(readonly data: Data, readonly chosen: Chosen) {
    this.#profiles = chosen.ranks || chosen.threads
      ? Uint8Array.from(data.profiles, (p) => (inRanges(chosen.ranks, p.rank) && inRanges(chosen.threads, p.thread) ? 1 : 0))
      : null;
    this.plain = !this.#profiles && !chosen.time;
    this.#elapsed = data.metrics.some((m) => m.elapsed);
  }

  has(profile: number): boolean { return !this.#profiles || this.#profiles[profile] === 1; }

  // Calls take(position, units, samples) for each value of a profile.
  #values(profile: number, metric: number, take: (at: number, sum: number, count: number) => void): void {
    const d = this.data;
    if (d.metrics[metric].elapsed && d.profiles[profile].stands) return;
    if (!this.chosen.time) {
      d.each(metric, profile, take);
      return;
    }
    const t = d.trace(profile), [from, to] = this.chosen.time, worth = d.metrics[metric].period / d.units[metric] * d.kept.every;
    const m = d.metrics[metric], us = m.period * m.scale * 1e6;
    if (m.flags & SPANS) { // query/choose/slices.c: what lies between two instants, in their proportion
      for (let i = firstAtLeast(t.time, from); i < t.time.length && !(i && t.time[i - 1] >= to); i++) {
        const end = t.time[i], begin = d.kept.every > 1 ? end - us * t.weight[i] : i ? t.time[i - 1] : end, all = m.period * t.weight[i];
        if (t.metric[i] !== metric) continue;
        const before = (x: number) => (x <= begin ? 0 : x >= end ? all : floor((x - begin) * (all / (end - begin)))), inside = end < to;
        const value = begin < end ? before(to) - before(from) : inside ? all : 0;
        if (value) take(t.at[i], (value / d.units[metric]) * d.kept.every, inside ? 1 : 0);
      }
      return;
    }
    if (m.flags & ELAPSED && us > 0) {
      for (let i = firstAtLeast(t.time, from); i < t.time.length; i++) {
        if (t.metric[i] !== metric) continue;
        const since = (x: number) => t.time[i] < x ? 0 : min(t.weight[i], floor((t.time[i] - x) / us) + 1);
        const periods = since(from) - since(to);
        if (periods) take(t.at[i], worth * periods, t.time[i] < to ? 1 : 0);
        if (t.time[i] >= to) break;
      }
      return;
    }
    for (let i = firstAtLeast(t.time, from); i < t.time.length && t.time[i] < to; i++)
      if (t.metric[i] === metric) take(t.at[i], worth * t.weight[i], 1); // a record that stands for several is one sample: the error is that of what was kept
  }

  of(metric: number): Sums {
    const known = this.#sums[metric];
    if (known) return known;
    const d = this.data;
    const all = d.plain[metric]!;
    if (this.plain && !d.keep) return (this.#sums[metric] = all);
    const s: Sums = { sums: floats(d.positions + 1), counts: floats(d.positions + 1), total: 0, samples: 0 };
    // Totals are taken before `through`.
    const take = (at: number, sum: number, count: number) => {
      s.total += sum;
      s.samples += count;
      if (d.keep && !d.keep[at]) return;
      s.sums[at + 1] += sum;
      s.counts[at + 1] += count;
    };
    for (let p = 0; !this.plain && p < d.profiles.length; p++) if (this.has(p)) this.#values(p, metric, take);
    for (let i = 0; this.plain && i < d.positions; i++) take(i, all.sums[i + 1] - all.sums[i], all.counts[i + 1] - all.counts[i]);
    for (let i = 0; i < d.positions; i++) {
      s.sums[i + 1] += s.sums[i];
      s.counts[i + 1] += s.counts[i];
    }
    if (this.plain) [s.total, s.samples] = [all.total, all.samples];
    return (this.#sums[metric] = s);
  }

  #units(metric: number, ranges: Ranges): number {
    return rangesSum(this.of(metric).sums, ranges) * this.data.units[metric];
  }

  // The value of ranges; a delta is exact where both sides count in the same unit.
  value(metric: number, ranges: Ranges): number {
    const d = this.data, m = d.metrics[metric];
    if (m.side === "delta") {
      const here = m.here < 0 ? null : d.metrics[m.here], old = m.old < 0 ? null : d.metrics[m.old];
      if (here && old && here.scale === old.scale && old.factor === 1)
        return scaled(this.#units(m.here, ranges) - this.#units(m.old, ranges), here.scale);
      return (here ? this.value(m.here, ranges) : 0) - (old ? this.value(m.old, ranges) : 0);
    }
    return scaled(this.#units(metric, ranges), m.scale) * m.factor;
  }

  // Whether any metric has a value in positions.
  any(first: number, last: number): boolean {
    return this.data.metrics.some((m, i) => m.side !== "delta" && ((s) => s[last] !== s[first])(this.of(i).sums));
  }

  // What marked contexts cost together, each sample once, and how many of them cost anything.
  union(metric: number, marked: Uint8Array): { value: number; count: number } {
    const { data: d } = this, { sums } = this.of(metric), m = d.metrics[metric];
    let sum = 0, count = 0;
    for (let c = 0, covered = 0; c < marked.length; c++) {
      if (!marked[c]) continue;
      const x = sums[d.first[d.end[c]]] - sums[d.first[c]];
      if (!x) continue;
      count++;
      if (c < covered) continue;
      sum += x;
      covered = d.end[c];
    }
    return { value: scaled(sum * d.units[metric], m.scale) * m.factor, count };
  }

  samples(metric: number, ranges: Ranges): number { return rangesSum(this.of(metric).counts, ranges); }
  allSamples(metric: number): number { return this.of(metric).samples; }

  total(metric: number): number {
    const m = this.data.metrics[metric];
    if (m.side === "delta") return (m.here < 0 ? 0 : this.total(m.here)) - (m.old < 0 ? 0 : this.total(m.old));
    return scaled(this.of(metric).total * this.data.units[metric], m.scale) * m.factor;
  }

  // What percentages are of: a change is a share of what was there before.
  base(metric: number): number {
    const m = this.data.metrics[metric];
    if (m.side !== "delta") return this.total(metric);
    const old = m.old < 0 ? 0 : this.total(m.old);
    return old !== 0 ? old : m.here < 0 ? NaN : this.total(m.here);
  }

  // Whether numbers are estimates, because the traces in the page are thinned.
  get thinned(): boolean { return !!this.chosen.time && this.data.kept.every > 1; }

  // How much a value may be off because of what was left out of the page; 0: not at all. merged: its row stands for more
  // than one path, so that calls that are not in the tree may belong to it.
  doubt(metric: number, n: Node, exclusive: boolean, merged: boolean): number {
    const d = this.data, m = d.metrics[metric];
    if (m.side === "delta") return [m.here, m.old].reduce((sum, i) => sum + (i < 0 ? 0 : this.doubt(i, n, exclusive, merged)), 0);
    let sum = 0;
    if (d.left >= 0 && (merged || d.keep) && n.scope !== d.left) sum += abs(this.#units(metric, nodeRanges(d, nodeOfSet(d, d.left, d.instances(d.left)), false)));
    if (d.kept.coarse && !this.plain && !this.chosen.time) {
      const all = exclusive ? n.exc : n.inc, tops = new Set<number>();
      for (let i = 0, covered = 0; i < all.length; i++) {
        if (!exclusive && all[i] < covered) continue;
        covered = d.end[all[i]];
        for (const t of d.tops(all[i], exclusive)) tops.add(t);
      }
      for (const t of tops) sum += abs(d.topValue(metric, t));
    }
    return scaled(sum * d.units[metric], m.scale) * m.factor;
  }

  // Statistics are over ranks, each the sum of its threads, if any has one, else over threads (query/choose/profiles.c): of each
  // profile the number of its group, -1: it takes no part.
  #groups(): { of: Int32Array; count: number } {
    if (this.#grouped) return this.#grouped;
    const d = this.data, ranked = d.profiles.some((p, i) => this.has(i) && p.rank >= 0), known = new Map<number, number>();
    const of = Int32Array.from(d.profiles, (p, i) => {
      if (!this.has(i) || (ranked && p.rank < 0) || p.queue || (p.stands && (this.#elapsed || p.stands !== Stands.BusyHelper))) return -1;
      const key = ranked ? p.rank : i;
      if (!known.has(key)) known.set(key, known.size);
      return known.get(key)!;
    });
    return (this.#grouped = { of, count: known.size });
  }

  // All values of a metric by position: which group has how many units there.
  #spread(metric: number): Spread {
    const d = this.data, { of } = this.#groups(), start = uints(d.positions + 2);
    const all = (take: (at: number, sum: number, group: number) => void) =>
      of.forEach((g, p) => { if (g >= 0) this.#values(p, metric, (at, sum) => { if (!d.keep || d.keep[at]) take(at, sum, g); }); });
    all((at) => { start[at + 2]++; });
    for (let i = 2; i < start.length; i++) start[i] += start[i - 1];
    const group = uints(start[start.length - 1]), sum = floats(group.length);
    all((at, x, g) => {
      const i = start[at + 1]++;
      group[i] = g;
      sum[i] = x;
    });
    return { start, group, sum };
  }

  // The value of ranges in each group.
  byGroup(metric: number, ranges: Ranges): Float64Array {
    const d = this.data, { start, group, sum } = (this.#spreads[metric] ??= this.#spread(metric)), out = floats(this.#groups().count);
    for (let r = 0; r < ranges.length; r += 2)
      for (let i = start[ranges[r]], end = start[ranges[r + 1]]; i < end; i++) out[group[i]] += sum[i];
    return out.map((x) => scaled(x * d.units[metric], d.metrics[metric].scale));
  }

  // The value of ranges in each chosen profile, in the order of the database.
  perProfile(metric: number, ranges: Ranges): { profile: number; value: number }[] {
    const d = this.data, out: { profile: number; value: number }[] = [], m = d.metrics[metric];
    if (m.side !== "here" || !d.kept.profiles) return out;
    for (let p = 0; p < d.profiles.length; p++) {
      if (!this.has(p) || (this.#elapsed && d.profiles[p].stands)) continue;
      let sum = 0;
      const v = d.sparse && !this.chosen.time && !d.keep ? d.sparse(metric, p) : null;
      if (!v) {
        this.#values(p, metric, (at, x) => { if ((!d.keep || d.keep[at]) && within(ranges, at)) sum += x; });
      } else {
        for (let r = 0; r < ranges.length; r += 2)
          for (let i = firstAtLeast(v.at, ranges[r]); i < v.at.length && v.at[i] < ranges[r + 1]; i++) sum += v.sum[i];
      }
      if (sum || !d.profiles[p].stands) out.push({ profile: p, value: scaled(sum * d.units[metric], m.scale) });
    }
    return out;
  }
}

// The index of the first number that is not less, in ascending ones.
export function firstAtLeast(a: ArrayLike<number>, x: number, low = 0, high = a.length): number {
  while (low < high) {
    const middle = (low + high) >>> 1;
    if (a[middle] < x) low = middle + 1;
    else high = middle;
  }
  return low;
}

// They ascend and do not touch: inside of one, an odd number of ends is not behind.
export const within = (ranges: Ranges, at: number): boolean => firstAtLeast(ranges, at + 1) % 2 > 0;

function rangesSum(prefix: Float64Array, ranges: Ranges): number {
  let sum = 0;
  for (let i = 0; i < ranges.length; i += 2) sum += prefix[ranges[i + 1]] - prefix[ranges[i]];
  return sum;
}

// ---- ranges of nodes ----

function addRange(out: Ranges, first: number, last: number): void {
  if (first >= last) return;
  if (out.length && out[out.length - 1] === first) out[out.length - 1] = last;
  else out.push(first, last);
}

// Values that belong to the context itself and not to a child.
function addDirect(d: Data, c: number, out: Ranges): void {
  addRange(out, d.first[c], d.first[c + 1 < d.end[c] ? c + 1 : d.end[c]]);
}

// What is below c without crossing a call; of a loop, its direct statements only.
function addOwn(d: Data, c: number, rule: Rule, out: Ranges): void {
  const end = d.end[c], loop = d.kind[c] === Kind.Loop && rule === Rule.Scope;
  addDirect(d, c, out);
  for (let k = c + 1; k < end;) {
    const kind = d.kind[k];
    if (kind === Kind.Line) {
      addRange(out, d.first[k], d.first[d.end[k]]);
      k = d.end[k];
    } else if (loop) {
      return;
    } else if (kind === Kind.Loop || kind === Kind.Region || kind === Kind.Phase || (kind === Kind.Inline && rule === Rule.Frame)) {
      addDirect(d, k, out);
      k++;
    } else {
      k = d.end[k];
    }
  }
}

function addExposed(d: Data, set: ArrayLike<number>, out: Ranges): void {
  for (let i = 0, covered = 0; i < set.length; i++) {
    const c = set[i];
    if (c < covered) continue;
    addRange(out, d.first[c], d.first[d.end[c]]);
    covered = d.end[c];
  }
}

// Own ranges of an outer context may lie on both sides of those of an inner one.
function inOrder(ranges: Ranges): Ranges {
  let sorted = true;
  for (let i = 2; i < ranges.length && sorted; i += 2) sorted = ranges[i] >= ranges[i - 1];
  if (sorted) return ranges;
  const pairs: Range[] = [];
  for (let i = 0; i < ranges.length; i += 2) pairs.push([ranges[i], ranges[i + 1]]);
  pairs.sort((a, b) => a[0] - b[0]);
  const out: Ranges = [];
  for (const [a, b] of pairs) {
    if (out.length && a <= out[out.length - 1]) out[out.length - 1] = max(b, out[out.length - 1]);
    else out.push(a, b);
  }
  return out;
}

export function nodeRanges(d: Data, n: Node, exclusive: boolean): Ranges {
  const out: Ranges = [];
  if (!exclusive) addExposed(d, n.inc, out);
  else if (n.rule === Rule.All) addExposed(d, n.exc, out);
  else if (n.rule !== Rule.None) {
    for (let i = 0; i < n.exc.length; i++) addOwn(d, n.exc[i], n.rule, out);
    return inOrder(out);
  }
  return out;
}

export function nodeOfContext(d: Data, c: number): Node {
  const call = isCall(d.kind[c]);
  return {
    kind: d.kind[c], scope: d.scope[c], callFile: call ? d.callFile[c] : 0, callLine: call ? d.callLine[c] : 0,
    context: c, inc: [c], exc: [c], rule: Rule.Scope, leaf: d.kind[c] === Kind.Line, rounds: 0,
  };
}

export function nodeOfSet(d: Data, scope: number, contexts: ArrayLike<number>): Node {
  return {
    kind: d.scopeKind[scope], scope, callFile: 0, callLine: 0, context: NONE, inc: contexts, exc: contexts,
    rule: Rule.Scope, leaf: false, rounds: 0,
  };
}

export const fileOf = (d: Data, n: Node): number => n.file ?? d.scopeFile[n.scope] ?? 0;
export const lineOf = (d: Data, n: Node): number => n.line ?? d.scopeLine[n.scope] ?? 0;

export const nodeName = (d: Data, n: Node): string => n.name ?? d.texts[d.scopeShown[n.scope]];

// What is drawn of a name where about `room` letters fit, by `set names`: `full` is whole everywhere, `short` nowhere
// longer than it needs to be. Two names are never drawn alike.
export const drawnName = (d: Data, n: Node, room: number): string => n.name ?? drawnScope(d, n.scope, room);

export function drawnScope(d: Data, scope: number, room: number): string {
  const whole = d.texts[d.scopeShown[scope]];
  return d.names === "full" || (d.names === "auto" && whole.length <= room) ? whole : d.texts[d.scopeShort[scope]];
}
