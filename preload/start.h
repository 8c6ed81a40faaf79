/* SPDX-License-Identifier: BSD-3-Clause */
/* How the collector begins. */
#ifndef HQ_PRELOAD_START_H
#define HQ_PRELOAD_START_H

/*
 * Reads what is asked for, makes the measurement file, and starts the sources of the calling thread, which is the
 * initial one; the second call does nothing. The loader calls it as it loads the library, but after the constructors of
 * the libraries that the program is linked with: what they do that concerns the collector, such as starting threads
 * (OpenBLAS), must call it earlier.
 */
void start_once(void);

#endif
