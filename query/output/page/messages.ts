// SPDX-License-Identifier: BSD-3-Clause
// Messages: who sent how much to whom, as a heat map (query/views/messages.c, query/output/heat.c). A drag chooses ranks.
import { App, rangesText } from "./app";
import { Dim } from "./data";
import { choice, clear, el, Picture, plain, Point, sizeCanvas, swatch } from "./dom";
import { inRanges } from "./model";
import { ceil, floor, max, min, round, oneText } from "./number";

const LEFT = 46, TOP = 22, LISTED = 12;
// [sender, receiver, bytes, messages, elapsed, received, received bytes]
export type Pair = number[];
export const amounts: [string, Dim][] = [["bytes", Dim.Bytes], ["messages", Dim.Events], ["elapsed", Dim.Seconds], ["received", Dim.Events], ["received_bytes", Dim.Bytes]];
const stops = [[255, 247, 200], [253, 187, 99], [227, 74, 51], [110, 0, 30]];

function colour(depth: number): string {
  const at = min(depth, 1) * 3, i = min(2, floor(at));
  return `rgb(${stops[i].map((s, k) => round(s + (at - i) * (stops[i + 1][k] - s))).join()})`;
}

export class Messages extends Picture {
  #list = el("div.list");
  #bins = new Map<number, number[]>(); // by row * side + column: the sums of their pairs
  #side = 1;   // bins in a row
  #ranks = 1;
  #cell = 1;   // pixels

  constructor(private app: App) {
    super("messages", "messages between ranks", {});
    this.element.append(this.bar, el("div.scroll", {}, this.canvas, this.brush, this.legend, this.#list), this.tip);
  }

  // The pairs of the chosen ranks: what these sent, and what they told to have received.
  pairs(): Pair[] {
    const { data: d } = this.app, { ranks } = this.app.chosen(), out: Pair[] = [];
    if (!ranks) return d.messages;
    for (const p of d.messages) {
      const sent = inRanges(ranks, p[0]), got = inRanges(ranks, p[1]);
      const q = [p[0], p[1], ...p.slice(2, 5).map((x) => (sent ? x : 0)), ...p.slice(5).map((x) => (got ? x : 0))];
      if (q[3] || q[5]) out.push(q);
    }
    return out;
  }

  render(): void {
    const { data: d, state, palette } = this.app, which = max(0, amounts.findIndex(([n]) => n === state.amount)), dim = amounts[which][1];
    clear(this.bar);
    this.bar.append(choice("what is shown", amounts.map(([n]) => [n, n.replace("_", " ")]), amounts[which][0], (amount) => this.app.set({ amount })), el("span", {}, "from each rank (down) to each rank (across)"), el("span.warn", {}, plain(this.app.whole("ranks"))));
    const pairs = this.pairs(), known = pairs.filter((p) => p[0] >= 0 && p[1] >= 0);
    this.#ranks = max(1, ...d.messages.map((p) => max(p[0], p[1]) + 1));
    const box = this.element.querySelector(".scroll")!, room = max(120, min(box.clientWidth - LEFT - 10, max(160, box.clientHeight - TOP - 90), 640));
    this.#side = min(this.#ranks, floor(room));
    this.#cell = min(40, room / this.#side);
    this.#bins.clear();
    const bin = (rank: number) => floor((rank * this.#side) / this.#ranks);
    for (const p of known) {
      const key = bin(p[0]) * this.#side + bin(p[1]), sums = this.#bins.get(key);
      if (sums) for (let i = 0; i < 5; i++) sums[i] += p[i + 2];
      else this.#bins.set(key, p.slice(2));
    }
    const values = [...this.#bins.values()].map((s) => s[which]).filter((x) => x > 0), most = max(0, ...values), least = min(most, ...values);
    const depth = (x: number) => (most > least ? Math.log(x / least) / Math.log(most / least) : 1), wide = this.#side * this.#cell;
    const { g } = sizeCanvas(this.canvas, LEFT + wide + 8, TOP + wide + 4);
    g.fillStyle = palette.dark ? "#ddd" : "#222";
    g.font = "11px system-ui, sans-serif";
    g.textBaseline = "middle";
    let every = 1;
    while (every * (wide / this.#ranks) < 26) every *= [1, 10, 100, 1000].includes(every) ? 2 : 5;
    for (let r = 0; r < this.#ranks; r += every) {
      const middle = ((r + 0.5) / this.#ranks) * wide;
      g.textAlign = "right";
      g.fillText(String(r), LEFT - 6, TOP + middle);
      g.textAlign = "center";
      g.fillText(String(r), LEFT + middle, TOP - 10);
    }
    for (const [key, sums] of this.#bins) {
      if (!(sums[which] > 0)) continue;
      g.fillStyle = colour(depth(sums[which]));
      g.fillRect(LEFT + (key % this.#side) * this.#cell, TOP + floor(key / this.#side) * this.#cell, max(1, this.#cell), max(1, this.#cell));
    }
    g.strokeStyle = "#888";
    g.strokeRect(LEFT - 0.5, TOP - 0.5, wide + 1, wide + 1);
    clear(this.legend);
    for (let i = most > least ? 0 : 4; i < 5 && most > 0; i++)
      this.legend.append(swatch(colour(i / 4), oneText(least * (most / least) ** (i / 4), dim)));
    this.#write(pairs, which, known.length);
  }

  // The largest pairs in words, and what the map does not show.
  #write(pairs: Pair[], which: number, known: number): void {
    const { data: d } = this.app, name = (r: number) => (r < 0 ? "?" : String(r));
    clear(this.#list);
    const told = [pairs.length > LISTED ? `${LISTED} of ${pairs.length} pairs in the list.` : `${pairs.length} pairs.`, pairs.length > known ? `${pairs.length - known} pairs with a rank that is not known are only in the list.` : "",
      d.messages.length < d.pairs ? `${d.messages.length} of ${d.pairs} pairs are in the page, those with the most bytes.` : ""].filter(Boolean).join(" ");
    this.#list.append(el("p.note", {}, told, el("span.hint", {}, " Drag chooses ranks.")));
    const top = [...pairs].sort((a, b) => b[which + 2] - a[which + 2]).slice(0, LISTED);
    this.#list.append(el("table", {}, el("thead", {}, el("tr", {}, ...["pair", ...amounts.map(([n]) => n)].map((t, i) => el("th", { scope: "col", class: i ? "number" : "" }, t)))),
      el("tbody", {}, ...top.map((p) => el("tr", {}, el("th", { scope: "row" }, `${name(p[0])} \u2192 ${name(p[1])}`),
        ...amounts.map(([, dim], i) => el("td.number", {}, p[i + 2] ? oneText(p[i + 2], dim) : "")))))));
  }

  #bin([x, y]: Point): Point {
    const index = (along: number) => max(0, min(this.#side - 1, floor(along / this.#cell)));
    return [index(x - LEFT), index(y - TOP)];
  }

  // The ranks of a bin.
  #of(bin: number): [number, number] {
    return [ceil((bin * this.#ranks) / this.#side), ceil(((bin + 1) * this.#ranks) / this.#side) - 1];
  }

  protected hover(at: Point, e: MouseEvent): void {
    const [x, y] = this.#bin(at), sums = this.#bins.get(y * this.#side + x), text = ([a, b]: [number, number]) => (a === b ? `${a}` : `${a}-${b}`);
    this.tell(`${text(this.#of(y))} \u2192 ${text(this.#of(x))}\n` + (sums ? amounts.map(([n, dim], i) => (sums[i] ? `${n.replace("_", " ")} ${oneText(sums[i], dim)}` : "")).filter(Boolean).join("\n") : "no message"), e);
  }

  // The ranks of the rows and of the columns that a drag goes over.
  protected drop(from: Point, to: Point): void {
    const [a, b] = [from, to].map((p) => this.#bin(p)), chosen: number[] = [];
    for (const i of [0, 1])
      for (let r = this.#of(min(a[i], b[i]))[0]; r <= this.#of(max(a[i], b[i]))[1]; r++) chosen.push(r);
    if (this.app.data.ranked && this.app.data.kept.profiles) this.app.set({ ranks: rangesText(chosen) });
  }
}
