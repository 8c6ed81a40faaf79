// SPDX-License-Identifier: BSD-3-Clause
// The source of the selected row's file, with what each line costs; loops and inlined code are marked beside it.
import { App } from "./app";
import { isCalled, Kind } from "./data";
import { clear, el, name, plain } from "./dom";
import { fileOf, lineOf, Node, nodeRanges } from "./model";
import { abs, min, numberText, percentText, styleFor } from "./number";
import { baseName } from "./views";

const LINES_MOST = 20000;

export class Source {
  readonly element = el("div.pane source");

  constructor(private app: App) {}

  // The file and line that a row is about: of a call, the callee's.
  #place(n: Node): { file: number; line: number } {
    const d = this.app.data;
    return n.kind === Kind.Call && n.callFile ? { file: n.callFile, line: n.callLine } : { file: fileOf(d, n), line: lineOf(d, n) };
  }

  render(): void {
    const { data: d, node, views, selection, state } = this.app;
    clear(this.element);
    const { file, line } = node && node.scope < d.scopes ? this.#place(node) : { file: 0, line: 0 };
    if (!file) {
      this.element.append(el("p.empty", {}, node ? "No source line of this is known: it was compiled without -g, or belongs to no procedure." : "Select a row to see its source."));
      return;
    }
    const source = d.sources.get(file), m = d.metrics[state.metric], path = d.texts[file];
    const total = selection.total(state.metric), style = styleFor(m.dim, abs(total), m.dim === 2);
    const costs = new Map<number, { inc: number; exc: number; marks: Set<string> }>();
    for (const n of views.linesOf(file)) {
      const inc = selection.value(state.metric, nodeRanges(d, n, false)), exc = selection.value(state.metric, nodeRanges(d, n, true));
      const marks = new Set<string>();
      for (let i = 0; i < n.exc.length && i < 200; i++)
        for (let up = d.parent[n.exc[i]]; up !== 0xffffffff; up = d.parent[up]) {
          if (d.kind[up] === Kind.Loop) marks.add("loop");
          else if (d.kind[up] === Kind.Inline) marks.add("inlined");
          else if (isCalled(d.kind[up])) break;
        }
      if (inc !== 0) costs.set(lineOf(d, n), { inc, exc, marks });
    }
    const loops = new Set<number>();
    for (let s = 0; s < d.scopes; s++) if (d.scopeKind[s] === Kind.Loop && d.scopeFile[s] === file && d.instances(s).length) loops.add(d.scopeLine[s]);
    const lines = [...new Set([...(source ? source.lines.keys() : []), ...costs.keys(), ...(line ? [line] : [])])].sort((a, b) => a - b);
    this.element.append(el("h2", {}, name(path)));
    for (const note of source?.notes ?? []) this.element.append(el("p.note", {}, plain(note)));
    if (!source?.lines.size || ![...source.lines.values()].some((t) => t))
      this.element.append(el("p.note", {}, "The text of this file is not in the page: write it with ", el("code", {}, "hq report --with-source"), ". What its lines cost is shown all the same."));
    if (!lines.length) this.element.append(el("p.empty", {}, "No line of it was measured."));
    const table = el("table", {}, el("thead", {}, el("tr", {}, ...[m.name, m.name + ".x", "", "line", baseName(path)].map((t, i) => el("th", { scope: "col", class: i < 4 ? "number" : "" }, plain(t))))));
    const body = el("tbody");
    let target: HTMLElement | null = null, before = 0;
    for (const at of lines.slice(0, LINES_MOST)) {
      if (before && at > before + 1) body.append(el("tr.gap", {}, el("td", { colspan: 5 }, "\u22ee")));
      before = at;
      const c = costs.get(at), number = (v: number) => numberText(style, v).filter(Boolean).join(" ");
      const row = el("tr", { class: at === line ? "target" : "", "data-line": at },
        el("td.number", { "data-value": c ? String(c.inc) : "" }, c ? number(c.inc) : "", el("span.share", {}, c ? percentText(c.inc, total) : "")),
        el("td.number", { "data-value": c ? String(c.exc) : "" }, c ? number(c.exc) : ""),
        el("td.gutter", { title: c ? [...c.marks].map((x) => (x === "loop" ? "in a loop" : "inlined into its caller")).join(", ") : "" },
          (loops.has(at) ? "\u21bb" : c?.marks.has("loop") ? "\u2502" : "") + (c?.marks.has("inlined") ? "I" : "")),
        el("td.number line", {}, String(at)),
        el("td.text", {}, el("bdi", { dir: "ltr" }, plain((source?.lines.get(at) ?? "").replace(/\t/g, "        ")))));
      if (c && total > 0) row.style.setProperty("--share", min(100, (100 * c.inc) / total).toFixed(1) + "%");
      if (at === line) target = row;
      body.append(row);
    }
    table.append(body);
    this.element.append(el("div.scroll", {}, table));
    (target as HTMLElement | null)?.scrollIntoView({ block: "center" });
  }
}
