// SPDX-License-Identifier: BSD-3-Clause
// The data of the page: opened once, then plain typed arrays. What they mean is told in format/database.h; what is in
// the page and how it is packed, in query/report/.
import { abs, ceil, floor, max, round } from "./number";

// format/scope.h
export enum Role { None, Task, Target }
export enum Kind { Root, Thread, Procedure, Inline, Loop, Line, Call, Module, File, Partial, Region, Wait, Runtime, Phase, Device }
export const kindNames: string[] = []; // as the language has them
// Does a context of this kind begin with a call?
export const isCalled = (k: Kind) => k === Kind.Procedure || k === Kind.Wait || k === Kind.Runtime || k === Kind.Device;
export const isCall = (k: Kind) => isCalled(k) || k === Kind.Inline;

export enum Dim { None, Seconds, Events, Bytes }

export const ELAPSED = 64; // of Metric.flags: a record of several periods stands for those just before it (format/database.h)

export interface Metric {
  name: string; event: string; description: string;
  side: "here" | "old" | "delta";
  dim: Dim; flags: number; period: number;
  here: number; old: number; // of a delta: what it is the difference of; -1 zero
  scale: number; factor: number;
  weight: number;    // units that a sample stands for where they differ; 0: all are alike
  elapsed: number;   // 1: counts time also while a thread sleeps
  queues: number;    // 1: of queues of devices, not of threads
}
export const EXACT = 2, NO_COUNTS = 4, TRACED = 8, SPANS = 16, WEIGHED = 32;

export interface Profile {
  rank: number; thread: number; pid: number; host: string; command: string;
  offset: number; start: number; end: number; // microseconds; of the run but for offset, which is added to the trace's
  stands: Stands;
  queue: number; // 1: of a device
}
// query/choose/helpers.h
export enum Stands { In, Launcher, Helper, BusyHelper }

// query/grammar/functions.def
export interface Function { least: number; most: number; statistic: number; ofNumber: number; plain: number; unitless: number }

// Prefix sums over positions: the value of [a, b) is sums[b] - sums[a], in units.
export interface Sums { sums: Float64Array; counts: Float64Array; total: number; samples: number }

// Values of one profile and metric, by position.
export interface Sparse { at: Uint32Array; sum: Float64Array; count: Float64Array }

export interface Trace { time: Float64Array; at: Uint32Array; metric: Uint8Array; weight: Float64Array }

export interface Source { notes: string[]; lines: Map<number, string> }

export const NONE = 0xffffffff;

// A question and hq's answer: rows are [name, place, kind, depth, id, cell ...], a cell a text or [number, as people read it].
export interface Answer { question: string; columns: string[]; rows: any[][]; notes: string[]; picture?: string }

export interface Data {
  version: string; name: string; settings: string; names: "auto" | "short" | "full"; compare: string | null;
  texts: string[];
  metrics: Metric[]; units: number[]; plain: (Sums | null)[]; inexact: boolean[];
  profiles: Profile[]; length: number; ranked: boolean;
  losses: [number, number, string][];
  info: string[][]; summary: string[][];
  kept: { records: number; every: number; profiles: boolean; coarse: number; cut: number };
  left: number; // the scope that stands for calls that were left out; -1: none were
  positions: number;
  scopes: number;
  scopeKind: Uint8Array; scopeParent: Uint32Array; scopeName: Uint32Array; scopeShown: Uint32Array; scopeShort: Uint32Array; scopeApart: Uint32Array;
  scopeFile: Uint32Array; scopeLine: Uint32Array; inferred: Uint8Array; scopeRole: Uint8Array; scopeModule: Uint32Array; scopeOwner: Uint8Array; // its family + 8 times its shade (query/picture/palette.h)
  scopeWhole: Uint32Array; scopeBare: Uint32Array; aliases: Map<number, string[][]>; // of names: without return types, without arguments; others, for regular expressions and as words
  scopeEntity: Uint32Array; entityScope: Uint32Array;
  contexts: number;
  scope: Uint32Array; end: Uint32Array; parent: Uint32Array; first: Uint32Array;
  callFile: Uint32Array; callLine: Uint32Array; kind: Uint8Array;
  id: (context: number) => string;
  instances: (scope: number) => Uint32Array;
  functions: Record<string, Function>;
  literals: Record<string, [number, number, Dim, number]>; // units: times, over; 1: percent
  attributes: string[];
  meant: Record<string, number>; // aliases of metrics; -1: there is none of the kind
  keep: Uint8Array | null;       // of positions, 1: `through` keeps the call path; null: all
  each: (metric: number, profile: number, take: (at: number, sum: number, count: number) => void) => void; // values of a profile, by position
  sparse: ((metric: number, profile: number) => Sparse) | null; // the same at once, where positions ascend
  tops: (context: number, exclusive: boolean) => number[]; // the calls with one value by profile in which what is asked lies
  topValue: (metric: number, top: number) => number;       // units, of the whole run
  trace: (profile: number) => Trace;
  hasTraces: boolean;
  sources: Map<number, Source>;
  answers: Answer[];
  opened: number[][] | null; // [scope, profile, entries, nanoseconds, threads of all entries, largest team] of parallel regions; null: they are not in the page
  process: number[];         // of profiles: which belong together
  messages: number[][]; pairs: number; // messages.ts
}

class Reader {
  constructor(private bytes: Uint8Array, private at: number) {}
  // Exact up to 2^53: what the page adds up stays below, or is marked.
  next(): number {
    let b = this.bytes[this.at++], x = b & 127, times = 128;
    while (b & 128) {
      b = this.bytes[this.at++];
      x += (b & 127) * times;
      times *= 128;
    }
    return x;
  }
  signed(): number {
    const odd = this.bytes[this.at] & 1, x = this.next(); // x has no last bit over 2^53
    return odd ? -(x + 1) / 2 : x / 2;
  }
}

const DIGITS = "0123456789abcdefghjkmnpqrstvwxyz";

// 13 digits of base 32, as query/table.h has them.
function idText(x: bigint): string {
  let text = "";
  for (let i = 0; i < 13; i++) {
    text = DIGITS[Number(x & 31n)] + text;
    x >>= 5n;
  }
  return text;
}

// Newer than the types that Debian's compiler knows.
declare const DecompressionStream: undefined | (new (format: string) => { readable: ReadableStream; writable: WritableStream });
export const canInflate = typeof DecompressionStream !== "undefined";

async function inflate(base64: string): Promise<Uint8Array> {
  const text = atob(base64.trim()), packed = octets(text.length);
  for (let i = 0; i < text.length; i++) packed[i] = text.charCodeAt(i);
  const stream = new Blob([packed]).stream().pipeThrough(new DecompressionStream!("gzip"));
  return new Uint8Array(await new Response(stream).arrayBuffer());
}

// Columns of zeros.
export const uints = (n: number) => new Uint32Array(n), floats = (n: number) => new Float64Array(n), octets = (n: number) => new Uint8Array(n);

const noTrace: Trace = { time: floats(0), at: uints(0), metric: octets(0), weight: floats(0) };

export async function openData(base64: string): Promise<Data> {
  const bytes = await inflate(base64);
  const jsonBytes = new DataView(bytes.buffer, bytes.byteOffset).getUint32(8, true);
  const json = JSON.parse(new TextDecoder().decode(bytes.subarray(12, 12 + jsonBytes)));
  const base = 12 + jsonBytes;
  kindNames.push(...json.kinds);
  const reader = (name: string) => new Reader(bytes, base + json.columns[name][0]);

  // Columns of less than 2^32, without an object at work.
  function column<T extends Uint32Array | Uint8Array>(name: string, array: T, less = 0): T {
    for (let i = 0, at = base + json.columns[name][0]; i < array.length; i++) {
      let b = bytes[at++], x = b & 127;
      for (let shift = 7; b & 128; shift += 7) x |= ((b = bytes[at++]) & 127) << shift;
      array[i] = x - less;
    }
    return array;
  }
  const ints = (name: string, n: number, less = 0) => column(name, uints(n), less);
  const small = (name: string, n: number) => column(name, octets(n));

  const scopes: number = json.scopes, n: number = json.contexts, positions: number = json.positions;
  const scopeKind = small("scope.kind", scopes);
  const scope = ints("context.scope", n), size = ints("context.size", n);
  const end = uints(n), parent = uints(n).fill(NONE), first = uints(n + 1);
  const kind = octets(n), path: number[] = [];
  const firsts = reader("context.first");
  for (let c = 0, at = 0; c < n; c++) {
    end[c] = c + size[c];
    kind[c] = scopeKind[scope[c]];
    at += firsts.signed();
    first[c] = at;
    while (path.length && end[path[path.length - 1]] <= c) path.pop();
    if (path.length) parent[c] = path[path.length - 1];
    path.push(c);
  }
  first[n] = positions;

  // Contexts of each scope, ascending: those of s are starts[s] .. starts[s + 1] once all are placed.
  const starts = uints(scopes + 2), byScope = uints(n);
  for (let c = 0; c < n; c++) starts[scope[c] + 2]++;
  for (let s = 2; s < starts.length; s++) starts[s] += starts[s - 1];
  for (let c = 0; c < n; c++) byScope[starts[scope[c] + 1]++] = c;

  // Calls whose values by profile are one value, which stands at their first position.
  const coarse = json.kept.coarse > 0 ? uints(n) : null, topAt = new Map<number, number>();
  if (coarse) {
    const r = reader("coarse");
    for (let c = 0, step = r.next(); step; step = r.next()) {
      c += step;
      coarse.fill(c, c, end[c]);
      topAt.set(first[c], c);
    }
  }

  const ids = json.columns["context.id"][0] + base, idBytes = ceil((5 * json.idDigits - 1) / 8);
  let named: Uint32Array | null = null; // which id is whose: lines have none
  const id = (c: number) => {
    if (!named) {
      named = uints(n);
      for (let i = 0, k = 0; i < n; i++) if (kind[i] !== Kind.Line) named[i] = k++;
    }
    let id = 0n;
    for (let i = 0; i < 8; i++) id = (id << 8n) | BigInt(i < idBytes ? bytes[ids + idBytes * named[c] + i] : 0);
    return idText(id).slice(0, json.idDigits);
  };

  const metrics: Metric[] = json.metrics, units: number[] = [], inexact: boolean[] = [], plain: (Sums | null)[] = [];
  metrics.forEach((_, i) => {
    const s = json.sums[i];
    units.push(s ? s.unit : 1);
    if (!s) {
      plain.push(null);
      inexact.push(false);
      return;
    }
    const sums = floats(positions + 1), counts = floats(positions + 1);
    const a = reader("sum" + i), b = reader("count" + i);
    let all = 0; // whatever their sign: no sum of some of them is larger
    for (let k = 0; k < positions; k++) {
      const step = a.signed();
      all += abs(step);
      sums[k + 1] = sums[k] + step;
      counts[k + 1] = counts[k] + b.signed();
    }
    inexact.push(!(all < 2 ** 53));
    plain.push({ sums, counts, total: Number(BigInt(s.total) / BigInt(s.unit)), samples: s.samples });
  });

  const profiles: Profile[] = json.profiles.map((p: number[]) => ({
    rank: p[0], thread: p[1], pid: p[2], host: json.texts[p[3]], command: json.texts[p[4]],
    offset: p[5], start: p[6], end: p[7], stands: p[8], queue: p[9],
  }));

  // Values by profile are opened when they are first asked for, and so are the traces.
  const values: (Sparse[] | undefined)[] = [];
  const openValues = (m: number): Sparse[] => {
    const r = reader("profile" + m), room = json.columns["profile" + m][1] / 3;
    const at = uints(room), sum = floats(room), count = floats(room);
    let i = 0, all = 0;
    const out = profiles.map(() => {
      const from = i, to = i + r.next();
      for (let last = 0; i < to; i++) {
        at[i] = last += r.next();
        count[i] = r.next();
        all += abs(sum[i] = r.signed() + count[i]);
      }
      return { at: at.subarray(from, to), sum: sum.subarray(from, to), count: count.subarray(from, to) };
    });
    inexact[m] ||= !(all < 2 ** 53);
    return out;
  };

  const sparse = (m: number, p: number) => (values[m] ??= openValues(m))[p];
  // What a call has as one value is spread as the whole run has it inside; its sum stays as it is.
  const each: Data["each"] = (m, p, take) => {
    const v = sparse(m, p);
    for (let i = 0; i < v.at.length; i++) {
      const top = topAt.get(v.at[i]), all = plain[m];
      if (top === undefined || !all) {
        take(v.at[i], v.sum[i], v.count[i]);
        continue;
      }
      const from = first[top], to = first[end[top]], sum = all.sums[to] - all.sums[from], count = all.counts[to] - all.counts[from];
      const part = (x: number, prefix: Float64Array, whole: number, at: number) => (at >= to ? x : whole ? round((x * (prefix[at] - prefix[from])) / whole) : 0);
      for (let at = from; at < to; at++)
        if (all.counts[at + 1] !== all.counts[at] || all.sums[at + 1] !== all.sums[at] || at === to - 1)
          take(at, part(v.sum[i], all.sums, sum, at + 1) - part(v.sum[i], all.sums, sum, at), part(v.count[i], all.counts, count, at + 1) - part(v.count[i], all.counts, count, at));
    }
  };

  const hasTraces: boolean = json.kept.every > 0;
  let traces: Trace[] | null = null;
  // Into arrays that all profiles share.
  const openTraces = (): Trace[] => {
    const r = reader("trace"), room = json.columns.trace[1] >> 1; // a record has two bytes or more
    const all: Trace = { time: floats(room), at: uints(room), metric: octets(room), weight: floats(room) };
    let i = 0;
    return profiles.map((p) => {
      const from = i, to = i + r.next();
      for (let time = 0, at = 0, metric = 0, weight = 1; i < to; i++) {
        time += r.signed();
        const step = r.signed();
        at += floor(step / 2);
        if (step % 2 !== 0) {
          metric = r.next();
          weight = r.next();
        }
        all.time[i] = max(0, p.offset + time);
        all.at[i] = at;
        all.metric[i] = metric;
        all.weight[i] = weight;
      }
      return { time: all.time.subarray(from, to), at: all.at.subarray(from, to), metric: all.metric.subarray(from, to), weight: all.weight.subarray(from, to) };
    });
  };

  const sources = new Map<number, Source>();
  for (const s of json.sources) sources.set(s.file, { notes: s.notes, lines: new Map(s.lines) });

  return {
    version: json.version, name: json.name, settings: json.settings, names: json.names, compare: json.compare, texts: json.texts,
    metrics, units, plain, inexact, profiles, length: json.length, ranked: profiles.some((p) => p.rank >= 0),
    losses: json.losses, info: json.info, summary: json.summary, kept: json.kept, positions, scopes,
    scopeKind, scopeParent: ints("scope.parent", scopes, 1), scopeName: ints("scope.name", scopes),
    scopeShown: ints("scope.shown", scopes), scopeShort: ints("scope.short", scopes), scopeApart: ints("scope.apart", scopes), scopeFile: ints("scope.file", scopes), scopeLine: ints("scope.line", scopes),
    scopeModule: ints("scope.module", scopes), scopeOwner: small("scope.owner", scopes), inferred: small("scope.inferred", scopes), scopeRole: small("scope.role", scopes),
    scopeWhole: ints("scope.whole", scopes), scopeBare: ints("scope.bare", scopes), aliases: new Map(json.aliases.map(([s, ...both]: any[]) => [s, both])),
    scopeEntity: ints("scope.entity", scopes, 1), entityScope: ints("entity.scope", json.entities),
    contexts: n, scope, end, parent, first, callFile: ints("context.file", n), callLine: ints("context.line", n), kind, id,
    instances: (s) => byScope.subarray(starts[s], starts[s + 1]),
    functions: json.functions, literals: json.literals, attributes: json.attributes, meant: json.meant, keep: null,
    each, sparse: coarse ? null : sparse, left: json.left,
    tops: (c, exclusive) => (coarse?.[c] && (exclusive || coarse[c] !== c) ? [coarse[c]] : []),
    topValue: (m, top) => (plain[m] ? plain[m]!.sums[first[end[top]]] - plain[m]!.sums[first[top]] : 0),
    trace: (p) => (hasTraces ? (traces ??= openTraces())[p] : noTrace),
    hasTraces, sources, answers: json.answers, opened: json.opened, process: json.profiles.map((p: number[]) => p[10]), messages: json.messages, pairs: json.pairs,
  };
}
