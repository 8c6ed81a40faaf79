// SPDX-License-Identifier: BSD-3-Clause
// What ran and how well it was measured, and the keys of the page.
import { App } from "./app";
import { el, plain } from "./dom";

export const keys: [string, string][] = [
  ["\u2191 \u2193 PgUp PgDn Home End", "move in the table"],
  ["\u2192 \u2190", "open and close a row; to its first row, to its parent"],
  ["Enter", "open or close"],
  ["h", "hot path: from the selected row to where the cost arises; of a list the first row"],
  ["f", "focus: the selected row becomes the root; Esc leads back"],
  ["s", "sort by the next column"],
  ["c", "callers of the selected procedure"],
  ["d b", "hide the selected procedure; prune below it"],
  ["/", "search; Enter or n the next (costliest first), N the one before"],
  ["1 to 8", "tree, callers, flat, procedures, loops, lines, files, modules"],
  ["p", "the next picture"],
  ["+ - \u2190 \u2192 Enter", "in the trace: zoom, move, choose the time"],
  ["q", "copy the query that prints this table"],
  ["x", "take back all choices: ranks, time, call paths, what is hidden, pruned or flattened"],
  ["?", "this list"],
];

export function about(app: App): HTMLElement {
  const d = app.data, losses = d.losses.filter(([, count]) => count > 0);
  const table = (facts: string[][]) => el("table", {}, el("tbody", {}, ...facts.map(([head, ...rest]) =>
    el("tr", {}, el("th", { scope: "row" }, plain(head)), el("td", {}, el("bdi", {}, plain(rest.filter(Boolean).join(", "))))))));
  const percent = (share: number) => +(100 * share).toPrecision(3); // 1e-6 is not 0.00009999999999999999 %
  const warn = (holds: unknown, text: string) => holds ? el("p.warn", {}, plain(text)) : null;
  return el("div.pane about", { tabindex: 0 },
    warn(1, app.whole()),
    d.compare ? null : el("h2", {}, "A first look"), d.compare ? null : table(d.summary),
    el("h2", {}, "What is missing"),
    losses.length ? el("ul", {}, ...losses.map(([partial, count, reason]) => el("li", {}, `${count} ${partial ? "call paths without their outer end" : "samples lost"}: ${plain(reason)}`)))
      : el("p", {}, "No sample was lost, and every call path is whole."),
    warn(d.kept.every > 1, `Of the traces one record in ${d.kept.every} is in this page, to keep it small; numbers of a slice of time are estimates from it, marked \u2248. Without a slice every number is exact.`),
    warn(d.kept.records && !d.kept.every && !d.compare, "The traces were left out to keep this page small."),
    warn(d.kept.cut, `Calls below ${percent(d.kept.cut)} % of every metric are not in this page, to keep it small: a row stands for those of each caller. Numbers of the tree are exact; those of rows that add up several paths are marked \u2248, and the mouse on them tells how much may be missing.`),
    warn(d.kept.coarse, `Calls below ${percent(d.kept.coarse)} % of every metric have one value a thread in this page, to keep it small: what lies inside of them is estimated where ranks or threads are chosen, and marked \u2248.`),
    warn(!d.kept.profiles && !d.compare, "The values of single ranks and threads were left out to keep this page small."),
    el("h2", {}, "What ran"), table(d.info),
    el("h2", {}, "Keys"), el("table.keys", {}, el("tbody", {}, ...keys.map(([k, what]) => el("tr", {}, el("th", { scope: "row" }, el("kbd", {}, k)), el("td", {}, what))))),
    el("p.note", {}, `Written by hq ${d.version}. Nothing on this page is fetched from or sent to anywhere.`));
}
