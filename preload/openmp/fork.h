/* SPDX-License-Identifier: BSD-3-Clause */
/* The bodies of libomp's regions (fork.c). preload/arch/ defines the functions that the program calls. */
#ifndef HQ_PRELOAD_OPENMP_FORK_H
#define HQ_PRELOAD_OPENMP_FORK_H

/* Numbers in the code of preload/arch/: __kmpc_fork_call, _fork_call_if, _fork_teams. */
enum { FORK_CALL, FORK_CALL_IF, FORK_TEAMS };

typedef void region_body(int *thread, int *team_thread, ...);

/* The thread is about to call one of them for a region with that body; returns what to go on to. */
void *fork_noted(const void *call, const void *body, unsigned which);

/* Of the region that a call opens which returns to `call`, once; NULL: not known. */
const void *fork_body(const void *call);

#endif
