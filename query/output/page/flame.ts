// SPDX-License-Identifier: BSD-3-Clause
// The flame graph, which hangs from its root; of a procedure, its callers stand above and what it calls below.
import { App, searchRegex } from "./app";
import { EXACT, NONE } from "./data";
import { clear, el, fit, Picture, plain, sizeCanvas, swatch } from "./dom";
import { drawnName, Node, nodeName, nodeOfContext, nodeRanges } from "./model";
import { abs, max, oneText, percentText } from "./number";
import { placeOf } from "./rows";

const LEVEL = 19, LETTER = 6.5, NARROWEST = 0.4, LEVELS_MOST = 1500;

interface Box { node: Node; name: string; drawn: string; x: number; width: number; level: number; value: number; up: boolean }

export class Flame extends Picture {
  private boxes: Box[] = [];
  #above = 0; // levels of callers
  #laid: unknown[] = []; // what the boxes are of

  constructor(private app: App, private choose: (n: Node) => void, private zoom: (n: Node) => void) {
    super("flame", "flame graph", {
      onmousemove: (e: MouseEvent) => this.#hover(e), onclick: (e: MouseEvent) => { const b = this.#find(e); if (b) this.choose(b.node); },
      ondblclick: (e: MouseEvent) => { const b = this.#find(e); if (b && !b.up) this.zoom(b.node); },
    });
    this.element.append(el("div.scroll", {}, this.canvas), this.legend, this.note, this.tip);
  }

  // The metric on the other side of a comparison and the difference; -1 there is none.
  #compared(): { old: number; delta: number } {
    const { data, state } = this.app, delta = data.metrics.findIndex((m) => m.side === "delta" && m.here === state.metric && m.old >= 0);
    return { delta, old: delta < 0 ? -1 : data.metrics[delta].old };
  }

  // How wide a box is: of a comparison the larger of the two values, so that what has vanished is drawn.
  #value(n: Node): number {
    const { data, selection, state } = this.app, ranges = nodeRanges(data, n, false), { old } = this.#compared();
    const here = selection.value(state.metric, ranges);
    return old < 0 ? here : max(here, selection.value(old, ranges));
  }

  // The roots: the zoomed row; for rows of other views than the tree, the selected procedure.
  #roots(): { roots: Node[]; pivot: Node | null } {
    const { data, state, node, views } = this.app;
    const zoom = this.app.zoomNode(state.zoom);
    if (state.view !== "tree" && node && node.scope !== NONE) {
      const pivot = views.procedureOf(node.scope) ?? node;
      return { roots: [pivot], pivot };
    }
    return { roots: [zoom ?? nodeOfContext(data, 0)], pivot: zoom };
  }

  #lay(width: number): void {
    const { data: d, views, selection, state } = this.app, { roots, pivot } = this.#roots();
    const of = [selection, views, state.metric, width, ...roots.flatMap((n) => [n.scope, n.inc.length, n.inc[0]])];
    if (of.length === this.#laid.length && of.every((x, i) => x === this.#laid[i])) return;
    this.#laid = of;
    this.boxes = [];
    this.#above = 0;
    const total = roots.reduce((sum, n) => sum + this.#value(n), 0);
    if (!(total > 0)) return;
    const scale = width / total, { old } = this.#compared();
    const place = (nodes: Node[], x: number, room: number, level: number, up: boolean, kids: (n: Node) => Node[]) => {
      const sized = nodes.map((n) => ({ n, v: this.#value(n) })).filter((s) => s.v > 0).sort((a, b) => b.v - a.v);
      const sum = sized.reduce((s, k) => s + k.v, 0), shrink = sum * scale > room + 1e-6 ? room / (sum * scale) : 1;
      for (const { n, v } of sized) {
        const w = v * scale * shrink;
        if (w < NARROWEST) break;
        this.boxes.push({ node: n, name: nodeName(d, n), drawn: drawnName(d, n, (w - 6) / LETTER), x, width: w, level, value: v, up });
        if (up) this.#above = max(this.#above, level);
        if (level < LEVELS_MOST && !(n.leaf && !up)) place(kids(n), x, w, level + 1, up, kids);
        x += w;
      }
    };
    // Of one run the children of a context fit into it: what would be too narrow is not looked at.
    const below = (n: Node) => views.treeChildren(n, old >= 0 ? undefined : (c) => selection.value(state.metric, [d.first[c], d.first[d.end[c]]]) * scale >= NARROWEST);
    place(roots, 0, width, 0, false, below);
    if (pivot) place(views.callers({ ...pivot, at: pivot.exc }), 0, width, 1, true, (n) => (n.leaf ? [] : views.callers(n)));
  }

  #top(b: Box): number { return (b.up ? this.#above - b.level : this.#above + b.level) * LEVEL; }

  render(): void {
    const width = max(120, this.canvas.parentElement!.clientWidth - 2);
    this.#lay(width);
    const levels = this.boxes.reduce((most, b) => max(most, b.up ? 0 : b.level), 0) + 1 + this.#above;
    const { g } = sizeCanvas(this.canvas, width, max(1, levels * LEVEL));
    const { palette, state, data, selection, node } = this.app, regex = state.search ? searchRegex(state.search) : null;
    const { delta, old: before } = this.#compared();
    g.font = "12px system-ui, sans-serif";
    g.textBaseline = "middle";
    const scopes = new Set<number>();
    for (const b of this.boxes) {
      const found = !!regex && regex.test(b.name), colour = b.node.scope === NONE ? null : palette.of(b.node.scope);
      if (b.node.scope !== NONE && b.width > 3) scopes.add(b.node.scope);
      let fill = colour?.fill ?? "#999", ink = colour?.text ?? "#000";
      if (delta >= 0) {
        const ranges = nodeRanges(data, b.node, false), change = selection.value(delta, ranges), m = data.metrics[state.metric];
        // What lies within 1.96 standard deviations of both counts of samples is chance; exact counts leave nothing to it.
        const n = selection.samples(state.metric, ranges) + selection.samples(before, ranges), worth = m.flags & EXACT ? 0 : m.period * m.scale;
        fill = palette.change(change, selection.value(before, ranges) || b.value, abs(change) <= 1.96 * worth * Math.sqrt(n));
        ink = palette.dark ? "#fff" : "#111";
      }
      if (regex && !found) g.globalAlpha = 0.35;
      g.fillStyle = fill;
      g.fillRect(b.x, this.#top(b), max(0.4, b.width - 0.7), LEVEL - 1);
      g.globalAlpha = 1;
      if (found) {
        g.strokeStyle = palette.dark ? "#ff7" : "#a0f";
        g.strokeRect(b.x + 0.5, this.#top(b) + 0.5, max(0.4, b.width - 1.7), LEVEL - 2);
      }
      if (node && sameNode(node, b.node)) {
        g.lineWidth = 2;
        g.strokeStyle = palette.dark ? "#fff" : "#000";
        g.strokeRect(b.x + 1, this.#top(b) + 1, max(1, b.width - 2.7), LEVEL - 3);
        g.lineWidth = 1;
      }
      if (b.width > 24) {
        g.fillStyle = ink;
        g.fillText(fit(g, plain(b.drawn), b.width - 6), b.x + 3, this.#top(b) + LEVEL / 2);
      }
    }
    clear(this.legend);
    const keys: [string, string][] = delta >= 0
      ? [["more", palette.change(1, 1, false)], ["less", palette.change(-1, 1, false)], ["within chance", palette.change(0, 1, true)]]
      : palette.legend(scopes);
    for (const [text, colour] of keys) this.legend.append(swatch(colour, text));
    const { pivot } = this.#roots();
    this.note.replaceChildren(...(!this.boxes.length ? [this.app.unknown() || "Nothing of this metric was measured here."]
      : [pivot && this.#above ? "Callers above, what is called below. " : "", el("span.hint", {}, "Click selects, double click zooms, Esc zooms out.")]));
  }

  #find(e: MouseEvent): Box | undefined {
    const r = this.canvas.getBoundingClientRect(), x = e.clientX - r.left, y = e.clientY - r.top;
    return this.boxes.find((b) => x >= b.x && x < b.x + b.width && y >= this.#top(b) && y < this.#top(b) + LEVEL);
  }

  #hover(e: MouseEvent): void {
    const b = this.#find(e);
    if (!b) return this.hide();
    const { data, selection, state } = this.app, m = data.metrics[state.metric], place = placeOf(data, b.node);
    const ranges = nodeRanges(data, b.node, false), value = selection.value(state.metric, ranges), { old } = this.#compared();
    this.tell(`${plain(b.name)}${place ? " \u2014 " + plain(place) : ""}\n${oneText(value, m.dim)}, ${percentText(value, selection.total(state.metric)) || "0 %"} of ${m.name}, ${oneText(selection.value(state.metric, nodeRanges(data, b.node, true)), m.dim)} of it in itself` +
      (old < 0 ? "" : `; before ${oneText(selection.value(old, ranges), m.dim)}`), e);
  }
}

export const sameNode = (a: Node, b: Node): boolean => a.scope === b.scope && a.kind === b.kind && a.inc.length === b.inc.length && a.inc[0] === b.inc[0];
