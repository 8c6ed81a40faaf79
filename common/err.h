/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Errors. A fallible function returns `struct hq_error *`: NULL is success, anything else is owned by the caller, who
 * returns it further up (perhaps after hq_error_prefix) or ends it with hq_error_free. Results go through the last
 * parameters.
 *
 * The message is one sentence without a newline and without the program's name: what was wrong and what to do. `status`
 * is the exit status that the command ends with if nobody handles the error.
 *
 * None of these functions fails: if the memory for a message is missing, they return (or keep) an error that needs no
 * allocation. Not for signal handlers.
 */
#ifndef HQ_COMMON_ERR_H
#define HQ_COMMON_ERR_H

enum hq_status {
    HQ_OK = 0,
    HQ_FAILED = 1,       /* an expectation failed */
    HQ_USAGE = 2,        /* wrong usage or query */
    HQ_DATA = 3,         /* the data could not be read, or written */
    HQ_INCONCLUSIVE = 4, /* too few samples to decide */
};

struct hq_error {
    int status; /* enum hq_status */
    char *message;
};

/* The error for a failed allocation: static, may be returned any number of times and given to hq_error_free. */
extern struct hq_error hq_error_no_memory;

/* An error of that exit status (HQ_*) with its sentence, without a newline. Whoever it is returned to frees it, or
 * hands it on. */
struct hq_error *hq_error_new(int status, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

/* Like hq_error_new, with ": " and the text of the present errno appended; ENOMEM too is worded this way. */
struct hq_error *hq_error_errno(int status, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

/* Puts "PREFIX: " before the message and returns the error, which replaces `err`. NULL stays NULL. */
struct hq_error *hq_error_prefix(struct hq_error *err, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

/* NULL and hq_error_no_memory are allowed. */
void hq_error_free(struct hq_error *err);

static inline void hq_error_free_at(struct hq_error **err)
{
    hq_error_free(*err);
}

/* A local error variable that is freed when it goes out of scope. */
#define AUTO_ERROR __attribute__((cleanup(hq_error_free_at)))

/* Returns from the calling function if EXPR is an error. */
#define HQ_TRY(expr) \
    do { \
        struct hq_error *hq_try_err_ = (expr); \
        if (hq_try_err_) \
            return hq_try_err_; \
    } while (0)

#endif
