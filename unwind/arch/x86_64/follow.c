/* SPDX-License-Identifier: BSD-3-Clause */
#include "unwind/arch/x86_64/follow.h"

#include "unwind/sections.h"

#include <string.h>

/* Instructions that are looked at, those that calls are not followed for, and those behind the first way out. */
enum { BUDGET = 6000, STEP_OVER = 3000, MORE = 150, DEPTH = 3, TAIL_CALL = 1 };

const uint8_t follow_dwarf[MACHINE_REGISTERS] = {0, 2, 1, 3, 7, 6, 4, 5, 8, 9, 10, 11, 12, 13, 14, 15};

static const struct follow_value lost = {.kind = FOLLOW_LOST};

bool follow_evaluate(const struct follow *f, const struct follow_value *value, uint64_t *result)
{
    *result = value->word;
    if (value->kind == FOLLOW_LOST || (value->kind == FOLLOW_AT && !f->load(f->where, value->word, result)))
        return false;
    if (value->kind == FOLLOW_AT)
        *result += (uint64_t)(int64_t)value->plus;
    return true;
}

const struct follow_exit *follow_exit_of(const struct follow *f, uint64_t sp, bool (*is_return)(void *arg, uint64_t pc),
                                         void *arg, uint64_t *pc)
{
    const struct follow_exit *found = NULL;
    uint64_t word;

    for (uint32_t i = 0; i < f->exits; i++) {
        const struct follow_exit *exit = &f->exit[i];

        if (exit->at.word % 8 || exit->at.word < sp || !f->load(f->where, exit->at.word, &word) ||
            !is_return(arg, word))
            continue;
        if (found)
            return NULL;
        found = exit;
        *pc = word;
    }
    return found;
}

static struct follow_value plus(struct follow_value value, int64_t distance)
{
    if (value.kind == FOLLOW_AT) {
        int64_t sum = value.plus + distance;

        if (sum != (int32_t)sum)
            return lost;
        value.plus = (int32_t)sum;
    } else {
        value.word += (uint64_t)distance;
    }
    return value;
}

/* As an address it has to be known now, unless it is one already. */
static struct follow_value as_address(const struct follow *f, struct follow_value value)
{
    struct follow_value known = {.kind = FOLLOW_VALUE, .origin = FOLLOW_NOTHING};
    int64_t up = (int64_t)(value.word - f->first_sp);

    if (value.kind != FOLLOW_AT)
        return value;
    if (!follow_evaluate(f, &value, &known.word))
        return lost;
    if (value.origin == MACHINE_RSP && up % 8 == 0 && up / 8 == (int16_t)(up / 8)) {
        known.origin = FOLLOW_SAVED;
        known.via = (int16_t)(up / 8);
    }
    return known;
}

static struct follow_value load(const struct follow *f, const struct follow_way *way, struct follow_value address)
{
    address = as_address(f, address);
    if (!address.kind)
        return lost;
    for (uint32_t i = way->stored; i-- > 0;)
        if (way->store[i].address == address.word)
            return way->store[i].value;
    address.kind = FOLLOW_AT;
    address.plus = 0;
    return address;
}

/* Forgets the stores below the stack pointer and its red zone of 128 bytes: their memory may have been overwritten. */
static void forget_popped(struct follow_way *way)
{
    uint32_t kept = 0;

    for (uint32_t i = 0; i < way->stored; i++)
        if (way->store[i].address + 128 >= way->reg[MACHINE_RSP].word)
            way->store[kept++] = way->store[i];
    way->stored = kept;
}

/* Stores to places that are not known go to memory of other kinds. False if there are too many to be remembered. */
static bool store(const struct follow *f, struct follow_way *way, struct follow_value address,
                  struct follow_value value)
{
    uint32_t i = 0;

    address = as_address(f, address);
    if (!address.kind)
        return true;
    while (i < way->stored && way->store[i].address != address.word)
        i++;
    if (i == FOLLOW_STORED) {
        forget_popped(way);
        i = way->stored;
    }
    if (i == FOLLOW_STORED)
        return value.kind == FOLLOW_LOST;
    way->stored += i == way->stored;
    way->store[i].address = address.word;
    way->store[i].value = value;
    return true;
}

static void note_exit(struct follow *f, const struct follow_way *way, struct follow_value at, uint64_t popped)
{
    struct follow_exit *exit = &f->exit[f->exits];

    at = as_address(f, at);
    if (!at.kind)
        return;
    for (uint32_t i = 0; i < f->exits; i++)
        if (f->exit[i].at.word == at.word)
            return;
    if (f->exits == FOLLOW_EXITS) {
        f->disagree = true;
        return;
    }
    f->exits++;
    f->doubts = way->doubts;
    if (f->budget > MORE)
        f->budget = MORE;
    exit->at = at;
    exit->caller_sp = at.word + 8 + popped;
    memcpy(exit->reg, way->reg, sizeof exit->reg);
}

/* Was this place reached before? Places are told by how far they lie from the start, so that the answer does not depend
 * on where the loader put the code and the stack. */
static bool is_seen(struct follow *f, const struct follow_way *way)
{
    uint64_t key = (way->pc - f->start) ^ way->within << 32;
    uint32_t at = (uint32_t)(++key * 0x9e3779b97f4a7c15u >> (64 - FOLLOW_SEEN_LOG2));
    const struct follow_value *value = &way->reg[MACHINE_RSP];
    int32_t sp = value->kind ? (int32_t)(value->word - f->first_sp) : INT32_MIN;

    for (int i = 0; i < 8; i++, at = (at + 1) % (1 << FOLLOW_SEEN_LOG2)) {
        struct follow_seen *seen = &f->seen[way->within != 0][at];

        if (!seen->key) {
            *seen = (struct follow_seen){key, sp, way->doubts};
            return false;
        }
        if (seen->key != key)
            continue;
        if (seen->sp != sp && seen->doubts == way->doubts)
            f->disagree = true;
        return true;
    }
    return true;
}

static void push(struct follow *f, struct follow_way *way, const struct machine *m, bool *on)
{
    struct follow_value value = m->reg < MACHINE_REGISTERS ? way->reg[m->reg] : lost;

    way->reg[MACHINE_RSP] = as_address(f, plus(way->reg[MACHINE_RSP], -8));
    *on = store(f, way, way->reg[MACHINE_RSP], value);
}

static void pop(struct follow *f, struct follow_way *way, unsigned reg)
{
    struct follow_value value = load(f, way, way->reg[MACHINE_RSP]);

    way->reg[MACHINE_RSP] = as_address(f, plus(way->reg[MACHINE_RSP], 8));
    if (reg < MACHINE_REGISTERS)
        way->reg[reg] = value;
}

static struct follow_value base_of(const struct follow_way *way, const struct machine *m)
{
    return m->base < MACHINE_REGISTERS ? plus(way->reg[m->base], m->value) : lost;
}

static const uint16_t clobbered = 1u << MACHINE_RAX | 1u << MACHINE_RCX | 1u << MACHINE_RDX | 1u << MACHINE_RSI |
                                  1u << MACHINE_RDI | 15u << 8;

static void lose(struct follow_way *way, uint16_t registers)
{
    for (unsigned i = 0; i < MACHINE_REGISTERS; i++)
        if (registers >> i & 1)
            way->reg[i] = lost;
}

/* Applies the effect of an instruction that continues with the next one. False if that cannot be followed. */
static bool apply(struct follow *f, struct follow_way *way, const struct machine *m)
{
    struct follow_value value;
    bool on = true;

    switch (m->kind) {
    case MACHINE_PUSH: push(f, way, m, &on); return on;
    case MACHINE_POP: pop(f, way, m->reg); break;
    case MACHINE_MOVE: way->reg[m->reg] = base_of(way, m); break;
    case MACHINE_LOAD: way->reg[m->reg] = load(f, way, base_of(way, m)); break;
    case MACHINE_STORE: return store(f, way, base_of(way, m), way->reg[m->reg]);
    case MACHINE_MASK:
        value = as_address(f, way->reg[m->reg]);
        way->reg[m->reg] = value.kind ? (struct follow_value){.word = value.word & (uint64_t)m->value,
                                                              .kind = FOLLOW_VALUE,
                                                              .origin = FOLLOW_NOTHING}
                                      : lost;
        break;
    case MACHINE_EXCHANGE:
        value = way->reg[m->reg];
        way->reg[m->reg] = way->reg[m->base];
        way->reg[m->base] = value;
        break;
    case MACHINE_LEAVE:
        way->reg[MACHINE_RSP] = as_address(f, way->reg[MACHINE_RBP]);
        pop(f, way, MACHINE_RBP);
        break;
    default: lose(way, m->written);
    }
    return way->reg[MACHINE_RSP].kind != FOLLOW_LOST;
}

/* Tells a followed call, which comes back to `next`, from others: never 0. */
static uint64_t behind(const struct follow *f, uint64_t next, uint64_t stored_at)
{
    return (next - f->start) ^ (stored_at - f->first_sp) << 24;
}

/* Into what is called, if that has no unwind information either: such code does not always keep to the rules of calls.
 */
static bool enter(struct follow *f, struct follow_way *way, const struct machine *m, uint64_t next)
{
    struct follow_value top = as_address(f, plus(way->reg[MACHINE_RSP], -8));
    uint32_t depth = 0;

    for (uint32_t i = 0; i < way->stored; i++)
        depth += way->store[i].value.kind == FOLLOW_CODE && way->store[i].address > top.word;
    if (m->target < f->start || m->target >= f->end || depth >= DEPTH ||
        !store(f, way, top, (struct follow_value){.word = next, .kind = FOLLOW_CODE, .origin = FOLLOW_NOTHING}))
        return false;
    way->reg[MACHINE_RSP] = top;
    way->within = behind(f, next, top.word);
    return true;
}

/* A return that takes `popped` bytes more. True if it leads behind a call that was followed: the way goes on there. */
static bool come_back(struct follow *f, struct follow_way *way, struct follow_value at, uint64_t popped)
{
    struct follow_value to = load(f, way, at);
    uint64_t lowest = UINT64_MAX;

    if (to.kind != FOLLOW_CODE) {
        note_exit(f, way, at, popped);
        return false;
    }
    way->pc = to.word;
    way->reg[MACHINE_RSP] = plus(as_address(f, at), (int64_t)(8 + popped));
    way->within = 0;
    for (uint32_t i = 0; i < way->stored; i++)
        if (way->store[i].value.kind == FOLLOW_CODE && way->store[i].address >= way->reg[MACHINE_RSP].word &&
            way->store[i].address < lowest) {
            lowest = way->store[i].address;
            way->within = behind(f, way->store[i].value.word, lowest);
        }
    return true;
}

/* A place for one more way. Where there is none, one of the procedure itself takes that of one within a call. */
static struct follow_way *place_of_way(struct follow *f, const struct follow_way *way)
{
    uint32_t i = f->ways;

    if (i < FOLLOW_WAYS)
        return &f->way[f->ways++];
    while (!way->within && i > 0)
        if (f->way[--i].within)
            return &f->way[i];
    return NULL;
}

/* To be followed later; NULL if there is no place for it. */
static struct follow_way *postpone(struct follow *f, const struct follow_way *way, uint64_t pc, uint32_t doubts)
{
    struct follow_way *later = place_of_way(f, way);

    if (!later)
        return NULL;
    later->pc = pc;
    later->doubts = doubts;
    later->within = way->within;
    later->stored = way->stored;
    memcpy(later->reg, way->reg, sizeof later->reg);
    memcpy(later->store, way->store, way->stored * sizeof *way->store);
    return later;
}

/* Behind a call, as if it kept to the rules and came back. */
static void step_over(struct follow *f, const struct follow_way *way, uint64_t next)
{
    struct follow_way *later = postpone(f, way, next, way->doubts ? way->doubts : 1);

    if (later)
        lose(later, clobbered);
}

/*
 * The way leaves the code without unwind information: behind a jump to the start of a procedure, or a stub of the
 * linker's, for a tail call, and elsewhere the row that holds there tells.
 */
static void leave(struct follow *f, struct follow_way *way)
{
    struct follow_rule rule = {.kind = FOLLOW_RULE_OTHER};
    struct follow_value at = way->reg[MACHINE_RSP];

    if (way->pc != TAIL_CALL)
        rule = f->rule(f, way->pc);
    if (rule.kind == FOLLOW_RULE_RSP || rule.kind == FOLLOW_RULE_RBP) {
        at = plus(way->reg[rule.kind == FOLLOW_RULE_RSP ? MACHINE_RSP : MACHINE_RBP], rule.cfa - 8);
        if (rule.rbp)
            way->reg[MACHINE_RBP] = load(f, way, plus(at, 8 + rule.rbp));
    } else if (rule.kind != FOLLOW_RULE_OTHER) {
        return;
    }
    if (!come_back(f, way, at, 0))
        return;
    lose(way, clobbered);
    postpone(f, way, way->pc, way->doubts ? way->doubts : 1);
}

/* Does the rule for the stack and frame pointers change behind this instruction? */
static bool is_turn(const struct machine *m)
{
    switch (m->kind) {
    case MACHINE_STORE:
    case MACHINE_BRANCH: return false;
    case MACHINE_MOVE:
    case MACHINE_LOAD:
    case MACHINE_MASK: return m->reg == MACHINE_RSP || m->reg == MACHINE_RBP;
    case MACHINE_OTHER: return m->written & (1u << MACHINE_RSP | 1u << MACHINE_RBP);
    default: return true;
    }
}

/*
 * Continues behind a loop that touches each page of a large frame before it is used (-fstack-clash-protection): `sub
 * $4096, %rsp; orq $0, (%rsp); cmp %reg, %rsp; jne` ends when both registers are equal, so the stack pointer is known
 * without counting the rounds, and following another round tells nothing new.
 */
static bool end_probing(const struct follow *f, struct follow_way *way, const struct machine *m)
{
    const uint8_t *code = (const uint8_t *)way->pc;
    struct follow_value end;

    if (m->target >= way->pc || m->target < f->start || way->pc - m->target < 3 || way->pc - m->target > 64 ||
        !(code[0] == 0x75 || (code[0] == 0x0f && code[1] == 0x85)))
        return false;
    if ((code[-3] & 0xfb) != 0x48 || code[-2] != 0x39 || (code[-1] & 0xc7) != 0xc4) /* cmp %reg, %rsp */
        return false;
    end = as_address(f, way->reg[(code[-1] >> 3 & 7) + (code[-3] & 4 ? 8 : 0)]);
    if (!end.kind || end.origin != way->reg[MACHINE_RSP].origin)
        return false;
    way->reg[MACHINE_RSP] = end;
    return true;
}

/* Follows the present way to its end. */
static void walk(struct follow *f)
{
    struct follow_way *way = &f->now;
    struct machine m;
    uint64_t next;

    for (;;) {
        if (way->pc < f->start || way->pc >= f->end) {
            leave(f, way);
            return;
        }
        if (f->budget == 0 || (way->within && f->budget < STEP_OVER) ||
            !machine_decode((const uint8_t *)way->pc, (const uint8_t *)f->end, &m))
            return;
        f->budget--;
        f->looked++;
        next = way->pc + m.length;
        if (f->steady == way->pc)
            f->steady = is_turn(&m) ? next - 1 : next;
        switch (m.kind) {
        case MACHINE_STOP: return;
        case MACHINE_RETURN:
            if (!come_back(f, way, way->reg[MACHINE_RSP], (uint64_t)m.value))
                return;
            continue;
        case MACHINE_CALL:
            if (m.target == next) { /* call; pop: where am I? */
                way->reg[MACHINE_RSP] = as_address(f, plus(way->reg[MACHINE_RSP], -8));
                break;
            }
            if (next < f->end) /* otherwise it does not come back */
                step_over(f, way, next);
            if (!enter(f, way, &m, next))
                return;
            next = m.target;
            break;
        case MACHINE_JUMP:
            if (!m.target) {
                postpone(f, way, next, 2);
                postpone(f, way, TAIL_CALL, 2);
                return;
            }
            next = m.target;
            break;
        case MACHINE_BRANCH:
            apply(f, way, &m);
            if (!end_probing(f, way, &m))
                postpone(f, way, m.target, m.target >= f->start && m.target < f->end ? way->doubts : 2);
            break;
        default:
            if (!apply(f, way, &m))
                return;
        }
        way->pc = next;
        if (m.kind == MACHINE_JUMP && is_seen(f, way))
            return;
    }
}

/* The next way to follow: one with the fewest doubts. */
static bool take(struct follow *f)
{
    uint32_t best = 0;

    if (!f->ways)
        return false;
    for (uint32_t i = 1; i < f->ways; i++)
        if (f->way[i].doubts <= f->way[best].doubts)
            best = i;
    if (f->exits && f->way[best].doubts > f->doubts)
        return false;
    struct follow_way *way = &f->way[best];
    f->now.pc = way->pc;
    f->now.doubts = way->doubts;
    f->now.within = way->within;
    f->now.stored = way->stored;
    memcpy(f->now.reg, way->reg, sizeof way->reg);
    memcpy(f->now.store, way->store, way->stored * sizeof *way->store);
    f->ways--;
    if (best != f->ways)
        *way = f->way[f->ways];
    return true;
}

/* An instruction takes some 60 cycles: programs without any unwind information are not slowed by more than 3 in 100. */
enum { CYCLES_LOG2 = 11, CREDIT_MAX = 30000 };

COLD bool follow_may(struct follow *f)
{
    uint64_t now = __builtin_ia32_rdtsc(), more = (now - f->counted) >> CYCLES_LOG2;

    f->credit = more < CREDIT_MAX - f->credit ? f->credit + (uint32_t)more : CREDIT_MAX;
    f->counted = now;
    return f->credit >= BUDGET;
}

COLD bool follow_out(struct follow *f, const uint64_t reg[CFI_REGISTERS], uint32_t known)
{
    f->exits = f->doubts = f->ways = 0;
    f->disagree = false;
    f->budget = BUDGET;
    f->looked = 0;
    f->first_sp = reg[CFI_SP];
    memset(f->seen, 0, sizeof f->seen);
    f->now.pc = f->steady = reg[CFI_PC];
    f->now.doubts = f->now.stored = 0;
    f->now.within = 0;
    for (unsigned i = 0; i < MACHINE_REGISTERS; i++)
        f->now.reg[i] = (struct follow_value){.word = reg[follow_dwarf[i]],
                                              .kind = known >> follow_dwarf[i] & 1 ? FOLLOW_VALUE : FOLLOW_LOST,
                                              .origin = (uint8_t)i};
    walk(f);
    while (take(f))
        if (!is_seen(f, &f->now))
            walk(f);
    f->credit -= f->looked < f->credit ? f->looked : f->credit;
    return f->exits > 0;
}
