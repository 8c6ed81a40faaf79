/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Random programs and samples, stored and read back, against a slow reference that is computed from the list of samples
 * alone: it knows call paths as texts and adds up, for every prefix of every path, what is below.
 */
#include "common/file.h"
#include "common/hash.h"
#include "common/intern.h"
#include "common/mem.h"
#include "common/str.h"
#include "common/vec.h"
#include "db/fuse.h"
#include "db/model/model.h"
#include "tests/unit/db_tree.h"
#include "tests/unit/test.h"

enum { SCOPES = 60, CODES = 80, PATHS = 120, DEPTH = 9, PROFILES = 7, METRICS = 2, ROUNDS = 30 };

struct scope {
    enum scope_kind kind;
    uint32_t parent, line, ordinal, call_line;
    char name[16], file[16];
};
struct sample {
    uint32_t profile, metric, path;
    int64_t sum;
    uint64_t count;
};
struct path {
    uint32_t code[DEPTH];
    int depth;
}; /* outermost first */

struct world {
    uint64_t seed, at;
    struct scope scopes[SCOPES];                  /* parents first; 0 is a module, 1 and 2 are files */
    uint32_t code_raw[CODES], code_normal[CODES]; /* LINE scopes */
    struct path paths[PATHS];
    VEC(struct sample) samples;
    uint32_t profiles; /* how many: in every fifth program just one, whose statistics are its sums */
    int32_t ranks[PROFILES];
};

static uint32_t roll(struct world *w, uint32_t n)
{
    return (uint32_t)(hash_combine(w->seed, w->at++) % n);
}

static uint32_t any_of(struct world *w, unsigned kinds)
{
    for (;;) {
        uint32_t i = roll(w, SCOPES);

        if (kinds >> w->scopes[i].kind & 1 && *w->scopes[i].file)
            return i;
    }
}

static void make_scopes(struct world *w)
{
    unsigned holders = 1u << SCOPE_PROCEDURE | 1u << SCOPE_INLINE | 1u << SCOPE_LOOP;

    for (uint32_t i = 0; i < SCOPES; i++) {
        struct scope *s = &w->scopes[i];

        s->kind = i == 0   ? SCOPE_MODULE
                  : i < 3  ? SCOPE_FILE
                  : i < 9  ? SCOPE_PROCEDURE
                  : i < 30 ? (roll(w, 2) ? SCOPE_INLINE : SCOPE_LOOP)
                           : SCOPE_LINE;
        s->parent = i < 3 ? 0 : i < 9 ? 1 + roll(w, 2) : any_of(w, holders);
        /* Two procedures of one name, and loops of one line, are different scopes all the same. */
        if (s->kind != SCOPE_LOOP && s->kind != SCOPE_LINE)
            snprintf(s->name, sizeof s->name, "n%u", i % 8 == 5 ? 4 : i);
        s->line = i < 3 ? 0 : 1 + roll(w, 20);
        s->ordinal = s->kind == SCOPE_LOOP ? i : 0;
        s->call_line = s->kind == SCOPE_INLINE ? roll(w, 5) : 0;
        snprintf(s->file, sizeof s->file, "f%u", i < 3 ? i : roll(w, 2));
    }
}

static void make_paths(struct world *w)
{
    for (uint32_t i = 0; i < CODES; i++) {
        w->code_raw[i] = any_of(w, 1u << SCOPE_LINE);
        w->code_normal[i] = roll(w, 3) ? w->code_raw[i] : any_of(w, 1u << SCOPE_LINE);
    }
    for (uint32_t i = 0; i < PATHS; i++) {
        struct path *p = &w->paths[i];

        /* Paths share their beginnings, and addresses come again: recursion. */
        *p = i ? w->paths[roll(w, i)] : (struct path){.depth = 0};
        p->depth = (int)roll(w, (uint32_t)(p->depth < DEPTH ? p->depth + 1 : DEPTH));
        do
            p->code[p->depth++] = roll(w, roll(w, 2) ? 8 : CODES);
        while (p->depth < DEPTH && roll(w, 3));
    }
}

static void make_world(struct world *w, uint64_t seed)
{
    *w = (struct world){.seed = seed, .profiles = seed % 5 ? PROFILES : 1};
    make_scopes(w);
    make_paths(w);
    for (uint32_t p = 0; p < w->profiles; p++)
        w->ranks[p] = seed % 3 ? (int32_t)roll(w, 4) - 1 : -1;
    for (unsigned i = 0; i < 300; i++) {
        struct sample s = {roll(w, w->profiles), roll(w, METRICS), roll(w, PATHS), 0, roll(w, 40)};

        s.sum = roll(w, 3) ? (int64_t)s.count * 1000 : (int64_t)roll(w, 1u << 30) * (roll(w, 4) ? 1 : -1) * 7919;
        vec_push(&w->samples, s);
    }
}

/* ---- the reference: texts of contexts and sets, and sums per profile ---- */

struct sums {
    int64_t of[METRICS][PROFILES];
};
struct reference {
    struct intern contexts, sets;
    VEC(struct sums) context_sums, set_sums;
};

static void describe(const struct world *w, uint32_t scope, struct str *out)
{
    const struct scope *s = &w->scopes[scope];

    /* The number tells it from its namesakes. */
    str_addf(out, "/%u %d %s %s:%u %u", scope, s->kind, s->name, s->file, s->line, s->ordinal);
}

static void add_to(struct intern *texts, struct sums **sums, size_t *len, size_t *cap, const char *text,
                   const struct sample *s)
{
    uint32_t id = intern_add(texts, text);

    while (*len <= id) {
        *sums = vec_grow_(*sums, cap, *len, 1, sizeof **sums);
        memset(&(*sums)[(*len)++], 0, sizeof **sums);
    }
    (*sums)[id].of[s->metric][s->profile] += s->sum;
}
#define ADD_TO(texts, vec, text, s) add_to(texts, &(vec)->data, &(vec)->len, &(vec)->cap, text, s)

static void add_set(struct reference *r, const char *text, const struct sample *s, struct intern *seen)
{
    if (intern_find(seen, text) != INTERN_NONE)
        return;
    intern_add(seen, text);
    ADD_TO(&r->sets, &r->set_sums, text, s);
}

static void add_named_set(struct reference *r, const struct world *w, uint32_t scope, const struct sample *s,
                          struct intern *seen)
{
    AUTO_STR struct str text = {0};

    describe(w, scope, &text);
    add_set(r, str_cstr(&text), s, seen);
}

/* One frame: its scopes are added to the text; the text of the host of its callees is given back. */
static void add_frame(struct reference *r, const struct world *w, const struct path *p, int depth,
                      struct fuse_settings how, struct str *text, const struct sample *s, struct intern *seen)
{
    const uint32_t *lines = how.raw ? w->code_raw : w->code_normal;
    uint32_t chain[SCOPES], n = 0, line = lines[p->code[depth]];
    size_t host = 0;

    for (uint32_t at = line; w->scopes[at].kind != SCOPE_FILE; at = w->scopes[at].parent) {
        if (!(w->scopes[at].kind == SCOPE_INLINE && how.no_inline) &&
            !(w->scopes[at].kind == SCOPE_LOOP && how.no_loops))
            chain[n++] = at;
    }
    while (n--) {
        host = text->len;
        describe(w, chain[n], text);
        if (w->scopes[chain[n]].kind == SCOPE_PROCEDURE && depth)
            str_addf(text, "@%s:%u", w->scopes[lines[p->code[depth - 1]]].file,
                     w->scopes[lines[p->code[depth - 1]]].line);
        if (n || depth == p->depth - 1)
            ADD_TO(&r->contexts, &r->context_sums, str_cstr(text), s);
        if (n)
            add_named_set(r, w, chain[n], s, seen);
    }
    while (w->scopes[line].kind != SCOPE_PROCEDURE)
        line = w->scopes[line].parent;
    add_named_set(r, w, w->scopes[line].parent, s, seen);
    add_named_set(r, w, 0, s, seen);
    if (depth < p->depth - 1) {
        /* The call site's own row exists too, with nothing of what its callee costs. */
        AUTO_STR struct str site = {0};
        struct sample nothing = *s;

        nothing.sum = 0;
        str_add(&site, str_cstr(text));
        ADD_TO(&r->contexts, &r->context_sums, str_cstr(&site), &nothing);
        text->s[text->len = host] = 0;
    }
}

static void make_reference(struct reference *r, const struct world *w, struct fuse_settings how)
{
    *r = (struct reference){0};
    for (size_t i = 0; i < w->samples.len; i++) {
        const struct sample *s = &w->samples.data[i];
        const struct path *p = &w->paths[s->path];
        AUTO_STR struct str text = {0};
        AUTO(intern_deinit) struct intern seen = {0};

        for (int d = 0; d < p->depth; d++)
            add_frame(r, w, p, d, how, &text, s, &seen);
    }
}

static void free_reference(struct reference *r)
{
    intern_deinit(&r->contexts);
    intern_deinit(&r->sets);
    vec_deinit(&r->context_sums);
    vec_deinit(&r->set_sums);
}

/* ---- the same through the model ---- */

static struct model *make_model(const struct world *w, bool backwards)
{
    struct model *m = model_create();
    uint32_t module = model_module(m, "n0", "", 0, NULL), ids[SCOPES], metrics[METRICS], profiles[PROFILES];

    ids[0] = model_module_scope(m, module);
    for (uint32_t i = 1; i < SCOPES; i++) {
        const struct scope *s = &w->scopes[i];

        ids[i] = model_scope(m, &(struct model_scope){.kind = s->kind,
                                                      .parent = ids[s->parent],
                                                      .name = s->name,
                                                      .file = s->file,
                                                      .line = s->line,
                                                      .module = module,
                                                      /* Scopes that look alike differ in their address. */
                                                      .call_file = s->kind == SCOPE_INLINE ? s->file : NULL,
                                                      .call_line = s->call_line,
                                                      .ordinal = s->ordinal,
                                                      .address = i});
    }
    for (uint32_t i = 0; i < METRICS; i++)
        metrics[i] = model_metric(m,
                                  &(struct model_metric){.event = i ? "B" : "A", .period = i ? 1000 : 0, .scale = 1});
    for (uint32_t i = 0; i < w->profiles; i++) {
        uint32_t p = backwards ? w->profiles - 1 - i : i;

        profiles[p] = model_profile(m, &(struct model_profile){.rank = w->ranks[p],
                                                               .host = "h",
                                                               .pid = p,
                                                               .thread = p,
                                                               .creator_profile = HQDB_NONE,
                                                               .creator_frame = HQDB_NONE});
    }
    for (size_t i = 0; i < w->samples.len; i++) {
        const struct sample *s = &w->samples.data[backwards ? w->samples.len - 1 - i : i];
        const struct path *path = &w->paths[s->path];
        uint32_t frame = HQDB_NONE;

        for (int d = 0; d < path->depth; d++) {
            uint32_t c = path->code[d];

            frame = model_frame(m, frame, model_code(m, module, c * 16, ids[w->code_raw[c]], ids[w->code_normal[c]]));
        }
        model_value(m, profiles[s->profile], metrics[s->metric], frame, s->sum, s->count);
    }
    return m;
}

static uint32_t scope_number(const struct db *db, uint32_t scope)
{
    return (uint32_t)db->scopes[scope].address; /* as made above; the module has none */
}

static void context_text(const struct db *db, const struct world *w, uint32_t context, struct str *out)
{
    const struct hqdb_context *c = &db->contexts[context];
    uint32_t scope = scope_number(db, c->scope);

    if (!context)
        return;
    context_text(db, w, c->parent, out);
    describe(w, scope, out);
    if (w->scopes[scope].kind == SCOPE_PROCEDURE && *db_string(db, c->call_file))
        str_addf(out, "@%s:%u", db_string(db, c->call_file), c->call_line);
}

static bool counts(const struct world *w, uint32_t profile)
{
    bool ranked = false;

    for (uint32_t p = 0; p < w->profiles; p++)
        ranked |= w->ranks[p] >= 0;
    return !ranked || w->ranks[profile] >= 0;
}

static void check_statistics(const struct world *w, const struct sums *want, uint32_t m,
                             const struct hqdb_statistics *got)
{
    __int128 squares = 0;
    int64_t sum = 0, low = INT64_MAX, high = INT64_MIN;
    uint64_t count = 0;

    for (uint32_t p = 0; p < w->profiles; p++) {
        int64_t x = want->of[m][p];

        if (!counts(w, p))
            continue;
        sum += x;
        squares += (__int128)x * x;
        count += x != 0;
        low = x < low ? x : low;
        high = x > high ? x : high;
    }
    CHECK_EQ_INT(got->sum, sum);
    CHECK_EQ_INT(got->count, count);
    CHECK_EQ_INT(got->min, low);
    CHECK_EQ_INT(got->max, high);
    CHECK(got->squares[0] == (uint64_t)squares && got->squares[1] == (uint64_t)(squares >> 64));
}

/* Inclusive values of one profile from the values of its frames. */
static int64_t inclusive_in(const struct db *db, uint32_t metric, uint32_t context, uint32_t pid)
{
    struct db_values v = db_frame_values(db, db_tree_range(db, context), metric);
    struct db_value x;
    int64_t sum = 0;

    while (db_value_next(&v, &x))
        sum += db->profiles[x.profile].pid == pid ? x.sum : 0;
    return sum;
}

static void check_contexts(const struct db *db, const struct world *w, const struct reference *r, bool statistics)
{
    CHECK_EQ_INT(db->context_count - 1, intern_count(&r->contexts) - 1);
    for (uint32_t c = 1; c < db->context_count; c++) {
        AUTO_STR struct str text = {0};
        uint32_t id;

        context_text(db, w, c, &text);
        id = intern_find(&r->contexts, str_cstr(&text));
        if (id == INTERN_NONE) {
            TEST_FAIL("seed %llu: %s is not in the reference", (unsigned long long)w->seed, str_cstr(&text));
            continue;
        }
        for (uint32_t m = 0; m < METRICS; m++) {
            struct hqdb_statistics room;
            int64_t sum = 0;

            for (uint32_t p = 0; p < w->profiles; p++) {
                sum += r->context_sums.data[id].of[m][p];
                CHECK_EQ_INT(inclusive_in(db, m, c, p), r->context_sums.data[id].of[m][p]);
            }
            CHECK_EQ_INT(db_tree_inclusive(db, m, c), sum);
            if (statistics)
                check_statistics(w, &r->context_sums.data[id], m, db_context_statistics(db, m, c, &room));
        }
    }
}

static void check_sets(const struct db *db, const struct world *w, const struct reference *r)
{
    for (uint32_t s = 1; s < db->scope_count; s++) {
        AUTO_STR struct str text = {0};
        const struct sums zero = {{{0}}};
        uint32_t id;

        if (db->scopes[s].kind == SCOPE_LINE)
            continue;
        describe(w, scope_number(db, s), &text);
        id = intern_find(&r->sets, str_cstr(&text));
        for (uint32_t m = 0; m < METRICS; m++)
            check_statistics(w, id == INTERN_NONE ? &zero : &r->set_sums.data[id], m, db_scope_statistics(db, m, s));
    }
}

/* Raw values add up to inclusive ones: every frame lies in its context, and the children are inside their parent. */
static void check_shape(const struct db *db)
{
    for (uint32_t f = 0; f < db->frame_count; f++) {
        uint32_t c = db_frame_context(db, f), parent = db_parent_frame(db, f);

        CHECK_EQ_INT(db_scope(db, db->contexts[c].scope)->kind, SCOPE_LINE);
        CHECK(db_tree_range(db, c).first <= f && f < db_tree_range(db, c).last);
        if (parent != HQDB_NONE)
            CHECK(db_parent_context(db, db_frame_context(db, parent)) < c);
    }
}

static struct db *store(struct model *m, const char *path)
{
    struct db *db = NULL;

    CHECK_OK(model_write(m, path, 1));
    CHECK_OK(db_open(path, &db));
    model_destroy(m);
    return db;
}

static void check_derived(const struct db *db, const struct world *w, struct fuse_settings how)
{
    struct reference r;
    struct db *other = NULL;

    make_reference(&r, w, how);
    CHECK_OK(db_derive(db, how, &other));
    check_contexts(other, w, &r, w->profiles == 1);
    check_shape(other);
    db_close(other);
    free_reference(&r);
}

static void check_same_file(const char *a, const char *b)
{
    struct file_map x = {0}, y = {0};

    CHECK_OK(file_map_open(a, &x));
    CHECK_OK(file_map_open(b, &y));
    CHECK(x.size == y.size && !memcmp(x.data, y.data, x.size));
    file_map_close(&x);
    file_map_close(&y);
}

TEST(random_programs)
{
    char *directory = test_tmpdir();
    AUTO_FREE char *path = file_join(directory, "a.db");
    AUTO_FREE char *other = file_join(directory, "b.db");

    for (uint64_t seed = 1; seed <= ROUNDS && !test_failures; seed++) {
        struct world w;
        struct reference r;
        struct db *db;

        make_world(&w, seed);
        make_reference(&r, &w, (struct fuse_settings){0});
        db = store(make_model(&w, false), path);
        CHECK_OK(db_verify(db));
        check_contexts(db, &w, &r, true);
        check_sets(db, &w, &r);
        check_shape(db);
        check_derived(db, &w, (struct fuse_settings){.raw = true});
        check_derived(db, &w, (struct fuse_settings){.no_inline = true});
        check_derived(db, &w, (struct fuse_settings){.no_loops = true});
        check_derived(db, &w, (struct fuse_settings){.raw = true, .no_inline = true});
        db_close(db);
        db_close(store(make_model(&w, true), other));
        check_same_file(path, other);
        free_reference(&r);
        vec_deinit(&w.samples);
    }
    CHECK_OK(file_remove_tree(directory));
    free(directory);
}

TEST_MAIN
