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
static const char *callee_of(const struct callees *c, uint64_t return_address, size_t length)
{
    size_t available;
    const uint8_t *code = elf_at(c->text, return_address - length, &available);
    struct insn call;

    if (!code || available < length)
        return NULL;
    insn_decode(c->text->machine, code, length, return_address - length, &call);
    if (call.length != length)
        return NULL;
    plt_resolve(&c->plt, code, &call);
    const struct stub *stub = call.kind == INSN_CALL ? plt_find(&c->plt, call.target) : NULL;

    return stub && *stub->target ? stub->target : NULL;
}

const char *callee_before(const struct callees *c, uint64_t return_address)
{
    const char *callee = callee_of(c, return_address, c->text->machine == EM_X86_64 ? 5 : 4);

    return callee || c->text->machine != EM_X86_64 ? callee : callee_of(c, return_address, 6);
}
