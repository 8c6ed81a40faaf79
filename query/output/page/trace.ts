// SPDX-License-Identifier: BSD-3-Clause
// The trace: what each profile did at each instant (query/choose/timeline.c, query/views/trace*.c). A drag chooses time, and
// ranks; everything else on the page then shows that slice.
import { App, rangesText } from "./app";
import { Data, Dim, isCall, ELAPSED, Kind, NONE, Trace as Records } from "./data";
import { clear, el, fit, plain, sizeCanvas } from "./dom";
import { showTip } from "./flame";
import { drawnScope, firstAtLeast, nodeRanges, within } from "./model";
import { timeText } from "./number";

const TOP = 4, AXIS = 22;
export const LEGEND = 36; // letters of a name

// The record that tells what ran at an instant; -1: nothing is told. The nearest, unless a gap lies between.
export function recordAt(d: Data, t: Records, us: number): number {
  const n = t.time.length;
  if (!n) return -1;
  const usual = n > 1 && t.time[n - 1] > t.time[0] ? (t.time[n - 1] - t.time[0]) / (n - 1) : 0;
  const period = (i: number) => {
    const m = d.metrics[t.metric[i]], p = m.period * m.scale * 1e6 * d.kept.every;
    return m.dim === Dim.Seconds && isFinite(p) && p > 0 ? p : usual;
  };
  const next = firstAtLeast(t.time, us + 1), last = next - 1; // the last one at or before
  const after = next < n ? t.time[next] - us : Infinity, before = last >= 0 ? us - t.time[last] : Infinity;
  const own = next < n ? period(next) * t.weight[next] : 0;
  const gap = next >= n || last < 0 || after + before > own + 3 * period(next);
  const lead = next < n && d.metrics[t.metric[next]].flags & ELAPSED ? period(next) * (t.weight[next] - 1) / d.kept.every : 0;
  const takesAfter = gap ? after <= own : after - lead <= before;
  if (gap && !takesAfter && !(last >= 0 && before <= period(last) / 2)) return -1;
  return takesAfter ? next : last;
}

const isLevel = (k: Kind) => isCall(k) || k === Kind.Region || k === Kind.Phase;

export class Trace {
  readonly element: HTMLElement;
  private canvas: HTMLCanvasElement;
  private tip: HTMLElement;
  private legend: HTMLElement;
  private bar: HTMLElement;
  private shown: number[] = [];
  private from = 0;
  private to = 1;
  private width = 0;
  private left = 92; // of the cells: labels stand before them
  private rowHeight = 12;
  private cells = new Int32Array(0); // context + 1 by row and column
  private levels: Uint16Array | null = null;
  private of: Data | null = null; // what `levels` and `cells` were made of
  private drag: { x: number; y: number } | null = null;
  private view: [number, number] | null = null; // zoomed, without choosing
  private all: number[] = [];  // the profiles, in the order of the rows
  private several = { threads: false, processes: false };
  private looked = "";         // what `cells` are of
  private brush: HTMLElement;

  constructor(private app: App, private choose: (context: number) => void) {
    this.canvas = el("canvas", {
      role: "img", "aria-label": "trace", tabindex: 0,
      onmousemove: (e: MouseEvent) => this.move(e), onmouseleave: () => { this.tip.style.display = "none"; },
      onmousedown: (e: MouseEvent) => { this.drag = this.at(e); e.preventDefault(); },
      onmouseup: (e: MouseEvent) => this.drop(e), onwheel: (e: WheelEvent) => this.wheel(e), onkeydown: (e: KeyboardEvent) => this.key(e),
    });
    this.tip = el("div", { class: "tip", role: "status" });
    this.legend = el("div", { class: "legend" });
    this.bar = el("div", { class: "bar" });
    this.brush = el("div", { class: "brush" });
    this.element = el("div", { class: "pane trace" }, this.bar, el("div", { class: "scroll" }, this.canvas, this.brush), this.legend, this.tip);
    new ResizeObserver(() => this.element.isConnected && this.render()).observe(this.element);
  }

  private profiles(): number[] {
    const { data: d, selection } = this.app, all: number[] = [];
    const ranked = d.profiles.some((p, i) => selection.has(i) && p.rank >= 0);
    d.profiles.forEach((p, i) => { if (selection.has(i) && (!ranked || p.rank >= 0)) all.push(i); });
    all.sort((a, b) => d.profiles[a].rank - d.profiles[b].rank || d.profiles[a].pid - d.profiles[b].pid || d.profiles[a].thread - d.profiles[b].thread || a - b);
    const x = d.profiles[all[0]];
    this.several = { threads: all.some((i) => d.profiles[i].thread !== x.thread), processes: all.some((i) => d.profiles[i].pid !== x.pid) };
    return all;
  }

  label(p: number): string {
    const x = this.app.data.profiles[p], thread = this.several.threads ? ` thread ${x.thread}` : "";
    if (x.rank >= 0) return `rank ${x.rank}${thread}`;
    return this.several.processes && x.pid ? `${plain(x.command.split("/").pop()!)} ${x.pid}${thread}` : `thread ${x.thread}`;
  }

  private extent(): [number, number] {
    if (this.view) return this.view;
    const time = this.app.chosen().time, d = this.app.data;
    let from = Infinity, to = 0;
    for (const p of this.all) {
      from = Math.min(from, d.profiles[p].start);
      to = Math.max(to, d.profiles[p].end);
    }
    if (from === Infinity) from = 0;
    if (time) [from, to] = [Math.max(from, time[0]), Math.min(to, time[1])];
    return [from, Math.max(to, from + 1)];
  }

  private contextOf(at: number): number {
    const first = this.app.data.first;
    let low = 0, high = this.app.data.contexts;
    while (high - low > 1) {
      const middle = (low + high) >>> 1;
      if (first[middle] <= at) low = middle;
      else high = middle;
    }
    return low;
  }

  // How many procedures there are from the top to each context.
  private depths(): Uint16Array {
    const d = this.app.data;
    if (!this.levels || this.levels.length !== d.contexts) {
      this.levels = new Uint16Array(d.contexts);
      for (let c = 0; c < d.contexts; c++)
        this.levels[c] = (d.parent[c] === NONE ? 0 : this.levels[d.parent[c]]) + (isLevel(d.kind[c]) ? 1 : 0);
    }
    return this.levels;
  }

  // The procedure at a level of a context's call path, the deepest one if the path is shorter.
  private ancestor(context: number, level: number): number {
    const d = this.app.data, depth = this.depths();
    let c = context, found = NONE;
    for (; c !== NONE; c = d.parent[c]) if (isLevel(d.kind[c])) {
      found = c;
      if (depth[c] <= level) break;
    }
    if (found !== NONE) return found;
    for (c = context; d.kind[c] === Kind.Line && d.parent[c] !== NONE;) c = d.parent[c];
    return c;
  }

  // The outermost level at which rows are not mostly of one procedure.
  private autoLevel(): number {
    const d = this.app.data, depth = this.depths(), count = this.shown.map(() => new Map<number, number>());
    let deepest = 1, cells = 0;
    for (let y = 0; y < this.shown.length; y++)
      for (let x = 0; x < this.width; x++) {
        const cell = this.cells[y * this.width + x];
        if (!cell) continue;
        count[y].set(cell - 1, (count[y].get(cell - 1) ?? 0) + 1);
        deepest = Math.max(deepest, depth[cell - 1]);
        cells++;
      }
    let best = 1, least = Infinity;
    for (let level = 1; level <= Math.min(deepest, 100); level++) {
      let same = 0;
      for (const row of count) {
        const by = new Map<number, number>();
        let largest = 0;
        for (const [c, n] of row) {
          const s = d.scope[this.ancestor(c, level)], sum = (by.get(s) ?? 0) + n;
          by.set(s, sum);
          largest = Math.max(largest, sum);
        }
        same += largest;
      }
      if (same < least) {
        least = same;
        best = level;
      }
      if (same <= cells * 0.7) break;
    }
    return best;
  }

  private look(): void {
    const { data: d } = this.app, time = this.app.chosen().time;
    const key = [this.from, this.to, this.width, this.shown.length, this.shown[0], this.app.state.ranks, this.app.state.threads, this.app.state.time].join();
    if (key === this.looked && this.of === d) return;
    this.looked = key;
    this.levels = null;
    this.of = d;
    this.cells = new Int32Array(this.shown.length * this.width);
    this.shown.forEach((p, y) => {
      const t = d.trace(p);
      for (let x = 0; x < this.width; x++) {
        const us = Math.floor(this.from + ((x + 0.5) * (this.to - this.from)) / this.width);
        if (time && (us < time[0] || us >= time[1])) continue;
        const i = recordAt(d, t, us);
        if (i >= 0) this.cells[y * this.width + x] = this.contextOf(t.at[i]) + 1;
      }
    });
  }

  private controls(level: number): void {
    const { state } = this.app;
    clear(this.bar);
    const mode: HTMLSelectElement = el("select", { "aria-label": "what is shown", onchange: () => this.app.set({ mode: mode.value as typeof state.mode }) },
      ...[["profiles", "profiles over time"], ["depth", "call path of one"], ["summary", "summary"]].map(([v, t]) => el("option", { value: v, selected: v === state.mode }, t)));
    this.bar.append(mode);
    if (state.mode === "profiles") {
      const slider: HTMLInputElement = el("input", { type: "range", min: 1, max: Math.max(2, ...this.depthRange()), value: level, "aria-label": "call path level", oninput: () => this.app.set({ level: +slider.value }, true) });
      this.bar.append(el("label", {}, `level ${level} `, slider));
    }
    if (state.mode === "depth") {
      const all = this.all, pick: HTMLSelectElement = el("select", { "aria-label": "profile", onchange: () => this.app.set({ profile: +pick.value }) },
        ...all.slice(0, 5000).map((p) => el("option", { value: p, selected: p === state.profile }, this.label(p))));
      this.bar.append(pick);
    }
    if (this.view) this.bar.append(
      el("button", { onclick: () => this.app.set({ time: `${Math.floor(this.from)}-${Math.ceil(this.to)}` }) }, "use this time everywhere"),
      el("button", { onclick: () => { this.view = null; this.render(); } }, "all of the time"));
  }

  private depthRange(): number[] { return [Math.min(60, this.depths().reduce((m, x) => Math.max(m, x), 1))]; }

  render(): void {
    const { data: d, state, palette } = this.app;
    if (!d.hasTraces) {
      this.element.replaceChildren(el("p", { class: "empty" }, d.compare ? "A comparison has no traces: a time belongs to one run."
        : d.kept.records ? "The traces were left out to keep the page small (hq report --budget)."
          : "There are no traces: record with a trace (hq record --trace, the default)."));
      return;
    }
    const all = (this.all = this.profiles());
    [this.from, this.to] = this.extent();
    const one = all.includes(state.profile) ? state.profile : all[0];
    const box = this.canvas.parentElement!, room = Math.max(160, box.clientWidth - 4);
    const longest = state.mode === "profiles" ? Math.max(0, ...[0, all.length >> 1, all.length - 1].map((i) => (all[i] === undefined ? 0 : this.label(all[i]).length))) : 9;
    this.left = Math.min(Math.max(56, longest * 6.2 + 14), room / 3);
    this.width = Math.max(60, Math.floor(room - this.left - 6));
    // All of them on the screen: of more profiles than there are pixels some, evenly.
    const space = Math.max(120, box.clientHeight - AXIS - TOP - 8), most = state.mode === "depth" ? 1 : Math.min(all.length, Math.floor(space));
    this.shown = state.mode === "depth" ? [one] : Array.from({ length: most }, (_, i) => all[Math.floor(((i + 0.5) * all.length) / most)]);
    this.look();
    const level = state.level || (state.mode === "profiles" ? this.autoLevel() : 1);
    this.controls(level);
    if (state.mode === "profiles") this.rowHeight = Math.max(1, Math.min(28, Math.floor(space / Math.max(1, this.shown.length))));
    else this.rowHeight = state.mode === "depth" ? 17 : 200;
    const scopes = new Map<number, number>();
    let rows = this.shown.length;
    const add = (c: number) => { scopes.set(d.scope[c], (scopes.get(d.scope[c]) ?? 0) + 1); return d.scope[c]; };
    if (state.mode === "depth") rows = Math.max(1, this.cells.reduce((m, c) => Math.max(m, c ? this.depths()[c - 1] : 0), 1));
    const height = state.mode === "summary" ? Math.max(140, Math.min(260, space)) : rows * this.rowHeight;
    const { g } = sizeCanvas(this.canvas, room, height + TOP + AXIS);
    g.font = "11px system-ui, sans-serif";
    const bits = el("canvas", { width: this.width, height: state.mode === "summary" ? height : rows }), p = bits.getContext("2d")!;
    const image = p.createImageData(bits.width, bits.height);
    const dot = (x: number, y: number, scope: number) => {
      const [r, gr, b] = palette.pixel(scope), i = 4 * (y * this.width + x);
      image.data.set([r, gr, b, 255], i);
    };
    if (state.mode === "profiles")
      for (let y = 0; y < rows; y++) for (let x = 0; x < this.width; x++) {
        const c = this.cells[y * this.width + x];
        if (c) dot(x, y, add(this.ancestor(c - 1, level)));
      }
    else if (state.mode === "depth")
      for (let x = 0; x < this.width; x++) {
        const c = this.cells[x];
        for (let up = c - 1; c && up !== NONE; up = d.parent[up]) if (isLevel(d.kind[up])) dot(x, this.depths()[up] - 1, add(up));
      }
    else this.summary(height, level, dot, add);
    p.putImageData(image, 0, 0);
    g.imageSmoothingEnabled = false;
    g.drawImage(bits, this.left, TOP, this.width, state.mode === "summary" ? height : rows * this.rowHeight);
    this.marks(g, rows, height);
    this.tellLegend(scopes);
  }

  // The share of profiles in each procedure, the commonest at the bottom.
  private summary(height: number, level: number, dot: (x: number, y: number, scope: number) => void, add: (c: number) => number): void {
    const d = this.app.data, all = new Map<number, number>();
    const columns: Map<number, number>[] = [];
    for (let x = 0; x < this.width; x++) {
      const by = new Map<number, number>();
      for (let y = 0; y < this.shown.length; y++) {
        const c = this.cells[y * this.width + x];
        if (!c) continue;
        const s = d.scope[this.ancestor(c - 1, level === 1 ? this.autoLevel() : level)];
        by.set(s, (by.get(s) ?? 0) + 1);
        all.set(s, (all.get(s) ?? 0) + 1);
      }
      columns.push(by);
    }
    const order = [...all].sort((a, b) => b[1] - a[1]).map(([s]) => s);
    for (const s of order) add(d.instances(s)[0]);
    columns.forEach((by, x) => {
      let at = 0;
      for (const s of order) {
        const n = by.get(s) ?? 0, from = Math.round((at / this.shown.length) * height), to = Math.round(((at + n) / this.shown.length) * height);
        for (let y = from; y < to; y++) dot(x, height - 1 - y, s);
        at += n;
      }
    });
  }

  private marks(g: CanvasRenderingContext2D, rows: number, height: number): void {
    const { state, palette, data: d, node } = this.app, ink = palette.dark ? "#ddd" : "#222";
    g.fillStyle = ink;
    g.textBaseline = "middle";
    g.textAlign = "right";
    if (state.mode !== "summary") {
      const every = Math.max(1, Math.ceil(13 / this.rowHeight));
      for (let y = 0; y < rows; y += every)
        g.fillText(fit(g, state.mode === "depth" ? `level ${y + 1}` : this.label(this.shown[y]), this.left - 8), this.left - 6, TOP + (y + 0.5) * this.rowHeight);
    }
    g.textAlign = "center";
    g.strokeStyle = palette.dark ? "#777" : "#999";
    const step = niceStep(this.from, this.to, Math.max(2, Math.floor(this.width / 90)));
    for (let t = Math.ceil(this.from / step) * step; t <= this.to; t += step) {
      const x = this.left + ((t - this.from) / (this.to - this.from)) * this.width;
      g.beginPath();
      g.moveTo(x, TOP + height);
      g.lineTo(x, TOP + height + 4);
      g.stroke();
      g.fillText(timeText(Math.round(t)), Math.max(this.left, Math.min(this.left + this.width - 16, x)), TOP + height + 13);
    }
    // Where the selected row is on the stack.
    if (!node || state.mode !== "profiles") return;
    const ranges = nodeRanges(d, node, false);
    g.fillStyle = ink;
    for (let y = 0; y < rows && this.rowHeight >= 6; y++) for (let x = 0; x < this.width; x++) {
      const c = this.cells[y * this.width + x];
      if (c && within(ranges, d.first[c - 1])) g.fillRect(this.left + x, TOP + (y + 1) * this.rowHeight - 2, 1, 2);
    }
  }

  private tellLegend(scopes: Map<number, number>): void {
    const { palette, data: d, node } = this.app, top = [...scopes].sort((a, b) => b[1] - a[1]), all = top.reduce((s, x) => s + x[1], 0);
    clear(this.legend);
    for (const [s, n] of top.slice(0, 12))
      this.legend.append(el("span", { title: plain(d.texts[d.scopeShown[s]]) }, el("i", { style: `background:${palette.of(s).fill}` }),
        el("bdi", {}, plain(drawnScope(d, s, LEGEND))), el("small", {}, ` ${((100 * n) / all).toFixed(0)} %`)));
    if (top.length > 12) this.legend.append(el("span", {}, `and ${top.length - 12} more`));
    this.legend.append(el("span", {}, el("i", { class: "blank" }), "no samples: idle, or not on a CPU"));
    if (this.shown.length < this.all.length && this.app.state.mode === "profiles")
      this.legend.append(el("span", { class: "note" }, `${this.shown.length} of ${this.all.length} profiles`));
    if (node) this.legend.append(el("span", {}, "underlined: in the selected row"));
    this.legend.append(el("span", { class: "note" }, "Drag chooses a time (and ranks), the wheel zooms."));
  }

  // ---- the mouse ----

  private at(e: MouseEvent): { x: number; y: number } {
    const r = this.canvas.getBoundingClientRect();
    return { x: Math.max(0, Math.min(this.width, e.clientX - r.left - this.left)), y: e.clientY - r.top - TOP };
  }

  private time(x: number): number { return this.from + (x / this.width) * (this.to - this.from); }

  private cell(e: MouseEvent): { context: number; row: number } | null {
    const { x, y } = this.at(e), row = this.app.state.mode === "profiles" ? Math.floor(y / this.rowHeight) : 0;
    if (row < 0 || row >= this.shown.length || this.app.state.mode === "summary") return null;
    let context = this.cells[row * this.width + Math.min(this.width - 1, Math.floor(x))] - 1;
    if (context >= 0 && this.app.state.mode === "depth") context = this.ancestor(context, Math.floor(y / this.rowHeight) + 1);
    return { context, row };
  }

  private move(e: MouseEvent): void {
    const { x } = this.at(e), d = this.app.data;
    this.brush.style.display = this.drag ? "block" : "none";
    if (this.drag) {
      this.brush.style.left = `${this.left + Math.min(x, this.drag.x)}px`;
      this.brush.style.width = `${Math.abs(x - this.drag.x)}px`;
    }
    const cell = this.cell(e), path: string[] = [];
    if (cell && cell.context >= 0)
      for (let c = cell.context; c !== NONE && path.length < 12; c = d.parent[c]) if (isLevel(d.kind[c])) path.unshift(plain(d.texts[d.scopeShown[d.scope[c]]]));
    this.tip.textContent = `${timeText(Math.round(this.time(x)))}${cell ? ", " + this.label(this.shown[cell.row]) : ""}\n${path.join(" > ") || (cell ? "no samples" : "")}`;
    showTip(this.tip, e);
  }

  private drop(e: MouseEvent): void {
    const start = this.drag, end = this.at(e);
    this.drag = null;
    this.brush.style.display = "none";
    if (!start) return;
    if (Math.abs(end.x - start.x) < 4) {
      const cell = this.cell(e);
      if (cell && cell.context >= 0) this.choose(this.app.state.mode === "depth" ? cell.context : this.ancestor(cell.context, 99));
      return;
    }
    const [a, b] = [Math.min(start.x, end.x), Math.max(start.x, end.x)];
    const change: { time: string; ranks?: string } = { time: `${Math.floor(this.time(a))}-${Math.ceil(this.time(b))}` };
    const rows = [start.y, end.y].map((y) => Math.max(0, Math.min(this.shown.length - 1, Math.floor(y / this.rowHeight)))).sort((x, y) => x - y);
    // A drag along one row chooses time alone; over several, their ranks too.
    if (this.app.state.mode === "profiles" && this.app.data.ranked && this.app.data.kept.profiles && rows[1] > rows[0])
      change.ranks = rangesText(this.all.slice(this.all.indexOf(this.shown[rows[0]]), this.all.indexOf(this.shown[rows[1]]) + 1).map((p) => this.app.data.profiles[p].rank).filter((r) => r >= 0));
    this.view = null;
    this.app.set(change);
  }

  private zoom(about: number, times: number): void {
    const whole = ((v) => { this.view = null; const x = this.extent(); this.view = v; return x; })(this.view);
    const from = Math.max(whole[0], about - (about - this.from) * times), to = Math.min(whole[1], about + (this.to - about) * times);
    this.view = to - from < 10 ? this.view : from <= whole[0] && to >= whole[1] ? null : [from, to];
    this.render();
  }

  private wheel(e: WheelEvent): void {
    if (Math.abs(e.deltaY) < Math.abs(e.deltaX)) return;
    e.preventDefault();
    this.zoom(this.time(this.at(e).x), e.deltaY > 0 ? 1.3 : 1 / 1.3);
  }

  private key(e: KeyboardEvent): void {
    const span = this.to - this.from;
    if (e.key === "+" || e.key === "=") this.zoom((this.from + this.to) / 2, 0.6);
    else if (e.key === "-") this.zoom((this.from + this.to) / 2, 1 / 0.6);
    else if ((e.key === "ArrowLeft" || e.key === "ArrowRight") && this.view) {
      const by = (e.key === "ArrowLeft" ? -0.2 : 0.2) * span;
      this.view = [Math.max(0, this.from + by), Math.max(0, this.from + by) + span];
      this.render();
    } else if (e.key === "Enter" && this.view) this.app.set({ time: `${Math.floor(this.from)}-${Math.ceil(this.to)}` });
    else return;
    e.preventDefault();
    e.stopPropagation();
  }

  changed(keys: Set<string>): void {
    if (keys.has("time")) this.view = null;
  }
}

export function niceStep(from: number, to: number, most: number): number {
  const least = (to - from) / Math.max(1, most), power = 10 ** Math.floor(Math.log10(least || 1)), x = least / power;
  return power * (x <= 1 ? 1 : x <= 2 ? 2 : x <= 5 ? 5 : 10);
}
