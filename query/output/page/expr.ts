// SPDX-License-Identifier: BSD-3-Clause
// Expressions of the query language (query/grammar/parse_expr.c, query/bind/bind.c, query/bind/expr.c): the same grammar, units,
// blanks and shares. What the page cannot compute it refuses with a sentence.
import { Data, Dim, Kind, kindNames } from "./data";
import { Selection } from "./model";

export interface Facts { slots: Float64Array; totals: Float64Array; kind: Kind; name: string; file: string; line: number; module: string; depth: number }
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
}

export interface Compiled { dim: Dim; text: boolean; linear: boolean; value: (f: Facts) => Value; total: (totals: Float64Array) => number }

class Refused extends Error {}
const refuse = (sentence: string): never => { throw new Refused(sentence); };

const units: Record<string, [number, Dim]> = {
  ns: [1e-9, 1], us: [1e-6, 1], "\u00b5s": [1e-6, 1], ms: [1e-3, 1], s: [1, 1], min: [60, 1], h: [3600, 1], d: [86400, 1],
  B: [1, 3], KB: [1e3, 3], MB: [1e6, 3], GB: [1e9, 3], TB: [1e12, 3], KiB: [1024, 3], MiB: [1024 ** 2, 3], GiB: [1024 ** 3, 3], TiB: [1024 ** 4, 3],
  K: [1e3, 0], k: [1e3, 0], M: [1e6, 0], G: [1e9, 0], T: [1e12, 0],
};
const dimNames = ["a plain number", "seconds", "events", "bytes"];
const statistics = ["mean", "stddev", "cov", "count", "p50", "p90", "p99", "imbalance", "ci"];
const numeric: Record<string, (x: number) => number> = { abs: Math.abs, sqrt: Math.sqrt, log: Math.log, floor: Math.floor, ceil: Math.ceil };
const textAttributes = ["kind", "name", "file", "module"], numberAttributes = ["line", "depth"];
const otherAttributes = ["id", "callsite", "rank", "thread", "host"];
const TOKEN = /\s*(?:(\d+(?:\.\d+)?(?:[eE][+-]?\d+)?|\.\d+(?:[eE][+-]?\d+)?)(%|[A-Za-z\u00b5]+)?|\$(\d+)|([A-Za-z_][\w:]*)|("(?:\\.|[^"\\])*"|'(?:\\.|[^'\\])*')|(==|!=|<>|<=|>=|=~|!~|[-+*\/()<>=,.@])|(\S))/y;

interface Token { kind: "number" | "dollar" | "name" | "text" | "mark"; text: string; unit?: string; spaced: boolean }

export function compile(source: string, d: Data): Compiled | string {
  try {
    const p = new Parser(source, d);
    const program = p.whole();
    return {
      dim: program.dim, text: program.text, linear: program.linear, value: program.eval,
      total: (totals) => (program.linear ? (program.eval({ slots: totals, totals, kind: Kind.Root, name: "", file: "", line: 0, module: "", depth: 0 }) as number) : NaN),
    };
  } catch (e) {
    if (e instanceof Refused) return e.message;
    throw e;
  }
}

// A condition holds where it is a number other than zero.
export const holds = (v: Value): boolean => typeof v === "number" && !isNaN(v) && v !== 0;

export function totalsOf(d: Data, s: Selection): Float64Array {
  const t = new Float64Array(2 * d.metrics.length);
  d.metrics.forEach((_, i) => (t[2 * i] = t[2 * i + 1] = s.base(i)));
  return t;
}

const truth = (v: Value): number => (typeof v !== "number" || isNaN(v) ? -1 : v !== 0 ? 1 : 0);

class Parser {
  private tokens: Token[] = [];
  private at = 0;

  constructor(source: string, private d: Data) {
    TOKEN.lastIndex = 0;
    while (TOKEN.lastIndex < source.trimEnd().length) {
      const start = TOKEN.lastIndex, m = TOKEN.exec(source);
      if (!m) break;
      const spaced = /^\s/.test(source.slice(start));
      if (m[7] !== undefined) refuse(`\`${m[7]}\` has no meaning here`);
      // A regular expression stands only behind =~ and !~.
      const last = this.tokens[this.tokens.length - 1]?.text;
      if (m[6] === "/" && (last === "=~" || last === "!~")) {
        const r = /^\s*\/((?:\\.|[^\/\\])+)\/(i?)/.exec(source.slice(start)) ?? refuse("the regular expression has no end");
        this.tokens.push({ kind: "text", text: r[1], unit: r[2], spaced });
        TOKEN.lastIndex = start + r[0].length;
        continue;
      }
      if (m[1] !== undefined) this.tokens.push({ kind: "number", text: m[1], unit: m[2], spaced });
      else if (m[3] !== undefined) this.tokens.push({ kind: "dollar", text: m[3], spaced });
      else if (m[4] !== undefined) this.tokens.push({ kind: "name", text: m[4], spaced });
      else if (m[5] !== undefined) this.tokens.push({ kind: "text", text: m[5].slice(1, -1).replace(/\\([\\"'])/g, "$1"), spaced });
      else this.tokens.push({ kind: "mark", text: m[6], spaced });
    }
  }

  private peek(): Token | undefined { return this.tokens[this.at]; }
  private is(text: string): boolean {
    const t = this.peek();
    return !!t && (t.kind === "mark" ? t.text === text : t.kind === "name" && t.text.toLowerCase() === text);
  }
  private take(text: string): boolean {
    if (!this.is(text)) return false;
    this.at++;
    return true;
  }
  private want(text: string): void {
    if (!this.take(text)) refuse(`\`${text}\` is missing${this.peek() ? ` before \`${this.peek()!.text}\`` : " at the end"}`);
  }

  whole(): Program {
    if (!this.tokens.length) refuse("nothing is written");
    const p = this.settle(this.or());
    if (this.peek()) refuse(`\`${this.peek()!.text}\` is too much`);
    return p;
  }

  // A bare name that nothing makes a text of is a metric.
  private settle(p: Program): Program {
    return p.word !== undefined ? refuse(`there is no metric \`${p.word}\`: there is ${this.d.metrics.filter((m) => m.side === "here").map((m) => m.name).join(", ")}`) : p;
  }

  private logic(word: "and" | "or", next: () => Program): Program {
    let a = next();
    while (this.take(word)) {
      const left = this.number(a), right = this.number(next()), stop = word === "and" ? 0 : 1;
      a = this.make(0, (f) => {
        const x = truth(left.eval(f));
        if (x === stop) return x;
        const y = truth(right.eval(f));
        return y === stop ? y : x < 0 || y < 0 ? NaN : x;
      }, left.constant && right.constant);
    }
    return a;
  }
  private or(): Program { return this.logic("or", () => this.and()); }
  private and(): Program { return this.logic("and", () => this.not()); }

  private not(): Program {
    if (!this.take("not")) return this.relation();
    const p = this.number(this.not());
    return this.make(0, (f) => {
      const t = truth(p.eval(f));
      return t < 0 ? NaN : t ? 0 : 1;
    }, p.constant);
  }

  private make(dim: Dim, evaluate: (f: Facts) => Value, constant = false): Program {
    return { eval: evaluate, dim, text: false, linear: false, constant, literal: false };
  }

  private number(p: Program): Program {
    p = this.settle(p);
    return p.text ? refuse("this is a text, and a number is wanted here") : p;
  }

  private agree(a: Program, b: Program, what: string): Dim {
    if (a.dim !== b.dim && !a.literal && !b.literal) refuse(`this ${what} ${dimNames[a.dim]} and ${dimNames[b.dim]}`);
    return a.literal ? b.dim : a.dim;
  }

  private relation(): Program {
    let a = this.sum();
    if (this.is("=~") || this.is("!~")) {
      const negated = this.tokens[this.at++].text === "!~", r = this.peek();
      if (r?.kind !== "text") refuse("a regular expression such as /^MPI_/ is wanted here");
      this.at++;
      if (!a.text) refuse("a regular expression needs a text on its left: name, file, module, kind");
      let regex: RegExp;
      try {
        regex = new RegExp(r!.text, "u" + (r!.unit ?? ""));
      } catch {
        return refuse(`/${r!.text}/ is no regular expression that a browser knows`);
      }
      const text = a;
      return this.make(0, (f) => {
        const t = text.eval(f);
        return t === null ? NaN : regex.test(String(t)) !== negated ? 1 : 0;
      });
    }
    const mark = ["==", "=", "!=", "<>", "<=", ">=", "<", ">"].find((m) => this.is(m));
    if (!mark) return a;
    this.at++;
    let b = this.sum();
    [a, b] = [this.beside(a, b), this.beside(b, a)];
    a = this.settle(a);
    b = this.settle(b);
    if (a.text !== b.text) refuse("this compares a text with a number");
    if (["==", "=", "!=", "<>", "<", "<=", ">", ">="].some((m) => this.is(m))) refuse("comparisons do not chain: write `and` between them");
    if (a.text) return this.compareTexts(a, b, mark);
    [a, b] = [this.shareOf(a, b), this.shareOf(b, a)];
    this.agree(a, b, "compares");
    return this.make(0, (f) => {
      const x = a.eval(f) as number, y = b.eval(f) as number;
      return isNaN(x) || isNaN(y) ? NaN : compare(mark, x - y === 0 || x === y ? 0 : x < y ? -1 : 1);
    }, a.constant && b.constant);
  }

  // `kind = loop`: beside a text a single word needs no quotes.
  private beside(p: Program, other: Program): Program {
    const word = p.word ?? (other.attribute === "kind" && p.attribute && kindNames.includes(p.attribute) ? p.attribute : undefined);
    return word !== undefined && other.attribute && other.text ? { ...this.make(0, () => word, true), text: true } : p;
  }

  // `cputime > 5%`: that share of the total.
  private shareOf(p: Program, other: Program): Program {
    if (p.percent === undefined || !other.linear) return p;
    return this.make(other.dim, (f) => p.percent! * (other.eval({ ...f, slots: f.totals }) as number), true);
  }

  private compareTexts(a: Program, b: Program, mark: string): Program {
    const equal = mark === "==" || mark === "=", unequal = mark === "!=" || mark === "<>";
    const attribute = a.attribute ?? b.attribute;
    return this.make(0, (f) => {
      const x = a.eval(f), y = b.eval(f);
      if (x === null || y === null) return NaN;
      if (equal || unequal) return sameText(attribute, String(a.attribute ? x : y), String(a.attribute ? y : x)) === equal ? 1 : 0;
      return compare(mark, x < y ? -1 : x > y ? 1 : 0);
    });
  }

  private sum(): Program {
    let a = this.product();
    while (this.is("+") || this.is("-")) {
      const plus = this.tokens[this.at++].text === "+", left = this.number(a), right = this.number(this.product());
      const dim = this.agree(left, right, plus ? "adds" : "subtracts");
      a = {
        ...this.make(dim, (f) => (plus ? (left.eval(f) as number) + (right.eval(f) as number) : (left.eval(f) as number) - (right.eval(f) as number)), left.constant && right.constant),
        linear: left.linear && right.linear, literal: left.literal && right.literal,
      };
    }
    return a;
  }

  private product(): Program {
    let a = this.unary();
    while (this.is("*") || this.is("/")) {
      const times = this.tokens[this.at++].text === "*", left = this.number(a), right = this.number(this.unary());
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
        ...this.make(dim, (f) => {
          const x = left.eval(f) as number, y = right.eval(f) as number, z = times ? x * y : y === 0 ? NaN : x / y;
          return isFinite(z) ? z : NaN;
        }, left.constant && right.constant),
        linear, literal: left.literal && right.literal,
      };
    }
    return a;
  }

  private unary(): Program {
    if (!this.take("-")) return this.primary();
    const p = this.number(this.unary());
    return { ...p, eval: (f) => -(p.eval(f) as number), percent: undefined, slot: undefined };
  }

  private primary(): Program {
    const t = this.peek() ?? refuse("something is missing at the end");
    this.at++;
    if (t.kind === "number") return this.literal(t);
    if (t.kind === "text") return { ...this.make(0, () => t.text, true), text: true };
    if (t.kind === "dollar") return this.metricNumber(+t.text);
    if (t.text === "(") {
      const p = this.or();
      this.want(")");
      return p;
    }
    if (t.text === "@") return this.total();
    if (t.kind !== "name") return refuse(`\`${t.text}\` has no meaning here`);
    if (this.is("(")) return this.call(t.text.toLowerCase());
    return this.named(t.text);
  }

  private literal(t: Token): Program {
    const x = Number(t.text);
    if (t.unit === "%") return { ...this.make(0, () => x / 100, true), literal: true, percent: x / 100 };
    const unit: [number, Dim] = t.unit ? units[t.unit] ?? refuse(`there is no unit \`${t.unit}\``) : [1, 0];
    return { ...this.make(unit[1], () => x * unit[0], true), literal: unit[1] === Dim.None };
  }

  private suffix(): boolean {
    const next = this.tokens[this.at + 1];
    if (!this.is(".") || this.peek()!.spaced || next?.kind !== "name") return false;
    const word = next.text.toLowerCase();
    if (!["x", "exclusive", "inclusive"].includes(word)) return refuse(`\`.${next.text}\` is neither .x nor .inclusive`);
    this.at += 2;
    return word !== "inclusive";
  }

  private slot(metric: number, exclusive: boolean): Program {
    const slot = 2 * metric + (exclusive ? 1 : 0);
    return { ...this.make(this.d.metrics[metric].dim, (f) => f.slots[slot]), linear: true, slot };
  }

  private metricNumber(n: number): Program {
    const here = this.d.metrics.map((m, i) => [m, i] as const).filter(([m]) => m.side === "here");
    const m = here[Math.ceil(n / 2) - 1] ?? refuse(`there is no metric $${n}: the last one is $${2 * here.length}`);
    return this.slot(m[1], this.suffix() || n % 2 === 0);
  }

  private find(name: string, side: string): number {
    const low = name.toLowerCase();
    return this.d.metrics.findIndex((m) => m.side === side && (m.name.toLowerCase() === low || m.event.toLowerCase() === low));
  }

  private named(name: string): Program {
    const low = name.toLowerCase();
    if (low === "metric") refuse("metric(\"...\") is for hq: the page knows metrics by their names");
    if (low === "old" || low === "delta") {
      if (!this.d.compare) refuse(`\`${name}\` compares: the page is of one run`);
      if (this.is(".") && this.tokens[this.at + 1]?.kind === "name" && !["x", "exclusive", "inclusive"].includes(this.tokens[this.at + 1].text.toLowerCase())) {
        const m = this.find(this.tokens[this.at + 1].text, low);
        if (m < 0) refuse(`there is no metric \`${low}.${this.tokens[this.at + 1].text}\``);
        this.at += 2;
        return this.slot(m, this.suffix());
      }
      return this.slot(this.d.metrics.findIndex((m) => m.side === low && (low === "old" || (m.here >= 0 && m.old >= 0))), this.suffix());
    }
    const m = this.find(name, "here");
    if (m >= 0) return this.slot(m, this.suffix());
    if (textAttributes.includes(low)) return { ...this.make(0, (f) => (f as any)[low] === "" ? null : low === "kind" ? kindNames[f.kind] : (f as any)[low]), text: true, attribute: low };
    if (numberAttributes.includes(low)) return { ...this.make(0, (f) => (low === "line" ? f.line || NaN : f.depth)), attribute: low };
    if (otherAttributes.includes(low)) refuse(`\`${name}\` is not on the page: ask hq`);
    // A file, a load module: main.c, libc.so.6
    for (let t = this.peek(); t && !t.spaced && (t.text === "." || t.kind === "name" || t.kind === "number"); t = this.peek()) {
      name += t.text + (t.unit ?? "");
      this.at++;
    }
    return { ...this.make(0, () => NaN), word: name };
  }

  private total(): Program {
    const t = this.peek();
    if (t?.kind === "number" && !t.unit && /^\d+$/.test(t.text)) {
      this.at++;
      return this.totalOf(this.metricNumber(+t.text));
    }
    return this.totalOf(this.settle(this.primary()));
  }

  private totalOf(p: Program): Program {
    if (p.slot === undefined) refuse("@ is the total of a metric: @cputime");
    return this.make(p.dim, (f) => f.totals[p.slot!], true);
  }

  private call(name: string): Program {
    this.want("(");
    const args: Program[] = [];
    do args.push(this.or()); while (this.take(","));
    this.want(")");
    if (name === "metric") return refuse("metric(\"...\") is for hq: the page knows metrics by their names");
    if (statistics.includes(name) || ((name === "min" || name === "max") && args.length === 1)) refuse(`${name}() is over profiles: ask hq`);
    if (name === "sum" && args.length === 1) return this.number(args[0]).linear ? args[0] : refuse("sum() of this is over profiles: ask hq");
    if (name in numeric) {
      if (args.length !== 1) refuse(`${name}() takes one number`);
      const a = this.number(args[0]);
      if ((name === "sqrt" || name === "log") && a.dim) refuse(`${name}() takes a plain number, and this is ${dimNames[a.dim]}`);
      return { ...this.make(a.dim, (f) => {
        const x = numeric[name](a.eval(f) as number);
        return isFinite(x) ? x : NaN;
      }, a.constant), literal: a.literal };
    }
    if (name === "if") {
      if (args.length !== 3) refuse("if() takes a condition and two values");
      const [c, a, b] = args.map((p) => this.number(p));
      return { ...this.make(this.agree(a, b, "chooses between"), (f) => {
        const t = truth(c.eval(f));
        return t < 0 ? NaN : t ? a.eval(f) : b.eval(f);
      }), literal: a.literal && b.literal };
    }
    if (name === "min" || name === "max") {
      const all = args.map((p) => this.number(p));
      let sofar = all[0];
      for (const p of all.slice(1)) sofar = { ...sofar, dim: this.agree(sofar, p, "compares"), literal: sofar.literal && p.literal };
      return { ...this.make(sofar.dim, (f) => {
        let best = all[0].eval(f) as number;
        for (let i = 1; i < all.length && !isNaN(best); i++) {
          const x = all[i].eval(f) as number;
          if (isNaN(x) || (name === "min" ? x < best : x > best)) best = x;
        }
        return best;
      }), literal: sofar.literal };
    }
    return refuse(`there is no function \`${name}\``);
  }
}

function compare(mark: string, order: number): number {
  switch (mark) {
    case "==": case "=": return order === 0 ? 1 : 0;
    case "!=": case "<>": return order !== 0 ? 1 : 0;
    case "<": return order < 0 ? 1 : 0;
    case "<=": return order <= 0 ? 1 : 0;
    case ">": return order > 0 ? 1 : 0;
    default: return order >= 0 ? 1 : 0;
  }
}

// Names with or without their arguments, files and load modules by the end of their path, kinds without regard to case.
function sameText(attribute: string | undefined, text: string, written: string): boolean {
  if (attribute === "kind") return text.toLowerCase() === written.toLowerCase();
  if (attribute === "file" || attribute === "module") return text === written || text.endsWith("/" + written);
  if (attribute !== "name") return text === written;
  const bare = text.replace(/\(.*$/, "");
  return text === written || bare === written;
}
