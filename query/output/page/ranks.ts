// SPDX-License-Identifier: BSD-3-Clause
// Ranks: the selected row's value in each rank or thread, in their order, sorted, or as a histogram. A drag chooses.
import { App, rangesText } from "./app";
import { EXACT } from "./data";
import { choice, clear, el, Picture, plain, Point, sizeCanvas } from "./dom";
import { drawnName, nodeOfContext, nodeRanges } from "./model";
import { ceil, floor, max, min, numberText, oneText, styleFor } from "./number";
import { LEGEND, niceStep } from "./trace";

const LEFT = 64, BOTTOM = 34, TOP = 8;

interface Bar { number: number; label: string; who: string; value: number; selectable: boolean }

export class Ranks extends Picture {
  #points: Bar[] = [];
  #bins: { from: number; to: number; points: Bar[] }[] = [];
  #room = 0;

  constructor(private app: App) {
    super("ranks", "values by rank", {});
    this.element.append(this.bar, el("div.scroll", {}, this.canvas, this.brush), this.note, this.tip);
  }

  // The selected row's, or the whole's.
  values(): { profile: number; value: number }[] {
    const { data: d, selection, state, node } = this.app;
    return selection.perProfile(state.metric, nodeRanges(d, node ?? nodeOfContext(d, 0), false));
  }

  // By rank, if there are ranks: the threads of one are summed, what has none is left out. Else by profile: names are alike
  // where a process executes other programs.
  #collect(): Bar[] {
    const { data: d } = this.app, values = this.values(), ranked = values.some((v) => d.profiles[v.profile].rank >= 0);
    const several = new Set(d.profiles.map((p) => p.pid)).size > 1, by = new Map<number, Bar>();
    for (const { profile, value } of values) {
      const p = d.profiles[profile];
      if (ranked && p.rank < 0) continue;
      const label = ranked ? `rank ${p.rank}` : several && p.pid ? `process ${p.pid} thread ${p.thread}` : `thread ${p.thread}`;
      const known = ranked && by.get(p.rank);
      if (known) known.value += value;
      else by.set(ranked ? p.rank : profile, { number: ranked ? p.rank : p.thread, label, who: label + (ranked || !several ? "" : ` (${plain(p.command.split("/").pop()!)})`), value, selectable: ranked || !several });
    }
    return [...by.values()].sort((a, b) => (a.selectable ? a.number - b.number : 0));
  }

  render(): void {
    const { data: d, state, palette, node } = this.app, m = d.metrics[state.metric];
    if (!d.kept.profiles) {
      this.element.replaceChildren(el("p.empty", {}, d.compare ? "A comparison is of all ranks together; the page of one run shows them apart."
        : "The values of single ranks were left out to keep the page small (hq report --budget)."));
      return;
    }
    clear(this.bar);
    this.bar.append(choice("kind of plot", [["order", "in order"], ["sorted", "sorted"], ["histogram", "histogram"]], state.plot, (plot) => this.app.set({ plot: plot as typeof state.plot })), el("span", {}, `${m.name} of `, el("bdi", {}, node ? plain(drawnName(d, node, LEGEND)) : "the program")));
    this.#points = this.#collect();
    const values = this.#points.map((p) => p.value), n = values.length, sum = values.reduce((a, b) => a + b, 0), mean = n ? sum / n : 0;
    const most = max(0, ...values), least = n ? min(...values) : 0;
    if (state.plot === "sorted") this.#points.sort((a, b) => b.value - a.value);
    const box = this.canvas.parentElement!, width = max(160, box.clientWidth - 4), height = max(100, min(360, box.clientHeight - 4));
    const { g } = sizeCanvas(this.canvas, width, height);
    this.#room = width - LEFT - 8;
    const deep = height - TOP - BOTTOM, ink = palette.dark ? "#ddd" : "#222";
    g.font = "11px system-ui, sans-serif";
    this.#makeBins(least, most);
    const histogram = state.plot === "histogram";
    const top = (histogram ? max(1, ...this.#bins.map((b) => b.points.length)) : most) || 1, y = (v: number) => TOP + deep * (1 - v / top);
    g.strokeStyle = palette.dark ? "#444" : "#ddd";
    g.fillStyle = ink;
    g.textAlign = "right";
    g.textBaseline = "middle";
    const step = max(histogram ? 1 : 0, niceStep(0, top, 5)), style = styleFor(m.dim, top, false);
    for (let v = 0; v <= top * 1.0001; v += step) {
      g.beginPath();
      g.moveTo(LEFT, y(v));
      g.lineTo(width - 8, y(v));
      g.stroke();
      g.fillText(histogram || !v ? String(v) : numberText(style, v).join(" ").trim(), LEFT - 6, y(v));
    }
    const bars = histogram ? this.#bins.map((b) => b.points.length) : this.#points.map((p) => p.value), w = this.#room / max(1, bars.length);
    const bar = (x: number, room: number, v: number, much: boolean) => {
      g.fillStyle = much ? "#d55e00" : palette.dark ? "#4a90c4" : "#0072b2";
      g.fillRect(LEFT + x + (room > 4 ? 1 : 0), y(v), room - (room > 4 ? 2 : 0), TOP + deep - y(v));
    };
    // What is within 1.96 standard deviations of the mean's samples is chance.
    const much = mean * 1.1, sure = m.flags & EXACT ? 0 : mean + 1.96 * Math.sqrt(mean * m.period * m.scale), edge = max(much, sure);
    // Of several in one pixel the largest, and before it the least.
    const many = bars.length > this.#room, columns = many ? floor(this.#room) : bars.length;
    for (let i = 0; i < columns; i++) {
      const some = many ? bars.slice(floor((i * bars.length) / columns), floor(((i + 1) * bars.length) / columns)) : [bars[i]];
      const largest = max(...some), room = this.#room / columns;
      bar(i * room, room, largest, !histogram && largest > edge);
      if (some.length > 1) bar(i * room, room, min(...some), false);
    }
    g.fillStyle = ink;
    g.textAlign = "center";
    g.textBaseline = "top";
    const every = max(1, ceil(niceStep(0, bars.length, floor(this.#room / 60))));
    for (let i = 0; i < bars.length; i += every)
      g.fillText(histogram ? oneText(this.#bins[i].from, m.dim) : this.#points[i].label.replace(/[a-z]+ /g, ""), LEFT + (i + 0.5) * w, TOP + deep + 4);
    g.fillText(histogram ? m.name : this.#points[0]?.label.replace(/ \d+/g, "") ?? "", LEFT + this.#room / 2, TOP + deep + 18);
    if (!histogram && n > 1) {
      g.strokeStyle = palette.dark ? "#fff" : "#000";
      g.setLineDash([5, 4]);
      g.beginPath();
      g.moveTo(LEFT, y(mean));
      g.lineTo(width - 8, y(mean));
      g.stroke();
      g.setLineDash([]);
    }
    const extreme = (v: number) => this.#points.find((p) => p.value === v)?.who ?? "";
    const alike = this.#points[0]?.selectable; // threads of several processes are not
    this.note.replaceChildren(this.app.unknown() || (n < 2 ? (n ? "There is one only: nothing to compare." : "Nothing was measured here.")
      : `mean ${oneText(mean, m.dim)}${histogram ? "" : " (dashed)"}, most ${oneText(most, m.dim)} (${extreme(most)}), least ${oneText(least, m.dim)} (${extreme(least)})${alike ? `; perfect balance would save the busiest ${oneText(most - mean, m.dim)}` : ""}.` +
        (histogram ? "" : " Orange is more than 1.1 times the mean" + (sure > much ? " and than chance" : "") + (many ? "; of several in a column stand the least and the most." : "."))), n > 1 && alike ? el("span.hint", {}, " Drag chooses.") : "");
  }

  #makeBins(least: number, most: number): void {
    const n = max(1, min(40, ceil(Math.sqrt(this.#points.length) * 2)));
    this.#bins = Array.from({ length: n }, (_, i) => ({ from: least + ((most - least) * i) / n, to: least + ((most - least) * (i + 1)) / n, points: [] }));
    for (const p of this.#points) this.#bins[most > least ? min(n - 1, floor(((p.value - least) / (most - least)) * n)) : 0].points.push(p);
  }

  #index(x: number): number {
    const n = this.app.state.plot === "histogram" ? this.#bins.length : this.#points.length;
    return max(0, min(n - 1, floor(((x - LEFT) / this.#room) * n)));
  }

  protected hover(at: Point, e: MouseEvent): void {
    const m = this.app.data.metrics[this.app.state.metric], i = this.#index(at[0]);
    if (!this.#points.length) return;
    if (this.app.state.plot === "histogram") {
      const b = this.#bins[i];
      this.tell(`${oneText(b.from, m.dim)} to ${oneText(b.to, m.dim)}: ${b.points.length}\n${b.points.slice(0, 8).map((p) => p.label).join(", ")}`, e);
    } else this.tell(`${this.#points[i].who}: ${oneText(this.#points[i].value, m.dim)}`, e);
  }

  protected covers(from: Point, to: Point): [Point, Point] {
    const edge = (p: Point) => max(LEFT, min(LEFT + this.#room, p[0]));
    return [[edge(from), TOP], [edge(to), this.canvas.offsetHeight - BOTTOM]];
  }

  protected drop(from: Point, to: Point): void {
    if (!this.#points.length) return;
    const [a, b] = [from, to].map((p) => this.#index(p[0])).sort((x, y) => x - y);
    const chosen = this.app.state.plot === "histogram" ? this.#bins.slice(a, b + 1).flatMap((x) => x.points) : this.#points.slice(a, b + 1);
    if (!chosen.length || !chosen[0].selectable) return;
    const text = rangesText(chosen.map((p) => p.number));
    this.app.set(this.app.data.ranked ? { ranks: text } : { threads: text });
  }
}
