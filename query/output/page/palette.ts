// SPDX-License-Identifier: BSD-3-Clause
// One palette for all pictures, that of query/picture/palette.c: the hue tells whose code it is, the shade tells names
// apart. A name turns the hue by up to `turn` degrees.
import { Data, uints } from "./data";
import { abs, max, min, round } from "./number";

// By enum family of query/picture/palette.h.
const families: { name: string; hue: number; saturation: number; turn: number }[] = [
  { name: "program", hue: 205, saturation: 70, turn: 36 },
  { name: "MPI", hue: 18, saturation: 82, turn: 8 },
  { name: "OpenMP", hue: 44, saturation: 82, turn: 6 },
  { name: "GPU", hue: 276, saturation: 80, turn: 8 },
  { name: "below MPI", hue: 18, saturation: 42, turn: 8 },
  { name: "system", hue: 220, saturation: 16, turn: 40 },
  { name: "library", hue: 145, saturation: 48, turn: 18 },
  { name: "waiting", hue: 350, saturation: 74, turn: 6 },
];

function hash(text: string, shade: number): number {
  let h = 0x811c9dc5 + shade;
  for (const byte of new TextEncoder().encode(text)) h = Math.imul(h ^ byte, 0x01000193);
  h ^= h >>> 15;
  return Math.imul(h, 0x2c1b3c6d) >>> 0;
}

// White or black, whichever differs more: by the luminance of sRGB, with 2.2 for its exponent, near enough for a contrast of 4.5 on all colours here.
const inkOn = (rgb: number[]): string => rgb[0] ** 2.2 * 0.2126 + rgb[1] ** 2.2 * 0.7152 + rgb[2] ** 2.2 * 0.0722 < 35060 ? "#fff" : "#000";

export interface Colour { fill: string; text: string; owner: string; rgb: number[] }

export class Palette {
  #known: (Colour | undefined)[] = [];
  readonly words: Uint32Array; // of a picture's pixels; 0: not made yet

  constructor(private d: Data, readonly dark: boolean) { this.words = uints(d.scopes); }

  of(scope: number): Colour {
    return (this.#known[scope] ??= this.#make(scope));
  }

  #make(scope: number): Colour {
    const d = this.d, owner = d.scopeOwner[scope], family = families[owner & 7];
    const h = hash(d.texts[d.scopeShown[scope]], owner >> 3), turn = (h % (2 * family.turn + 1)) - family.turn;
    const light = (h >>> 8) % 27, l = (this.dark ? 28 + light * 7 / 9 : 56 + light) / 100; // the lighter of two is so in the dark, too
    const hue = family.hue + turn + 360, a = (max(6, family.saturation - ((h >>> 16) % 3) * 12) / 100) * min(l, 1 - l);
    const rgb = [0, 8, 4].map((n) => {
      const k = (n + hue / 30) % 12;
      return round(255 * (l - a * max(-1, min(k - 3, 9 - k, 1))));
    });
    return { fill: `rgb(${rgb})`, text: inkOn(rgb), owner: family.name, rgb };
  }

  // [name, colour] of each family that there is, for legends.
  legend(scopes: Iterable<number>): [string, string][] {
    const names = new Set<string>();
    for (const s of scopes) names.add(this.of(s).owner);
    return families.filter((f) => names.has(f.name)).map((f) => [f.name, `hsl(${f.hue} ${f.saturation}% ${this.dark ? 38 : 70}%)`]);
  }

  // One of these.
  word(scope: number): number {
    if (this.words[scope]) return this.words[scope];
    const [r, g, b] = this.of(scope).rgb;
    return (this.words[scope] = ((255 << 24) | (b << 16) | (g << 8) | r) >>> 0);
  }

  // More is orange, less is blue; what chance explains is grey.
  change(delta: number, base: number, chance: boolean): string {
    if (chance || !base) return this.dark ? "#555" : "#ccc";
    const share = min(1, abs(delta / base)), light = this.dark ? 25 + 25 * share : 92 - 37 * share;
    return `hsl(${delta > 0 ? 24 : 210} 85% ${light}%)`;
  }
}
