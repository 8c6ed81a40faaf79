/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The measurement file of this process image (format/measurement.h): created, mapped and grown here.
 *
 * Space comes in chunks. A chunk is allocated by fallocate before it is mapped, so that storing into it can never meet
 * a full disk; the next one is made when little is left of the current one, so that a sample rarely waits for it. No
 * file descriptor is kept open between calls, since programs close descriptors they do not know.
 *
 * Everything may be called from a signal handler, by several threads at once, and takes no lock: space is claimed by
 * atomic addition. All sizes are in bytes. Memory returned belongs to the file and stays mapped until file_forget.
 */
#ifndef HQ_PRELOAD_FILE_FILE_H
#define HQ_PRELOAD_FILE_FILE_H

#include "format/measurement.h"

#include <stdatomic.h>
#include <stdbool.h>

/* The header of the file that is written now, NULL while there is none. */
extern struct hqm_header *_Atomic file_current_header;
static inline struct hqm_header *file_header(void)
{
    return atomic_load_explicit(&file_current_header, memory_order_acquire);
}

/* Makes the file if there is none yet; false if it cannot be made (file_error then tells why, as an errno value). */
bool file_ready(void);
int file_error(void);

/* Called where a store has failed at this address: puts memory in the place of the page, and ends the writing of this
 * file; false if the address is not the file's, or nothing can be put there. In a signal handler. */
bool file_mend(uint64_t address);

/* Bytes that were given out. */
uint64_t file_used(void);

/* Makes sure that `bytes` more are there without a system call: before the program gives up its right to make one. */
void file_reserve(uint64_t bytes);

/* Zeroed space, a multiple of HQM_ALIGN; NULL if there is no more (counted by the caller). */
struct hqm_segment *file_segment(enum hqm_kind kind, uint16_t record_size, uint32_t lane, uint32_t first,
                                 uint64_t bytes);

/* Records of lane 0, which all threads append to: claim, fill, publish. NULL if there is no space. */
struct claim {
    struct hqm_segment *segment;
    uint32_t position, records;
};
void *file_claim(enum hqm_kind kind, uint32_t records, struct claim *claim);
void file_publish(const struct claim *claim);
static inline uint32_t claim_number(const struct claim *claim)
{
    return claim->segment->first + claim->position;
}

/* A copy of the text in the file: its offset, 0 if there is no space (or the text is empty). */
uint32_t file_string(const char *text);

/* Adds to the header's count of what was lost for that reason. */
void file_lost(enum hqm_loss reason, uint64_t samples);
/* Says in the header how the image goes on or ends, and when. */
void file_state(enum hqm_state state);

/* Notes how much CPU time the process has used. */
void file_note_cpu_time(void);

/* Microseconds since the start of the image. */
uint64_t file_now_us(void);

/* In a forked child: the parent's file is unmapped and forgotten; file_ready makes a new one. */
void file_forget(void);

#endif
