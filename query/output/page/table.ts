// SPDX-License-Identifier: BSD-3-Clause
// The tree table: only the rows on the screen are elements. A treegrid in which the grid keeps the focus and names the
// active row (WAI-ARIA, treegrid pattern).
import { App, searchRegex } from "./app";
import { Kind } from "./data";
import { clear, el, name, plain } from "./dom";
import { drawnName } from "./model";
import { Column, Entry, kindText, Rows } from "./rows";
import { ceil, floor, max, min } from "./number";

const ROW = 24, INDENT = 10, NAME = 64, MOST_PRINTED = 2000, MOST_PIXELS = 8e6; // a taller element is cut by some browsers: then a pixel of scrolling is several rows

export class Table {
  readonly element: HTMLElement;
  #head: HTMLElement;
  #body: HTMLElement;
  #sizer: HTMLElement;
  active: Entry | null = null;
  whole = false; // every row, for paper
  #drawn = new Map<Entry, [string, HTMLElement]>();
  #letters = 0; // of the longest number so far: columns have room for it

  constructor(private app: App, readonly rows: Rows, private choose: (e: Entry) => void) {
    this.#head = el("div.row head", { role: "row" });
    this.#sizer = el("div.sizer", { role: "presentation" });
    this.#body = el("div.body", { role: "rowgroup" }, this.#sizer);
    this.element = el("div", {
      class: "table", role: "treegrid", tabindex: 0, "aria-label": "costs", onkeydown: (e: KeyboardEvent) => this.key(e),
      onscroll: () => this.draw(), onclick: (e: MouseEvent) => this.#click(e), ondblclick: (e: MouseEvent) => this.#click(e, true),
    }, el("div", { role: "rowgroup", class: "heads" }, this.#head), this.#body);
    new ResizeObserver(() => this.draw()).observe(this.element);
  }

  #scale(): number {
    const all = this.rows.visible.length * ROW;
    return all > MOST_PIXELS ? all / MOST_PIXELS : 1;
  }

  // Everything anew; the row that was active stays so, if it is still there.
  render(): void {
    const key = this.active?.key ?? this.app.state.selected;
    this.active = key ? this.rows.byKey(key) : null;
    if (this.active) this.rows.reveal(this.active);
    this.#renderHead();
    this.#drawn.clear();
    this.#letters = 7;
    this.draw();
  }

  #renderHead(): void {
    clear(this.#head);
    const s = this.app.state;
    // Unasked by the largest difference, else by the metric.
    const all = this.rows.columns, usual = all.find((c) => c.sign && this.app.data.metrics[c.metric].here === s.metric) ?? all.find((c) => c.metric === s.metric);
    all.forEach((c, i) => {
      const sorted = s.sort ? s.sort === c.id : c === usual && !c.exclusive;
      this.#head.append(el("div", {
        class: "cell number" + (c.exclusive ? " own" : ""), role: "columnheader", style: `--place:${i}`,
        "aria-sort": sorted ? (s.sort && s.ascending ? "ascending" : "descending") : "none",
      }, el("button", { title: this.#about(c), "data-sort": c.id, tabindex: -1 }, ...c.head.split(/(?<=^(?:old|delta)\.|:)/).flatMap((part) => [part, el("wbr")]), sorted ? (s.sort && s.ascending ? "\u00a0\u25b4" : "\u00a0\u25be") : "")));
    });
    this.#head.append(el("div.cell scope", { role: "columnheader", "aria-sort": s.sort === "name" ? (s.ascending ? "ascending" : "descending") : "none" },
      el("button", { "data-sort": "name", tabindex: -1, title: "sort by name" }, "scope", s.sort === "name" ? (s.ascending ? " \u25b4" : " \u25be") : "")));
  }

  #about(c: Column): string {
    const m = this.app.data.metrics[c.metric];
    return (m ? `${m.description || m.event}: ${c.exclusive ? "the scope alone" : "the scope and what it calls"}; ` : "") + "sorts by it";
  }

  draw(): void {
    const view = this.element, all = this.rows.visible, scale = this.#scale();
    const head = this.#head.offsetHeight || ROW, height = max(ROW, view.clientHeight - head);
    this.#sizer.style.height = min(all.length * ROW, MOST_PIXELS) + "px";
    view.setAttribute("aria-rowcount", String(all.length + 1));
    const numbers = this.rows.columns.length * (this.#head.querySelector<HTMLElement>(".number:not(.own)")?.offsetWidth ?? 0);
    view.classList.toggle("sticky", numbers < view.clientWidth * 0.55);
    view.classList.toggle("many", numbers > view.clientWidth * (this.whole ? 0.6 : 0.9)); // names stay in sight, at the right
    const from = this.whole ? 0 : max(0, floor(view.scrollTop * scale / ROW) - 2), to = min(all.length, this.whole ? MOST_PRINTED : from + ceil(height / ROW) + 5);
    const search = this.app.state.search ? searchRegex(this.app.state.search) : null;
    // A row that has not changed stays the same element: who has pressed the mouse on it releases it there.
    const drawn: Node[] = [], kept = new Map<Entry, [string, HTMLElement]>();
    for (let i = from; i < to; i++) {
      const e = all[i], top = view.scrollTop + i * ROW - view.scrollTop * scale;
      const stamp = [i, top, e.open, e === this.active, this.app.state.search].join();
      const old = this.#drawn.get(e), row = old && old[0] === stamp ? old[1] : this.#row(e, i, top, search);
      kept.set(e, [stamp, row]);
      drawn.push(row);
    }
    this.#drawn = kept;
    view.style.setProperty("--letters", String(this.#letters));
    if (this.whole && to < all.length) drawn.push(el("p", {}, `and ${all.length - to} more rows`));
    if (!all.length) drawn.push(el("p.empty", {}, (this.app.state.filter && this.app.state.search) || this.app.state.where ? "no row matches" : this.app.state.view === "loops" ? "no sample lies in a loop that is known" : this.app.state.view === "lines" && this.app.data.compare ? "two runs are aligned by the names of scopes, never by lines" : this.app.unknown() || "nothing was measured here"));
    if (drawn.length !== this.#sizer.childNodes.length || drawn.some((n, i) => n !== this.#sizer.childNodes[i])) this.#sizer.replaceChildren(...drawn);
    if (this.active) view.setAttribute("aria-activedescendant", "row-" + all.indexOf(this.active));
    else view.removeAttribute("aria-activedescendant");
  }

  #row(e: Entry, index: number, top: number, search: RegExp | null): HTMLElement {
    const rows = this.rows, kids = rows.hasKids(e);
    const row = el("div", {
      class: "row" + (e === this.active ? " active" : "") + (e.kept ? " kept" : ""), role: "row", id: "row-" + index, "data-index": index,
      style: `top:${top}px`, "aria-level": e.depth + 1, "aria-posinset": e.place, "aria-setsize": e.siblings,
      "aria-selected": e === this.active ? "true" : "false", "aria-rowindex": index + 2,
      "aria-expanded": kids ? (e.open ? "true" : "false") : undefined,
    });
    rows.columns.forEach((c, i) => {
      const [value, percent] = rows.text(c, e), number = c.value(e);
      this.#letters = max(this.#letters, value.length + max(0, percent.length - 6));
      const cell = el("div", { class: "cell number" + (c.exclusive ? " own" : ""), role: "gridcell", style: `--place:${i}`, "data-value": isNaN(number) ? "" : String(number), "data-column": c.id },
        el("span.value", {}, value), el("span.share", {}, percent));
      if (!c.sign && c.base > 0 && number > 0) cell.style.setProperty("--share", min(100, (100 * number) / c.base).toFixed(1) + "%");
      if (c.sign && number) cell.classList.add(number > 0 ? "more" : "less");
      cell.addEventListener("mouseenter", () => { cell.title = value ? `${value}${percent ? ", " + percent : ""}; ${rows.interval(c, e)}` : ""; });
      row.append(cell);
    });
    const place = rows.place(e), delta = rows.columns.find((c) => c.sign && !c.exclusive);
    const gone = delta && e.slots[2 * this.app.data.metrics[delta.metric].here] === 0, fresh = delta && e.slots[2 * this.app.data.metrics[delta.metric].old] === 0;
    row.append(el("div.cell scope", { role: "gridcell" },
      el("span.indent", { style: `--deep:${min(e.depth, 400)}` }),
      el("span", { class: "twist" + (kids ? e.open ? " open" : " closed" : ""), "aria-hidden": "true" }),
      e.node.kind === Kind.Inline ? el("abbr.inlined", { title: "inlined" }, "[I]") : null,
      name(drawnName(this.app.data, e.node, NAME), { class: "name" + (search?.test(e.name) ? " found" : ""), title: `${kindText(this.app.data, e.node)} ${plain(e.name)}${place ? "\n" + plain(place) : ""}` }),
      this.app.data.inferred[e.node.scope] ? el("span.mark", { title: "inferred from debug information: it can be some lines off" }, "line \u2248") : null,
      e.node.rounds ? el("span.mark", {}, `\u00d7 ${e.node.rounds}`) : null,
      gone ? el("span.mark", {}, "gone") : fresh ? el("span.mark", {}, "new") : null,
      place ? el("span.place", {}, name(place)) : null));
    return row;
  }

  #click(e: MouseEvent, twice = false): void {
    const target = e.target as HTMLElement, sort = target.closest<HTMLElement>("[data-sort]")?.dataset.sort;
    if (sort) {
      const s = this.app.state, now = s.sort || this.rows.columns.find((c) => c.metric === s.metric)?.id;
      this.app.set({ sort, ascending: now === sort ? !s.ascending : sort === "name" });
      return;
    }
    const row = target.closest<HTMLElement>("[data-index]");
    if (!row) return;
    const entry = this.rows.visible[+row.dataset.index!];
    if (target.classList.contains("twist") || twice) this.rows.toggle(entry);
    this.activate(entry);
  }

  activate(e: Entry | null, scroll = false): void {
    this.active = e;
    if (e && scroll) this.scrollTo(e);
    this.draw();
    if (e) this.choose(e);
  }

  scrollTo(e: Entry): void {
    const view = this.element, index = this.rows.visible.indexOf(e), scale = this.#scale();
    const head = this.#head.offsetHeight || ROW, top = index * ROW / scale, room = view.clientHeight - head - ROW;
    if (top < view.scrollTop) view.scrollTop = top;
    else if (top > view.scrollTop + room) view.scrollTop = top - room + ROW;
    if (view.classList.contains("many")) return;
    // Deep rows begin far to the right; the numbers stay where they are, unless they leave no room.
    const numbers = this.#head.querySelector<HTMLElement>(".scope")!.offsetLeft, sticky = view.classList.contains("sticky") ? numbers : 0;
    const begin = numbers + e.depth * INDENT;
    if (begin + 220 > view.scrollLeft + view.clientWidth || begin < view.scrollLeft + sticky) {
      this.draw(); // as wide as the row
      const left = max(0, min(view.scrollWidth - view.clientWidth, begin - sticky - (view.clientWidth - sticky) * 0.3)), cell = this.#head.firstElementChild!.getBoundingClientRect().width;
      view.scrollLeft = left < numbers - sticky ? floor(left / cell) * cell : left; // a number that is cut looks like another one
    }
  }

  key(e: KeyboardEvent): void {
    if (e.ctrlKey || e.metaKey || e.altKey) return;
    const all = this.rows.visible, at = this.active ? all.indexOf(this.active) : -1;
    const page = max(1, floor(this.element.clientHeight / ROW) - 2), a = this.active;
    const go = (i: number) => all.length && this.activate(all[max(0, min(all.length - 1, i))], true);
    switch (e.key) {
      case "ArrowDown": go(at + 1); break;
      case "ArrowUp": go(at - 1); break;
      case "PageDown": go(at + page); break;
      case "PageUp": go(at - page); break;
      case "Home": go(0); break;
      case "End": go(all.length - 1); break;
      case "ArrowRight":
        if (a && this.rows.hasKids(a)) {
          if (a.open) go(at + 1);
          else this.rows.toggle(a, true);
        }
        break;
      case "ArrowLeft":
        if (a?.open) this.rows.toggle(a, false);
        else if (a?.parent) go(all.indexOf(a.parent));
        break;
      case "Enter": case " ": if (a) this.rows.toggle(a); break;
      default: return;
    }
    this.draw();
    e.preventDefault();
    e.stopPropagation();
  }
}
