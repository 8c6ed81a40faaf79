// SPDX-License-Identifier: BSD-3-Clause
// `regions` of some ranks or threads (query/views/regions.c): what that view reads is in the page, unless something was cut.
import { Answer, Data, Dim, Kind, NONE, Role, isCall, uints } from "./data";
import { firstAtLeast, nodeOfSet, nodeRanges, scaled, Selection } from "./model";
import { abs, max, numberText, styleFor } from "./number";

const SAMPLED = 1; // of Metric.flags
const ENOUGH = 5;  // samples a thread, and one that has none is improbable
enum Share { Work, Waiting, Runtime }
const dims: Record<string, Dim> = { elapsed: Dim.Seconds, entries: Dim.Events, team: Dim.Events, work: Dim.Seconds, waiting: Dim.Seconds, overhead: Dim.Seconds, balance: Dim.None, efficiency: Dim.None, imbalance: Dim.Seconds };

// The threads of one process.
interface Team { threads: number; most: number; elapsed: number; openers: number; largest: number; time: number; unknown: boolean }

// What a context below a region is to it.
function shareOf(d: Data, c: number, region: number): Share {
  for (; c !== NONE && d.scope[c] !== region; c = d.parent[c]) {
    const kind = d.kind[c];
    if (kind === Kind.Wait || kind === Kind.Runtime) return kind === Kind.Wait ? Share.Waiting : Share.Runtime;
    if (isCall(kind)) break;
  }
  return Share.Work;
}

function measure(d: Data, selection: Selection, held: Uint32Array, clock: number, region: number): { values: Record<string, number>; doubtful: boolean } {
  const teams = new Map<number, Team>(), opened = new Map<number, number>(), shares = [0, 0, 0], { process } = d;
  const teamOf = (p: number) => teams.get(process[p]) ?? teams.set(process[p], { threads: 0, most: 0, elapsed: 0, openers: 0, largest: 0, time: 0, unknown: false }).get(process[p])!;
  const seen = new Set<number>();
  let elapsed = 0, entries = 0, samples = 0;
  for (const [scope, p, times, ns, all, largest] of d.opened!) {
    if (scope !== region || !selection.has(p)) continue;
    const team = teamOf(p), before = opened.get(p);
    entries += times;
    elapsed += ns;
    team.elapsed += ns;
    team.time += times && (ns * all) / times;
    team.unknown ||= !largest;
    if (before === undefined) team.openers++;
    team.largest += max(0, largest - (before ?? 0));
    opened.set(p, max(before ?? 0, largest));
  }
  const ranges = nodeRanges(d, nodeOfSet(d, region, d.instances(region)), false);
  for (let p = 0; p < process.length; p++) {
    const { at, sum, count } = d.sparse!(clock, p);
    let work = 0;
    for (let r = 0; r < ranges.length; r += 2)
      for (let i = firstAtLeast(at, ranges[r]); i < at.length && at[i] < ranges[r + 1]; i++) {
        const share = shareOf(d, held[at[i]], region);
        seen.add(p);
        if (!selection.has(p)) continue;
        samples += count[i];
        shares[share] += sum[i];
        if (share === Share.Work) work += sum[i];
      }
    if (!seen.has(p)) continue;
    const team = teamOf(p);
    if (!selection.has(p)) {
      team.unknown = true;
      continue;
    }
    team.threads++;
    team.most = max(team.most, work);
  }
  let threads = 0, busiest = 0, time = 0;
  for (const t of teams.values()) {
    if ((t.unknown ||= t.largest < t.threads)) {
      t.largest = t.threads;
      t.time = t.openers && (t.threads * t.elapsed) / t.openers;
    }
    threads += t.largest;
    busiest += t.largest * t.most;
    time += t.time;
  }
  const seconds = (units: number) => scaled(units * d.units[clock], d.metrics[clock].scale), work = seconds(shares[Share.Work]);
  // Threads of its processes may have worked in it without a sample.
  const doubtful = samples < ENOUGH * threads && d.profiles.some((x, p) => !seen.has(p) && !x.queue && teams.get(process[p])?.unknown);
  return { doubtful, values: {
    elapsed: opened.size ? elapsed / 1e9 : NaN, entries: opened.size ? entries : NaN, team: threads, work, waiting: seconds(shares[Share.Waiting]), overhead: seconds(shares[Share.Runtime]),
    balance: busiest > 0 ? shares[Share.Work] / busiest : NaN, efficiency: time > 0 ? work / (time / 1e9) : NaN, imbalance: seconds(busiest - shares[Share.Work]),
  } };
}

// That answer for the chosen ranks and threads; null: the page has not all that it is made of.
export function chosenRegions(d: Data, a: Answer, selection: Selection): Answer | null {
  const clock = d.metrics.findIndex((m) => m.dim === Dim.Seconds && m.side === "here" && m.flags & SAMPLED);
  if (a.question !== "regions" || !d.opened || !d.sparse || !d.kept.profiles || d.left >= 0 || clock < 0 || d.inexact[clock]) return null;
  const held = uints(d.positions), scopes = new Map<string, number>(), named = (x: number) => d.texts[d.scopeShown[x]];
  for (let c = 0; c < d.contexts; c++) held.fill(c, d.first[c], d.first[c + 1]);
  for (let s = 0; s < d.scopes; s++) {
    if (d.scopeKind[s] !== Kind.Region || d.scopeRole[s] === Role.Target || !d.instances(s).length) continue;
    let host = s;
    while (host !== NONE && d.scopeKind[host] !== Kind.Procedure) host = d.scopeParent[host];
    const key = named(s) + "\n" + (host === NONE ? "" : named(host));
    if (scopes.has(key)) return null; // which is which is not known
    scopes.set(key, s);
  }
  const procedure = 5 + a.columns.indexOf("procedure"), found = a.rows.map((row) => scopes.get(row[0] + "\n" + row[procedure]));
  if (found.includes(undefined)) return null;
  const measured = found.map((s) => measure(d, selection, held, clock, s!)), values = measured.map((m) => m.values), doubtful = measured.filter((m) => m.doubtful).length;
  const style = (name: string) => {
    const all = values.map((v) => v[name]).filter(isFinite);
    return styleFor(dims[name], max(0, ...all.map(abs)), all.every(Number.isInteger));
  };
  const styles = a.columns.map((name) => (name in dims ? style(name) : null));
  // As hq sorts them: by the first column, if it has no value by the next one of its unit; what has no number last, then by name.
  const by = a.columns.findIndex((name) => dims[name] === dims[a.columns[0]] && values.some((v) => v[name])), key = (row: any[]) => row[5 + max(0, by)][0] ?? -Infinity;
  const rows = a.rows.map((row, r) => [...row.slice(0, 5), ...a.columns.map((name, i) => {
    const value = values[r][name];
    return !styles[i] ? row[i + 5] : isNaN(value) ? [null, ""] : [value, numberText(styles[i]!, value).filter(Boolean).join(" ")];
  })]).sort((x, y) => key(y) - key(x) || (x[0] < y[0] ? -1 : +(x[0] > y[0])));
  const notes = a.notes.filter((n) => !n.includes("too few samples"));
  if (doubtful) notes.push(`in ${doubtful} of ${rows.length} regions too few samples fell to see every thread: there \`team\` may be too small, and balance and efficiency too high`);
  return { ...a, rows, notes };
}
