// SPDX-License-Identifier: BSD-3-Clause
// The one state that all panes show, in the URL's hash, and the hq query that gives the same table.
import { Data, Kind, NONE, TRACED, isCall, octets } from "./data";
import { Chosen, Node, nodeName, nodeOfContext, nodeOfSet, Range, Selection } from "./model";
import { max, min, timeText } from "./number";
import { brief, linesOf } from "./dom";
import { matcher, paths, reshape } from "./reshape";
import { Palette } from "./palette";
import { nested, ViewName, viewNames, Views } from "./views";

export const paneNames = ["flame", "trace", "ranks", "messages", "answers", "source", "about"] as const;
export type PaneName = (typeof paneNames)[number];

export interface State {
  view: ViewName;
  pane: PaneName;
  metric: number;
  sort: string; ascending: boolean; // id of a column; "": the metric, largest first
  zoom: string;                     // "c12": a context, "s3": the procedure of a scope; "": the whole
  search: string; filter: boolean;  // filter: only rows that match stay
  ranks: string; threads: string; time: string;
  selected: string;                 // key of a row
  lines: boolean;                   // rows of statements, as `set lines on`
  all: boolean;                     // columns of every metric, not only of the chosen one
  rounds: boolean;                  // a recursion is one row, as in hq's tables
  level: number;                    // of the trace; 0: chosen by hq's rule
  mode: "profiles" | "depth" | "summary";
  profile: number;
  plot: "order" | "sorted" | "histogram";
  columns: string;                  // derived ones: expressions, one a line
  where: string;
  through: string;                  // paths, one a line
  prune: string; hide: string;      // patterns, one a line
  flatten: number;
  threshold: number;                // of the hot path, percent
  amount: string;                   // of messages
  answer: number;
}

const start: State = {
  view: "tree", pane: "flame", metric: 0, sort: "", ascending: false, zoom: "", search: "", filter: false, ranks: "",
  threads: "", time: "", selected: "", lines: false, all: false, rounds: true, level: 0, mode: "profiles", profile: -1, plot: "order", columns: "",
  where: "", through: "", prune: "", hide: "", flatten: 0, threshold: 50, amount: "bytes", answer: 0,
};

export type Change = Partial<State>;
type Listener = (changed: Set<keyof State>) => void;

// "0-3,7"
export function parseRanges(text: string): Range[] | null {
  if (!/^\d+(-\d+)?(,\d+(-\d+)?)*$/.test(text)) return null;
  return text.split(",").map((part) => {
    const [a, b] = part.split("-").map(Number);
    return [a, b ?? a];
  });
}

export function rangesText(numbers: number[]): string {
  const sorted = [...new Set(numbers)].sort((a, b) => a - b), parts: string[] = [];
  for (let i = 0, k; i < sorted.length; i = k) {
    for (k = i + 1; k < sorted.length && sorted[k] === sorted[k - 1] + 1;) k++;
    parts.push(k - 1 > i ? `${sorted[i]}-${sorted[k - 1]}` : String(sorted[i]));
  }
  return parts.join(",");
}

function parseTime(text: string): Range | null {
  const m = /^(\d+)-(\d*)$/.exec(text);
  return m && (!m[2] || +m[2] > +m[1]) ? [+m[1], m[2] ? +m[2] : Infinity] : null;
}

// A text of the language in quotes.
export function quoted(text: string): string {
  const mark = text.includes('"') && !text.includes("'") ? "'" : '"';
  return mark + text.replace(/\\(?=\\|["']|$)/g, "\\\\").replace(mark === '"' ? /"/g : /'/g, "\\" + mark) + mark;
}

// A search as a regular expression: as it stands, or /like this/; null where it is none.
export function searchRegex(text: string): RegExp | null {
  const m = /^\/(.+)\/(i?)$/.exec(text);
  try {
    return m ? new RegExp(m[1], m[2] + "u") : new RegExp(text.replace(/[\\^$.*+?()[\]{}|\/]/g, "\\$&"), "iu");
  } catch {
    return null;
  }
}

// Conditions look at single rows.
export const merges = (s: State): boolean => s.rounds && !s.where && !(s.filter && s.search);

export class App {
  state: State = { ...start };
  selection!: Selection;
  views!: Views;
  palette!: Palette;
  node: Node | null = null; // what is selected
  #listeners: Listener[] = [];
  #hash = "";

  data: Data;         // with what is pruned and hidden
  problem = "";       // why a pattern does nothing
  #shaped = "";

  constructor(readonly base: Data) {
    this.data = base;
    // At the start that of the first metric that has a value.
    start.metric = max(0, base.metrics.findIndex((m, i) => m.side === "here" && base.plain[i]?.total));
    this.#read();
    this.#derive(new Set(Object.keys(start) as (keyof State)[]));
    window.addEventListener("hashchange", () => {
      if (location.hash.slice(1) === this.#hash) return;
      const before = this.state;
      this.#read();
      this.#tell(changes(before, this.state));
    });
  }

  on(listener: Listener): void { this.#listeners.push(listener); }

  // Back leads to the state before, unless the change replaces it.
  set(change: Change, replace = false): void {
    const before = this.state;
    this.state = { ...before, ...change };
    const changed = changes(before, this.state);
    if (!changed.size) return;
    this.#write(replace);
    this.#tell(changed);
  }

  #tell(changed: Set<keyof State>): void {
    this.#derive(changed);
    for (const l of this.#listeners) l(changed);
  }

  // The data as through, prune and hide leave them; of a comparison hq aligns the trees behind the last two, the page before.
  #shape(s: State): void {
    const key = [s.through, s.prune, s.hide].join("\n\n");
    if (key === this.#shaped) return;
    this.#shaped = key;
    this.problem = "";
    const tests = (text: string) => linesOf(text).map((p) => matcher(this.base, p)).filter((m): m is (c: number) => boolean => {
      if (typeof m === "string") this.problem = m;
      return typeof m !== "string";
    });
    const prune = tests(s.prune), hide = tests(s.hide);
    let data = this.base;
    for (const text of linesOf(s.through)) {
      const all = data.keep, own = paths(this.base, text);
      if (typeof own === "string") this.problem = own;
      // What the page cannot choose by shows nothing, rather than everything.
      data = { ...data, keep: typeof own === "string" ? octets(data.positions) : all ? own.map((x, i) => x & all[i]) : own };
    }
    this.data = prune.length + hide.length ? reshape(data, (c) => prune.some((t) => t(c)), (c) => hide.some((t) => t(c))) : data;
  }

  #derive(changed: Set<keyof State>): void {
    const s = this.state;
    const any = (...keys: (keyof State)[]) => keys.some((k) => changed.has(k)), shape = any("through", "prune", "hide");
    if (shape) this.#shape(s);
    if (shape || any("ranks", "threads", "time")) this.selection = new Selection(this.data, this.chosen());
    if (shape || any("lines") || this.views.merge !== merges(s)) this.views = new Views(this.data, s.lines, merges(s));
  }

  chosen(): Chosen {
    const s = this.state;
    return { ranks: parseRanges(s.ranks), threads: parseRanges(s.threads), time: parseTime(s.time) };
  }

  #read(): void {
    this.#hash = location.hash.slice(1);
    const given = new URLSearchParams(this.#hash), s: any = { ...start };
    for (const key of Object.keys(start)) {
      const text = given.get(key), old = (start as any)[key];
      if (text !== null) s[key] = typeof old === "number" ? Math.trunc(+text) || 0 : typeof old === "boolean" ? text === "1" : text;
    }
    // A link may be old or damaged: what it cannot mean is as at the start.
    const among = (key: keyof State, ...of: string[]) => { if (!of.includes(s[key])) s[key] = start[key]; };
    among("view", ...viewNames);
    among("mode", "profiles", "depth", "summary");
    among("plot", "order", "sorted", "histogram");
    if (!this.panes().includes(s.pane)) s.pane = this.panes()[0];
    if (this.data.metrics[s.metric]?.side !== "here") s.metric = start.metric;
    for (const key of ["ranks", "threads"]) if (!parseRanges(s[key]) || !this.data.kept.profiles) s[key] = "";
    if (!parseTime(s.time) || !this.data.hasTraces) s.time = "";
    if (this.base.compare) s.prune = s.hide = "";
    s.flatten = max(0, min(100, s.flatten));
    this.#shape(s);
    if (!this.zoomNode(s.zoom)) s.zoom = "";
    this.state = s;
  }

  #write(replace: boolean): void {
    const out = new URLSearchParams();
    for (const [key, value] of Object.entries(this.state))
      if (value !== (start as any)[key]) out.set(key, typeof value === "boolean" ? (value ? "1" : "0") : String(value));
    this.#hash = out.toString();
    const url = "#" + this.#hash;
    if (replace) location.replace(url);
    else location.hash = url;
    this.#hash = location.hash.slice(1);
  }

  // ---- what the state means ----

  // The root that is zoomed to.
  zoomNode(zoom: string): Node | null {
    const d = this.data, number = Number(zoom.slice(1));
    if (zoom[0] === "c" && number > 0 && number < d.contexts && Number.isInteger(number)) return d.kind[number] === Kind.Line ? null : nodeOfContext(d, number);
    if (zoom[0] !== "s" || !(number < d.scopes) || d.scopeKind[number] === Kind.Line || !d.instances(number)?.length) return null;
    const all = new Views(d, false, false).procedureOf(number)?.inc ?? d.instances(number), exposed: number[] = [];
    for (let i = 0, covered = 0; i < all.length; i++)
      if (all[i] >= covered) {
        exposed.push(all[i]);
        covered = d.end[all[i]];
      }
    return exposed.length === 1 ? nodeOfContext(d, exposed[0]) : nodeOfSet(d, number, exposed);
  }

  roots(): Node[] {
    const s = this.state, zoom = s.view === "tree" ? this.zoomNode(s.zoom) : null;
    return zoom ? [zoom] : this.views.roots(s.view);
  }

  // How the language names what a node is; null where it cannot.
  pattern(n: Node): string | null {
    const d = this.data;
    if (n.context !== NONE && n.kind !== Kind.Line) return "@" + d.id(n.context);
    if (isCall(n.kind)) return quoted(d.texts[d.scopeName[n.scope]]);
    if (n.kind === Kind.File || n.kind === Kind.Module) return quoted(nodeName(d, n));
    return null;
  }

  // The clauses that choose samples.
  slice(): string {
    const { ranks, threads, time } = this.chosen();
    return (ranks ? ` ranks ${this.state.ranks}` : "") + (threads ? ` threads ${this.state.threads}` : "") +
      (time ? ` during ${timeText(time[0])}..${time[1] === Infinity ? "" : timeText(time[1])}` : "");
  }

  // What is chosen and does not change a picture or an answer, as a sentence; "" if there is nothing of the kind.
  whole(...followed: string[]): string {
    const list = (["ranks", "threads", "time", "through", "prune", "hide"] as const).filter((k) => this.state[k] && !followed.includes(k)).map((k) => (k === "time" ? "the chosen time" : `${k} ${brief(this.state[k].replace(/\n/g, ", "))}`));
    return list.length ? `This is of the whole run: ${list.join(", ")} ${list.length > 1 ? "do" : "does"} not change it.` : "";
  }

  shapes(): string {
    const clause = (word: string, text: string) => linesOf(text).map((p) => ` ${p.startsWith("not ") ? p.replace(/^not\s+/, `not ${word} `) : `${word} ${p}`}`).join("");
    return clause("through", this.state.through) + clause("prune", this.state.prune) + clause("hide", this.state.hide);
  }

  compared(): string { return this.data.compare ? ` compare with ${quoted(this.data.compare)}` : ""; }

  query(): string {
    const s = this.state, d = this.data;
    let text: string = s.view;
    const zoom = s.view === "tree" ? this.zoomNode(s.zoom) : null;
    if (zoom) text += " of " + this.pattern(zoom);
    text += this.slice() + this.shapes() + this.compared() + (s.flatten ? ` flatten ${s.flatten}` : "");
    const derived = linesOf(s.columns);
    if (derived.length || (!s.all && this.several())) text += " columns " + [...this.#defaultColumns(), ...derived].join(", ");
    if (s.where) text += " where " + s.where;
    const regex = s.filter && s.search ? searchRegex(s.search) : null;
    if (regex) text += ` matching /${regex.source}/${regex.flags.replace("u", "")}`;
    if (s.sort) text += ` sort by ${s.sort}${s.ascending ? " asc" : " desc"}`;
    else if (s.metric) text += ` sort by ${metricText(d.metrics[s.metric].name)}`;
    return (s.lines && nested(s.view) ? "set lines on; " : "") + d.settings + text;
  }

  // A question as a shell takes it.
  command(question: string): string {
    const hq = `hq ${shell(this.data.name)} `;
    // The kernel takes 128 kB for a word; a character has 3 bytes at most in UTF-16's units.
    return hq + (question.length > 40000 ? `-f - <<'END'\n${question}\nEND\n` : shell(question));
  }

  // Whether there are columns of several metrics to choose from.
  several(): boolean { return this.data.metrics.filter((m) => m.side === "here").length > 1; }

  // What the database has nothing for is not there.
  panes(): PaneName[] {
    if (!this.data.metrics.length) return ["about"];
    return paneNames.filter((p) => (p !== "messages" || this.data.messages.length) && (p !== "answers" || this.data.answers.length));
  }

  // Why nothing is known of a metric in the slice of time that is chosen; "": it is known, or no slice is.
  unknown(metric = this.state.metric): string {
    const m = this.data.metrics[metric];
    return !this.state.time || m.flags & TRACED ? "" : `${m.name} was recorded without a trace: in a slice of time it is unknown`;
  }

  shows(metric: number): boolean { return metric === this.state.metric || (this.state.all && !this.unknown(metric)); }

  #defaultColumns(): string[] {
    const d = this.data, out: string[] = [];
    d.metrics.forEach((m, i) => {
      if (!this.shows(m.side === "delta" ? m.here : i)) return;
      if (m.side === "here" && !d.compare) out.push(metricText(m.name), metricText(m.name) + ".x");
      if (m.side === "delta" && m.here >= 0 && m.old >= 0)
        out.push(metricText(m.name), "old." + metricText(m.name), "delta." + metricText(m.name), "delta." + metricText(m.name) + ".x");
    });
    return out;
  }
}

// A word as a shell takes it.
const shell = (text: string): string => /^[\w./:@%+-]+$/.test(text) ? text : `'${text.replace(/'/g, "'\\''")}'`;

// A metric's name as the language takes it.
export const metricText = (name: string): string => /^[a-z_][\w:]*$/i.test(name) ? name : `metric(${quoted(name)})`;

const changes = (a: State, b: State): Set<keyof State> => new Set((Object.keys(a) as (keyof State)[]).filter((key) => a[key] !== b[key]));
