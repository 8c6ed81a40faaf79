/* SPDX-License-Identifier: BSD-3-Clause */
#include "structure/noreturn.h"
#include "common/hash.h"
#include "common/str.h"
#include "common/vec.h"
#include "structure/insn.h"
#include "structure/procedure.h"
#include <stdlib.h>
#include <string.h>

#define LEVELS           6
#define LEVEL_BITS       3    /* of a number up to LEVELS */
#define MAX_INSTRUCTIONS 4096 /* looked at in one callee; a longer one is taken to return */

/* clang-format off */
static const char *const names[] = {   /* sorted: see is_known */
    "_Exit", "_FortranAAbort", "_FortranAExit", "_FortranAFailImageStatement", "_FortranAReportFatalUserError",
    "_FortranAStopStatement", "_FortranAStopStatementText", "_Unwind_Resume",
    "_ZN9__gnu_cxx27__verbose_terminate_handlerEv", "_ZSt10unexpectedv", "_ZSt16__throw_bad_castv",
    "_ZSt17__throw_bad_allocv", "_ZSt17rethrow_exceptionNSt15__exception_ptr13exception_ptrE",
    "_ZSt18__throw_bad_typeidv", "_ZSt19__throw_ios_failurePKc", "_ZSt19__throw_ios_failurePKci",
    "_ZSt19__throw_logic_errorPKc", "_ZSt19__throw_range_errorPKc",
    "_ZSt19__throw_regex_errorNSt15regex_constants10error_typeE", "_ZSt20__throw_domain_errorPKc",
    "_ZSt20__throw_future_errori", "_ZSt20__throw_length_errorPKc", "_ZSt20__throw_out_of_rangePKc",
    "_ZSt20__throw_system_errori", "_ZSt21__glibcxx_assert_failPKciS0_S0_", "_ZSt21__throw_bad_exceptionv",
    "_ZSt21__throw_runtime_errorPKc", "_ZSt22__throw_overflow_errorPKc", "_ZSt23__throw_underflow_errorPKc",
    "_ZSt24__throw_invalid_argumentPKc", "_ZSt24__throw_out_of_range_fmtPKcz", "_ZSt25__throw_bad_function_callv",
    "_ZSt28__throw_bad_array_new_lengthv", "_ZSt9terminatev", "__assert", "__assert_fail", "__assert_perror_fail",
    "__chk_fail", "__clang_call_terminate", "__cxa_bad_cast", "__cxa_bad_typeid", "__cxa_call_terminate",
    "__cxa_call_unexpected", "__cxa_deleted_virtual", "__cxa_pure_virtual", "__cxa_rethrow", "__cxa_throw",
    "__cxa_throw_bad_array_length", "__cxa_throw_bad_array_new_length", "__fortify_fail",
    "__gnat_last_chance_handler", "__gnat_raise_constraint_error", "__gnat_raise_constraint_error_msg",
    "__gnat_raise_exception", "__gnat_raise_from_controlled_operation", "__gnat_raise_program_error",
    "__gnat_raise_program_error_msg", "__gnat_raise_storage_error", "__gnat_raise_storage_error_msg",
    "__gnat_raise_with_msg", "__gnat_reraise", "__gnat_reraise_zcx", "__libc_fatal", "__longjmp_chk",
    "__stack_chk_fail", "_d_arraybounds", "_d_arraybounds_index", "_d_arraybounds_slice", "_d_arrayboundsp",
    "_d_assert", "_d_assert_msg", "_d_assertp", "_d_eh_resume_unwind", "_d_switch_error", "_d_throw_exception",
    "_d_throwdwarf", "_d_unittest_msg", "_d_unittestp", "_exit", "_gfortran_abort", "_gfortran_caf_error_stop",
    "_gfortran_caf_error_stop_str", "_gfortran_caf_stop_numeric", "_gfortran_caf_stop_str",
    "_gfortran_error_stop_numeric", "_gfortran_error_stop_string", "_gfortran_exit_i4", "_gfortran_exit_i8",
    "_gfortran_os_error", "_gfortran_os_error_at", "_gfortran_runtime_error", "_gfortran_runtime_error_at",
    "_gfortran_stop_numeric", "_gfortran_stop_string", "_longjmp", "abort",
    "ada__exceptions__reraise_occurrence_always", "ada__exceptions__reraise_occurrence_no_defer", "err", "errx",
    "exit", "longjmp", "pthread_exit", "quick_exit", "runtime.fatal", "runtime.fatalpanic", "runtime.fatalthrow",
    "runtime.gopanic", "runtime.throw", "rust_begin_unwind", "rust_panic", "siglongjmp",
    "system__assertions__raise_assert_failure", "thrd_exit", "verr", "verrx",
};
/* clang-format on */

static int compare_name(const void *key, const void *element)
{
    const char *name = key, *const *known = element;
    size_t len = symbol_name_length(name);
    int order = strncmp(name, *known, len);

    return order ? order : -(int)!!(*known)[len];
}

/* Checks that compilers make: GNAT's of Ada, and sanitizers' where a program does not go on behind them. And Go's of
 * the stack, behind which a procedure is begun anew: that is no loop of its own. */
static bool is_check(const char *name)
{
    size_t len = symbol_name_length(name);
    bool aborts = len > 6 && str_begins(name + len - 6, "_abort");

    return str_begins(name, "__gnat_rcheck_") || str_begins(name, "runtime.morestack") ||
           (aborts && str_begins(name, "__ubsan_handle_")) ||
           (str_begins(name, "__asan_report_") && !(len > 8 && str_begins(name + len - 8, "_noabort")));
}

static bool is_known(const char *name)
{
    return bsearch(name, names, sizeof names / sizeof *names, sizeof *names, compare_name) || is_check(name);
}

/* Does one of the names of what is called there, through a stub or not, satisfy the test? */
static bool any_name(const struct image *image, uint64_t target, bool (*test)(const char *name))
{
    const struct stub *stub = plt_find(&image->plt, target);
    const struct symbol *s = stub ? NULL : symbols_at(&image->symbols, target);

    if (stub)
        return test(stub->target);
    for (uint32_t i = 0; s && i < s->count; i++)
        if (test(image->symbols.names[s->first + i]))
            return true;
    return false;
}

/* Destructors, operator delete, and what the C library promises. */
static bool never_throws(const char *name)
{
    static const char *const plain[] = {"__cxa_begin_catch",
                                        "__cxa_end_catch",
                                        "__cxa_free_exception",
                                        "_ZNSt7__cxx1112basic_stringIcSt11char_traitsIcESaIcEE10_M_disposeEv",
                                        "_ZNSt7__cxx1112basic_stringIwSt11char_traitsIwESaIwEE10_M_disposeEv",
                                        "free",
                                        "memchr",
                                        "memcmp",
                                        "memcpy",
                                        "memmove",
                                        "memset",
                                        "strcmp",
                                        "strlen"};
    size_t len = strcspn(name, ".@");

    if (len > 8 && str_begins(name, "_ZN") && str_begins(name + len - 4, "D") && str_begins(name + len - 2, "Ev"))
        return name[len - 3] >= '0' && name[len - 3] <= '2';
    if (str_begins(name, "_ZdlPv") || str_begins(name, "_ZdaPv"))
        return true;
    for (size_t i = 0; i < sizeof plain / sizeof *plain; i++)
        if (strlen(plain[i]) == len && !memcmp(plain[i], name, len))
            return true;
    return false;
}

bool nothrow_call(const struct image *image, uint64_t target)
{
    return any_name(image, target, never_throws);
}

static bool same_symbol(const char *symbol, const char *name)
{
    size_t n = symbol_name_length(symbol);

    return !strncmp(symbol, name, n) && !name[n];
}

static bool declared(const struct image *image, const struct dwarf_unit *unit, uint64_t target)
{
    const struct stub *stub = plt_find(&image->plt, target);
    const struct symbol *s = stub ? NULL : symbols_at(&image->symbols, target);

    for (size_t i = 0; unit && i < unit->noreturn_count; i++) {
        if (stub && !strcmp(stub->target, unit->noreturn[i]))
            return true;
        for (uint32_t k = 0; s && k < s->count; k++)
            if (same_symbol(image->symbols.names[s->first + k], unit->noreturn[i]))
                return true;
    }
    return false;
}

static bool returns(struct noreturn *n, uint64_t entry, unsigned level);

static uint64_t hash_name(const char *name)
{
    return hash_bytes(name, symbol_name_length(name), 0);
}

static void list_own(struct noreturn *n)
{
    const struct symbols *all = &n->image->symbols;
    bool is_new;

    for (size_t i = 0; i < all->count; i++)
        for (uint32_t k = 0; k < all->list[i].count; k++) {
            uint64_t *address = map_insert(&n->own, hash_name(all->names[all->list[i].first + k]), all->list[i].address,
                                           &is_new);

            if (!is_new && *address != all->list[i].address)
                *address = 0;
        }
    n->listed = true;
}

/* Returns where a stub leads to if that is in the same file; else the stub. */
static uint64_t behind_stub(struct noreturn *n, uint64_t target)
{
    const struct stub *stub = plt_find(&n->image->plt, target);

    if (!stub || symbols_is_chosen(&n->image->symbols, stub->target))
        return target;
    if (!n->listed)
        list_own(n);
    uint64_t own = map_get(&n->own, hash_name(stub->target), 0);

    return own ? own : target;
}

static bool call_returns(struct noreturn *n, uint64_t target, unsigned level)
{
    target = behind_stub(n, target);
    uint64_t key = target << LEVEL_BITS | level;
    const uint64_t *known = map_find(&n->known, key);

    if (known)
        return *known;
    bool result = !any_name(n->image, target, is_known) && (!level || returns(n, target, level));
    map_put(&n->known, key, result);
    return result;
}

struct search {
    struct noreturn *n;
    unsigned level;
    uint64_t low, high;
    bool ends;              /* the procedure does at `high`: no guess, and no part of it follows */
    const uint8_t *code;    /* of low */
    uint8_t *seen;          /* a bit for each byte: an instruction that was looked at */
    VEC(uint64_t) ready;    /* to look at */
    VEC(struct insn) calls; /* to look at only if nothing else leads to a return */
    unsigned budget;
};

/* Follows one path to its end. True if it returns. */
static bool follow(struct search *s, uint64_t at)
{
    struct insn in;

    while (at >= s->low && at < s->high) {
        uint8_t *seen = &s->seen[(at - s->low) / 8], bit = (uint8_t)(1u << (at - s->low) % 8);

        if (*seen & bit)
            return false;
        *seen |= bit;
        if (!s->budget--)
            return true;
        plt_decode(&s->n->image->plt, s->n->image->text->machine, s->code + (at - s->low), s->high - at, at, &in);
        if (in.kind == INSN_RETURN || in.kind == INSN_JUMP_INDIRECT)
            return true;
        if (in.kind == INSN_STOP)
            return false;
        if (in.kind == INSN_CALL) {
            vec_push(&s->calls, in);
            return false;
        }
        if (in.kind == INSN_BRANCH)
            vec_push(&s->ready, in.target);
        at = in.kind == INSN_JUMP ? in.target : at + in.length;
    }
    /* Out of the procedure: a tail call, or its cold part. */
    return call_returns(s->n, at, s->level - 1);
}

static bool find_return(struct search *s, uint64_t entry)
{
    vec_push(&s->ready, entry);
    for (;;) {
        if (s->ready.len) {
            if (follow(s, vec_pop(&s->ready)))
                return true;
        } else if (s->calls.len) {
            struct insn call = vec_pop(&s->calls);

            /* Where it calls itself it returns only if it returns elsewhere. What is called last has nowhere to return
             * to: so the C library's malloc_printerr ends. */
            if (call.target != entry && !(s->ends && call.address + call.length == s->high) &&
                call_returns(s->n, call.target, s->level - 1))
                vec_push(&s->ready, call.address + call.length);
        } else {
            return false;
        }
    }
}

/* Whether a procedure is known to end where its code does. Parts that compilers lay out by themselves have its name and
 * more. */
static bool ends_there(const struct image *image, const struct procedure *p)
{
    const struct symbol *next = symbols_at(&image->symbols, p->ranges[0].high);
    const char *name = p->symbol ? image->symbols.names[p->symbol->first] : NULL;

    if (p->source != PROCEDURE_SYMBOL || !p->symbol || p->symbol->end != p->ranges[0].high)
        return p->source == PROCEDURE_FRAME && !next;
    return !next || strncmp(image->symbols.names[next->first], name, strcspn(name, ".@"));
}

static bool returns(struct noreturn *n, uint64_t entry, unsigned level)
{
    struct search s = {.n = n, .level = level, .budget = MAX_INSTRUCTIONS};
    struct procedure p;
    size_t available;

    if (!elf_executable_end(n->image->text, entry))
        return true;
    procedure_region(n->image, entry, &p);
    s.low = entry;
    s.high = p.ranges[0].high;
    s.ends = ends_there(n->image, &p);
    bool no_code = p.source == PROCEDURE_STUB || !(s.code = elf_at(n->image->text, entry, &available));
    procedure_deinit(&p);
    bool result = true;
    if (!no_code && s.high > s.low) {
        s.high = s.high - s.low > available ? s.low + available : s.high;
        s.seen = xcalloc((s.high - s.low) / 8 + 1, 1);
        result = find_return(&s, entry);
    }
    free(s.seen);
    vec_deinit(&s.ready);
    vec_deinit(&s.calls);
    return result;
}

void noreturn_init(struct noreturn *n, const struct image *image)
{
    *n = (struct noreturn){.image = image};
}

void noreturn_deinit(struct noreturn *n)
{
    map_deinit(&n->known);
    map_deinit(&n->own);
}

bool noreturn_call(struct noreturn *n, const struct dwarf_unit *unit, uint64_t target)
{
    return !call_returns(n, target, LEVELS) || declared(n->image, unit, target);
}
