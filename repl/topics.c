/* SPDX-License-Identifier: BSD-3-Clause */
#include "repl/topics.h"
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
    {NULL, NULL, NULL},
};
