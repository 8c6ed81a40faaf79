/* SPDX-License-Identifier: BSD-3-Clause */
#include "repl/help/topics.h"
#include <stddef.h>

const struct topic topics[] = {
    {"patterns", "how procedures, files and rows are named",
     "  MPI_Wait            a name: with or without arguments, namespace or template parameters\n"
     "  \"std::sort<int*>\"   in quotes if it is more than letters, digits, _ . : ~\n"
     "  solve*  x?          wildcards, if nothing has exactly this name\n"
     "  /^omp_.*wait/i      a regular expression (PCRE2), i for any case\n"
     "  solver.c \"src/a.c\"  a file: the end of its path\n"
     "  #3  @k3f9x2         row 3 of the last result, a context by its id\n"
     "  A > B >> C          a path: B called by A, C anywhere below B; * is one frame of any name\n"},
    {"values", "metrics, shares and units in expressions",
     "  cputime  cputime.x  a metric, inclusive and exclusive; `metrics` lists them\n"
     "  $1 $2               the first metric, inclusive and exclusive (in single quotes in a shell)\n"
     "  @cputime            its total\n"
     "  cputime > 5%        a share of the total, if a percentage stands alone beside a metric\n"
     "  10ms 1.5s 4K 2MiB   numbers with a unit or a suffix\n"
     "  name =~ /x/         a row's name; also kind, file, line, module, depth\n"
     "  let ipc = instructions / cycles\n"},
    {"answers", "the words in an answer: inclusive, scope, [I], profile, samples shown",
     "  inclusive           cputime: the scope and all that it calls\n"
     "  exclusive           cputime.x: the scope alone\n"
     "  scope               what a row is about: a procedure, loop, source line, call, phase, file or load module\n"
     "  context             a scope on one call path\n"
     "  [I]                 inlined: in the machine code there is no call\n"
     "  [solver.c:12]       in tree, callers and hot path: where the call is made\n"
     "  profile             what one thread did; `profiles` lists them\n"
     "  partial             a call path whose outer end is not known\n"
     "  shown               of all samples those in the rows; what clauses and patterns leave out is filtered\n"},
    {"shell", "asking from a shell",
     "  hq db \"callers of MPI_Wait limit 10\"    double quotes are fine\n"
     "  hq db 'procedures where $1 > 5%'        a $ needs single quotes: in double quotes a shell replaces\n"
     "                                          $1 by nothing; cputime says the same and is safe in both\n"
     "  hq db -f FILE   hq db < FILE            questions from a file, one a line or separated by ;\n"
     "  hq db -q NAME                           a saved query; -D name=value sets {{name}} in it\n"},
    {"prompt", "editing, output and Ctrl-C at the prompt",
     "  Tab                 completes the word; ? lists what may stand here\n"
     "  Return              runs the query if it is complete, else goes on with the next line\n"
     "  Ctrl-C              leaves the line for a fresh one, or cancels the query that runs\n"
     "  Ctrl-D              leaves\n"
     "  QUERY | less        through a program; QUERY > FILE into a file, >> to its end. Behind an expression > "
     "compares:\n"
     "                      there the file has an ending (> out.txt), quotes, or begins with / or ./\n"
     "  \\e                  edits the last query in $VISUAL or $EDITOR and runs it\n"
     "  !COMMAND            runs a command of the shell\n"
     "  last                the last result without anything folded away\n"},
    {"scripts", "programs that use hq: JSON, exit statuses, quoting, ten questions",
     "  hq DB 'QUERY as json' --quiet      the answer on standard output, nothing else anywhere unless it is wrong\n"
     "\n"
     "json     an object: \"hq\":1 the version, columns (name, metric, scope, unit), total, rows, coverage. A row has "
     "id,\n"
     "         kind, name, module, file, line, callsite, depth, values; null is missing. Fields may be added within a\n"
     "         version, none goes. doc/query-1.schema.json is its JSON Schema, doc/output.md the manual.\n"
     "status   0 all well, 1 an expectation failed, 2 wrong usage or query, 3 data could not be read (what could be "
     "was\n"
     "         printed), 4 an expectation is inconclusive. hq record ends as its program does; hq --help has the "
     "rest.\n"
     "streams  results on standard output; errors, warnings, notes, hints on standard error, without colour in a "
     "pipe.\n"
     "\n"
     "  1 the total           hq DB 'procedures limit 1 as json'       .total[0], in .columns[0].unit\n"
     "  2 what costs most     hq DB 'procedures sort by cputime.x limit 10 as json'\n"
     "  3 one procedure       hq DB 'procedures of NAME as csv'        no row: no sample of it (or no such name: -v)\n"
     "  4 who calls it        hq DB 'callers of NAME as json'          depth gives the nesting\n"
     "  5 all call paths      hq DB 'tree as json'                     or: as folded, one line a path\n"
     "  6 which lines         hq DB 'lines sort by cputime.x limit 20 as csv'\n"
     "  7 ranks and threads   hq DB 'threads as json'\n"
     "  8 what changed        hq NEW 'procedures compare with OLD sort by delta.cputime as json'\n"
     "  9 is it below a limit hq DB 'procedures of NAME expect cputime < 10%'; echo $?\n"
     " 10 how sure is it      hq DB 'set ci on; procedures as json'    .rows[].ci: half the width of 95 % intervals\n"
     "\n"
     "quoting  Single quotes round a query; names with other letters than A-Z a-z 0-9 _ : . in double quotes within:\n"
     "           hq DB 'callers of \"std::vector<int>::at\"'\n"
     "         In a name a \\ stands before \" and \\. A name that a program found out is best handed over as a\n"
     "         parameter, or by its id, which needs no quotes:  hq DB 'tree of @1k3f9x2mz7q4w'\n"
     "         Without a shell (execve, subprocess.run([...])) the query is one argument and needs none round it.\n"
     "         Many questions: one hq with -f -, separated by ;, each `as json to FILE`.\n"},
    {"ci", "is a change slower? what to put into a CI system",
     "  examples/ci/ has files to paste: github.yml, gitlab-ci.yml, Jenkinsfile (share/hq/ci where hq is installed).\n"
     "  Their steps:\n"
     "\n"
     "  Get hq       from the cache of the CI system, else built once\n"
     "  Build both   the branch that the change goes to, in a directory base/, and the change\n"
     "  Race         hq race --old 'cd base && exec ./app' --new ./app -o race.runs perf/*.hq\n"
     "               hq check race.runs perf/*.hq --junit perf.xml --markdown perf.md\n"
     "               hq report race.runs/new.hq --compare race.runs/old.hq -o perf.html\n"
     "  Comment      perf.md goes to the pull request, perf.xml to the test report, perf.html is an artifact\n"
     "  Verdict      0 not slower, 1 slower or a limit exceeded, 4 inconclusive: a warning; 2 and 3 are mistakes\n"
     "\n"
     "  perf/*.hq    questions whose rows are raced (procedures), and limits (procedures of solve expect cputime < "
     "30%)\n"
     "  machines     Both programs run in turns on one machine, so it may be slow and busy; what both suffer from "
     "does\n"
     "               not count. What is inconclusive says how many runs would decide: a longer --at-most, longer "
     "runs,\n"
     "               or a higher rate (-e CPUTIME@4000/s) for very short ones.\n"
     "  exactly      -e ALLOC, -e IO and imported callgrind files have no error: 0.5 % is seen from one run.\n"
     "  slow drift   hq check run.hq perf/*.hq --history perf/history on the main branch, then hq history "
     "perf/history\n"
     "  which one    git bisect run with hq check --bisect (hq check --help)\n"},
    {NULL, NULL, NULL},
};
