// SPDX-License-Identifier: BSD-3-Clause
// The page: a table on one side, a picture on the other, both of one selection and one state.
import { about } from "./about";
import { Answers } from "./answers";
import { App, PaneName, searchRegex } from "./app";
import { Kind, NONE, canInflate, isCall, octets, openData, uints } from "./data";
import { brief, button, choice, clear, copy, el, linesOf, plain } from "./dom";
import { Flame } from "./flame";
import { Messages } from "./messages";
import { Node, Selection } from "./model";
import { oneText, percentText, timeText } from "./number";
import { Palette } from "./palette";
import { Ranks } from "./ranks";
import { Entry, Rows } from "./rows";
import { Source } from "./source";
import { Table } from "./table";
import { Trace } from "./trace";
import { nested, viewNames } from "./views";

const paneTitles: Record<PaneName, string> = { flame: "Flame graph", trace: "Trace", ranks: "Ranks", messages: "Messages", answers: "Answers", source: "Source", about: "About" };

class Page {
  private app: App;
  private rows: Rows;
  private table: Table;
  private flame: Flame;
  private trace: Trace;
  private ranks: Ranks;
  private source: Source;
  private messages: Messages;
  private answers: Answers;
  #pane = el("div.panebox", { role: "tabpanel", "aria-label": "picture" });
  #viewTabs = el("div.tabs", { role: "tablist", "aria-label": "tables" });
  #bar = el("div.head-bar");
  #paneTabs = el("div.tabs", { role: "tablist", "aria-label": "pictures" });
  #chips = el("div.chips");
  #problem = el("span.warn problem", { role: "alert" });
  #query = el("code.query");
  #found = el("output.found");
  #search: HTMLInputElement;
  #marked: Uint8Array | null = null; // contexts that the search finds
  #matches: ArrayLike<number> | null = null; // the same, or places of rows, the costliest first; null: not sorted yet
  #count = 0;
  #match = -1;
  #night = matchMedia("(prefers-color-scheme: dark)");
  #theme: "auto" | "light" | "dark" = "auto";

  constructor(app: App) {
    this.app = app;
    this.#usePalette();
    this.rows = new Rows(app);
    this.table = new Table(app, this.rows, (e) => this.#select(e));
    this.flame = new Flame(app, (n) => this.#selectNode(n), (n) => this.#zoomTo(n));
    this.trace = new Trace(app, (c) => this.selectContext(c));
    this.ranks = new Ranks(app);
    this.source = new Source(app);
    this.messages = new Messages(app);
    this.answers = new Answers(app, (id, name) => this.#selectId(id, name));
    this.#search = el("input", {
      type: "search", placeholder: "search names, /regex/", "aria-label": "search", value: app.state.search, spellcheck: "false",
      oninput: () => this.#typed(), onkeydown: (e: KeyboardEvent) => {
        if (e.key === "Enter") this.#step(e.shiftKey ? -1 : 1);
        else if (e.key === "Escape") this.table.element.focus();
        else return;
        e.preventDefault();
      },
    });
    this.#build();
    app.on((changed) => this.#changed(changed));
    document.addEventListener("keydown", (e) => this.#key(e));
    this.#night.addEventListener("change", () => this.#repaint());
    for (const [event, on] of [["beforeprint", true], ["afterprint", false]] as const) window.addEventListener(event, () => this.#print(on));
    if (app.state.view === "tree" && !app.state.selected) this.rows.openCostly();
    this.table.render();
    this.#restore();
    this.#renderAll();
  }

  // Paper is light, and holds the rows that a screen scrolls to.
  #print(on: boolean): void {
    this.table.whole = on;
    this.table.draw();
    this.#repaint();
    if (on) for (const notes of document.querySelectorAll<HTMLDetailsElement>(".scroll details")) notes.open = true;
  }

  get #dark(): boolean {
    return !this.table?.whole && (this.#theme === "dark" || (this.#theme === "auto" && this.#night.matches));
  }

  #usePalette(): void {
    this.app.palette = new Palette(this.app.data, this.#dark);
    document.documentElement.dataset.theme = this.#dark ? "dark" : "light";
  }

  #repaint(): void {
    this.#usePalette();
    this.#renderAll();
  }

  // ---- building ----

  #build(): void {
    const { data: d } = this.app;
    const fact = (name: string) => d.info.find(([k]) => k === name)?.slice(1).filter(Boolean).join(", ");
    document.title = `${plain(d.name)} \u2014 hq report`;
    const metrics = d.metrics.map((m, i) => [m, i] as const).filter(([m]) => m.side === "here");
    const metric = choice("metric", metrics.map(([m, i]) => [i, m.name]), this.app.state.metric, (value) => this.app.set({ metric: +value, sort: "" }), { id: "metric" });
    const toggle = (key: "lines" | "rounds" | "all" | "filter", text: string, title: string) =>
      el("button", { "data-toggle": key, title, onclick: () => this.app.set({ [key]: !this.app.state[key] }) }, text);
    const threshold: HTMLInputElement = el("input", { type: "number", min: 1, max: 100, id: "threshold", "aria-label": "threshold of the hot path, percent", value: this.app.state.threshold, onchange: () => this.app.set({ threshold: +threshold.value || 50 }) });
    const command = (fact("command") ?? fact("program") ?? "").replace(/\s+/g, " ");
    const whole = new Selection(d, { ranks: null, threads: null, time: null }); // what the address chooses may go
    const total = (i: number) => oneText(whole.total(i), d.metrics[i].dim), old = (i: number) => d.metrics.find((m) => m.side === "delta" && m.here === i)?.old ?? -1;
    const measured = metrics.filter(([, i]) => whole.total(i)).map(([m, i]) => `${total(i)} ${m.name}${old(i) < 0 ? "" : ` (old ${total(old(i))})`}`).slice(0, 3).join(", ");
    document.body.append(
      el("header", {},
        el("h1", {}, el("bdi", {}, plain(d.name)), d.compare ? el("span", {}, " compared with ", el("bdi", {}, plain(d.compare))) : null),
        el("p.facts", {}, el("span.run", {}, [this.#runFacts(), measured].filter(Boolean).join("; ")), el("bdi", { title: plain(command) }, plain(brief(command, 300)))),
        el("div.tools", {}, el("label", {}, "metric ", metric), this.#search, toggle("filter", "filter", "only rows that match stay, with what is above them"), this.#found,
          button("hot path (h): down to where a child has less than this share of its parent", () => this.#hot(), "hot path"), threshold,
          el("button", { title: "light or dark", "aria-label": "light or dark", onclick: () => { this.#theme = this.#dark ? "light" : "dark"; this.#repaint(); } }, "\u25d0"),
          el("button", { title: "keys and facts (?)", "aria-label": "help", onclick: () => this.#help() }, "?"))),
      el("div.state", { role: "region", "aria-label": "query" }, this.#chips, this.#problem, el("span.prompt", {}, "hq ", el("bdi", {}, plain(d.name)), " "), this.#query,
        el("button", { id: "copy-query", title: "copy the query (q)", onclick: () => this.#copyQuery() }, "copy"),
        button("copy the rows as CSV", () => copy(this.rows.table("csv")), "CSV"),
        button("copy the rows as a Markdown table", () => copy(this.rows.table("markdown")), "Markdown")),
      el("main", { class: d.compare ? "compared" : "" },
        el("section.left", { "aria-label": "table" }, this.#bar, this.table.element),
        el("section.right", { "aria-label": "picture" }, this.#paneTabs, this.#pane)));
    viewNames.forEach((v, i) => this.#viewTabs.append(el("button", { role: "tab", "data-view": v, title: `${v} (${i + 1})`, onclick: () => this.app.set({ view: v, sort: "", selected: "", flatten: 0 }) }, v)));
    const field = (key: "columns" | "where" | "through" | "ranks" | "threads", text: string, title: string, pattern?: string) => {
      const input: HTMLInputElement = el("input", { type: "text", placeholder: text, "aria-label": text, title, spellcheck: "false", "data-field": key, size: 12, pattern,
        onkeydown: (e: KeyboardEvent) => {
          if (e.key !== "Enter" || !input.reportValidity()) return;
          const value = input.value.trim();
          if (key !== "columns" && key !== "through") this.app.set({ [key]: value });
          else if (value) {
            this.app.set({ [key]: [...linesOf(this.app.state[key]).filter((t) => t !== value), value].join("\n") });
            input.value = "";
          }
        } });
      return input;
    };
    const who = d.ranked ? "ranks" : "threads";
    this.#bar.append(this.#viewTabs, el("div.options", {},
      field("where", "where ...", "keeps the rows for which it holds: cputime > 5% and kind = loop"),
      field("through", "through ...", "only samples whose call path matches: main >> exchange > MPI_Wait; not through: not MPI_Init"), field("columns", "+ column", "a column: cputime / @cputime, imbalance(cputime)"),
      d.kept.profiles && field(who, `${who} ...`, `only these ${who}: 0-3,7`, "\\d+(-\\d+)?(,\\d+(-\\d+)?)*"), toggle("lines", "lines", "rows of statements in tree and callers"), toggle("rounds", "merge recursion", "a recursion is one row for all of its rounds"),
      ...(d.compare ? [] : [button("hide the selected procedure (d): what it calls moves up, its own cost goes to its callers", () => this.#cut("hide"), "hide"),
        button("prune below the selected procedure (b): what it calls becomes its own cost", () => this.#cut("prune"), "prune")]),
      button("flatten: the rows below the top rows take their place", () => this.#flat(), "flatten"),
      this.app.several() ? toggle("all", "all metrics", "columns of every metric") : null));
    for (const p of this.app.panes()) this.#paneTabs.append(el("button", { role: "tab", "data-pane": p, onclick: () => this.app.set({ pane: p }) }, paneTitles[p]));
    ((window as any).hqPage = this as any)["app"] = this.app; // for tests, and for who asks at the console
  }

  #runFacts(): string {
    const d = this.app.data, ranks = new Set(d.profiles.filter((p) => p.rank >= 0).map((p) => p.rank)).size;
    const lost = d.losses.filter(([partial]) => !partial).reduce((s, l) => s + l[1], 0), partial = d.losses.filter(([p]) => p).reduce((s, l) => s + l[1], 0);
    const fact = (name: string) => d.info.find(([k]) => k === name)?.[1], samples = fact("samples") ?? d.plain.find((p) => p?.samples)?.samples;
    // Files of other tools may tell neither samples nor a time.
    const counted = [samples && `${samples} samples`, lost && `${lost} lost`, partial && `${partial} partial`].filter(Boolean).join(", ");
    const time = fact("duration") ?? (d.length > 1 ? oneText(d.length / 1e6, 1) : "");
    return [counted, `${ranks ? `${ranks} rank${ranks > 1 ? "s" : ""}, ` : ""}${d.profiles.length} thread${d.profiles.length === 1 ? "" : "s"}`, time].filter(Boolean).join("; ");
  }

  // ---- selecting ----

  #select(e: Entry): void {
    this.app.node = e.node;
    this.app.set({ selected: e.key }, true);
    this.#renderPane();
    this.#renderState();
  }

  #restore(): void {
    this.app.node = this.table.active?.node ?? null;
    if (this.table.active) this.table.scrollTo(this.table.active);
  }

  selectContext(c: number): void {
    if (this.app.state.view !== "tree") this.app.set({ view: "tree", sort: "", selected: "" });
    const e = this.rows.ofContext(c);
    if (!e) return;
    this.rows.reveal(e);
    this.table.activate(e, true);
  }

  // What a row of an answer is about: the context of its id, else one of its name.
  #selectId(id: string, name: string): void {
    const d = this.app.data, named: number[] = [];
    for (let s = 0; s < d.scopes; s++) if (d.texts[d.scopeShown[s]] === name) named.push(...d.instances(s));
    const context = named.find((c) => d.kind[c] !== Kind.Line && id.startsWith(d.id(c))) ?? named[0];
    if (context !== undefined) this.selectContext(context);
  }

  #selectNode(n: Node): void {
    if (this.app.state.view === "tree" && n.inc.length) return this.selectContext(n.inc[0]);
    const d = this.app.data, scope = n.scope, e = this.rows.visible.find((r) => r.node.scope === scope) ??
      this.rows.visible.find((r) => d.scopeEntity[r.node.scope] === d.scopeEntity[scope]);
    if (e) this.table.activate(e, true);
  }

  #zoomTo(n: Node): void {
    const context = n.inc.length === 1 || (n.rounds && !isCall(n.kind)) ? n.inc[0] : 0;
    const zoom = n.kind === Kind.Root ? "" : context ? "c" + context : isCall(n.kind) ? "s" + n.scope : this.app.state.zoom;
    if (n.kind !== Kind.Line) this.app.set({ view: "tree", zoom, selected: "", sort: "" });
  }

  // Everywhere if it is a procedure, else that one row.
  #cut(how: "prune" | "hide"): void {
    const n = this.app.node, pattern = n && n.kind !== Kind.File && n.kind !== Kind.Module ? this.app.pattern(isCall(n.kind) ? { ...n, context: NONE } : n) : null;
    if (!pattern || this.app.data.compare) return;
    const all = linesOf(this.app.state[how]).filter((p) => p !== pattern);
    this.app.set({ [how]: [...all, pattern].join("\n"), zoom: "", selected: "" });
  }

  #flat(): void {
    if (nested(this.app.state.view)) this.app.set({ flatten: this.app.state.flatten + 1, selected: "" });
  }

  #sortNext(): void {
    const ids = this.rows.columns.map((c) => c.id);
    this.app.set({ sort: ids[(ids.indexOf(this.app.state.sort || ids[0]) + 1) % ids.length], ascending: false });
  }

  #hot(): void {
    // Of a list, and where no row has its share, the first row.
    const e = (nested(this.app.state.view) && this.rows.hotPath(this.table.active)) || this.rows.roots[0];
    if (!e) return;
    this.rows.reveal(e);
    this.table.activate(e, true);
  }

  // ---- search ----

  #timer = 0;
  #typed(): void {
    clearTimeout(this.#timer);
    this.#timer = window.setTimeout(() => {
      this.app.set({ search: this.#search.value }, true);
      this.#match = -1;
    }, 60);
  }

  // Where names match: in the tree contexts, elsewhere rows. And what they cost together.
  #look(): void {
    const { state, data: d, selection } = this.app, regex = state.search ? searchRegex(state.search) : null, rows: number[] = [];
    this.#matches = null;
    this.#count = 0;
    clear(this.#found);
    if (!state.search || !d.metrics.length) return;
    if (!regex) {
      this.#found.textContent = "not a regular expression";
      return;
    }
    const marked = (this.#marked = octets(d.contexts)), tree = state.view === "tree";
    if (tree) {
      const hit = octets(d.scopes);
      for (let s = 1; s < d.scopes; s++) hit[s] = (state.lines || d.scopeKind[s] !== Kind.Line) && regex.test(d.texts[d.scopeShown[s]]) ? 1 : 0;
      const top = this.app.zoomNode(state.zoom), tops = top ? Array.from(top.inc) : [0];
      for (const t of tops) for (let c = t || 1; c < d.end[t]; c++) marked[c] = hit[d.scope[c]];
    } else
      this.rows.roots.forEach((e, i) => {
        if (!regex.test(e.name)) return;
        rows.push(i);
        for (let k = 0; k < e.node.inc.length; k++) marked[e.node.inc[k]] = 1;
      });
    const { value, count } = selection.union(state.metric, marked);
    this.#count = tree ? count : rows.length;
    if (!tree) this.#matches = rows;
    this.#found.textContent = this.#count ? `${this.#match >= 0 ? this.#match + 1 + " of " : ""}${this.#count}: ${percentText(value, selection.total(state.metric)) || "0 %"}` : "nothing";
  }

  // The contexts that were found, the costliest first: only who goes to them needs their order.
  #inOrder(): ArrayLike<number> {
    const { state, data: d, selection } = this.app, { sums } = selection.of(state.metric), marked = this.#marked!;
    const found = uints(this.#count), cost = (c: number) => sums[d.first[d.end[c]]] - sums[d.first[c]];
    for (let c = 0, n = 0; c < marked.length; c++) if (marked[c] && cost(c)) found[n++] = c;
    return found.sort((a, b) => cost(b) - cost(a));
  }

  #step(by: number): void {
    clearTimeout(this.#timer); // of a key that was pressed just before
    if (this.app.state.search !== this.#search.value) {
      this.#match = -1;
      this.app.set({ search: this.#search.value }, true);
    }
    if (!this.#count) return;
    this.#matches ??= this.#inOrder();
    this.#match = (this.#match + by + this.#count) % this.#count;
    const e = this.app.state.view === "tree" ? this.rows.ofContext(this.#matches[this.#match]) : this.rows.roots[this.#matches[this.#match]];
    if (e) {
      this.rows.reveal(e);
      this.table.activate(e, true);
    }
    this.#found.textContent = this.#found.textContent!.replace(/^(\d+ of )?/, `${this.#match + 1} of `);
  }

  // ---- what has changed ----

  #changed(changed: Set<string>): void {
    const { node } = this.app;
    const rows = "view metric sort ascending zoom ranks threads time lines rounds all filter columns where through prune hide flatten".split(" ");
    const filtered = this.app.state.filter && changed.has("search");
    this.trace.changed(changed);
    if (filtered || rows.some((k) => changed.has(k))) {
      this.rows.rebuild();
      if (changed.has("view") && !changed.has("zoom")) this.table.active = null;
      if (changed.has("view") || changed.has("zoom")) this.table.element.scrollTop = 0;
      this.table.render();
      this.app.node = this.table.active?.node ?? null;
    } else if (changed.has("search")) this.table.draw();
    else if (changed.has("selected") && this.table.active?.key !== this.app.state.selected) {
      this.table.active = null;
      this.table.render();
      this.#restore();
    }
    if (this.#search.value !== this.app.state.search && document.activeElement !== this.#search) this.#search.value = this.app.state.search;
    if (changed.size === 1 && changed.has("selected")) return this.#renderState();
    // Of the pictures only the flame graph shows what is searched for.
    this.#renderAll(changed.size > 1 || !changed.has("search") || this.app.state.pane === "flame");
    // Another view has the row of what was selected selected, if it has one.
    if (changed.has("view") && node && node.scope !== NONE && !this.app.state.selected) this.#selectNode(node);
  }

  #renderAll(pane = true): void {
    if (this.app.state.search || this.#found.textContent) this.#look();
    this.#renderState();
    if (pane) this.#renderPane();
  }

  #renderState(): void {
    const { state, data: d } = this.app;
    for (const b of [...this.#viewTabs.children, ...this.#paneTabs.children] as HTMLElement[]) {
      const on = b.dataset.view === state.view || b.dataset.pane === state.pane, fresh = on && b.getAttribute("aria-selected") !== "true";
      b.setAttribute("aria-selected", String(on));
      if (fresh) b.scrollIntoView({ block: "nearest" }); // a narrow window cuts the row of tabs
    }
    for (const b of document.querySelectorAll<HTMLElement>("[data-toggle]")) b.setAttribute("aria-pressed", String(state[b.dataset.toggle as "lines"]));
    const metric = document.getElementById("metric") as HTMLSelectElement | null;
    if (metric) metric.value = String(state.metric);
    this.#query.textContent = ((text) => (text.includes('"') ? `'${text}'` : `"${text}"`))(plain(this.app.query()));
    clear(this.#chips);
    const chip = (text: string, off: Parameters<App["set"]>[0]) =>
      this.#chips.append(el("button.chip", { title: "take back", onclick: () => this.app.set(off) }, text, el("span", { "aria-hidden": "true" }, " \u00d7")));
    const zoom = state.view === "tree" ? this.app.zoomNode(state.zoom) : null, time = this.app.chosen().time;
    if (zoom) chip(`in ${brief(plain(d.texts[d.scopeShown[zoom.scope]]))}`, { zoom: "", selected: "" });
    if (state.ranks) chip(`ranks ${brief(state.ranks, 30)}`, { ranks: "" });
    if (state.threads) chip(`threads ${brief(state.threads, 30)}`, { threads: "" });
    if (time) chip(`${timeText(time[0])} to ${time[1] === Infinity ? "the end" : timeText(time[1])}${this.app.selection.thinned ? " \u2248" : ""}`, { time: "" });
    for (const text of linesOf(state.columns))
      chip(`column ${plain(text)}`, { columns: linesOf(state.columns).filter((t) => t !== text).join("\n") });
    for (const how of ["through", "hide", "prune"] as const)
      for (const p of linesOf(state[how]))
        chip(`${how} ${plain(p)}`, { [how]: linesOf(state[how]).filter((t) => t !== p).join("\n"), zoom: "", selected: "" });
    if (state.flatten) chip(`flatten ${state.flatten}`, { flatten: state.flatten - 1, selected: "" });
    if (state.where) chip(`where ${plain(state.where)}`, { where: "" });
    for (const f of document.querySelectorAll<HTMLInputElement>("[data-field]")) if (f !== document.activeElement) f.value = { where: state.where, ranks: state.ranks, threads: state.threads }[f.dataset.field!] ?? "";
    this.#problem.textContent = plain(this.rows.problem);
  }

  #renderPane(): void {
    const { state } = this.app, panes = { flame: this.flame, trace: this.trace, ranks: this.ranks, source: this.source, messages: this.messages, answers: this.answers };
    const pane = state.pane === "about" ? about(this.app) : panes[state.pane].element;
    if (this.#pane.firstChild !== pane) this.#pane.replaceChildren(pane);
    if (state.pane !== "about") panes[state.pane].render();
  }

  async #copyQuery(): Promise<void> {
    const done = await copy(this.app.command(this.app.query())), button = document.getElementById("copy-query")!;
    button.textContent = done ? "copied" : "not allowed";
    setTimeout(() => { button.textContent = "copy"; }, 1200);
  }

  // ---- keys ----

  #key(e: KeyboardEvent): void {
    const target = e.target as HTMLElement, state = this.app.state;
    if (e.ctrlKey || e.metaKey || e.altKey || /INPUT|SELECT|TEXTAREA/.test(target.tagName)) return;
    const number = Number(e.key), node = this.app.node, of: Record<string, (() => void) | null | false> = {
      "/": () => { this.#search.focus(); this.#search.select(); },
      n: () => this.#step(1),
      N: () => this.#step(-1),
      h: () => this.#hot(),
      s: () => this.#sortNext(),
      f: node && (() => this.#zoomTo(node)),
      c: node && (() => this.#callers(node)),
      d: () => this.#cut("hide"),
      b: () => this.#cut("prune"),
      p: () => this.app.set({ pane: ((all) => all[(all.indexOf(state.pane) + 1) % all.length])(this.app.panes()) }),
      q: () => this.#copyQuery(),
      x: () => this.app.set({ ranks: "", threads: "", time: "", through: "", prune: "", hide: "", flatten: 0 }),
      "?": () => this.#help(),
      Escape: !!state.zoom && (() => this.app.set({ zoom: "", selected: "" })),
    }, act = of[e.key];
    if (number >= 1 && number <= viewNames.length) this.app.set({ view: viewNames[number - 1], sort: "", selected: "", flatten: 0 });
    else if (act) act();
    else if (/^(Arrow|Page|Home|End|Enter)/.test(e.key) && target === document.body) {
      this.table.element.focus();
      this.table.key(e);
    }
    else return;
    e.preventDefault();
  }

  // The keys stand below what ran: they come in sight, and arrows scroll there.
  #help(): void {
    this.app.set({ pane: "about" });
    const pane = this.#pane.firstChild as HTMLElement;
    pane.focus();
    pane.querySelector(".keys")!.scrollIntoView({ block: "nearest" });
  }

  // Of a loop or line those of the procedure that holds it.
  #callers(n: Node): void {
    const d = this.app.data;
    let scope = n.scope;
    while (scope !== NONE && d.scopeEntity[scope] === NONE) scope = d.scopeParent[scope];
    const entity = d.scopeEntity[scope];
    if (scope === NONE) return;
    this.app.set({ view: "callers", sort: "", selected: "" });
    const e = this.rows.roots.find((r) => d.scopeEntity[r.node.scope] === entity);
    if (!e) return;
    this.rows.toggle(e, true);
    this.table.draw();
    this.table.element.scrollTop = 1e9; // from below: the row comes to the upper edge, with room for its callers
    this.table.activate(e, true);
  }
}

async function begin(): Promise<void> {
  const store = document.getElementById("data")!;
  try {
    const data = await openData(store.textContent ?? "");
    store.remove();
    new Page(new App(data));
    (window as any).opened = performance.now(); // tests/bench/page.py
  } catch (e) {
    document.body.append(el("p.empty", {}, !canInflate
      ? "This browser is too old for the page: it has no DecompressionStream (Firefox 113, Chrome 85, Safari 16.4 have it)."
      : `The data of this page could not be read; it may be cut. (${e})`));
    throw e;
  }
}

begin();
