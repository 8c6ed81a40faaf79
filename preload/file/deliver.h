/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Processes on other nodes than that of `hq record`, where the recording's files cannot be mapped: they write to a
 * directory of their own node, which nobody else visits, and copy their measurements into the recording when they end.
 * So does a process that starts when `hq record` has ended and has removed its directory.
 */
#ifndef HQ_PRELOAD_FILE_DELIVER_H
#define HQ_PRELOAD_FILE_DELIVER_H

/* Makes the directory of this node if it is not there, and notes in the recording that it may hold a part of it
 * (db/elsewhere.h reads that). */
void deliver_prepare(void);

/* The measurements of this process, and of the images that it was before exec, go to the recording. From then on
 * nothing is measured. */
void deliver(void);

#endif
