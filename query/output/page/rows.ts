// SPDX-License-Identifier: BSD-3-Clause
// The rows of the table: measured, sorted, filtered; which of them are open.
import { App, merges, metricText, searchRegex } from "./app";
import { Compiled, compile, deviation, Facts, holds, totalsOf, Z } from "./expr";
import { Data, Dim, EXACT, Kind, NO_COUNTS, NONE, floats, kindNames } from "./data";
import { csv, linesOf } from "./dom";
import { drawnName, fileOf, firstAtLeast, lineOf, Node, nodeName, nodeRanges } from "./model";
import { abs, floor, max, min, numberText, oneText, percentText, Style, styleFor } from "./number";
import { baseName, nested } from "./views";

// A row. What is not on the screen is only measured where it has to be.
export class Entry {
  kids: Entry[] | null = null;
  unfolded: Entry[] | null = null; // the same before recursions are folded
  lowest: Node | null = null;      // of a recursion's last row: what its children are below
  open = false;
  place = 0; siblings = 0; // of so many
  kept = false;            // stays only as an ancestor of rows that match
  order = 0;               // what it is sorted by
  readonly derived: Record<string, number> = {}; // columns
  depth: number;
  #measured: Float64Array | null = null;
  #called: string | null = null;

  constructor(private app: App, readonly node: Node, public parent: Entry | null) { this.depth = parent ? parent.depth + 1 : 0; }

  get key(): string {
    const { kind, scope, callFile, callLine, file, line } = this.node;
    return (this.#called ??= `${this.parent ? this.parent.key + "/" : ""}${kind}.${scope}.${file ?? callFile}.${line ?? callLine}`);
  }
  set key(text: string) { this.#called = text; }

  get name(): string { return nodeName(this.app.data, this.node); }

  get slots(): Float64Array { // [2 * metrics] inclusive, exclusive
    if (this.#measured) return this.#measured;
    const { data, selection } = this.app, n = 2 * data.metrics.length, slots = floats(n);
    for (let x = 0; x < 2; x++) {
      const ranges = nodeRanges(data, this.node, x === 1);
      for (let i = x; i < n; i += 2) slots[i] = selection.value(i >> 1, ranges);
    }
    return (this.#measured = slots);
  }

  // One of them: of a single context without the others.
  slot(i: number): number {
    const { data: d, selection } = this.app, c = this.node.context;
    return this.#measured || i % 2 || c === NONE || this.node.rounds ? this.slots[i] : selection.value(i >> 1, [d.first[c], d.first[d.end[c]]]);
  }

  // What has no value in the selection is not there.
  get present(): boolean {
    const { data: d, selection } = this.app, c = this.node.context;
    return c === NONE ? d.metrics.some((m, i) => m.side !== "delta" && this.slots[2 * i] !== 0) : selection.any(d.first[c], d.first[d.end[c]]);
  }
}

export interface Column {
  id: string;         // as the language writes it
  head: string;       // the same, or its label
  metric: number; exclusive: boolean;
  dim: Dim; sign: boolean;
  value: (e: Entry) => number;
  total: number; base: number; // NaN: no percentages
  style: Style;
}

const EXPANDED_MOST = 300000; // entries that a filter looks at

export class Rows {
  columns: Column[] = [];
  roots: Entry[] = [];
  visible: Entry[] = [];
  problem = ""; // why a filter or an expression does not do what it says
  #totals = floats(0);
  #opened = new Set<string>();

  constructor(private app: App) { this.rebuild(); }

  #entries(nodes: Node[], parent: Entry | null): Entry[] {
    return this.#sort(nodes.map((n) => new Entry(this.app, n, parent)).filter((e) => e.present));
  }

  #sort(entries: Entry[]): Entry[] {
    const s = this.app.state, sort = this.columns.find((c) => c.id === s.sort), up = s.sort && s.ascending ? -1 : 1;
    const first = this.columns.find((c) => c.metric === s.metric) ?? this.columns[0];
    const texts = s.sort === "name";
    if (!texts) for (const e of entries) e.order = sort ? sort.value(e) : first ? this.#defaultKey(e, first) : 0;
    entries.sort((a, b) => {
      if (!texts) {
        const x = a.order, y = b.order;
        if (isNaN(x) !== isNaN(y)) return isNaN(x) ? 1 : -1;
        if (x !== y && !isNaN(x)) return (y - x) * up;
        const tie = sort && this.#defaultKey(b, this.columns[0]) - this.#defaultKey(a, this.columns[0]);
        if (tie) return tie;
      }
      const byName = a.name < b.name ? -1 : a.name > b.name ? 1 : 0;
      return byName * (texts ? -up : 1) || a.node.callLine - b.node.callLine;
    });
    entries.forEach((e, i) => {
      e.place = i + 1;
      e.siblings = entries.length;
    });
    return entries;
  }

  #deltaOf(c: Column): number {
    return this.app.data.metrics.findIndex((m) => m.side === "delta" && m.here === c.metric && m.old >= 0);
  }

  // Of a comparison the size of the change.
  #defaultKey(e: Entry, first: Column): number {
    const delta = this.#deltaOf(first);
    return delta < 0 ? e.slot(2 * first.metric) : abs(e.slot(2 * delta));
  }

  expand(e: Entry): Entry[] {
    return (e.kids ??= this.#below(e).map((k) => this.#folded(k)));
  }

  #below(e: Entry): Entry[] {
    return (e.unfolded ??= this.#entries(this.app.views.children(this.app.state.view, e.lowest ?? e.node), e));
  }

  // The only row below another; null: there are more, or none.
  #onlyOne(e: Entry): Entry | null {
    const { data: d, state, selection, views } = this.app, c = e.node.context;
    let found = 0;
    if (state.view === "tree" && c !== NONE) views.someChild(c, (k) => selection.any(d.first[k], d.first[d.end[k]]) && ++found > 1);
    return found > 1 || this.#below(e).length !== 1 ? null : e.unfolded![0];
  }

  // A recursion through several scopes is one block of rows where no other row stands beside them (query/shape/rounds.c,
  // query/tree/recursion.c).
  #folded(e: Entry): Entry {
    const s = this.app.state, chain: Entry[] = [];
    if (!merges(s) || s.view === "flat") return e;
    for (let k: Entry | null = e; k && chain.length < 5000; k = this.#onlyOne(k)) chain.push(k);
    const step = (i: number) => (chain[i].node.rounds || chain[i].node.scope === NONE ? NaN : chain[i].node.scope);
    let period = 0, times = 0;
    for (let p = 1; p <= 16 && 3 * p <= chain.length; p++) {
      let n = p;
      while (n < chain.length && step(n) === step(n - p)) n++;
      const t = floor(n / p);
      if (t > 2 && p * (t - 1) > period * (times - 1)) [period, times] = [p, t];
    }
    let up = e.parent, first = e;
    for (let i = 0; i < period; i++) {
      const { node, place, siblings } = chain[i], n = { ...node, rounds: times };
      if (!node.at) {
        n.inc = n.exc = chain.flatMap((k, at) => (at % period === i && at < period * times ? Array.from(k.node.exc) : [])).sort((a, b) => a - b);
        n.context = NONE;
      }
      const row = new Entry(this.app, n, up);
      [row.place, row.siblings] = [place, siblings];
      if (i) up!.kids = [row];
      else first = row;
      up = row;
    }
    if (period) up!.lowest = chain[period * times - 1].node;
    return first;
  }

  hasKids(e: Entry): boolean {
    if (e.node.leaf || !nested(this.app.state.view)) return false;
    if (e.kids) return e.kids.length > 0;
    const { data: d, state, selection, views } = this.app;
    // Cheap where it can be: in the tree of a single context.
    if (state.view === "tree" && e.node.context !== NONE && !e.node.rounds) return views.someChild(e.node.context, (c) => selection.any(d.first[c], d.first[d.end[c]]));
    return this.expand(e).length > 0;
  }

  // ---- columns ----

  facts(e: Entry): Facts {
    const { data: d, selection } = this.app, n = e.node, known = n.scope !== NONE && n.kind !== Kind.Root;
    const ranges = (slot: number) => nodeRanges(d, n, slot % 2 === 1);
    return {
      slots: e.slots, totals: this.#totals, kind: n.kind, name: e.name, depth: e.depth,
      file: !known ? "" : n.kind === Kind.File ? d.texts[d.scopeName[n.scope]] : d.texts[fileOf(d, n)],
      line: known ? lineOf(d, n) : 0, module: known ? d.texts[d.scopeModule[n.scope]] : "",
      id: n.context === NONE || n.kind === Kind.Line ? "" : d.id(n.context), callsite: n.callFile ? `${d.texts[n.callFile]}:${n.callLine}` : "",
      profiles: (slot) => selection.byGroup(slot >> 1, ranges(slot)), samples: (slot) => selection.samples(slot >> 1, ranges(slot)),
    };
  }

  #compiled(text: string): Compiled | null {
    const c = compile(text, this.app.data, (m) => this.app.unknown(m));
    if (typeof c !== "string") return c;
    this.problem = `${text}: ${c}`;
    return null;
  }

  // Derived columns: their style is that of the rows at hand.
  #derive(): void {
    for (const written of linesOf(this.app.state.columns)) {
      const [, label, text] = /^(?:([a-z_]\w*)\s*=(?![=~])\s*)?(.*)$/i.exec(written)!, c = this.#compiled(text); // `ipc = instructions / cycles`

      if (!c || c.text) {
        if (c) this.problem = `${text}: this is a text, and a column of the page is a number`;
        continue;
      }
      this.columns.push({
        id: text, head: label ?? text, metric: -1, exclusive: false, dim: c.dim, sign: false, value: (e) => (e.derived[text] ??= c.value(this.facts(e)) as number),
        total: c.total(this.#totals), base: c.total(this.#totals), style: styleFor(c.dim, 1, false),
      });
    }
  }

  #restyle(): void {
    for (const c of this.columns) {
      if (c.metric >= 0) continue;
      let largest = 0, whole = true;
      for (const v of [c.total, ...this.visible.map((e) => c.value(e))])
        if (isFinite(v)) {
          largest = max(largest, abs(v));
          whole = whole && v === floor(v);
        }
      c.style = styleFor(c.dim, largest, whole, false, c.dim === Dim.None);
    }
  }

  #makeColumns(): void {
    const { data: d, selection } = this.app;
    const make = (metric: number, exclusive: boolean, id: string): Column => {
      const m = d.metrics[metric], slot = 2 * metric + (exclusive ? 1 : 0), total = selection.total(metric);
      const largest = max(...[metric, m.here, m.old].filter((i) => i >= 0).map((i) => abs(selection.total(i))));
      return {
        id, head: id, metric, exclusive, dim: m.dim, sign: m.side === "delta", value: (e) => e.slot(slot), total,
        base: selection.base(metric), style: styleFor(m.dim, largest, m.dim === Dim.Events, m.side === "delta"),
      };
    };
    this.columns = [];
    d.metrics.forEach((m, i) => {
      const name = metricText(m.name);
      if (!this.app.shows(m.side === "delta" ? m.here : i)) return;
      if (m.side === "here" && !d.compare) {
        if (this.app.state.all && !d.plain[i]?.total && !selection.total(i)) return; // silent: nothing has a value
        this.columns.push(make(i, false, name), make(i, true, name + ".x"));
      }
      if (m.side === "delta" && m.here >= 0 && m.old >= 0)
        this.columns.push(make(m.here, false, name), make(m.old, false, "old." + name), make(i, false, "delta." + name),
          make(i, true, "delta." + name + ".x"));
    });
    this.#totals = totalsOf(d, selection);
    this.#derive();
  }

  // ---- the whole ----

  // The rows below a row as rows of their own; itself, if there are none.
  #lifted(e: Entry): Entry[] {
    const kids = this.expand(e);
    for (const k of kids) {
      k.key = e.key + "|" + k.key.slice(e.key.length + 1);
      k.parent = null;
      k.depth = 0;
    }
    return kids.length ? kids : [e];
  }

  rebuild(): void {
    this.problem = this.app.problem || this.app.unknown();
    this.#makeColumns();
    this.roots = this.#entries(this.app.roots(), null).map((e) => this.#folded(e));
    const s = this.app.state;
    for (let n = 0; n < s.flatten && nested(s.view); n++) this.roots = this.#sort(this.roots.flatMap((e) => this.#lifted(e)));
    const where = s.where ? this.#compiled(s.where) : null, regex = s.filter && s.search ? searchRegex(s.search) : null;
    if (where || regex) this.#filter((e) => (!regex || regex.test(e.name)) && (!where || holds(where.value(this.facts(e)))));
    else this.#reopen(this.roots);
    // A single root is of no use closed.
    if (this.roots.length === 1 && nested(this.app.state.view)) this.roots[0].open = true;
    this.flatten();
  }

  // At the start what costs most lies open, as far as a screen shows it.
  openCostly(): void {
    const by = this.columns[0];
    let room = 40;
    const open = (list: Entry[]) => {
      for (const e of list.slice(0, 12)) {
        if (room <= 0 || !by || !(by.value(e) >= 0.1 * by.total) || !this.hasKids(e)) continue;
        room -= min(12, this.expand(e).length);
        e.open = true;
        this.#opened.add(e.key);
        open(e.kids!);
      }
    };
    if (nested(this.app.state.view)) open(this.roots);
    this.flatten();
  }

  // Everything that has a value, down to the leaves; false if there is too much of it.
  openAll(most = 20000): boolean {
    let room = most;
    const open = (list: Entry[]) => {
      for (const e of list) {
        if (!this.hasKids(e) || (room -= this.expand(e).length) < 0) continue;
        e.open = true;
        open(e.kids!);
      }
    };
    open(this.roots);
    this.flatten();
    return room >= 0;
  }

  #reopen(list: Entry[]): void {
    for (const e of list)
      if (this.#opened.has(e.key)) {
        e.open = true;
        this.#reopen(this.expand(e));
      }
  }

  flatten(): void {
    this.visible = [];
    const add = (list: Entry[]) => {
      for (const e of list) {
        this.visible.push(e);
        if (e.open && e.kids) add(e.kids);
      }
    };
    add(this.roots);
    this.#restyle();
  }

  toggle(e: Entry, open = !e.open): void {
    if (open && !this.hasKids(e)) return;
    e.open = open;
    if (open) {
      this.expand(e);
      this.#opened.add(e.key);
    } else this.#opened.delete(e.key);
    this.flatten();
  }

  // Rows that match and their ancestors, as `where` and `matching` keep them.
  #filter(wanted: (e: Entry) => boolean): void {
    let looked = 0;
    const keep = (list: Entry[]): Entry[] => list.filter((e) => {
      const matches = wanted(e);
      let below: Entry[] = [];
      if (looked++ < EXPANDED_MOST) below = keep(this.expand(e));
      else this.problem = `only the first ${EXPANDED_MOST} rows were looked at`;
      e.kids = below;
      e.kept = !matches;
      e.open = below.length > 0;
      return matches || below.length > 0;
    });
    this.roots = keep(this.roots);
  }

  // ---- finding rows ----

  byKey(key: string): Entry | null {
    let list = this.roots, found: Entry | null = null, done = "";
    for (const part of key ? key.split("/") : []) {
      done = done ? done + "/" + part : part;
      found = list.find((e) => e.key === done) ?? null;
      if (!found) return null;
      if (done !== key) list = this.expand(found);
    }
    return found;
  }

  // Makes a row visible.
  reveal(e: Entry): void {
    for (let up = e.parent; up; up = up.parent) if (!up.open) {
      up.open = true;
      this.#opened.add(up.key);
    }
    this.flatten();
  }

  // The row of a context in the tree view, or of the nearest one above it that has a row.
  ofContext(context: number): Entry | null {
    const d = this.app.data, path: number[] = [];
    for (let c = context; c !== NONE; c = d.parent[c]) path.push(c);
    let found: Entry | null = null, list = this.roots;
    for (const c of path.reverse()) {
      const of = ({ node: { inc } }: Entry) => inc[firstAtLeast(inc, c)] === c;
      let next: Entry | null = list.find(of) ?? found;
      while (next && !of(next)) next = next.parent; // a later round
      if (!next) continue;
      found = next;
      if (c !== context) list = this.expand(next);
    }
    return found;
  }

  // From a row down, the child with the largest share, or change, as long as it has at least the threshold; where rises and
  // falls cancel to nothing, the first in which there is a change (query/shape/hotpath.c).
  hotPath(from: Entry | null, threshold = this.app.state.threshold / 100): Entry | null {
    const by = this.columns.find((c) => c.metric === this.app.state.metric) ?? this.columns[0], { data, selection } = this.app;
    if (!(by?.metric >= 0)) return null;
    const value = (e: Entry) => this.#defaultKey(e, by), delta = this.#deltaOf(by);
    let e = from, above = from ? value(from) : abs(selection.total(delta < 0 ? by.metric : delta)), list = from ? this.expand(from) : this.roots, room = 0;
    const holds = (k: Entry, depth: number): boolean => depth < 200 && this.expand(k).some((x) => room-- > 0 && (value(x) > 0 || holds(x, depth + 1)));
    for (;;) {
      let best: Entry | null | undefined = null;
      for (const k of list) if (!best || value(k) > value(best)) best = k;
      if (!best || !(value(best) > 0 && value(best) >= threshold * above)) {
        room = 10000;
        best = data.compare && best && !value(best) ? list.find((k) => holds(k, 0)) : null;
      }
      if (!best) return e;
      e = best;
      above = value(best);
      list = this.expand(best);
    }
  }

  // ---- texts ----

  text(c: Column, e: Entry): [string, string] {
    const value = c.value(e), [digits, unit] = numberText(c.style, value);
    const approximate = this.app.selection.thinned || this.doubt(c, e) > 0 || (c.metric >= 0 && this.app.data.inexact[c.metric]);
    return [digits ? (approximate ? "\u2248" : "") + digits + (unit ? " " + unit : "") : "", percentText(value, c.base, c.sign)];
  }

  // Calls that are not in the page may belong to all but single paths of the tree.
  doubt(c: Column, e: Entry): number {
    const { state, data, selection } = this.app;
    if (data.left < 0 && !data.kept.coarse) return 0;
    const merged = state.view !== "tree" || e.node.context === NONE || e.node.rounds > 0;
    return selection.doubt(c.metric < 0 ? state.metric : c.metric, e.node, c.exclusive, merged);
  }

  // "1.32 s +- 0.11 s (264 samples)": the 95 % interval of a sampled value.
  interval(c: Column, e: Entry): string {
    const d = this.app.data, m = d.metrics[c.metric];
    const doubt = m ? this.doubt(c, e) : 0;
    if (doubt > 0) return `what was left out of the page changes it by at most ${oneText(doubt, m.dim)}`;
    if (!m || m.side === "delta") return "";
    if (m.flags & EXACT) return "counted exactly";
    if (m.flags & NO_COUNTS) return "the number of samples is not known";
    const n = this.app.selection.samples(c.metric, nodeRanges(d, e.node, c.exclusive));
    return `\u00b1 ${oneText(Z * deviation(d, c.metric, c.value(e), n), m.dim)} (95 %, ${n} sample${n === 1 ? "" : "s"})`;
  }

  place(e: Entry): string { return placeOf(this.app.data, e.node); }

  // Everything that is visible, as text.
  table(separator: "csv" | "markdown"): string {
    const head = ["name", "kind", "depth", "file", "line", ...this.columns.map((c) => c.head)];
    const d = this.app.data, shown = this.visible;
    if (separator === "csv") {
      const rows = shown.map((e) => [
        e.name, kindText(d, e.node), String(e.depth), d.texts[fileOf(d, e.node)] ?? "", String(lineOf(d, e.node) || ""),
        ...this.columns.map((c) => (isNaN(c.value(e)) ? "" : String(c.value(e)))),
      ]);
      return csv([head, ...rows]);
    }
    const cell = (text: string) => text.replace(/[\\`*_{}[\]<>|&]/g, "\\$&").replace(/[\r\n]/g, " ");
    const rows = shown.map((e) => [
      ...this.columns.map((c) => this.text(c, e).filter(Boolean).join(" ")),
      "\u00a0\u00a0".repeat(e.depth) + cell(drawnName(d, e.node, Infinity)) + (this.place(e) ? ` (${cell(this.place(e))})` : ""),
    ]);
    return [[...this.columns.map((c) => c.head), "scope"], this.columns.map(() => "--:").concat(":--"), ...rows]
      .map((r) => `| ${r.join(" | ")} |`).join("\n") + "\n";
  }
}

const kindTexts = ["program", "thread", "procedure", "inlined", "loop", "line", "call", "module", "file", "partial path", "parallel region", "waiting", "runtime", "phase"];
export const kindText = (d: Data, n: Node): string => ["", "task", "target region"][d.scopeRole[n.scope]] || (kindTexts[n.kind] ?? kindNames[n.kind]);

// The call site, else where it is defined, else its load module; and what tells it from others that look so.
export function placeOf(d: Data, n: Node): string {
  const apart = n.scope === NONE ? "" : d.texts[d.scopeApart[n.scope]], place = plainPlace(d, n);
  return apart ? `${place} (${apart})` : place;
}

function plainPlace(d: Data, n: Node): string {
  const at = (file: number, line: number) => baseName(d.texts[file]) + (line ? ":" + line : "");
  if (n.callFile) return at(n.callFile, n.callLine);
  if (n.scope === NONE || n.kind === Kind.File) return "";
  if (n.kind === Kind.Loop || n.kind === Kind.Line) {
    // In lists it says nothing by itself whose loop or line it is.
    if (n.context !== NONE) return "";
    for (let s = d.scopeParent[n.scope]; s !== NONE; s = d.scopeParent[s])
      if (d.scopeKind[s] === Kind.Procedure || d.scopeKind[s] === Kind.Inline) return "in " + d.texts[d.scopeName[s]].replace(/\(.*/, "");
    return "";
  }
  if (d.scopeFile[n.scope] && n.kind !== Kind.Module) return at(d.scopeFile[n.scope], d.scopeLine[n.scope]);
  return n.kind === Kind.Module ? "" : d.texts[d.scopeModule[n.scope]];
}
