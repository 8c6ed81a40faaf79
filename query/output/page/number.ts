// SPDX-License-Identifier: BSD-3-Clause
// Numbers as hq prints them (query/output/number.c): one unit for a column, four digits of its largest value.
import { Dim } from "./data";

export const { max, min, floor, ceil, round, abs } = Math; // called so often that their place in the page counts

type Scale = [number, string];
const seconds: Scale[] = [[1, "s"], [1e-3, "ms"], [1e-6, "us"], [1e-9, "ns"]];
const counts: Scale[] = [[1e18, "E"], [1e15, "P"], [1e12, "T"], [1e9, "G"], [1e6, "M"], [1e3, "K"], [1, ""]];
const bytes: Scale[] = ["EiB", "PiB", "TiB", "GiB", "MiB", "KiB", "B"].map((unit, i) => [1024 ** (6 - i), unit]);

export interface Style { factor: number; unit: string; base: string; decimals: number; sign: boolean; zero: boolean }

const scaleFor = (scales: Scale[], largest: number): Scale => scales.find((s) => largest >= s[0]) ?? scales[scales.length - 1];

function decimalsFor(shown: number): number {
  if (shown >= 1e7 || (shown < 1e-4 && shown > 0)) return -1;
  if (shown >= 1000) return 0;
  if (shown >= 1 || shown === 0) return shown >= 100 ? 1 : shown >= 10 ? 2 : 3;
  return 3 - floor(Math.log10(shown));
}

// The style of values up to `largest` in magnitude; whole: all are integers.
export function styleFor(dim: Dim, largest: number, whole: boolean, sign = false, zero = false): Style {
  const style: Style = { factor: 1, unit: "", base: dim === Dim.Seconds ? "s" : dim === Dim.Bytes ? "B" : "", decimals: 0, sign, zero };
  if (whole && largest < 1e7 && dim !== Dim.Seconds && dim !== Dim.Bytes) return style;
  let scale: Scale = [1, ""];
  if (dim === Dim.Seconds) scale = scaleFor(seconds, largest > 0 ? largest : 1);
  else if (dim === Dim.Bytes) scale = scaleFor(bytes, largest);
  else if (largest >= 1e4) scale = scaleFor(counts, largest);
  [style.factor, style.unit] = scale;
  style.decimals = dim === Dim.Bytes && scale[0] === 1 && whole ? 0 : decimalsFor(largest / scale[0]);
  return style;
}

// As printf's %.*f, which rounds what lies exactly in the middle to the even digit; toFixed rounds it away from zero.
export function fixed(x: number, decimals: number): string {
  const all = abs(x).toFixed(min(100, decimals + 70)), cut = all.indexOf(".") + 1 + decimals;
  if (!/^50*$/.test(all.slice(cut))) return x.toFixed(decimals);
  const down = all.slice(0, decimals ? cut : cut - 1);
  return Number(down[down.length - 1]) % 2 === 0 ? (x < 0 ? "-" : "") + down : x.toFixed(decimals);
}

const exponent = (x: number, decimals: number): string => x.toExponential(decimals).replace(/e([+-])(\d)$/, "e$10$2");

// As printf's %.*g.
function general(x: number, digits: number): string {
  const power = x === 0 ? 0 : Number(x.toExponential(digits - 1).split("e")[1]);
  if (power < -4 || power >= digits) return exponent(x, digits - 1).replace(/\.?0+e/, "e");
  const text = fixed(x, digits - 1 - power);
  return text.includes(".") ? text.replace(/\.?0+$/, "") : text;
}

// [digits, unit]; "" for nothing.
export function numberText(s: Style, value: number): [string, string] {
  if (!isFinite(value) || (value === 0 && !s.zero)) return ["", ""];
  if (value === 0) return ["0", s.unit];
  const shown = value / s.factor, plus = s.sign && value > 0 ? "+" : "";
  const text = s.decimals >= 0 && abs(shown) < 1e15 ? fixed(shown, s.decimals) : exponent(shown, 3);
  if (!/[1-9]/.test(text)) return [plus + general(value, abs(value) < 1 ? 2 : 4), s.base];
  return [plus + text, s.unit];
}

export function percentText(value: number, base: number, sign = false): string {
  if (!isFinite(value) || !isFinite(base) || value === 0 || base === 0) return "";
  const p = (100 * value) / base, plus = sign && p > 0 ? "+" : "";
  if (abs(p) < 0.05) return p < 0 ? ">-0.1%" : "<0.1%";
  return abs(p) < 99999.95 ? plus + fixed(p, 1) + "%" : plus + exponent(p, 1) + "%";
}

// A number alone, in the unit that suits it.
export function oneText(value: number, dim: Dim): string {
  if (value === 0) return dim === Dim.Seconds ? "0 s" : "0";
  const [text, unit] = numberText(styleFor(dim, abs(value), value === floor(value)), value);
  return unit ? `${text} ${unit}` : text;
}

// Microseconds of the run, as the language reads them back.
export const timeText = (us: number): string => us >= 1e6 ? `${+(us / 1e6).toFixed(6)}s` : us >= 1000 ? `${+(us / 1e3).toFixed(3)}ms` : `${us}us`;
