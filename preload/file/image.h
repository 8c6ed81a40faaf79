/* SPDX-License-Identifier: BSD-3-Clause */
/* Writes the description of its process into a new measurement file: command, host, launcher, events, load modules. */
#ifndef HQ_PRELOAD_FILE_IMAGE_H
#define HQ_PRELOAD_FILE_IMAGE_H

/* Called once by whoever made the file, perhaps in a signal handler: only raw system calls. */
void image_describe(void);

/* Adds a warning that `info` shows. */
void image_warn(const char *text);
/* Likewise one that `hq record` tells when the program has ended, once for all processes. */
void image_warn_at_end(const char *text);

#endif
