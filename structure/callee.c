/* SPDX-License-Identifier: BSD-3-Clause */
#include "structure/callee.h"
#include "common/mem.h"
#include "structure/cfg.h"
#include <stdlib.h>

struct callees {
    struct image image;
    bool read; /* what tells procedures: only calls through registers need it */
};

struct callees *callees_open(const char *path, const struct structure_options *options)
{
    const struct symbols none = {0};
    struct callees *c = xcalloc(1, sizeof *c);
    AUTO_ERROR struct hq_error *err = image_open(path, false, &c->image);

    if (err || !image_is_expected(c->image.text, options)) {
        callees_close(c);
        return NULL;
    }
    plt_read(c->image.text, &none, &c->image.plt);
    return c;
}

void callees_close(struct callees *c)
{
    if (!c)
        return;
    if (c->image.text)
        image_close(&c->image);
    free(c);
}

/* The call of this length; false: it is none. */
static bool call_of_length(const struct callees *c, uint64_t return_address, size_t length, struct insn *out)
{
    const struct elf *text = c->image.text;
    size_t available;
    const uint8_t *code = elf_at(text, return_address - length, &available);

    if (!code || available < length)
        return false;
    plt_decode(&c->image.plt, text->machine, code, length, return_address - length, out);
    return out->length == length && (out->kind == INSN_CALL || out->kind == INSN_CALL_INDIRECT);
}

/* Through a register: what it holds there tells the procedure that calls. */
static const char *callee_in_register(struct callees *c, uint64_t call)
{
    AUTO(procedure_deinit) struct procedure p;
    struct noreturn noreturn;
    struct cfg g;

    if (!c->read)
        image_read_code(&c->image);
    c->read = true;
    procedure_plain(&c->image, call, &p);
    noreturn_init(&noreturn, &c->image);
    cfg_build(&c->image, &p, &noreturn, &g);
    uint32_t at = cfg_insn_at(&g, call);
    uint64_t target = at != CFG_NONE && g.insns.data[at].kind == INSN_CALL ? g.insns.data[at].target : 0;
    cfg_deinit(&g);
    noreturn_deinit(&noreturn);
    return plt_callee(&c->image.plt, target);
}

const char *callee_before(struct callees *c, uint64_t return_address)
{
    static const uint8_t lengths[] = {5, 6, 4, 2, 3}; /* 2 and 3: call *%rbx, call *%r12; 4: aarch64 */
    const char *callee = NULL;

    for (size_t i = 0; i < sizeof lengths && !callee; i++) {
        struct insn call;

        if (!call_of_length(c, return_address, lengths[i], &call))
            continue;
        callee = call.kind == INSN_CALL ? plt_callee(&c->image.plt, call.target) : NULL;
        if (call.kind == INSN_CALL_INDIRECT && lengths[i] < 5)
            callee = callee_in_register(c, call.address);
    }
    return callee;
}
