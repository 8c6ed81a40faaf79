// SPDX-License-Identifier: BSD-3-Clause
// Expressions of the query language (query/grammar/parse_expr.c, query/bind/bind.c, query/bind/expr.c): the same grammar, units,
// blanks and shares. What the page cannot compute it refuses with a sentence.
import { Data, Dim, EXACT, Kind, Metric, NO_COUNTS, WEIGHED, floats, kindNames } from "./data";
import { scaled, Selection } from "./model";
import { abs, ceil, floor, max, min } from "./number";

export interface Facts {
  slots: ArrayLike<number>; totals: ArrayLike<number>; kind: Kind; name: string; file: string; line: number; module: string; depth: number;
  id: string; callsite: string;
  profiles?: (slot: number) => Float64Array; // its value in each rank or thread that statistics are over
  samples?: (slot: number) => number;
}
type Value = number | string | null; // a blank number is NaN, a blank text null

interface Program {
  eval: (f: Facts) => Value;
  dim: Dim;
  text: boolean;    // else a number
  linear: boolean;  // a sum of metrics: it has a total
  constant: boolean;
  literal: boolean; // takes the unit of the other side
  attribute?: string;
  word?: string;    // a bare name, which beside an attribute is a text
  percent?: number;
  slot?: number;
  total?: number;   // it is the total of a slot's metric
  share?: number;   // it is a slot by its own total: the slot
  overProfiles?: boolean;
}

export interface Compiled { dim: Dim; text: boolean; linear: boolean; value: (f: Facts) => Value; total: (totals: Float64Array) => number }

class Refused extends Error {}
const refuse = (sentence: string): never => { throw new Refused(sentence); };

const MARKS = ["==", "=", "!=", "<>", "<=", ">=", "<", ">"];
const dimNames = ["a plain number", "seconds", "events", "bytes"];
const textAttributes = ["kind", "name", "file", "module", "id", "callsite"], numberAttributes = ["line", "depth"];
const TOKEN = /\s*(?:(\d+(?:\.\d+)?(?:[eE][+-]?\d+)?|\.\d+(?:[eE][+-]?\d+)?)(%|[A-Za-z\u00b5\u03bc]+)?|\$(\d+)|([A-Za-z_][\w:]*)|("(?:\\.|[^"\\])*"|'(?:\\.|[^'\\])*')|(==|!=|<>|<=|>=|=~|!~|[-+*\/()<>=,.@])|(\S))/y;

interface Token { kind: "number" | "dollar" | "name" | "text" | "mark"; text: string; unit?: string; spaced: boolean }

// unknown: why nothing is known of a metric.
export function compile(source: string, d: Data, unknown: (metric: number) => string): Compiled | string {
  try {
    const p = new Parser(source, d, unknown);
    const program = p.whole();
    return {
      dim: program.dim, text: program.text, linear: program.linear, value: program.eval,
      total: (totals) => (program.linear ? (program.eval({ slots: totals, totals, kind: Kind.Root, name: "", file: "", line: 0, module: "", depth: 0, id: "", callsite: "" }) as number) : NaN),
    };
  } catch (e) {
    if (e instanceof Refused) return e.message;
    throw e;
  }
}

// A condition holds where it is a number other than zero.
export const holds = (v: Value): boolean => typeof v === "number" && !isNaN(v) && v !== 0;

export function totalsOf(d: Data, s: Selection): Float64Array {
  const t = floats(2 * d.metrics.length);
  d.metrics.forEach((_, i) => (t[2 * i] = t[2 * i + 1] = s.base(i)));
  return t;
}

const truth = (v: Value): number => (typeof v !== "number" || isNaN(v) ? -1 : v !== 0 ? 1 : 0);

class Parser {
  #tokens: Token[] = [];
  #at = 0;
  #ofRow = 0; // attributes that were met

  constructor(source: string, private d: Data, private unknown: (metric: number) => string) {
    TOKEN.lastIndex = 0;
    while (TOKEN.lastIndex < source.trimEnd().length) {
      const start = TOKEN.lastIndex, m = TOKEN.exec(source);
      if (!m) break;
      const spaced = /^\s/.test(source.slice(start));
      if (m[7] !== undefined) refuse(`\`${m[7]}\` has no meaning here`);
      // A regular expression stands only behind =~ and !~.
      const last = this.#tokens[this.#tokens.length - 1]?.text;
      if (m[6] === "/" && (last === "=~" || last === "!~")) {
        const r = /^\s*\/((?:\\.|[^\/\\])+)\/(i?)/.exec(source.slice(start)) ?? refuse("the regular expression has no end");
        this.#tokens.push({ kind: "text", text: r[1], unit: r[2], spaced });
        TOKEN.lastIndex = start + r[0].length;
        continue;
      }
      if (m[1] !== undefined) this.#tokens.push({ kind: "number", text: m[1], unit: m[2], spaced });
      else if (m[3] !== undefined) this.#tokens.push({ kind: "dollar", text: m[3], spaced });
      else if (m[4] !== undefined) this.#tokens.push({ kind: "name", text: m[4], spaced });
      else if (m[5] !== undefined) this.#tokens.push({ kind: "text", text: m[5].slice(1, -1).replace(/\\([\\"'])/g, "$1"), spaced });
      else this.#tokens.push({ kind: "mark", text: m[6], spaced });
    }
  }

  #peek(): Token | undefined { return this.#tokens[this.#at]; }
  #is(text: string): boolean {
    const t = this.#peek();
    return !!t && (t.kind === "mark" ? t.text === text : t.kind === "name" && t.text.toLowerCase() === text);
  }
  #take(text: string): boolean {
    if (!this.#is(text)) return false;
    this.#at++;
    return true;
  }
  #want(text: string): void {
    if (!this.#take(text)) refuse(`\`${text}\` is missing${this.#peek() ? ` before \`${this.#peek()!.text}\`` : " at the end"}`);
  }

  whole(): Program {
    if (!this.#tokens.length) refuse("nothing is written");
    const p = this.#settle(this.#or());
    if (this.#peek()) refuse(`\`${this.#peek()!.text}\` is too much`);
    return p;
  }

  // A bare name that nothing makes a text of is a metric.
  #settle(p: Program): Program {
    return p.word !== undefined ? refuse(`there is no metric \`${p.word}\`: there is ${this.d.metrics.filter((m) => m.side === "here").map((m) => m.name).join(", ")}`) : p;
  }

  #logic(word: "and" | "or", next: () => Program): Program {
    let a = next();
    while (this.#take(word)) {
      const left = this.#number(a), right = this.#number(next()), stop = word === "and" ? 0 : 1;
      a = this.#make(0, (f) => {
        const x = truth(left.eval(f));
        if (x === stop) return x;
        const y = truth(right.eval(f));
        return y === stop ? y : x < 0 || y < 0 ? NaN : x;
      }, left.constant && right.constant);
    }
    return a;
  }
  #or(): Program { return this.#logic("or", () => this.#and()); }
  #and(): Program { return this.#logic("and", () => this.#not()); }

  #not(): Program {
    if (!this.#take("not")) return this.#relation();
    const p = this.#number(this.#not());
    return this.#make(0, (f) => {
      const t = truth(p.eval(f));
      return t < 0 ? NaN : t ? 0 : 1;
    }, p.constant);
  }

  #make(dim: Dim, evaluate: (f: Facts) => Value, constant = false): Program {
    return { eval: evaluate, dim, text: false, linear: false, constant, literal: false };
  }

  #number(p: Program): Program {
    p = this.#settle(p);
    return p.text ? refuse("this is a text, and a number is wanted here") : p;
  }

  #agree(a: Program, b: Program, what: string): Dim {
    if (a.dim !== b.dim && !a.literal && !b.literal) refuse(`this ${what} ${dimNames[a.dim]} and ${dimNames[b.dim]}`);
    return a.literal ? b.dim : a.dim;
  }

  #relation(): Program {
    let a = this.#sum();
    if (this.#is("=~") || this.#is("!~")) {
      const negated = this.#tokens[this.#at++].text === "!~", r = this.#peek();
      if (r?.kind !== "text") refuse("a regular expression such as /^MPI_/ is wanted here");
      this.#at++;
      if (!a.text) refuse("a regular expression needs a text on its left: name, file, module, kind");
      let regex: RegExp;
      try {
        regex = new RegExp(r!.text, "u" + (r!.unit ?? ""));
      } catch {
        return refuse(`/${r!.text}/ is no regular expression that a browser knows`);
      }
      const text = a;
      return this.#make(0, (f) => {
        const t = text.eval(f);
        return t === null ? NaN : regex.test(String(t)) !== negated ? 1 : 0;
      });
    }
    const mark = MARKS.find((m) => this.#is(m));
    if (!mark) return a;
    this.#at++;
    let b = this.#sum();
    [a, b] = [this.#beside(a, b), this.#beside(b, a)];
    a = this.#settle(a);
    b = this.#settle(b);
    if (a.text !== b.text) refuse("this compares a text with a number");
    if (MARKS.some((m) => this.#is(m))) refuse("comparisons do not chain: write `and` between them");
    if (a.text) return this.#compareTexts(a, b, mark);
    [a, b] = [this.#shareOf(a, b), this.#shareOf(b, a)];
    this.#agree(a, b, "compares");
    return this.#make(0, (f) => {
      const x = a.eval(f) as number, y = b.eval(f) as number;
      return isNaN(x) || isNaN(y) ? NaN : compare(mark, x - y === 0 || x === y ? 0 : x < y ? -1 : 1);
    }, a.constant && b.constant);
  }

  // `kind = loop`: beside a text a single word needs no quotes.
  #beside(p: Program, other: Program): Program {
    const word = p.word ?? (other.attribute === "kind" && p.attribute && kindNames.includes(p.attribute) ? p.attribute : undefined);
    return word !== undefined && other.attribute && other.text ? { ...this.#make(0, () => word, true), text: true } : p;
  }

  // `cputime > 5%`: that share of the total.
  #shareOf(p: Program, other: Program): Program {
    if (p.percent === undefined || !other.linear) return p;
    return this.#make(other.dim, (f) => p.percent! * (other.eval({ ...f, slots: f.totals }) as number), true);
  }

  #compareTexts(a: Program, b: Program, mark: string): Program {
    const equal = mark === "==" || mark === "=", unequal = mark === "!=" || mark === "<>";
    const attribute = a.attribute ?? b.attribute;
    return this.#make(0, (f) => {
      const x = a.eval(f), y = b.eval(f);
      if (x === null || y === null) return NaN;
      if (equal || unequal) return sameText(attribute, String(a.attribute ? x : y), String(a.attribute ? y : x)) === equal ? 1 : 0;
      return compare(mark, x < y ? -1 : x > y ? 1 : 0);
    });
  }

  #sum(): Program {
    let a = this.#product();
    while (this.#is("+") || this.#is("-")) {
      const plus = this.#tokens[this.#at++].text === "+", left = this.#number(a), right = this.#number(this.#product());
      const dim = this.#agree(left, right, plus ? "adds" : "subtracts");
      a = {
        ...this.#make(dim, (f) => (plus ? (left.eval(f) as number) + (right.eval(f) as number) : (left.eval(f) as number) - (right.eval(f) as number)), left.constant && right.constant),
        linear: left.linear && right.linear, literal: left.literal && right.literal, overProfiles: left.overProfiles || right.overProfiles,
      };
    }
    return a;
  }

  #product(): Program {
    let a = this.#unary();
    while (this.#is("*") || this.#is("/")) {
      const times = this.#tokens[this.#at++].text === "*", left = this.#number(a), right = this.#number(this.#unary());
      let dim: Dim, linear: boolean;
      if (times) {
        if (left.dim && right.dim) refuse(`this multiplies ${dimNames[left.dim]} and ${dimNames[right.dim]}`);
        dim = left.dim || right.dim;
        linear = (left.linear && right.constant) || (left.constant && right.linear);
      } else {
        if (right.dim && left.dim !== right.dim) refuse(`this divides ${dimNames[left.dim]} by ${dimNames[right.dim]}, and there is no unit for that`);
        dim = right.dim ? Dim.None : left.dim;
        linear = left.linear && right.constant;
      }
      a = {
        ...this.#make(dim, (f) => {
          const x = left.eval(f) as number, y = right.eval(f) as number, z = times ? x * y : y === 0 ? NaN : x / y;
          return isFinite(z) ? z : NaN;
        }, left.constant && right.constant),
        linear, literal: left.literal && right.literal, overProfiles: left.overProfiles || right.overProfiles,
        share: !times && left.slot !== undefined && right.total !== undefined && left.slot >> 1 === right.total >> 1 ? left.slot : undefined,
      };
    }
    return a;
  }

  #unary(): Program {
    if (!this.#take("-")) return this.#primary();
    const p = this.#number(this.#unary());
    return { ...p, eval: (f) => -(p.eval(f) as number), percent: undefined, slot: undefined };
  }

  #primary(): Program {
    const t = this.#peek() ?? refuse("something is missing at the end");
    this.#at++;
    if (t.kind === "number") return this.#literal(t);
    if (t.kind === "text") return { ...this.#make(0, () => t.text, true), text: true };
    if (t.kind === "dollar") return this.#metricNumber(+t.text);
    if (t.text === "(") {
      const p = this.#or();
      this.#want(")");
      return p;
    }
    if (t.text === "@") return this.#total();
    if (t.kind !== "name") return refuse(`\`${t.text}\` has no meaning here`);
    if (this.#is("(")) return this.#call(t.text.toLowerCase());
    return this.#named(t.text);
  }

  #literal(t: Token): Program {
    const x = Number(t.text);
    const [times, over, dim, percent] = t.unit ? this.d.literals[t.unit] ?? refuse(`there is no unit \`${t.unit}\``) : [1, 1, Dim.None, 0], value = (x * times) / over;
    return { ...this.#make(dim, () => value, true), literal: dim === Dim.None, percent: percent ? value : undefined };
  }

  #suffix(): boolean {
    const next = this.#tokens[this.#at + 1];
    if (!this.#is(".") || this.#peek()!.spaced || next?.kind !== "name") return false;
    const word = next.text.toLowerCase();
    if (!["x", "exclusive", "inclusive"].includes(word)) return refuse(`\`.${next.text}\` is neither .x nor .inclusive`);
    this.#at += 2;
    return word !== "inclusive";
  }

  #slot(metric: number, exclusive: boolean): Program {
    const slot = 2 * metric + (exclusive ? 1 : 0), why = this.unknown(metric);
    if (why) refuse(why);
    return { ...this.#make(this.d.metrics[metric].dim, (f) => f.slots[slot]), linear: true, slot };
  }

  #metricNumber(n: number): Program {
    const here = this.d.metrics.map((m, i) => [m, i] as const).filter(([m]) => m.side === "here");
    const m = here[ceil(n / 2) - 1] ?? refuse(`there is no metric $${n}: the last one is $${2 * here.length}`);
    return this.#slot(m[1], this.#suffix() || n % 2 === 0);
  }

  #find(name: string, side: string): number {
    const low = name.toLowerCase(), at = this.d.metrics.findIndex((m) => m.side === side && (m.name.toLowerCase() === low || m.event.toLowerCase() === low));
    return at < 0 && side === "here" ? this.d.meant[low] ?? -1 : at;
  }

  #named(name: string): Program {
    const low = name.toLowerCase();
    if (low === "old" || low === "delta") {
      if (!this.d.compare) refuse(`\`${name}\` compares: the page is of one run`);
      if (this.#is(".") && this.#tokens[this.#at + 1]?.kind === "name" && !["x", "exclusive", "inclusive"].includes(this.#tokens[this.#at + 1].text.toLowerCase())) {
        const m = this.#find(this.#tokens[this.#at + 1].text, low);
        if (m < 0) refuse(`there is no metric \`${low}.${this.#tokens[this.#at + 1].text}\``);
        this.#at += 2;
        return this.#slot(m, this.#suffix());
      }
      return this.#slot(this.d.metrics.findIndex((m) => m.side === low && (low === "old" || (m.here >= 0 && m.old >= 0))), this.#suffix());
    }
    const m = this.#find(name, "here");
    if (m >= 0) return this.#slot(m, this.#suffix());
    const isText = textAttributes.includes(low), isNumber = numberAttributes.includes(low);
    if (isText || isNumber) this.#ofRow++;
    if (isText) return { ...this.#make(0, (f) => (f as any)[low] === "" ? null : low === "kind" ? kindNames[f.kind] : (f as any)[low]), text: true, attribute: low };
    if (isNumber) return { ...this.#make(0, (f) => (low === "line" ? f.line || NaN : f.depth)), attribute: low };
    if (this.d.attributes.includes(low)) refuse(`\`${name}\` is not on the page: ask hq`);
    // A file, a load module: main.c, libc.so.6
    for (let t = this.#peek(); t && !t.spaced && (t.text === "." || t.kind === "name" || t.kind === "number"); t = this.#peek()) {
      name += t.text + (t.unit ?? "");
      this.#at++;
    }
    return { ...this.#make(0, () => NaN), word: name };
  }

  #total(): Program {
    const t = this.#peek();
    if (t?.kind === "number" && !t.unit && /^\d+$/.test(t.text)) {
      this.#at++;
      return this.#totalOf(this.#metricNumber(+t.text));
    }
    return this.#totalOf(this.#settle(this.#primary()));
  }

  #totalOf(p: Program): Program {
    if (p.slot === undefined) refuse("@ is the total of a metric: @cputime");
    return { ...this.#make(p.dim, (f) => f.totals[p.slot!], true), total: p.slot };
  }

  #call(name: string): Program {
    this.#want("(");
    const args: Program[] = [], before = this.#ofRow;
    do args.push(this.#or()); while (this.#take(","));
    this.#want(")");
    if (name === "metric") return refuse("metric(\"...\") is for hq: the page knows metrics by their names");
    const f = this.d.functions[name] ?? refuse(`there is no function \`${name}\``), all = args.map((p) => this.#number(p)), a = all[0];
    if (all.length < f.least || all.length > f.most) refuse(`${name}() takes ${f.least}${f.most > f.least ? " or more" : ""}, and here are ${all.length}`);
    const overProfiles = all.some((p) => p.overProfiles);
    if (f.statistic && all.length === 1) return this.#ofRow > before ? refuse("names, places and depth are of the row: a statistic needs metrics") : this.#statistic(name, a);
    if (f.ofNumber) {
      const of = (Math as any)[name] as ((x: number) => number) | undefined;
      if (!of) return refuse(`${name}() is not on the page: ask hq`);
      if (f.plain && a.dim) refuse(`${name}() takes a plain number, and this is ${dimNames[a.dim]}`);
      return { ...this.#make(f.unitless ? 0 : a.dim, (x) => finite(of(a.eval(x) as number)), a.constant), literal: a.literal, overProfiles };
    }
    const values = name === "if" ? all.slice(1) : all;
    let sofar = values[0];
    for (const p of values.slice(1)) sofar = { ...sofar, dim: this.#agree(sofar, p, name === "if" ? "chooses between" : "compares"), literal: sofar.literal && p.literal };
    let compute: (x: Facts) => Value;
    if (name === "if")
      compute = (x) => {
        const t = truth(a.eval(x));
        return t < 0 ? NaN : values[t ? 0 : 1].eval(x);
      };
    else if (name === "min" || name === "max")
      compute = (x) => {
        let best = a.eval(x) as number;
        for (let i = 1; i < all.length && !isNaN(best); i++) {
          const y = all[i].eval(x) as number;
          if (isNaN(y) || (name === "min" ? y < best : y > best)) best = y;
        }
        return best;
      };
    else return refuse(`${name}() is not on the page: ask hq`);
    return { ...this.#make(sofar.dim, compute), literal: sofar.literal, overProfiles };
  }

  // Over the profiles of a row (query/measure/statistics.c).
  #statistic(name: string, a: Program): Program {
    const d = this.d, f = d.functions[name];
    if (a.overProfiles) refuse("a statistic of a statistic has no meaning");
    if (a.constant) refuse("this is the same in every profile: a statistic needs a metric");
    if (name === "sum" && a.linear) return a;
    if (name === "ci") return this.#interval(a);
    if (d.compare) refuse(`${name}() is over the profiles of one run, and this page compares two: ask hq`);
    if (!d.kept.profiles || d.kept.coarse) refuse(`${name}() needs values by rank that were left out to keep the page small: ask hq`);
    if (d.metrics.some((m) => m.queues)) refuse(`${name}() is over threads, and some metrics here are of devices: ask hq`);
    const of = statisticOf(name) ?? refuse(`${name}() is not on the page: ask hq`);
    return {
      ...this.#make(f.unitless ? 0 : a.dim, (x) => {
        if (!x.profiles) return NaN;
        if (a.slot !== undefined) return finite(of(x.profiles(a.slot)));
        const all = Array.from({ length: 2 * d.metrics.length }, (_, slot) => x.profiles!(slot));
        return finite(of(all[0].map((_, p) => a.eval({ ...x, slots: all.map((v) => v[p]) }) as number)));
      }), overProfiles: true,
    };
  }

  // The half width of the 95 % interval of a metric, or of its share of the total after Wilson (query/measure/interval.c).
  #interval(a: Program): Program {
    const slot = a.slot ?? a.share ?? refuse("ci() of this is not on the page: ask hq"), d = this.d, m = d.metrics[slot >> 1];
    return { ...this.#make(a.dim, (x) => {
      if (!x.samples) return NaN;
      const n = x.samples(slot);
      if (a.slot !== undefined) return Z * deviation(d, slot >> 1, x.slots[slot], n);
      const all = equalSamples(m, d.plain[slot >> 1]?.samples ?? 0, x.totals[slot] / m.scale);
      if (m.flags & (EXACT | NO_COUNTS) || m.side !== "here" || !(all > 0)) return m.flags & EXACT ? 0 : NaN;
      const k = equalSamples(m, n, x.slots[slot] / m.scale), share = k / all;
      return (Z / (1 + (Z * Z) / all)) * Math.sqrt((share * (1 - share)) / all + (Z * Z) / (4 * all * all));
    }), overProfiles: true };
  }
}

const finite = (x: number): number => (isFinite(x) ? x : NaN);

export const Z = 1.959963984540054;

// How many samples of equal weight tell as much as those that stand for a sum.
const equalSamples = (m: Metric, count: number, sum: number): number => m.weight > 0 ? min(count, abs(sum) / m.weight) : count;

// One standard deviation of a measured value of n samples; without any, that of one.
export function deviation(d: Data, metric: number, value: number, samples: number): number {
  const m = d.metrics[metric];
  if (m.flags & EXACT) return 0;
  if (m.side === "delta" || m.flags & NO_COUNTS) return NaN;
  const n = equalSamples(m, samples, value / m.scale / m.factor), all = d.plain[metric];
  if (n > 0) return abs(value) / Math.sqrt(n);
  if (m.flags & WEIGHED && all && all.samples > 0) return (scaled(all.total * d.units[metric], m.scale) * m.factor) / all.samples;
  return m.period ? m.period * m.scale * m.factor : NaN;
}

function statisticOf(name: string): ((values: Float64Array) => number) | null {
  const percent = /^p(\d+)$/.exec(name);
  if (percent)
    return (values) => {
      const v = values.filter((x) => !isNaN(x)).sort(), at = (+percent[1] / 100) * (v.length - 1), low = floor(at);
      return at === low ? v[low] : v[low] + (at - low) * (v[low + 1] - v[low]);
    };
  if (!["sum", "mean", "stddev", "cov", "count", "imbalance", "min", "max"].includes(name)) return null;
  return (values) => {
    const v = values.filter((x) => !isNaN(x)), n = v.length;
    if (!n) return NaN;
    let sum = 0, squares = 0, some = 0, least = v[0], most = v[0];
    for (const x of v) {
      const y = x - v[0];
      sum += y;
      squares += y * y;
      some += x !== 0 ? 1 : 0;
      least = min(least, x);
      most = max(most, x);
    }
    const mean = v[0] + sum / n, variance = squares / n - (sum / n) * (sum / n), spread = Math.sqrt(variance > 0 && most > least ? variance : 0);
    switch (name) {
      case "sum": return mean * n;
      case "mean": return mean;
      case "stddev": return spread;
      case "cov": return mean !== 0 ? spread / mean : NaN;
      case "count": return some;
      case "imbalance": return most - mean;
      case "min": return least;
      default: return most;
    }
  };
}

const compare = (mark: string, order: number): number => +(order ? mark === "!=" || mark === "<>" || mark[0] === (order < 0 ? "<" : ">") : mark.includes("=") && mark !== "!=");

// Names with or without their arguments, files and load modules by the end of their path, kinds without regard to case.
function sameText(attribute: string | undefined, text: string, written: string): boolean {
  if (attribute === "id") return written.length >= 6 && text.startsWith(written.toLowerCase());
  if (attribute === "kind") return text.toLowerCase() === written.toLowerCase();
  if (attribute === "file" || attribute === "module" || attribute === "callsite") return text === written || text.endsWith("/" + written);
  if (attribute !== "name") return text === written;
  const bare = text.replace(/\(.*$/, "");
  return text === written || bare === written;
}
