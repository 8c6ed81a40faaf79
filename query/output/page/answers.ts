// SPDX-License-Identifier: BSD-3-Clause
// Answers as hq gave them when the page was written: regions, folds, clusters, and the questions that were put to it.
// No choice of time changes them, and of ranks only regions; digits and pictures are hq's own.
import { App } from "./app";
import { Answer } from "./data";
import { button, choice, clear, copy, csv, el, name, plain } from "./dom";
import { Selection } from "./model";
import { chosenRegions } from "./regions";
import { max, min } from "./number";

const isText = (cell: any): boolean => typeof cell === "string";

export class Answers {
  readonly element = el("div.pane answers");
  #sorted: { column: number; up: boolean } | null = null;
  #shown = -1;

  // choose: selects in the tree what a row is about, if it is there.
  constructor(private app: App, private choose: (id: string, name: string) => void) {}

  render(): void {
    const { data: d, state } = this.app, at = max(0, min(d.answers.length - 1, state.answer)), { a, followed } = this.#chosen(at);
    if (at !== this.#shown) this.#sorted = null;
    this.#shown = at;
    clear(this.element);
    if (!a) return;
    this.element.append(el("div.bar", {}, choice("question", d.answers.map((x, i) => [i, x.question]), at, (answer) => this.app.set({ answer: +answer })), button("copy the rows as CSV", () => copy(this.#csv(at)), "CSV"),
      el("span.note", {}, "as hq answered it when the page was written")));
    const told = plain(this.app.whole(...(followed ? ["ranks", "threads"] : [])));
    // What the language has, the page cannot compute; a question that chooses for itself takes no more. Visits have no call paths to choose.
    const kind = / (ranks|threads|during|through|prune|hide) /.test(a.question) ? null : /^(?:(clusters|fold|iterations|phases|routines)|tree|callers|flat|hot path|procedures|loops|lines|files|modules|groups|source|threads)( |$)/.exec(a.question);
    const chosen = kind ? this.app.slice() + (kind[1] ? "" : this.app.shapes()) : "";
    this.element.append(el("p.warn", {}, told, told && kind?.[1] ? " The page has the answer alone, not the visits that it is made of." : "", chosen ? " Of what is chosen hq tells it: " : null, chosen ? el("code", {}, plain(this.app.command(d.settings + a.question + chosen))) : null));
    const box = el("div.scroll");
    // In a low pane they would leave the rows no room.
    if (a.notes.length) box.append(el("details", { open: document.querySelector(".panebox")!.clientHeight > 400 }, el("summary.note", {}, `notes: ${a.notes.length}`), ...a.notes.map((note) => el("p.note", {}, plain(note)))));
    if (a.picture) box.append(el("img", { src: "data:image/svg+xml;base64," + a.picture, alt: `picture of ${plain(a.question)}` }));
    const rows = [...a.rows], order = this.#sorted;
    if (order) rows.sort((x, y) => compare(x[order.column], y[order.column]) * (order.up ? 1 : -1));
    // Unasked no column without a value.
    const shown = [...a.columns.keys()].filter((i) => / columns /i.test(a.question) || !rows.length || rows.some((r) => (isText(r[i + 5]) ? r[i + 5] : r[i + 5][1])));
    const head = el("tr", {}, ...shown.map((i) => this.#heading(a.columns[i], i + 5, !isText(a.rows[0]?.[i + 5]))), this.#heading("name", 0, false));
    const body = el("tbody", { onclick: (e: MouseEvent) => {
      const row = rows[(e.target as HTMLElement).closest("tr")!.rowIndex - 1];
      if (row) this.choose(row[4], row[0]);
    } }, ...rows.map((r) => el("tr", {},
      ...shown.map((i) => (isText(r[i + 5]) ? el("td", {}, name(r[i + 5])) : el("td.number", { "data-value": r[i + 5][0] === null ? "" : String(r[i + 5][0]) }, r[i + 5][1]))),
      el("th", { scope: "row", title: plain(r[0]), style: `padding-left:${6 + r[3] * 12}px` }, name(r[0]), r[1] ? el("span.place", {}, " ", name(r[1])) : null))));
    box.append(rows.length ? el("table", {}, el("thead", {}, head), body) : el("p.empty", {}, "no rows"));
    // Beside panes that are of what is chosen it would pass for that.
    this.element.append(told ? el("details", {}, el("summary", {}, "the answer of the whole run"), box) : box);
  }

  // Regions follow the ranks and threads that are chosen.
  #chosen(at: number): { a: Answer; followed: boolean } {
    const { base, state } = this.app, a = base.answers[at];
    const chosen = a && (state.ranks || state.threads) ? chosenRegions(base, a, new Selection(base, this.app.chosen())) : null;
    return { a: chosen ?? a, followed: !!chosen };
  }

  #heading(text: string, column: number, falling: boolean): HTMLElement {
    const now = this.#sorted?.column === column ? this.#sorted : null;
    return el("th", { scope: "col", class: falling ? "number" : "", "aria-sort": now ? (now.up ? "ascending" : "descending") : "none" },
      el("button", { onclick: () => {
        this.#sorted = { column, up: now ? !now.up : !falling };
        this.render();
      } }, plain(text), now ? (now.up ? " \u25b4" : " \u25be") : ""));
  }

  #csv(at: number): string {
    const { a } = this.#chosen(at);
    return csv([["name", ...a.columns], ...a.rows.map((r) => [r[0], ...a.columns.map((_, i) => (isText(r[i + 5]) ? r[i + 5] : String(r[i + 5][0] ?? "")))])]);
  }
}

// Texts by their letters, numbers by their size; what is blank is smaller than any.
function compare(a: any, b: any): number {
  const [x, y] = [a, b].map((v) => (isText(v) ? v : v[0] ?? -Infinity));
  return x < y ? -1 : x > y ? 1 : 0;
}
