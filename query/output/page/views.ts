// SPDX-License-Identifier: BSD-3-Clause
// The views of hq on the columns of the page: which rows there are and what lies below each (query/views/).
import { Data, Kind, NONE, isCall, isCalled, uints } from "./data";
import { Node, nodeOfContext, nodeOfSet, Rule } from "./model";
import { max } from "./number";

export const viewNames = ["tree", "callers", "flat", "procedures", "loops", "lines", "files", "modules"] as const;
export type ViewName = (typeof viewNames)[number];
export const nested = (v: ViewName) => v === "tree" || v === "callers" || v === "flat";

export const baseName = (path: string) => path.slice(path.lastIndexOf("/") + 1) || path;

// Groups in the order in which their keys are first met; the members of each ascending.
class Groups<K> {
  #of = new Map<string, number>();
  readonly keys: K[] = [];
  readonly both: number[][] = [];
  readonly inclusive: number[][] = [];
  has(key: string): boolean { return this.#of.has(key); }
  add(key: string, value: K, context: number, inclusiveOnly = false): void {
    let g = this.#of.get(key);
    if (g === undefined) {
      g = this.keys.length;
      this.#of.set(key, g);
      this.keys.push(value);
      this.both.push([]);
      this.inclusive.push([]);
    }
    (inclusiveOnly ? this.inclusive : this.both)[g].push(context);
  }
  each(make: (key: K, inc: number[], exc: number[]) => Node): Node[] {
    return this.keys.map((key, g) => {
      const exc = this.both[g].sort((a, b) => a - b);
      const inc = this.inclusive[g].length ? exc.concat(this.inclusive[g]).sort((a, b) => a - b) : exc;
      return make(key, inc, exc);
    });
  }
}

function joined(parts: Uint32Array[]): Uint32Array {
  const out = uints(parts.reduce((n, p) => n + p.length, 0));
  let at = 0;
  for (const p of parts) {
    out.set(p, at);
    at += p.length;
  }
  return out;
}

export class Views {
  constructor(private d: Data, private lines: boolean, readonly merge: boolean) {}

  roots(view: ViewName): Node[] {
    switch (view) {
      case "tree": return this.treeChildren({ ...nodeOfContext(this.d, 0) });
      case "callers": return this.#procedures().map((n) => ({ ...n, at: n.exc }));
      case "flat": return this.#below(null, 0);
      case "procedures": return this.#procedures();
      case "loops": return this.#loops();
      case "lines": return this.linesOf(null);
      case "files": return this.#containers(Kind.File);
      case "modules": return this.#containers(Kind.Module);
    }
  }

  children(view: ViewName, n: Node): Node[] {
    if (n.leaf) return [];
    if (view === "tree") return this.treeChildren(n);
    if (view === "callers") return this.callers(n);
    if (view === "flat") return n.kind === Kind.Module || n.kind === Kind.File ? this.#below(n.inc, n.scope) : this.#inside(n);
    return [];
  }

  // ---- tree ----

  #shown(c: number): boolean { return this.lines || this.d.kind[c] !== Kind.Line; }

  // Of the children of a single context those that are worth it, so that of very many few become objects.
  treeChildren(n: Node, worth: (context: number) => boolean = () => true): Node[] {
    const d = this.d;
    if (n.inc.length !== 1) return this.#mergedChildren(n);
    const out: Node[] = [], top = n.inc[0];
    for (let c = top + 1; c < d.end[top]; c = d.end[c])
      if (this.#shown(c) && worth(c)) out.push(this.#rounds(nodeOfContext(d, c)));
    return out;
  }

  // The children of several contexts, merged where scope and call site are the same.
  #mergedChildren(n: Node): Node[] {
    const d = this.d, g = new Groups<null>();
    for (let i = 0; i < n.inc.length; i++)
      for (let c = n.inc[i] + 1, end = d.end[n.inc[i]]; c < end; c = d.end[c])
        if (this.#shown(c) && !(n.rounds && d.scope[c] === n.scope))
          g.add(`${d.scope[c]},${d.callFile[c]},${d.callLine[c]}`, null, c);
    return g.each((_, inc) => this.#rounds({ ...nodeOfContext(d, inc[0]), inc, exc: inc, context: inc.length > 1 ? NONE : inc[0] }));
  }

  // A procedure that calls itself three times or more is one row with the number of its rounds (query/shape/rounds.c).
  #rounds(n: Node): Node {
    const d = this.d;
    if (n.kind !== Kind.Procedure || !this.merge || (n.exc.length === 1 && !this.someChild(n.exc[0], (c) => d.scope[c] === n.scope))) return n;
    const all = Array.from(n.exc);
    let rounds = 0;
    for (let i = 0; i < all.length; rounds++)
      for (const end = all.length; i < end; i++)
        for (let c = all[i] + 1; c < d.end[all[i]]; c = d.end[c]) if (d.scope[c] === n.scope) all.push(c);
    if (rounds < 3) return n;
    all.sort((a, b) => a - b);
    return { ...n, inc: all, exc: all, rounds };
  }

  // Whether a condition holds for any row below a context.
  someChild(top: number, holds: (context: number) => boolean): boolean {
    const d = this.d;
    for (let c = top + 1; c < d.end[top]; c = d.end[c]) if (this.#shown(c) && holds(c)) return true;
    return false;
  }

  // ---- procedures and their callers ----

  #all: Node[] | null = null;
  #procedures(): Node[] {
    if (this.#all) return this.#all;
    const d = this.d, scopes: number[][] = [];
    for (let s = 0; s < d.scopes; s++)
      if (d.scopeEntity[s] !== NONE && d.instances(s).length) (scopes[d.scopeEntity[s]] ??= []).push(s);
    const out: Node[] = [];
    scopes.forEach((list, entity) => {
      const contexts = list.length === 1 ? d.instances(list[0]) : joined(list.map(d.instances)).sort();
      out.push(nodeOfSet(d, list.length === 1 ? list[0] : d.entityScope[entity], contexts));
    });
    return (this.#all = out);
  }

  // All contexts of the procedure that a scope is, inlined ones too.
  procedureOf(scope: number): Node | null {
    const entity = this.d.scopeEntity[scope];
    return entity === NONE ? null : this.#procedures().find((n) => this.d.scopeEntity[n.scope] === entity) ?? null;
  }

  #callerOf(c: number): number {
    const d = this.d;
    for (c = d.parent[c]; c !== NONE; c = d.parent[c])
      if (isCall(d.kind[c]) || d.kind[c] === Kind.Thread || d.kind[c] === Kind.Partial) return c;
    return NONE;
  }

  #who(c: number): number {
    const entity = this.d.scopeEntity[this.d.scope[c]];
    return entity === NONE ? -1 - this.d.scope[c] : entity;
  }

  callers(parent: Node): Node[] {
    const d = this.d, at = parent.at ?? parent.exc;
    const groups = new Map<string, { who: number; file: number; line: number; items: number[]; at: number[] }>();
    for (let i = 0; i < parent.exc.length; i++) {
      const caller = this.#callerOf(at[i]);
      if (caller === NONE) continue;
      const who = this.#who(caller), file = d.callFile[at[i]], line = d.callLine[at[i]], key = `${who},${file},${line}`;
      let g = groups.get(key);
      if (!g) groups.set(key, (g = { who, file, line, items: [], at: [] }));
      g.items.push(parent.exc[i]);
      g.at.push(caller);
    }
    return Array.from(groups.values(), (g) => {
      const scope = g.who < 0 ? -1 - g.who : d.entityScope[g.who], n = nodeOfSet(d, scope, g.items);
      return this.#callerRounds({ ...n, callFile: g.file, callLine: g.line, at: g.at, leaf: n.kind === Kind.Thread || n.kind === Kind.Partial });
    });
  }

  // A caller that calls itself is one row, if there are rounds enough.
  #callerRounds(n: Node): Node {
    let most = 0;
    const outer = Array.from(n.at!, (c) => {
      let rounds = 1;
      const self = this.#who(c);
      for (let up; (up = this.#callerOf(c)) !== NONE && this.#who(up) === self; c = up) rounds++;
      most = max(most, rounds);
      return c;
    });
    return most < 3 || !this.merge ? n : { ...n, at: outer, rounds: most };
  }

  // ---- flat ----

  #enclosing(scope: number, kind: Kind): number {
    for (let s = scope; s !== NONE; s = this.d.scopeParent[s]) if (this.d.scopeKind[s] === kind) return s;
    return NONE;
  }

  // The scope just below `top` on the way up from a scope; -1 if it is not inside.
  #justBelow(scope: number, top: number): number {
    const d = this.d;
    for (let s = scope; s !== NONE; s = d.scopeParent[s]) {
      const parent = d.scopeParent[s];
      if (parent === top || (parent === NONE && top === 0)) return s === 0 ? -1 : s;
    }
    return -1;
  }

  #staticNode(scope: number, contexts: ArrayLike<number>): Node {
    const n = nodeOfSet(this.d, scope, contexts);
    if (n.kind === Kind.Module || n.kind === Kind.File) n.rule = Rule.Frame;
    n.leaf = n.kind === Kind.Line;
    return n;
  }

  #below(all: ArrayLike<number> | null, top: number): Node[] {
    const d = this.d, g = new Groups<number>(), n = all ? all.length : d.contexts;
    const into = new Int32Array(d.scopes).fill(-2); // of each scope, once it was looked for
    for (let i = 0; i < n; i++) {
      const c = all ? all[i] : i;
      if (!isCalled(d.kind[c])) continue;
      const s = d.scope[c];
      if (into[s] === -2) into[s] = this.#justBelow(s, top);
      if (into[s] >= 0) g.add(String(into[s]), into[s], c);
    }
    return g.each((scope, _, exc) => this.#staticNode(scope, exc));
  }

  #inside(parent: Node): Node[] {
    const d = this.d, g = new Groups<Kind>();
    const lineKey = (file: number, line: number, scope: number) => `l${file},${line},${scope}`;
    for (let pass = 0; pass < 2; pass++) // lines first, so that calls find theirs
      for (let i = 0; i < parent.exc.length; i++)
        for (let c = parent.exc[i] + 1, end = d.end[parent.exc[i]]; c < end; c = d.end[c]) {
          const s = d.scope[c], kind = d.kind[c];
          if ((kind !== Kind.Line) !== (pass === 1)) continue;
          if (kind === Kind.Line) {
            g.add(lineKey(d.scopeFile[s], d.scopeLine[s], d.scopeLine[s] ? 0 : s), kind, c);
            continue;
          }
          if (isCalled(kind)) g.add(`c${s},${d.callFile[c]},${d.callLine[c]}`, Kind.Call, c);
          else g.add(`s${s}`, kind, c);
          const line = lineKey(d.callFile[c], d.callLine[c], 0);
          if (isCall(kind) && d.callLine[c] && g.has(line)) g.add(line, Kind.Line, c, true);
        }
    return g.each((kind, inc, exc) => {
      const n = this.#staticNode(d.scope[exc[0]], exc);
      n.inc = inc;
      n.leaf = kind === Kind.Line || kind === Kind.Call;
      if (kind === Kind.Call) {
        n.kind = Kind.Call;
        n.rule = Rule.None;
        n.callFile = d.callFile[exc[0]];
        n.callLine = d.callLine[exc[0]];
      }
      return n;
    });
  }

  // ---- ranked lists ----

  #loops(): Node[] {
    const d = this.d, out: Node[] = [];
    for (let s = 0; s < d.scopes; s++)
      if (d.scopeKind[s] === Kind.Loop && d.instances(s).length) out.push(nodeOfSet(d, s, d.instances(s)));
    return out;
  }

  // A row for a line, with the calls made from it; of one file, if it is given.
  linesOf(file: number | null): Node[] {
    const d = this.d, g = new Groups<null>();
    const key = (f: number, line: number, scope: number) => `${f},${line},${scope}`;
    const holder = (s: number) => {
      const p = this.#enclosing(s, Kind.Procedure);
      return p === NONE ? s : p;
    };
    for (let c = 0; c < d.contexts; c++) {
      const s = d.scope[c];
      if (d.kind[c] === Kind.Line && (file === null || (d.scopeFile[s] === file && d.scopeLine[s])))
        g.add(key(d.scopeFile[s], d.scopeLine[s], d.scopeLine[s] ? 0 : holder(s)), null, c);
    }
    for (let c = 0; c < d.contexts; c++)
      if (isCall(d.kind[c]) && d.callLine[c] && (file === null || d.callFile[c] === file)) {
        g.add(key(d.callFile[c], d.callLine[c], 0), null, c, true);
      }
    // Nothing but calls that were inlined: no statement is known there.
    const called = (c: number) => ({ kind: Kind.Line, file: d.callFile[c], line: d.callLine[c], name: `${baseName(d.texts[d.callFile[c]])}:${d.callLine[c]}` });
    return g.each((_, inc, exc) => ({ ...nodeOfSet(d, d.scope[exc[0] ?? d.parent[inc[0]]], exc), ...(exc.length ? {} : called(inc[0])), inc, leaf: true }));
  }

  // What has no file or load module is one row, so that the rows add up to the total.
  #containers(kind: Kind): Node[] {
    const d = this.d, g = new Groups<number>();
    const into = Int32Array.from({ length: d.scopes }, (_, s) => {
      const at = isCalled(d.scopeKind[s]) ? this.#enclosing(s, kind) : -1;
      return at !== NONE ? at : s !== d.left ? d.scopes : -1;
    });
    for (let c = 0; c < d.contexts; c++) if (into[d.scope[c]] >= 0) g.add(String(into[d.scope[c]]), into[d.scope[c]], c);
    return g.each((scope, _, exc) => ({ ...nodeOfSet(d, scope, exc), ...(scope === d.scopes ? { scope: NONE, kind, name: kind === Kind.File ? "[no file]" : "[no module]" } : {}), rule: Rule.Frame, leaf: true }));
  }
}
