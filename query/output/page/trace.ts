// SPDX-License-Identifier: BSD-3-Clause
// The trace: what each profile did at each instant (query/choose/timeline.c, query/views/trace*.c). A drag chooses time, and
// ranks; everything else on the page then shows that slice.
import { App, rangesText } from "./app";
import { Data, Dim, ELAPSED, Kind, NONE, SPANS, Trace as Records, isCall, uints } from "./data";
import { button, choice, clear, el, fit, Picture, plain, Point, sizeCanvas, swatch } from "./dom";
import { drawnScope, firstAtLeast, nodeRanges, within } from "./model";
import { abs, ceil, floor, max, min, round, percentText, timeText } from "./number";

const TOP = 4, AXIS = 22;
export const LEGEND = 36; // letters of a name

// What a record of each metric stands for: microseconds (0: not known), and whether several periods lie just before it.
interface Period { us: Float64Array; flags: Uint8Array; every: number }

function periodsOf(d: Data): Period {
  const us = Float64Array.from(d.metrics, (m) => {
    const p = m.period * m.scale * 1e6 * d.kept.every;
    return m.dim === Dim.Seconds && isFinite(p) && p > 0 ? p : 0;
  });
  return { us, flags: Uint8Array.from(d.metrics, (m) => m.flags), every: d.kept.every };
}

// What ran at the instants from + (x + 1/2) step, as context + 1 in out[first + x], in one pass over the records: the
// nearest one tells, unless a gap lies between (query/choose/timeline.c). Once for each pixel of each frame: no object is made.
function tell(t: Records, of: Period, contexts: Uint32Array, levels: Uint16Array, from: number, step: number, out: Uint32Array, first: number, wide: number): void {
  const { time, metric, weight, at } = t, n = time.length, { us: periods, flags, every } = of;
  const usual = n > 1 && time[n - 1] > time[0] ? (time[n - 1] - time[0]) / (n - 1) : 0;
  let us = floor(from + 0.5 * step), next = firstAtLeast(time, us + 1), x = 0;
  while (x < wide) {
    if (next < n && time[next] <= us && ++next < n && time[next] <= us) {
      let far = 1;
      while (next + far < n && time[next + far] <= us) far *= 2;
      next = firstAtLeast(time, us + 1, next, min(n, next + far));
    }
    // Between two records: the one before tells up to `until`, the other one from `since`.
    const after = next < n ? time[next] : Infinity;
    let told = 0, tells = 0, since = Infinity, until = -Infinity;
    if (next > 0) {
      told = contexts[at[next - 1]] + 1;
      until = time[next - 1] + (periods[metric[next - 1]] || usual) / 2;
    }
    if (next < n) {
      const m = metric[next], p = periods[m] || usual, own = p * weight[next];
      tells = contexts[at[next]] + 1;
      since = after - own;
      if (next > 0 && after - time[next - 1] <= own + 3 * p) { // no gap
        since = (after + time[next - 1] - (flags[m] & ELAPSED ? (p * (weight[next] - 1)) / every : 0)) / 2;
        until = after;
      }
      if (flags[m] & SPANS && every === 1) { // all of the time since the one before, or a pause
        since = -Infinity;
        if (!next || (!weight[next] && levels[contexts[at[next]]] < 2)) tells = 0;
      }
    }
    do {
      out[first + x] = us >= since ? tells : us <= until ? told : 0;
      us = floor(from + (++x + 0.5) * step);
    } while (us < after && x < wide);
  }
}

interface Pixels { bits: HTMLCanvasElement; p: CanvasRenderingContext2D; image: ImageData; pixels: Uint32Array }

const isLevel = (k: Kind) => isCall(k) || k === Kind.Region || k === Kind.Phase;

export class Trace extends Picture {
  #shown: number[] = [];
  #from = 0;
  #to = 1;
  #width = 0;
  #left = 92; // of the cells: labels stand before them
  #rowHeight = 12;
  #cells = uints(0);   // context + 1 by row and column
  #of: Data | null = null;       // what this and the next five are made of
  #levels = new Uint16Array(0);  // how many procedures there are from the top to each context
  #deepest = 1;
  #contexts = uints(0); // of positions
  #above = uints(0);   // scope + 1 at `level`; 0: not looked for
  #level = 0;
  #auto = 0;                     // the level that hq's rule chooses; it stays while the picture is zoomed
  #view: [number, number] | null = null; // zoomed, without choosing
  #all: number[] = [];  // the profiles, in the order of the rows
  #several = { threads: false, processes: false };
  #looked = "";         // what `cells` are of
  #said = "";           // what the controls say
  #kept: Pixels | null = null;
  #timer = 0;                // of the legend that is to come
  #frame = 0;           // a drawing that is to come

  constructor(private app: App, private choose: (context: number) => void) {
    super("trace", "trace", {
      tabindex: 0, onwheel: (e: WheelEvent) => this.#wheel(e), onkeydown: (e: KeyboardEvent) => this.#key(e),
    });
    this.element.append(this.bar, el("div.scroll", {}, this.canvas, this.brush), this.legend, this.tip);
  }

  // Helpers are shown where threads are chosen (query/views/trace_look.c).
  #profiles(): number[] {
    const { data: d, selection, state } = this.app, all: number[] = [];
    const ranked = d.profiles.some((p, i) => selection.has(i) && p.rank >= 0);
    d.profiles.forEach((p, i) => { if (selection.has(i) && (!ranked || p.rank >= 0) && !p.queue && (!p.stands || state.threads)) all.push(i); });
    all.sort((a, b) => d.profiles[a].rank - d.profiles[b].rank || d.profiles[a].pid - d.profiles[b].pid || d.profiles[a].thread - d.profiles[b].thread || a - b);
    const x = d.profiles[all[0]];
    this.#several = { threads: all.some((i) => d.profiles[i].thread !== x.thread), processes: all.some((i) => d.profiles[i].pid !== x.pid) };
    return all;
  }

  label(p: number): string {
    const x = this.app.data.profiles[p], thread = this.#several.threads ? ` thread ${x.thread}` : "";
    if (x.rank >= 0) return `rank ${x.rank}${thread}`;
    return this.#several.processes && x.pid ? `${plain(x.command.split("/").pop()!)} ${x.pid}${thread}` : `thread ${x.thread}`;
  }

  #extent(): [number, number] {
    if (this.#view) return this.#view;
    const time = this.app.chosen().time, d = this.app.data;
    let from = Infinity, to = 0;
    for (const p of this.#all) {
      from = min(from, d.profiles[p].start);
      to = max(to, d.profiles[p].end);
    }
    if (from === Infinity) from = 0;
    if (time) [from, to] = [max(from, time[0]), min(to, time[1])];
    return [from, max(to, from + 1)];
  }

  #prepare(): void {
    const d = this.app.data;
    if (this.#of === d) return;
    this.#of = d;
    this.#looked = "";
    this.#auto = 0;
    this.#levels = new Uint16Array(d.contexts);
    this.#contexts = uints(d.positions);
    this.#above = uints(d.contexts);
    this.#deepest = 1;
    for (let c = 0; c < d.contexts; c++) {
      this.#contexts.fill(c, d.first[c], d.first[c + 1]);
      const level = (this.#levels[c] = (d.parent[c] === NONE ? 0 : this.#levels[d.parent[c]]) + (isLevel(d.kind[c]) ? 1 : 0));
      if (level > this.#deepest) this.#deepest = level;
    }
  }

  // The procedure at a level of a context's call path, the deepest one if the path is shorter.
  #ancestor(context: number, level: number): number {
    const d = this.app.data, depth = this.#levels;
    let c = context, found = NONE;
    for (; c !== NONE; c = d.parent[c]) if (isLevel(d.kind[c])) {
      found = c;
      if (depth[c] <= level) break;
    }
    if (found !== NONE) return found;
    for (c = context; d.kind[c] === Kind.Line && d.parent[c] !== NONE;) c = d.parent[c];
    return c;
  }

  // The scope of that, remembered: of every cell at one level.
  #outer(level: number): (context: number) => number {
    const above = this.#above, { scope } = this.app.data;
    if (this.#level !== level) above.fill(0);
    this.#level = level;
    return (c) => (above[c] || (above[c] = scope[this.#ancestor(c, level)] + 1)) - 1;
  }

  // The outermost level at which rows are not mostly of one procedure.
  #autoLevel(): number {
    const wide = this.#width, count = this.#shown.map((_, y) => {
      const by = new Map<number, number>();
      for (let i = y * wide; i < (y + 1) * wide; i++) if (this.#cells[i]) by.set(this.#cells[i] - 1, (by.get(this.#cells[i] - 1) ?? 0) + 1);
      return by;
    });
    let deepest = 1, cells = 0;
    for (const by of count) for (const [c, n] of by) {
      cells += n;
      deepest = max(deepest, this.#levels[c]);
    }
    let best = 1, least = Infinity;
    for (let level = 1; level <= min(deepest, 100); level++) {
      const at = this.#outer(level);
      let same = 0;
      for (const row of count) {
        const by = new Map<number, number>();
        let largest = 0;
        for (const [c, n] of row) {
          const s = at(c), sum = (by.get(s) ?? 0) + n;
          by.set(s, sum);
          largest = max(largest, sum);
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

  // What each cell shows; false if it is what it was.
  #look(): boolean {
    const { data: d } = this.app, wide = this.#width;
    const key = [this.#from, this.#to, wide, this.#shown.length, this.#shown[0], this.app.state.ranks, this.app.state.threads, this.app.state.time].join();
    if (key === this.#looked) return false;
    this.#looked = key;
    if (this.#cells.length === this.#shown.length * wide) this.#cells.fill(0);
    else this.#cells = uints(this.#shown.length * wide);
    const periods = periodsOf(d), from = this.#from, step = (this.#to - from) / wide;
    this.#shown.forEach((p, y) => tell(d.trace(p), periods, this.#contexts, this.#levels, from, step, this.#cells, y * wide, wide));
    return true;
  }

  #controls(level: number): void {
    const { state } = this.app, key = [state.mode, level, state.profile, !!this.#view, this.#all.length, this.#all[0], this.#deepest].join();
    if (key === this.#said) return;
    this.#said = key;
    clear(this.bar);
    this.bar.append(choice("what is shown", [["profiles", "profiles over time"], ["depth", "call path of one"], ["summary", "summary"]], state.mode, (mode) => this.app.set({ mode: mode as typeof state.mode })));
    if (state.mode === "profiles") {
      const slider: HTMLInputElement = el("input", { type: "range", min: 1, max: max(2, min(60, this.#deepest)), value: level, "aria-label": "call path level", oninput: () => this.app.set({ level: +slider.value }, true) });
      this.bar.append(el("label", {}, `level ${level} `, slider));
    }
    if (state.mode === "depth") this.bar.append(choice("profile", this.#all.slice(0, 5000).map((p) => [p, this.label(p)]), state.profile, (profile) => this.app.set({ profile: +profile })));
    if (this.#view) this.bar.append(
      el("button", { onclick: () => this.#use(this.#from, this.#to) }, "use this time everywhere"),
      button("", () => { this.#view = null; this.render(); }, "all of the time"));
  }

  render(): void {
    const { data: d } = this.app;
    if (!d.hasTraces) {
      this.element.replaceChildren(el("p.empty", {}, d.compare ? "A comparison has no traces: a time belongs to one run."
        : d.kept.records ? "The traces were left out to keep the page small (hq report --budget)."
          : "There are no traces: record with a trace (hq record --trace, the default)."));
      return;
    }
    this.#all = this.#profiles();
    this.draw();
  }

  // Once before the next frame, however often the wheel turns.
  #later(): void {
    this.#frame ||= requestAnimationFrame(() => this.draw());
  }

  private draw(): void {
    const { data: d, state, palette } = this.app, all = this.#all, profiles = state.mode === "profiles", depth = state.mode === "depth";
    cancelAnimationFrame(this.#frame);
    this.#frame = 0;
    this.#prepare();
    [this.#from, this.#to] = this.#extent();
    const one = all.includes(state.profile) ? state.profile : all[0];
    const box = this.canvas.parentElement!, room = max(160, box.clientWidth - 4);
    const longest = profiles ? max(0, ...[0, all.length >> 1, all.length - 1].map((i) => (all[i] === undefined ? 0 : this.label(all[i]).length))) : 9;
    this.#left = min(max(56, longest * 6.2 + 14), room / 3);
    this.#width = max(60, floor(room - this.#left - 6));
    // All of them on the screen: of more profiles than rows of two pixels some, evenly.
    const space = max(48, box.clientHeight - AXIS - TOP - 8), most = depth ? 1 : min(all.length, floor(space / 2)), wide = this.#width;
    this.#shown = depth ? all.slice(0, 1).fill(one) : Array.from({ length: most }, (_, i) => all[floor(((i + 0.5) * all.length) / most)]);
    const fresh = this.#look();
    if (!depth && (!this.#auto || (fresh && !this.#view))) this.#auto = this.#autoLevel();
    const level = state.level || (depth ? 1 : this.#auto), cells = this.#cells, levels = this.#levels, outer = this.#outer(level), above = this.#above;
    this.#controls(level);
    let rows = this.#shown.length;
    this.#rowHeight = profiles ? max(1, min(28, floor(space / max(1, rows)))) : depth ? 17 : 200;
    if (depth) rows = cells.reduce((m, c) => max(m, c ? levels[c - 1] : 0), 1);
    const height = state.mode === "summary" ? min(260, space) : rows * this.#rowHeight;
    const { g } = sizeCanvas(this.canvas, room, height + TOP + AXIS);
    g.font = "11px system-ui, sans-serif";
    const { bits, p, image, pixels } = this.#pixels(wide, profiles || depth ? max(1, rows) : height), times = uints(d.scopes), { words } = palette;
    if (profiles)
      for (let i = 0, s = 0, word = 0; i < cells.length; i++) {
        const c = cells[i];
        if (!c) continue;
        if (!i || c !== cells[i - 1]) {
          s = (above[c - 1] || outer(c - 1) + 1) - 1;
          word = words[s] || palette.word(s);
        }
        times[s]++;
        pixels[i] = word;
      }
    else if (depth)
      for (let x = 0; x < wide; x++) {
        for (let up = cells[x] ? cells[x] - 1 : NONE; up !== NONE; up = d.parent[up]) {
          if (!isLevel(d.kind[up])) continue;
          times[d.scope[up]]++;
          pixels[(levels[up] - 1) * wide + x] = palette.word(d.scope[up]);
        }
      }
    else this.#summary(height, outer, pixels, times);
    p.putImageData(image, 0, 0);
    g.imageSmoothingEnabled = false;
    g.drawImage(bits, this.#left, TOP, wide, height);
    this.#marks(g, rows, height);
    // What they are called changes the room that is left: it waits until the wheel rests.
    clearTimeout(this.#timer);
    const told = () => this.#tellLegend(times, depth ? wide : cells.length);
    if (this.#view) this.#timer = window.setTimeout(told, 150);
    else told();
  }

  // Pixels to draw on, blank: those of the last time if they are as many.
  #pixels(wide: number, high: number): Pixels {
    const known = this.#kept;
    if (known?.image.width === wide && known.image.height === high) {
      known.pixels.fill(0);
      return known;
    }
    const bits = el("canvas", { width: wide, height: high }), p = bits.getContext("2d")!, image = p.createImageData(wide, high);
    return (this.#kept = { bits, p, image, pixels: new Uint32Array(image.data.buffer) });
  }

  // The share of profiles in each procedure, the commonest at the bottom.
  #summary(height: number, scopeOf: (context: number) => number, pixels: Uint32Array, times: Uint32Array): void {
    const wide = this.#width, cells = this.#cells, n = this.#shown.length;
    for (const c of cells) if (c) times[scopeOf(c - 1)]++;
    const order = [...times.keys()].filter((s) => times[s]).sort((a, b) => times[b] - times[a]), by = uints(times.length);
    for (let x = 0; x < wide; x++) {
      by.fill(0);
      for (let i = x; i < cells.length; i += wide) if (cells[i]) by[scopeOf(cells[i] - 1)]++;
      let at = 0;
      for (const s of order) {
        const from = round((at / n) * height), to = round(((at += by[s]) / n) * height), word = this.app.palette.word(s);
        for (let y = from; y < to; y++) pixels[(height - 1 - y) * wide + x] = word;
      }
    }
  }

  #marks(g: CanvasRenderingContext2D, rows: number, height: number): void {
    const { state, palette, data: d, node } = this.app, ink = palette.dark ? "#ddd" : "#222";
    g.fillStyle = ink;
    g.textBaseline = "middle";
    g.textAlign = "right";
    if (state.mode === "summary")
      for (const share of [0, 50, 100]) g.fillText(share + "%", this.#left - 6, TOP + 5 + (height - 10) * (1 - share / 100));
    else {
      const every = max(1, ceil(13 / this.#rowHeight));
      for (let y = 0; y < rows; y += every)
        g.fillText(fit(g, state.mode === "depth" ? `level ${y + 1}` : this.label(this.#shown[y]), this.#left - 8), this.#left - 6, TOP + (y + 0.5) * this.#rowHeight);
    }
    g.textAlign = "center";
    g.strokeStyle = palette.dark ? "#777" : "#999";
    const step = niceStep(this.#from, this.#to, max(2, floor(this.#width / 64))), [unit, name] = ([[1e6, "s"], [1e3, "ms"]] as const).find((u) => this.#to >= u[0]) ?? [1, "us"];
    for (let t = ceil(this.#from / step) * step; t <= this.#to; t += step) {
      const x = this.#left + ((t - this.#from) / (this.#to - this.#from)) * this.#width;
      g.beginPath();
      g.moveTo(x, TOP + height);
      g.lineTo(x, TOP + height + 4);
      g.stroke();
      g.fillText(t ? (t / unit).toFixed(max(0, ceil(-Math.log10(step / unit) - 1e-9))) + name : "0", max(this.#left, min(this.#left + this.#width - 16, x)), TOP + height + 13);
    }
    // Where the selected row is on the stack.
    if (!this.#underlined()) return;
    const ranges = nodeRanges(d, node!, false), wide = this.#width;
    g.fillStyle = ink;
    for (let y = 0; y < rows; y++)
      for (let x = 0, from = -1; x <= wide; x++) {
        const c = x < wide ? this.#cells[y * wide + x] : 0, inside = c > 0 && within(ranges, d.first[c - 1]);
        if (inside && from < 0) from = x;
        if (inside || from < 0) continue;
        g.fillRect(this.#left + from, TOP + (y + 1) * this.#rowHeight - 2, x - from, 2);
        from = -1;
      }
  }

  #underlined(): boolean { return !!this.app.node && this.app.state.mode === "profiles" && this.#rowHeight >= 6; }

  // Shares are those of the picture's cells, of the call path of one of its instants, as in hq's legend.
  #tellLegend(times: Uint32Array, all: number): void {
    const { palette, data: d } = this.app, top: [number, number][] = [];
    times.forEach((n, s) => { if (n) top.push([s, n]); });
    top.sort((a, b) => b[1] - a[1]);
    clear(this.legend);
    for (const [s, n] of top.slice(0, 12))
      this.legend.append(swatch(palette.of(s).fill, el("bdi", { title: plain(d.texts[d.scopeShown[s]]) }, plain(drawnScope(d, s, LEGEND))), el("small", {}, ` ${percentText(n, all)}`)));
    if (top.length > 12) this.legend.append(el("span", {}, `and ${top.length - 12} more`));
    this.legend.append(el("span", {}, el("i.blank"), "no samples: idle, or not on a CPU", el("small", {}, ` ${percentText(this.#cells.reduce((n, c) => n + +!c, 0), all)}`)));
    if (this.#shown.length < this.#all.length && this.app.state.mode === "profiles")
      this.legend.append(el("span.note", {}, `${this.#shown.length} of ${this.#all.length} profiles`));
    if (this.#underlined()) this.legend.append(el("span", {}, "underlined: in the selected row"));
    this.legend.append(el("span.warn", {}, plain(this.app.whole("ranks", "threads", "time", "prune", "hide"))), el("span.note hint", {}, "Drag chooses a time (and ranks), the wheel zooms."));
  }

  // ---- the mouse ----

  #time(x: number): number { return this.#from + (max(0, min(this.#width, x - this.#left)) / this.#width) * (this.#to - this.#from); }

  #row(y: number): number { return this.app.state.mode === "profiles" ? floor((y - TOP) / this.#rowHeight) : 0; }

  #cell([x, y]: Point): { context: number; row: number } | null {
    const row = this.#row(y);
    if (row < 0 || row >= this.#shown.length || this.app.state.mode === "summary") return null;
    let context = this.#cells[row * this.#width + max(0, min(this.#width - 1, floor(x - this.#left)))] - 1;
    if (context >= 0 && this.app.state.mode === "depth") context = this.#ancestor(context, floor((y - TOP) / this.#rowHeight) + 1);
    return { context, row };
  }

  protected hover(at: Point, e: MouseEvent): void {
    const d = this.app.data, cell = this.#cell(at), path: string[] = [];
    if (cell && cell.context >= 0)
      for (let c = cell.context; c !== NONE && path.length < 12; c = d.parent[c]) if (isLevel(d.kind[c])) path.unshift(plain(d.texts[d.scopeShown[d.scope[c]]]));
    this.tell(`${timeText(round(this.#time(at[0])))}${cell ? ", " + this.label(this.#shown[cell.row]) : ""}\n${path.join(" > ") || (cell ? "no samples" : "")}`, e);
  }

  // The first and the last row of a drag. Along one row it chooses time alone; over several, their ranks too.
  #rows(from: Point, to: Point): [number, number] | null {
    const [a, b] = [from, to].map((p) => max(0, min(this.#shown.length - 1, this.#row(p[1])))).sort((x, y) => x - y), { ranked, kept } = this.app.data;
    return ranked && kept.profiles && b > a ? [a, b] : null;
  }

  protected covers(from: Point, to: Point): [Point, Point] {
    const rows = this.#rows(from, to) ?? [0, Infinity], edge = (p: Point) => max(this.#left, min(this.#left + this.#width, p[0])), y = (row: number) => min(TOP + row * this.#rowHeight, this.canvas.offsetHeight - AXIS);
    return [[edge(from), y(rows[0])], [edge(to), y(rows[1] + 1)]];
  }

  protected drop(from: Point, to: Point): void {
    if (abs(to[0] - from[0]) < 4) {
      const cell = this.#cell(to);
      if (cell && cell.context >= 0) this.choose(this.app.state.mode === "depth" ? cell.context : this.#ancestor(cell.context, 99));
      return;
    }
    const [a, b] = [from, to].map((p) => this.#time(p[0])).sort((x, y) => x - y), rows = this.#rows(from, to), change: { ranks?: string } = {};
    if (rows)
      change.ranks = rangesText(this.#all.slice(this.#all.indexOf(this.#shown[rows[0]]), this.#all.indexOf(this.#shown[rows[1]]) + 1).map((p) => this.app.data.profiles[p].rank).filter((r) => r >= 0));
    this.#view = null;
    this.#use(a, b, change);
  }

  // Everywhere on the page.
  #use(from: number, to: number, more = {}): void { this.app.set({ time: `${floor(from)}-${ceil(to)}`, ...more }); }

  #zoom(about: number, times: number): void {
    const whole = ((v) => { this.#view = null; const x = this.#extent(); this.#view = v; return x; })(this.#view);
    const from = max(whole[0], about - (about - this.#from) * times), to = min(whole[1], about + (this.#to - about) * times);
    this.#view = to - from < 10 ? this.#view : from <= whole[0] && to >= whole[1] ? null : [from, to];
    [this.#from, this.#to] = this.#extent(); // of several turns of the wheel before a frame each goes on from the last
    this.#later();
  }

  #wheel(e: WheelEvent): void {
    if (abs(e.deltaY) < abs(e.deltaX)) return;
    e.preventDefault();
    this.#zoom(this.#time(this.at(e)[0]), e.deltaY > 0 ? 1.3 : 1 / 1.3);
  }

  #key(e: KeyboardEvent): void {
    const span = this.#to - this.#from;
    if (e.key === "+" || e.key === "=") this.#zoom((this.#from + this.#to) / 2, 0.6);
    else if (e.key === "-") this.#zoom((this.#from + this.#to) / 2, 1 / 0.6);
    else if ((e.key === "ArrowLeft" || e.key === "ArrowRight") && this.#view) {
      const by = (e.key === "ArrowLeft" ? -0.2 : 0.2) * span;
      this.#view = [max(0, this.#from + by), max(0, this.#from + by) + span];
      this.#later();
    } else if (e.key === "Enter" && this.#view) this.#use(this.#from, this.#to);
    else return;
    e.preventDefault();
    e.stopPropagation();
  }

  changed(keys: Set<string>): void {
    if (keys.has("time")) this.#view = null;
  }
}

export function niceStep(from: number, to: number, most: number): number {
  const least = (to - from) / max(1, most), power = 10 ** floor(Math.log10(least || 1)), x = least / power;
  return power * (x <= 1 ? 1 : x <= 2 ? 2 : x <= 5 ? 5 : 10);
}
