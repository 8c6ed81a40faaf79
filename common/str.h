/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A growable string, and the quoting that output formats need. A zeroed struct str is the empty string. The text may
 * hold NULs; it is always followed by one. Ends the process when memory ends (see mem.h).
 */
#ifndef HQ_COMMON_STR_H
#define HQ_COMMON_STR_H

#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

struct str {
    char *s; /* NULL while nothing was added: see str_cstr */
    size_t len, cap;
};

/* Append a text, n bytes of it, a character. */
void str_add(struct str *s, const char *text);
void str_addn(struct str *s, const char *text, size_t n);
void str_addc(struct str *s, char c);
/* Two lower-case digits a byte, as build-ids are written. */
void str_add_hex(struct str *s, const uint8_t *bytes, size_t n);
void str_repeat(struct str *s, char c, size_t n);
void str_addf(struct str *s, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
void str_vaddf(struct str *s, const char *fmt, va_list ap) __attribute__((format(printf, 2, 0)));
void str_reserve(struct str *s, size_t more);
void str_clear(struct str *s);
/* Cuts the text to at most len bytes. */
void str_truncate(struct str *s, size_t len);

/* The text, never NULL; valid until the next change. */
const char *str_cstr(const struct str *s);
/* Gives the text away, to be freed by the caller; never NULL. The string is empty afterwards. */
char *str_steal(struct str *s);
void str_deinit(struct str *s);

#define AUTO_STR __attribute__((cleanup(str_deinit)))

static inline bool str_begins(const char *text, const char *with)
{
    return !strncmp(text, with, strlen(with));
}

/*
 * One character of UTF-8 at s (n bytes are left, n > 0): its bytes (1 to 4), and in *code its code point. A byte that
 * is not part of valid UTF-8 counts as one character, U+FFFD.
 */
size_t utf8_next(const char *s, size_t n, uint32_t *code); /* utf8.c */

/* Whether a character controls a terminal, or moves or hides what stands around it: C0 and C1 controls, marks of
 * direction, invisible ones. */
bool utf8_controls(uint32_t code);
/* Writes a sentence, which may have several lines, to a terminal and ends the line: such characters, and bytes that are
 * no UTF-8, become '?'. At once, so that lines of several threads do not mix. */
void utf8_put_line(const char *s, FILE *out);
/* Like utf8_put_line if `out` is a terminal; a file or a pipe gets the bytes as they are. */
void utf8_tell_line(const char *s, FILE *out);

/* Columns on a terminal: combining marks take none, East Asian wide characters two, every other character one. */
size_t utf8_width(const char *s);
size_t utf8_width_n(const char *s, size_t n);
/* How many bytes of s fit into `width` columns, whole characters only. */
size_t utf8_fit(const char *s, size_t width);
/* Adds s and spaces up to `width` columns; a longer text is added whole. */
void str_pad(struct str *out, const char *s, size_t width);

/* Adds s as a JSON string with its quotes; NULL gives null. Bytes that are not UTF-8 become U+FFFD. */
void json_quote(struct str *out, const char *s);
/* Adds s as a CSV field (RFC 4180): in quotes if it holds a quote, comma, or line end, or starts or ends with a space.
 */
void csv_quote(struct str *out, const char *s);
/* Adds s escaped for XML text and attributes. What XML 1.0 cannot hold becomes U+FFFD. */
void xml_escape(struct str *out, const char *s);
/* Adds n bytes in base 64 (RFC 4648). */
void base64_add(struct str *out, const void *data, size_t n);

#endif
