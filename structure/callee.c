/* SPDX-License-Identifier: BSD-3-Clause */
#include "structure/callee.h"
#include "common/mem.h"
#include "structure/image.h"
#include "structure/insn.h"
#include "structure/plt.h"
#include <stdlib.h>

struct callees {
    struct elf *text;
    struct plt plt;
};

struct callees *callees_open(const char *path, const struct structure_options *options)
{
    const struct symbols none = {0};
    struct elf *text = NULL;
    AUTO_ERROR struct hq_error *err = elf_open(path, &text);

    if (err || !image_is_expected(text, options)) {
        elf_close(text);
        return NULL;
    }
    struct callees *c = xcalloc(1, sizeof *c);

    c->text = text;
    plt_read(text, &none, &c->plt);
    return c;
}

void callees_close(struct callees *c)
{
    if (!c)
        return;
    plt_deinit(&c->plt);
    elf_close(c->text);
    free(c);
}

/* The function that an instruction of this length calls. */
static const char *callee_of_length(const struct callees *c, uint64_t return_address, size_t length)
{
    size_t available;
    const uint8_t *code = elf_at(c->text, return_address - length, &available);
    struct insn call;

    if (!code || available < length)
        return NULL;
    plt_decode(&c->plt, c->text->machine, code, length, return_address - length, &call);
    return call.length == length ? plt_callee(&c->plt, &call) : NULL;
}

const char *callee_before(const struct callees *c, uint64_t return_address)
{
    const char *callee = callee_of_length(c, return_address, c->text->machine == EM_X86_64 ? 5 : 4);

    return callee || c->text->machine != EM_X86_64 ? callee : callee_of_length(c, return_address, 6);
}
