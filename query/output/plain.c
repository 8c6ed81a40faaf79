/* SPDX-License-Identifier: BSD-3-Clause */
#include "query/output/plain.h"
#include "common/mem.h"
#include "query/output/text.h"
#include <string.h>

/* Text with its own ends of lines; it is changed on the way and the same afterwards. */
static void put(char *text, size_t size, bool utf8, FILE *out)
{
    for (size_t at = 0; at < size;) {
        size_t n = strcspn(text + at, "\r\n\t");
        char stop = text[at + n];

        text[at + n] = 0;
        text_put(text + at, utf8, out);
        text[at + n] = stop;
        at += n;
        if (at == size)
            break;
        if (stop == '\r' && text[at + 1] != '\n')
            fputc('?', out);
        else
            fputc(stop ? stop : '?', out);
        at++;
    }
}

struct hq_error *plain_write(const struct output_format *format, const struct table *t, const struct output_options *o,
                             FILE *out)
{
    AUTO_FREE char *text = NULL;
    size_t size = 0;
    FILE *memory = open_memstream(&text, &size);

    if (!memory)
        mem_exhausted();
    struct hq_error *error = format->write(t, o, memory);

    if (fclose(memory))
        mem_exhausted();
    if (!error)
        put(text, size, o->utf8, out);
    return error;
}
