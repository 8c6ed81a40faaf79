// SPDX-License-Identifier: BSD-3-Clause
// One palette for all pictures: the hue tells whose code it is, the lightness tells names apart. The hues are those of
// Okabe and Ito (Color Universal Design, 2008), which the colour-blind tell apart; waiting in MPI and OpenMP is
// vermilion and yellow everywhere.
import { Data, Kind } from "./data";

// By query/report/tree.c: 0 the program and its libraries, then 1 + enum runtime_kind.
// A name turns the hue by up to `turn` degrees, which leaves the families apart.
const owners: { name: string; hue: number; saturation: number; turn: number }[] = [
  { name: "program", hue: 205, saturation: 70, turn: 36 },
  { name: "MPI", hue: 18, saturation: 82, turn: 8 },
  { name: "OpenMP", hue: 44, saturation: 82, turn: 6 },
  { name: "GPU", hue: 326, saturation: 50, turn: 12 },
  { name: "below MPI", hue: 18, saturation: 42, turn: 8 },
  { name: "system", hue: 220, saturation: 8, turn: 8 },
];
// What the language calls waiting, wherever it is.
const waiting = { name: "waiting", hue: 350, saturation: 74, turn: 6 };
const library = { name: "library", hue: 145, saturation: 48, turn: 18 };

function hash(text: string): number {
  let h = 0x811c9dc5;
  for (let i = 0; i < text.length; i++) h = Math.imul(h ^ text.charCodeAt(i), 0x01000193);
  h ^= h >>> 15;
  return Math.imul(h, 0x2c1b3c6d) >>> 0;
}

export interface Colour { fill: string; text: string; owner: string; hue: number; light: number; saturation: number }

export class Palette {
  private known: (Colour | undefined)[] = [];
  readonly used = new Set<string>();
  private main: number;

  constructor(private d: Data, readonly dark: boolean) {
    // The program's own load module is that of the first scope that is called main, else of most contexts.
    const count = new Map<number, number>();
    for (let c = 0; c < Math.min(d.contexts, 200000); c++) {
      const m = d.scopeModule[d.scope[c]];
      if (m && !d.scopeOwner[d.scope[c]]) count.set(m, (count.get(m) ?? 0) + 1);
    }
    let main = 0;
    for (let s = 0; s < d.scopes && !main; s++) if (d.texts[d.scopeName[s]] === "main" && !d.scopeOwner[s]) main = d.scopeModule[s];
    this.main = main || [...count].sort((a, b) => b[1] - a[1])[0]?.[0] || 0;
  }

  of(scope: number): Colour {
    return (this.known[scope] ??= this.make(scope));
  }

  private make(scope: number): Colour {
    const d = this.d, owner = d.scopeOwner[scope], module = d.scopeModule[scope];
    const family = d.scopeKind[scope] === Kind.Wait ? waiting : owner ? owners[owner] ?? library : module && module !== this.main ? library : owners[0];
    const h = hash(d.texts[d.scopeShown[scope]]), turn = (h % (2 * family.turn + 1)) - family.turn;
    const light = this.dark ? 28 + ((h >>> 8) % 21) : 56 + ((h >>> 8) % 27);
    const hue = family.hue + turn, saturation = Math.max(6, family.saturation - ((h >>> 16) % 3) * 12);
    return { fill: `hsl(${hue} ${saturation}% ${light}%)`, text: this.dark ? "#fff" : "#111", owner: family.name, hue, light, saturation };
  }

  // [name, colour] of each family that there is, for legends.
  legend(scopes: Iterable<number>): [string, string][] {
    const names = new Set<string>();
    for (const s of scopes) names.add(this.of(s).owner);
    return [...owners, library, waiting].filter((f) => names.has(f.name)).map((f) => [f.name, `hsl(${f.hue} ${f.saturation}% ${this.dark ? 38 : 70}%)`]);
  }

  // Red, green, blue of a scope, for pixels.
  pixel(scope: number): [number, number, number] {
    const { hue, saturation, light } = this.of(scope), s = saturation / 100, l = light / 100, a = s * Math.min(l, 1 - l);
    const channel = (n: number) => {
      const k = (n + hue / 30) % 12;
      return Math.round(255 * (l - a * Math.max(-1, Math.min(k - 3, 9 - k, 1))));
    };
    return [channel(0), channel(8), channel(4)];
  }

  // More is orange, less is blue; what chance explains is grey.
  change(delta: number, base: number, chance: boolean): string {
    if (chance || !base) return this.dark ? "#555" : "#ccc";
    const share = Math.min(1, Math.abs(delta / base)), light = this.dark ? 25 + 25 * share : 92 - 37 * share;
    return `hsl(${delta > 0 ? 24 : 210} 85% ${light}%)`;
  }
}
