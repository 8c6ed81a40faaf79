// SPDX-License-Identifier: BSD-3-Clause
// prune and hide: the same values on another tree of contexts (query/choose/derive.c). And which scopes a pattern names
// (query/pattern/pattern.c): a name with or without arguments, /a regular expression/ or the @id of a context.
import { Data, Kind, NONE, Sums, Trace, floats, isCall, isCalled, octets, uints } from "./data";
import { max } from "./number";

// A pattern as a test of contexts, or a sentence that says why it is none that the page knows.
export function matcher(d: Data, pattern: string): ((context: number) => boolean) | string {
  const id = /^@([0-9a-z]{6,13})$/.exec(pattern), regex = /^\/(.+)\/(i?)$/.exec(pattern);
  if (id) return (c) => d.kind[c] !== Kind.Line && (d.id(c).startsWith(id[1]) || id[1].startsWith(d.id(c)));
  let test: (s: number) => boolean;
  if (regex) {
    let r: RegExp;
    try {
      r = new RegExp(regex[1], regex[2] + "u");
    } catch {
      return `${pattern} is no regular expression that a browser knows`;
    }
    const ofPlaces = /:|loop/.test(regex[1].replace(/::|\(\?:(?!:)/g, " ")); // who means loops says so
    test = (s) => (ofPlaces || d.scopeKind[s] !== Kind.Loop) && names(d, s, 0).concat(places(d, s)).some((n) => r.test(n));
  } else {
    const word = /^["']/.test(pattern) ? pattern.slice(1, -1).replace(/\\([\\"'])/g, "$1") : pattern;
    if (regex === null && !/^["']/.test(pattern) && !/^[\w.:~$]+$/.test(pattern)) return `${pattern} is no pattern that the page knows: a name, /a regular expression/ or an @id`;
    test = (s) => names(d, s, 1).includes(word) || d.texts[d.scopeWhole[s]] === word || d.texts[d.scopeBare[s]] === word || places(d, s)[0] === word;
  }
  const marks = octets(d.scopes);
  let any = false;
  for (let s = 0; s < d.scopes; s++) if (onPaths(d.scopeKind[s]) && d.instances(s).length && test(s)) any = !!(marks[s] = 1);
  return any ? (c) => marks[d.scope[c]] === 1 : `nothing on the page is called ${pattern}: hq may know more names`;
}

const onPaths = (k: Kind) => k !== Kind.Root && k !== Kind.Line && k !== Kind.Call && k !== Kind.Module && k !== Kind.File;

function names(d: Data, s: number, words: number): string[] {
  const own = d.texts[d.scopeName[s]];
  return (own || d.scopeKind[s] !== Kind.Loop ? [own] : []).concat(d.aliases.get(s)?.[words] ?? []);
}

// `[not] through A > B >> C` (query/choose/paths.c): the positions whose call path matches, parents first, with the steps that
// have matched above as bits: the next one may follow directly, or anywhere below. A sentence where it is none.
export function paths(d: Data, text: string): Uint8Array | string {
  const negated = /^not\s+/.exec(text), far: boolean[] = [], steps: ((c: number) => boolean)[] = [];
  const STEP = /\s*(>>?)?\s*("(?:\\.|[^"\\])*"|'(?:\\.|[^'\\])*'|\/(?:\\.|[^\/\\])+\/i?|[@\w.:~$]+|\*)/y;
  const frame = (c: number) => isCall(d.kind[c]) || d.kind[c] === Kind.Thread || d.kind[c] === Kind.Partial;
  for (let at = negated ? negated[0].length : 0; at < text.trimEnd().length;) {
    STEP.lastIndex = at;
    const m = STEP.exec(text), step = m && !m[1] === !steps.length ? (m[2] === "*" ? frame : matcher(d, m[2])) : null;
    if (!step || steps.length > 29) return `${text} is no path that the page knows: main >> exchange > MPI_Wait`;
    if (typeof step === "string") return step;
    steps.push(step);
    far.push(m![1] === ">>");
    at = STEP.lastIndex;
  }
  const near = uints(d.contexts), below = uints(d.contexts), found = octets(d.contexts), keep = octets(d.positions).fill(1);
  for (let c = 0; c < d.contexts; c++) {
    const up = d.parent[c], kind = d.kind[c], direct = up === NONE ? 0 : near[up], any = up === NONE ? 0 : below[up];
    let n = isCalled(kind) || kind === Kind.Thread || kind === Kind.Partial ? 0 : direct, b = any, f = up === NONE ? 0 : found[up];
    if (kind !== Kind.Line)
      for (let i = 0; i < steps.length; i++)
        if ((!i || (far[i] ? any : direct) & (1 << (i - 1))) && steps[i](c)) {
          n |= 1 << i;
          b |= 1 << i;
          if (i + 1 === steps.length) f = 1;
        }
    near[c] = n;
    below[c] = b;
    found[c] = f;
    if ((f === 1) === !!negated) keep.fill(0, d.first[c], d.first[c + 1 < d.end[c] ? c + 1 : d.end[c]]);
  }
  return keep;
}

// What a loop is called by its place.
function places(d: Data, s: number): string[] {
  if (d.scopeKind[s] !== Kind.Loop) return [];
  const path = d.texts[d.scopeFile[s]], line = d.scopeLine[s];
  return [`loop at ${path.slice(path.lastIndexOf("/") + 1)}:${line}`, ...(line ? [`${path}:${line}`] : [])];
}

// The data with what is below pruned contexts on them, and what hidden ones had on their parents.
export function reshape(d: Data, prune: (c: number) => boolean, hide: (c: number) => boolean): Data {
  // Nodes: the first context of each, its parent; children of one parent merge by scope and call site.
  const first: number[] = [0], up: number[] = [-1], kids: number[][] = [[]], known = new Map<string, number>();
  const node = uints(d.contexts), pruned = octets(d.contexts);
  for (let c = 1; c < d.contexts; c++) {
    const parent = d.parent[c] === NONE ? 0 : d.parent[c], at = node[parent];
    pruned[c] = pruned[parent] || prune(c) ? 1 : 0;
    if (pruned[parent] || hide(c)) {
      node[c] = at;
      continue;
    }
    const key = `${at},${d.scope[c]},${d.callFile[c]},${d.callLine[c]}`;
    let n = known.get(key);
    if (n === undefined) {
      known.set(key, (n = first.length));
      first.push(c);
      up.push(at);
      kids.push([]);
      kids[at].push(n);
    }
    node[c] = n;
  }
  // Numbers in preorder, statements before what is called: exclusive values rely on it.
  const count = first.length, number = uints(count), old = uints(count), parent = uints(count).fill(NONE), end = uints(count);
  const isLine = (n: number) => (d.kind[first[n]] === Kind.Line ? 0 : 1), stack = [0];
  for (let next = 0; stack.length;) {
    const n = stack.pop()!;
    old[next] = first[n];
    number[n] = next++;
    kids[n].sort((a, b) => isLine(b) - isLine(a) || b - a);
    for (const k of kids[n]) stack.push(k);
  }
  for (let n = 1; n < count; n++) parent[number[n]] = number[up[n]];
  for (let c = count - 1; c >= 0; c--) {
    end[c] = max(end[c], c + 1);
    if (parent[c] !== NONE) end[parent[c]] = max(end[parent[c]], end[c]);
  }
  // Positions in the order of the new contexts.
  const of = uints(d.positions), starts = uints(count + 1), place = uints(d.positions);
  for (let c = 0; c < d.contexts; c++) for (let p = d.first[c]; p < d.first[c + 1]; p++) starts[(of[p] = number[node[c]]) + 1]++;
  for (let c = 0; c < count; c++) starts[c + 1] += starts[c];
  const next = starts.slice();
  for (let p = 0; p < d.positions; p++) place[p] = next[of[p]]++;

  const tops = [new Map<number, Set<number>>(), new Map<number, Set<number>>()];
  for (let c = 0; d.kept.coarse && c < d.contexts; c++)
    for (const x of [0, 1]) for (const t of d.tops(c, x === 1)) {
      const n = number[node[c]];
      if (!tops[x].has(n)) tops[x].set(n, new Set());
      tops[x].get(n)!.add(t);
    }

  const sums = (s: Sums | null): Sums | null => {
    if (!s) return null;
    const move = (from: Float64Array) => {
      const to = floats(from.length);
      for (let p = 0; p < d.positions; p++) to[place[p] + 1] = from[p + 1] - from[p];
      for (let p = 0; p < d.positions; p++) to[p + 1] += to[p];
      return to;
    };
    return { ...s, sums: move(s.sums), counts: move(s.counts) };
  };
  const move = (from: Uint8Array) => {
    const to = octets(from.length);
    from.forEach((x, p) => { to[place[p]] = x; });
    return to;
  };
  const pick = (a: Uint32Array) => Uint32Array.from(old, (c) => a[c]), scope = pick(d.scope);
  const byScope: number[][] = [], traces = new Map<number, Trace>();
  scope.forEach((s, c) => (byScope[s] ??= []).push(c));
  const none = uints(0), instances = byScope.map((list) => Uint32Array.from(list));
  return {
    ...d, contexts: count, scope, end, parent, first: starts, callFile: pick(d.callFile), callLine: pick(d.callLine),
    kind: Uint8Array.from(old, (c) => d.kind[c]), plain: d.plain.map(sums), id: (c) => d.id(old[c]), instances: (s) => instances[s] ?? none,
    keep: d.keep && move(d.keep), sparse: null, each: (metric, profile, take) => d.each(metric, profile, (at, sum, count) => take(place[at], sum, count)),
    tops: (c, exclusive) => (tops[exclusive ? 1 : 0].has(c) ? [...tops[exclusive ? 1 : 0].get(c)!] : []),
    trace: (profile) => {
      if (!traces.has(profile)) {
        const t = d.trace(profile);
        traces.set(profile, { ...t, at: t.at.map((p) => place[p]) });
      }
      return traces.get(profile)!;
    },
  };
}
