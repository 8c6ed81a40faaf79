/* SPDX-License-Identifier: BSD-3-Clause */
#include "structure/ways.h"
#include "common/map.h"
#include "common/mem.h"
#include "common/names.h"
#include "structure/cfg.h"
#include "structure/image.h"
#include "structure/procedure.h"
#include "structure/ways_jump.h"
#include <elf.h>
#include <stdlib.h>
#include <string.h>

struct search {
    struct image image;
    struct noreturn noreturn;
    ways_wanted_fn *wanted;
    void *arg;
    struct ways *out;
    uint64_t other[4]; /* addresses of `others`; 0: it is not here */
};

/* Functions by which procedures are left without an instruction of their own for it. */
static const struct {
    const char *name;
    uint8_t flag;
} others[] = {{"__cxa_begin_catch", HQP_LANDING}, {"longjmp", HQP_JUMPING}, {"__longjmp_chk", HQP_JUMPING}};
enum { OTHERS = sizeof others / sizeof *others };

/* ---- names ---- */

/* Returns the first wanted name that a symbol may stand for, without what compilers make of a name: the ending of a
 * clone, Fortran's underscore and module. In the arena; NULL if none is wanted. */
static const char *wanted_as(struct search *s, const char *symbol)
{
    size_t length = name_without_clone(symbol, symbol_name_length(symbol));
    const char *plain = arena_strndup(&s->out->arena, symbol, length), *module = strstr(plain, "_MOD_");
    AUTO_FREE char *whole = structure_demangle(plain);

    if (whole)
        return s->wanted(s->arg, whole) || s->wanted(s->arg, plain) ? arena_strdup(&s->out->arena, whole) : NULL;
    if (s->wanted(s->arg, plain))
        return plain;
    if (plain[0] == '_' && plain[1] == '_' && module)
        return s->wanted(s->arg, module + 5) ? module + 5 : NULL;
    if (length > 1 && plain[length - 1] == '_') {
        const char *source = arena_strndup(&s->out->arena, plain, length - 1);

        return s->wanted(s->arg, source) ? source : NULL;
    }
    return NULL;
}

/* A piece of a procedure that others jump to or call (.cold, .part.0) is no procedure. */
static bool is_piece(const char *symbol)
{
    return strstr(symbol, ".cold") || strstr(symbol, ".part.");
}

static void note_other(struct search *s, const char *symbol, uint64_t address)
{
    for (int k = 0; k < OTHERS; k++)
        if (!strcmp(symbol, others[k].name))
            s->other[k] = address;
}

static void find_by_symbols(struct search *s)
{
    const struct symbols *all = &s->image.symbols;

    for (size_t i = 0; i < all->count; i++) {
        const struct symbol *symbol = &all->list[i];
        const char *name = NULL;

        for (uint32_t n = 0; n < symbol->count; n++)
            note_other(s, all->names[symbol->first + n], symbol->address);
        for (uint32_t n = 0; n < symbol->count && !name && s->wanted; n++)
            if (!is_piece(all->names[symbol->first + n]))
                name = wanted_as(s, all->names[symbol->first + n]);
        if (name)
            vec_push(&s->out->procedures, (struct way_procedure){.name = name, .entry = symbol->address});
    }
}

/* ---- places ---- */

/* The four bits of a conditional jump's opcode; false: it is of another kind (loop, jrcxz, xbegin). */
static bool condition_of(const uint8_t *code, uint8_t length, uint32_t *condition)
{
    uint8_t at = 0;

    while (at + 1 < length && (code[at] == 0x2e || code[at] == 0x3e || code[at] == 0xf2))
        at++;
    if (code[at] == 0x0f && at + 1 < length && (code[at + 1] & 0xf0) == 0x80) {
        *condition = code[at + 1] & 15u;
        return true;
    }
    *condition = code[at] & 15u;
    return (code[at] & 0xf0) == 0x70;
}

static bool is_landing_pad(const struct hqp_place *p)
{
    static const uint8_t endbr64[] = {0xf3, 0x0f, 0x1e, 0xfa};

    return p->length == sizeof endbr64 && !memcmp(p->code, endbr64, sizeof endbr64);
}

static const char *take_pointer(struct hqp_place *p, const struct insn_detail *d)
{
    p->base = d->form == INSN_FORM_JUMP_REGISTER ? d->reg : d->base;
    p->index = d->index;
    p->scale = d->scale;
    p->target = d->value;
    for (uint8_t i = 0; i < p->length && strchr("\x26\x2e\x36\x3e\x64\x65\x66\x67\xf2\xf3", p->code[i]); i++)
        if (p->code[i] == 0x64 || p->code[i] == 0x65 || p->code[i] == 0x67)
            return "it has a jump through a pointer of another segment";
    if (d->form == INSN_FORM_JUMP_REGISTER)
        p->form = HQP_JUMP_REGISTER;
    else if (d->form == INSN_FORM_JUMP_MEMORY)
        p->form = HQP_JUMP_MEMORY;
    else
        return "it has a jump that cannot be followed";
    if (p->form == HQP_JUMP_REGISTER && p->base == INSN_NO_REGISTER)
        return "it has a jump that cannot be followed";
    return NULL;
}

/* Sets the form that is executed in the instruction's stead. Returns NULL, or the reason why there is none. */
static const char *take_form(struct hqp_place *p)
{
    struct insn_detail d;
    struct insn own; /* as it is executed: to the graph a jump through a slot is one to the slot (plt.h) */

    insn_decode(EM_X86_64, p->code, p->length, p->address, &own);
    insn_decode_detail(EM_X86_64, p->code, p->length, p->address, &d);
    p->base = p->index = HQP_NO_REGISTER;
    p->target = own.target;
    switch ((enum insn_kind)own.kind) {
    case INSN_RETURN:
        p->form = HQP_RETURN;
        if (p->code[p->length - 1] != 0xc3 && !(p->length == 3 && p->code[0] == 0xc2))
            return "it returns in another way than by ret";
        p->operand = p->code[0] == 0xc2 ? (uint32_t)(p->code[1] | p->code[2] << 8) : 0;
        return NULL;
    case INSN_JUMP: p->form = HQP_JUMP; return NULL;
    case INSN_BRANCH:
        p->form = HQP_BRANCH;
        return condition_of(p->code, p->length, &p->operand) ? NULL : "it branches by a counter where it is patched";
    case INSN_CALL: p->form = HQP_CALL; return NULL;
    case INSN_JUMP_INDIRECT: return take_pointer(p, &d);
    case INSN_CALL_INDIRECT: return "its first instruction is a call through a pointer";
    case INSN_STOP: return "its first instruction is a trap";
    default: break;
    }
    p->form = is_landing_pad(p) ? HQP_SKIP : HQP_COPY;
    p->operand = d.displacement_at;
    return d.relative && !d.displacement_at ? "its first instruction depends on where it stands" : NULL;
}

static const char *add_place(struct search *s, const struct way_procedure *w, const struct dwarf_range *main,
                             const struct insn *insn, uint8_t flags)
{
    struct hqp_place p = {.address = insn->address, .low = main->low, .high = main->high, .flags = flags};
    size_t available;
    const uint8_t *code = elf_at(s->image.text, insn->address, &available);

    /* The first instruction may be a way out, too. */
    if (s->out->places.len > w->first && s->out->places.data[w->first].address == insn->address) {
        s->out->places.data[w->first].flags |= flags;
        return NULL;
    }
    if (!code || available < insn->length || insn->length > HQP_CODE)
        return "its code is not in the file";
    p.length = insn->length;
    memcpy(p.code, code, insn->length);
    const char *why = take_form(&p);
    if (!why)
        vec_push(&s->out->places, p);
    return why;
}

static bool is_within(const struct procedure *p, uint64_t address)
{
    for (size_t i = 0; i < p->range_count; i++)
        if (address >= p->ranges[i].low && address < p->ranges[i].high)
            return true;
    return false;
}

static bool is_switch(struct search *s, const struct cfg *g, uint32_t jump)
{
    struct cfg_targets targets = {0};
    bool found = cfg_jump_table(&s->image, g, jump, &targets);

    vec_deinit(&targets);
    return found;
}

static bool leaves(struct search *s, const struct procedure *p, const struct cfg *g, uint32_t i)
{
    const struct insn *insn = &g->insns.data[i];

    switch ((enum insn_kind)insn->kind) {
    case INSN_RETURN: return true;
    case INSN_JUMP:
    case INSN_BRANCH: return !is_within(p, insn->target);
    case INSN_JUMP_INDIRECT: return !is_switch(s, g, i);
    default: return false;
    }
}

/* Returns the reason why the procedure cannot be marked whatever its instructions are; NULL if there is none. */
static const char *whole_obstacle(const struct search *s, const struct procedure *p, const struct cfg *g)
{
    if (p->entry < p->ranges[0].low || p->source == PROCEDURE_GAP || g->entry == CFG_NONE)
        return "it is not known where it ends";
    if (p->source == PROCEDURE_STUB)
        return "it is a linkage stub";
    if (!frames_find(&s->image.frames, p->entry))
        return "it has no unwind information, so call paths are read from its code";
    for (uint32_t i = 0; i < g->insns.len; i++) {
        const struct insn *insn = &g->insns.data[i];

        if ((insn->kind == INSN_JUMP || insn->kind == INSN_BRANCH) && insn->target == p->entry)
            return "a loop goes through its first instruction";
    }
    return NULL;
}

/* Those of one procedure; NULL, or why not. */
static const char *add_places(struct search *s, struct way_procedure *w, const struct procedure *p)
{
    const struct dwarf_range *main = &p->ranges[0];
    struct cfg g;
    const char *why;

    for (size_t i = 0; i < p->range_count; i++)
        if (w->entry >= p->ranges[i].low && w->entry < p->ranges[i].high)
            main = &p->ranges[i];
    cfg_build(&s->image, p, &s->noreturn, &g);
    why = p->entry == w->entry ? whole_obstacle(s, p, &g) : "it is an entry in the middle of another procedure";
    if (!why)
        why = add_place(s, w, main, &g.insns.data[cfg_insn_at(&g, p->entry)], HQP_ENTRY);
    for (uint32_t i = 0; i < g.insns.len && !why; i++)
        if (leaves(s, p, &g, i))
            why = add_place(s, w, main, &g.insns.data[i], HQP_EXIT);
    for (size_t i = w->first; i < s->out->places.len && !why; i++) {
        struct hqp_place *place = &s->out->places.data[i];
        ways_find_jump(&s->image, &g, cfg_insn_at(&g, place->address), place);
    }
    cfg_deinit(&g);
    return why;
}

static void watch(struct search *s, struct way_procedure *w, const struct dwarf_unit *unit)
{
    struct procedure p;

    w->first = (uint32_t)s->out->places.len;
    if (!unit || !procedure_in_unit(&s->image, unit, w->entry, &p))
        procedure_plain(&s->image, w->entry, &p);
    w->refused = add_places(s, w, &p);
    if (w->refused)
        s->out->places.len = w->first;
    w->count = (uint32_t)s->out->places.len - w->first;
    procedure_deinit(&p);
}

/* One that cannot be watched leaves visits to end where the thread is next seen. */
static void watch_other(struct search *s, uint64_t entry, uint8_t flag)
{
    struct way_procedure w = {.entry = entry, .first = (uint32_t)s->out->places.len};
    struct procedure p;
    struct cfg g;

    procedure_plain(&s->image, entry, &p);
    cfg_build(&s->image, &p, &s->noreturn, &g);
    if (p.entry == w.entry && !whole_obstacle(s, &p, &g))
        add_place(s, &w, &p.ranges[0], &g.insns.data[cfg_insn_at(&g, p.entry)], flag);
    cfg_deinit(&g);
    procedure_deinit(&p);
}

/* Under which name it is wanted, NULL: under none. */
static const char *inlined_as(struct search *s, const struct dwarf_origin *o)
{
    const char *name = o->linkage ? wanted_as(s, o->linkage) : NULL;

    if (name || !o->name)
        return name;
    return s->wanted(s->arg, o->qualified ? o->qualified : o->name) ? arena_strdup(&s->out->arena, o->name) : NULL;
}

static uint32_t procedure_named(struct ways *w, const char *name)
{
    for (size_t i = 0; i < w->procedures.len; i++)
        if (!strcmp(w->procedures.data[i].name, name))
            return (uint32_t)i;
    vec_push(&w->procedures,
             (struct way_procedure){.name = name,
                                    .refused = "it has no code of its own, since it is inlined wherever it is called"});
    return (uint32_t)w->procedures.len - 1;
}

/* Finds the wanted procedures that were inlined; one that has no code of its own at all becomes a procedure that is
 * refused. */
static void find_inlined(struct search *s, const struct dwarf_unit *unit)
{
    AUTO(map_deinit) struct map origins = {0}; /* -> procedure + 1 */
    bool is_new;

    for (size_t i = 0; i < unit->inline_count; i++) {
        const struct dwarf_origin *o = unit->inlines[i].origin;
        uint64_t *known = o ? map_insert(&origins, (uint64_t)(uintptr_t)o, 0, &is_new) : NULL;
        const char *name = known && is_new ? inlined_as(s, o) : NULL;

        if (name)
            *known = procedure_named(s->out, name) + 1u;
        if (known && *known)
            s->out->procedures.data[*known - 1].inlined++;
    }
}

static void watch_all(struct search *s)
{
    size_t known = s->out->procedures.len, units = s->image.dwarf ? dwarf_unit_count(s->image.dwarf) : 0;
    AUTO_FREE uint32_t *unit_of = xcalloc(known + 1, sizeof *unit_of);

    for (size_t i = 0; i < known; i++)
        unit_of[i] = units ? dwarf_find_unit(s->image.dwarf, s->out->procedures.data[i].entry) : DWARF_NONE;
    for (uint32_t u = 0; u < units; u++) {
        struct dwarf_unit unit;

        dwarf_load_unit(s->image.dwarf, u, &unit);
        for (size_t i = 0; i < known; i++)
            if (unit_of[i] == u)
                watch(s, &s->out->procedures.data[i], &unit);
        find_inlined(s, &unit);
        dwarf_unit_free(&unit);
    }
    for (size_t i = 0; i < known; i++)
        if (unit_of[i] == DWARF_NONE)
            watch(s, &s->out->procedures.data[i], NULL);
}

static int by_address(const void *a, const void *b)
{
    const struct hqp_place *x = a, *y = b;

    return x->address < y->address ? -1 : x->address > y->address;
}

/* One address is two places: a jump would do for one of them. */
static void join(struct hqp_place *p, const struct hqp_place *other)
{
    if (p->flags != other->flags)
        p->jump = 0;
    p->flags |= other->flags;
}

/* Sorts the places, and keeps one of each address. */
static void order(struct ways *w)
{
    size_t kept = 0;

    vec_sort(&w->places, by_address);
    vec_foreach(p, &w->places) {
        if (kept && w->places.data[kept - 1].address == p->address)
            join(&w->places.data[kept - 1], p);
        else
            w->places.data[kept++] = *p;
    }
    w->places.len = kept;
    ways_part_jumps(w->places.data, kept);
}

struct hq_error *ways_find(const char *path, ways_wanted_fn *wanted, void *arg, struct ways *out)
{
    struct search s = {.wanted = wanted, .arg = arg, .out = out};

    *out = (struct ways){0};
    HQ_TRY(image_open(path, false, &s.image));
    const struct elf *elf = s.image.text;
    struct hq_error *error = NULL;

    if (!elf->build_id_size)
        error = hq_error_new(HQ_DATA,
                             "%s has no build-id, by which marked code is found again: link it with "
                             "-Wl,--build-id",
                             path);
    if (!error) {
        out->build_id_len = (uint8_t)(elf->build_id_size < sizeof out->build_id ? elf->build_id_size
                                                                                : sizeof out->build_id);
        memcpy(out->build_id, elf->build_id, out->build_id_len);
        image_read(&s.image);
        noreturn_init(&s.noreturn, &s.image);
        find_by_symbols(&s);
        if (wanted && (out->procedures.len || s.image.dwarf))
            watch_all(&s);
        for (int k = 0; k < OTHERS; k++)
            if (s.other[k])
                watch_other(&s, s.other[k], others[k].flag);
        order(out);
        noreturn_deinit(&s.noreturn);
        error = image_changed(&s.image);
    }
    image_close(&s.image);
    return error;
}

void ways_deinit(struct ways *w)
{
    arena_deinit(&w->arena);
    vec_deinit(&w->procedures);
    vec_deinit(&w->places);
}
