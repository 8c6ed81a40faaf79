// SPDX-License-Identifier: BSD-3-Clause
// Elements and texts. Names and sources are data: they only ever become text, and what could control or turn a line
// around (control characters, bidirectional marks) is shown as a sign of its own.
import { ceil, max, min, round } from "./number";

type Child = Node | string | null | undefined | false;
type Props = { [name: string]: string | number | boolean | ((e: any) => void) | undefined };

// An element; "div.row head" has these classes.
export function el<T extends keyof HTMLElementTagNameMap>(what: T | `${T}.${string}`, props: Props = {}, ...children: Child[]): HTMLElementTagNameMap[T] {
  const [tag, classes] = what.split("."), e = document.createElement(tag as T);
  if (classes) e.className = classes;
  for (const [name, value] of Object.entries(props)) {
    if (typeof value === "function") e.addEventListener(name.slice(2), value);
    else if (value === true) e.setAttribute(name, "");
    else if (value !== undefined && value !== false) e.setAttribute(name, String(value));
  }
  e.append(...children.filter((c): c is Node | string => !!c));
  return e;
}

const HARMFUL = /[\u0000-\u001f\u007f-\u009f\u00ad\u061c\u180e\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb]/g;

// A text as it may stand on the page.
export const plain = (text: string): string => text.replace(HARMFUL, "\ufffd");

// The begin of a list that may be of thousands.
export const brief = (text: string, most = 40): string => (text.length > most ? text.slice(0, most) + "\u2026" : text);

// A name, which may be written from right to left, apart from what stands beside it.
export const name = (text: string, props: Props = {}): HTMLElement => el("bdi", props, plain(text));

export const button = (title: string, onclick: () => void, ...what: Child[]): HTMLButtonElement => el("button", { title, onclick }, ...what);

// A choice of [value, text].
export function choice(label: string, of: [string | number, string][], now: string | number, choose: (value: string) => void, props: Props = {}): HTMLSelectElement {
  const e: HTMLSelectElement = el("select", { "aria-label": label, onchange: () => choose(e.value), ...props },
    ...of.map(([value, text]) => el("option", { value, selected: value === now }, plain(text))));
  return e;
}

// An entry of a legend.
export const swatch = (colour: string, ...what: Child[]): HTMLElement => el("span", {}, el("i", { style: `background:${colour}` }), ...what);

export const csv = (rows: string[][]): string => rows.map((r) => r.map((text) => (/[",\n\r]|^ | $/.test(text) ? `"${text.replace(/"/g, '""')}"` : text)).join(",") + "\n").join("");

// The lines of a text that are not empty.
export const linesOf = (text: string): string[] => text.split("\n").filter(Boolean);

export function clear(e: Element): void {
  e.replaceChildren();
}

// Copies a text; false where the browser does not allow it.
export async function copy(text: string): Promise<boolean> {
  try {
    await navigator.clipboard.writeText(text);
    return true;
  } catch {
    const area = el("textarea.offscreen");
    area.value = text;
    document.body.append(area);
    area.select();
    const done = document.execCommand("copy");
    area.remove();
    return done;
  }
}

export type Point = [number, number];

// A picture that is drawn by a program: it tells about what the mouse is on, and is drawn anew where its room changes. In one
// that has `drop` a drag chooses; what it goes over is seen meanwhile, and it ends wherever it is let go.
export abstract class Picture {
  readonly element = el("div");
  protected brush = el("div.brush");
  #from: Point | null = null;
  protected canvas: HTMLCanvasElement;
  protected tip = el("div.tip", { role: "status" });
  protected bar = el("div.bar");
  protected legend = el("div.legend");
  protected note = el("p.note");

  constructor(kind: string, label: string, handlers: Props) {
    this.canvas = el("canvas", { role: "img", "aria-label": label, onmouseleave: () => this.hide(), onpointerdown: (e: PointerEvent) => this.#begin(e),
      onpointermove: (e: MouseEvent) => this.#drag(e), onpointerup: (e: MouseEvent) => this.#end(e), onlostpointercapture: () => this.#end(), ...handlers });
    this.element.className = "pane " + kind;
    new ResizeObserver(() => this.element.isConnected && this.render()).observe(this.element);
  }

  abstract render(): void;
  protected hover?(at: Point, e: MouseEvent): void;
  protected drop?(from: Point, to: Point): void;

  // From where to where a drag chooses, in pixels of the canvas.
  protected covers(from: Point, to: Point): [Point, Point] { return [from, to]; }

  protected at(e: MouseEvent): Point {
    const r = this.canvas.getBoundingClientRect();
    return [e.clientX - r.left, e.clientY - r.top];
  }

  #begin(e: PointerEvent): void {
    if (!this.drop || e.button) return;
    this.#from = this.at(e);
    this.canvas.setPointerCapture(e.pointerId);
    this.canvas.focus(); // for its keys
    e.preventDefault();
  }

  #drag(e: MouseEvent): void {
    const { style } = this.brush, to = this.at(e);
    if (this.#from) {
      const [a, b] = this.covers(this.#from, to), part = (i: number, most: number) => [a[i], b[i]].map((x) => max(0, min(most, x))).sort((x, y) => x - y);
      const [left, right] = part(0, this.canvas.offsetWidth), [top, bottom] = part(1, this.canvas.offsetHeight);
      style.cssText = `display:block;left:${left}px;width:${right - left}px;top:${top}px;height:${bottom - top}px`;
    }
    this.hover?.(to, e);
  }

  #end(e?: MouseEvent): void {
    const from = this.#from;
    this.#from = null;
    this.brush.style.display = "none";
    if (from && e) this.drop!(from, this.at(e));
  }

  hide(): void { this.tip.style.display = "none"; }

  // A tip beside the mouse, inside the window.
  tell(text: string, e: MouseEvent): void {
    const { tip } = this;
    tip.textContent = text;
    tip.style.display = "block";
    const w = tip.offsetWidth, h = tip.offsetHeight;
    tip.style.left = max(4, min(e.clientX + 12, window.innerWidth - w - 8)) + "px";
    tip.style.top = (e.clientY + 20 + h > window.innerHeight ? max(4, e.clientY - h - 10) : e.clientY + 20) + "px";
  }
}

export interface Canvas { canvas: HTMLCanvasElement; g: CanvasRenderingContext2D; width: number; height: number }

// A canvas of so many CSS pixels, sharp on any screen.
export function sizeCanvas(canvas: HTMLCanvasElement, width: number, height: number): Canvas {
  const scale = min(window.devicePixelRatio || 1, 32000 / max(width, height, 1));
  const wide = max(1, round(width * scale)), high = max(1, round(height * scale));
  if (canvas.width !== wide || canvas.height !== high || !canvas.style.width) {
    canvas.width = wide;
    canvas.height = high;
    canvas.style.width = width + "px";
    canvas.style.height = height + "px";
  }
  const g = canvas.getContext("2d")!;
  g.setTransform(scale, 0, 0, scale, 0, 0);
  g.clearRect(0, 0, width, height);
  return { canvas, g, width, height };
}

// As much of a text as fits, its end cut.
export function fit(g: CanvasRenderingContext2D, text: string, width: number): string {
  if (width < 14) return "";
  if (text.length * 3 < width && g.measureText(text).width <= width) return text;
  let low = 0, high = min(text.length, ceil(width / 3));
  if (high === text.length && g.measureText(text).width <= width) return text;
  while (low < high) {
    const middle = (low + high + 1) >> 1;
    if (g.measureText(text.slice(0, middle) + "\u2026").width <= width) low = middle;
    else high = middle - 1;
  }
  return low > 1 ? text.slice(0, low) + "\u2026" : "";
}
