/* SPDX-License-Identifier: BSD-3-Clause */
/* Structure recovery of this very program, whose functions below are known. */
#include "tests/unit/test.h"
#include "structure/structure.h"
#include <dlfcn.h>
#include <fcntl.h>
#include <link.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

/* line numbers below are relative to this one */
enum { BASE = __LINE__ };

static inline __attribute__((always_inline)) int squared(int x)
{
    return x * x + (int)getpid() % 2;
}

__attribute__((noinline, used)) int structure_test_host(int n)
{
    int sum = n;

    for (int i = 0; i < n; i++)
        sum += squared(i);
    return sum;
}

int structure_test_alias(int) __attribute__((alias("structure_test_host")));

static uint64_t load_address(void)
{
    Dl_info info;
    struct link_map *map;

    return dladdr1((void *)structure_test_host, &info, (void **)&map, RTLD_DL_LINKMAP) ? map->l_addr : 0;
}

static uint64_t host_address(void)
{
    return (uint64_t)(uintptr_t)structure_test_host - load_address();
}

static const struct structure_scope *scope(const struct structure *s, uint32_t index)
{
    return &s->scopes.data[index];
}

static const struct structure_scope *find_up(const struct structure *s, uint32_t at, enum scope_kind kind)
{
    for (; at != STRUCTURE_NONE; at = scope(s, at)->parent)
        if (scope(s, at)->kind == kind)
            return scope(s, at);
    return NULL;
}

static const char *text(const struct structure *s, uint32_t id)
{
    return intern_str(&s->strings, id);
}

static bool has_alias(const struct structure *s, const struct structure_scope *p, const char *name)
{
    for (uint32_t i = 0; i < p->alias_count; i++)
        if (!strcmp(text(s, s->aliases.data[p->first_alias + i]), name))
            return true;
    return !strcmp(text(s, p->name), name);
}

static const struct structure_options all = {.inlines = true, .loops = true};

TEST(a_procedure_has_name_file_line_and_aliases)
{
    uint64_t address = host_address();
    struct structure s;

    CHECK_OK(structure_recover("/proc/self/exe", &all, &address, 1, &s));
    const struct structure_scope *p = find_up(&s, s.places.data[0].raw, SCOPE_PROCEDURE);
    CHECK(p && p->line == BASE + 7 && p->address == address);
    CHECK(p && strstr(text(&s, p->file), "tests/unit/structure_test.c") && *text(&s, p->file) == '/');
    CHECK(p && has_alias(&s, p, "structure_test_host") && has_alias(&s, p, "structure_test_alias"));
    CHECK(p && scope(&s, p->parent)->kind == SCOPE_FILE && scope(&s, p->parent)->parent == STRUCTURE_NONE);
    structure_deinit(&s);
}

TEST(inlined_code_lies_below_its_host)
{
    uint64_t addresses[400];
    bool seen = false;
    struct structure s;

    for (int i = 0; i < 400; i++)
        addresses[i] = host_address() + (uint64_t)i;
    CHECK_OK(structure_recover("/proc/self/exe", &all, addresses, 400, &s));
    for (int i = 0; i < 400; i++) {
        const struct structure_scope *in = find_up(&s, s.places.data[i].raw, SCOPE_INLINE);

        if (!in || strcmp(text(&s, in->name), "squared"))
            continue;
        const struct structure_scope *p = find_up(&s, s.places.data[i].raw, SCOPE_PROCEDURE);
        seen = true;
        CHECK_EQ_INT(in->line, BASE + 2);
        CHECK_EQ_INT(in->call_line, BASE + 12);
        CHECK(p && has_alias(&s, p, "structure_test_host"));
    }
    CHECK(seen);
    structure_deinit(&s);
}

TEST(a_loop_is_named_by_its_condition)
{
    uint64_t addresses[400];
    bool seen = false;
    struct structure s;

    for (int i = 0; i < 400; i++)
        addresses[i] = host_address() + (uint64_t)i;
    CHECK_OK(structure_recover("/proc/self/exe", &all, addresses, 400, &s));
    for (int i = 0; i < 400; i++) {
        const struct structure_scope *loop = find_up(&s, s.places.data[i].normal, SCOPE_LOOP);
        const struct structure_scope *p = find_up(&s, s.places.data[i].normal, SCOPE_PROCEDURE);

        if (!loop || !p || p->address != host_address())
            continue;
        seen = true;
        CHECK_EQ_INT(loop->line, BASE + 11);
        CHECK(loop->ordinal == 1 && loop->address > p->address);
    }
    CHECK(seen);
    structure_deinit(&s);
}

TEST(the_answer_does_not_depend_on_what_else_is_asked)
{
    uint64_t many[64];
    struct structure s, one;

    for (int i = 0; i < 64; i++)
        many[i] = host_address() - 200 + (uint64_t)(63 - i) * 8;
    CHECK_OK(structure_recover("/proc/self/exe", &all, many, 64, &s));
    for (int i = 0; i < 64; i++) {
        CHECK_OK(structure_recover("/proc/self/exe", &all, &many[i], 1, &one));
        uint32_t a = s.places.data[i].normal, b = one.places.data[0].normal;

        for (; a != STRUCTURE_NONE && b != STRUCTURE_NONE; a = scope(&s, a)->parent, b = scope(&one, b)->parent) {
            CHECK_EQ_STR(text(&s, scope(&s, a)->name), text(&one, scope(&one, b)->name));
            CHECK_EQ_INT(scope(&s, a)->kind, scope(&one, b)->kind);
            CHECK_EQ_INT(scope(&s, a)->line, scope(&one, b)->line);
            CHECK_EQ_INT(scope(&s, a)->ordinal, scope(&one, b)->ordinal);
        }
        CHECK(a == STRUCTURE_NONE && b == STRUCTURE_NONE);
        structure_deinit(&one);
    }
    structure_deinit(&s);
}

TEST(a_missing_or_replaced_file_gives_a_note_and_addresses)
{
    uint64_t address = 0x1234;
    struct structure s;
    struct structure_options other = {.build_id = (const uint8_t *)"0123456789", .build_id_len = 10};

    CHECK_OK(structure_recover("/no/such/libfoo.so.1", &all, &address, 1, &s));
    CHECK(s.note && strstr(s.note, "/no/such/libfoo.so.1"));
    CHECK(s.unread);
    CHECK_EQ_STR(text(&s, find_up(&s, s.places.data[0].raw, SCOPE_PROCEDURE)->name), "libfoo.so.1+0x1234");
    structure_deinit(&s);

    CHECK_OK(structure_recover("/proc/self/exe", &other, &address, 1, &s));
    CHECK(s.note && strstr(s.note, "not the file that was measured"));
    structure_deinit(&s);
}

TEST(addresses_outside_the_code_are_harmless)
{
    uint64_t wild[] = {0, 1, UINT64_MAX, UINT64_MAX - 1, 0xffffffff80000000, 0x7fffffffffff};
    struct structure s;

    CHECK_OK(structure_recover("/proc/self/exe", &all, wild, 6, &s));
    CHECK_EQ_INT(s.places.len, 6);
    for (int i = 0; i < 6; i++)
        CHECK(find_up(&s, s.places.data[i].normal, SCOPE_PROCEDURE));
    structure_deinit(&s);
}

TEST(the_kernels_image_is_read)
{
    struct structure s;
    bool seen = false;

    CHECK_OK(structure_whole("[vdso]", &all, &s));
    vec_foreach(p, &s.scopes)
        seen |= p->kind == SCOPE_PROCEDURE && strstr(text(&s, p->name), "clock_gettime");
    CHECK(seen);
    structure_deinit(&s);
}

/* In a process of its own: there is no structure that would lack something, now and later. */
TEST(without_file_descriptors_it_ends)
{
    const struct rlimit none = {0};
    uint64_t address = host_address();
    struct structure s;
    int status = 0, fd;
    pid_t child = fork();

    if (child == 0) {
        fd = open("/dev/null", O_WRONLY);
        dup2(fd, STDERR_FILENO);
        setrlimit(RLIMIT_NOFILE, &none);
        hq_error_free(structure_recover("/proc/self/exe", &all, &address, 1, &s));
        _exit(0);
    }
    CHECK_OR_RETURN(child > 0 && waitpid(child, &status, 0) == child);
    CHECK(WIFEXITED(status) && WEXITSTATUS(status) == HQ_DATA);
}

TEST(linkage_stubs_are_named)
{
    struct structure s;
    bool seen = false;

    CHECK_OK(structure_whole("/bin/ls", &all, &s));
    vec_foreach(p, &s.scopes)
        seen |= p->kind == SCOPE_PROCEDURE && !strcmp(text(&s, p->name), "memcpy@plt");
    CHECK(seen);
    structure_deinit(&s);
}

static void check_demangled(const char *symbol, const char *want)
{
    char *got = structure_demangle(symbol);

    CHECK_EQ_STR(got, want);
    free(got);
}

TEST(names_are_demangled)
{
    check_demangled("_ZNSt6vectorIiSaIiEE9push_backERKi",
                    "std::vector<int, std::allocator<int> >::push_back(int const&)");
    check_demangled("_ZN4core3fmt9Formatter3pad17h0123456789abcdefE", "core::fmt::Formatter::pad");
    check_demangled("_RNvCs1234_7mycrate3foo", "mycrate::foo");
    check_demangled("__physics_MOD_advance", "physics::advance");
    check_demangled("_QMphysicsPadvance", "physics::advance");
    check_demangled("_QMphysicsSfastFadvancePinner_1", "physics::fast::advance::inner_1");
    check_demangled("_QFPinner", "inner");
    check_demangled("_QPsolve", "solve");
    check_demangled("_QMphysicsEtable", NULL);
    check_demangled("_QQmain", NULL);
    check_demangled("_QMphysicsP", NULL);
    check_demangled("_QuickP", NULL);
    check_demangled("main", NULL);
    check_demangled("__libc_start_main", NULL);
    check_demangled("_Z", NULL);
}

TEST_MAIN
