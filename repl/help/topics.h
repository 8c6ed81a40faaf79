/* SPDX-License-Identifier: BSD-3-Clause */
/* Short explanations of what is no single word: one row a topic, for `help TOPIC` and the manual. */
#ifndef HQ_REPL_HELP_TOPICS_H
#define HQ_REPL_HELP_TOPICS_H

struct topic {
    const char *name, *summary, *text;
};

extern const struct topic topics[]; /* ends with a NULL name */

#endif
