/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Unwinding by machine code, for procedures without unwind information: hand assembly. From the program counter the
 * instructions are followed to where the procedure returns; what they do to the stack pointer tells where the return
 * address is, and what they load where the caller's registers are. This is no guess: if the procedure returned on that
 * way, it would take its return address from there. All ways are followed, within bounds, and have to agree.
 *
 * Where code calls something, it is assumed to come back, and a jump to a computed place to stay in the procedure,
 * whose code goes on behind it: both are mostly so, and counted as doubts. A way with fewer doubts wins. Safe in signal
 * handlers.
 */
#ifndef HQ_UNWIND_FOLLOW_H
#define HQ_UNWIND_FOLLOW_H

#include "unwind/cfi.h"
#include "unwind/arch/x86_64/machine.h"

enum { FOLLOW_EXITS = 4, FOLLOW_WAYS = 32, FOLLOW_STORED = 12, FOLLOW_SEEN_LOG2 = 7 };

enum follow_kind {
    FOLLOW_LOST,
    FOLLOW_VALUE, /* it is `word` */
    FOLLOW_AT,    /* it is what is read at `word`, plus `plus` */
    FOLLOW_CODE,  /* `word`, behind a call that was followed */
};

/* The origin that `word` is at a constant distance from: a register as it was at the start (its number), the word that
 * was saved at rsp + 8 * via then, or nothing. */
enum { FOLLOW_SAVED = MACHINE_REGISTERS, FOLLOW_NOTHING };

struct follow_value {
    uint64_t word;
    int32_t plus;
    int16_t via;
    uint8_t kind, origin;
};

/* Where a way out of the procedure finds its return address, and the caller's registers then. */
struct follow_exit {
    struct follow_value at; /* its address */
    uint64_t caller_sp;
    struct follow_value reg[MACHINE_REGISTERS];
};

/* A way as it stands somewhere. */
struct follow_way {
    uint64_t pc;
    uint64_t within; /* behind which call that was followed, 0: none */
    uint32_t doubts, stored;
    struct follow_value reg[MACHINE_REGISTERS];
    struct {
        uint64_t address;
        struct follow_value value;
    } store[FOLLOW_STORED];
};

/* The rule that unwind information gives for an address behind the code that has none. */
enum follow_rule_kind {
    FOLLOW_RULE_NONE,  /* nothing, or there is no code */
    FOLLOW_RULE_RSP,   /* CFA = rsp + cfa; return address at CFA - 8; rbp at CFA + rbp unless that is 0 */
    FOLLOW_RULE_RBP,   /* CFA = rbp + cfa, otherwise the same */
    FOLLOW_RULE_OTHER, /* something else; taken for the first instruction of a procedure */
};
struct follow_rule {
    uint32_t kind;
    int32_t cfa, rbp; /* bytes */
};
struct follow;
typedef struct follow_rule follow_ask(const struct follow *f, uint64_t address);

/* Asked for the words of the stack. */
typedef bool follow_load(void *where, uint64_t address, uint64_t *value);

struct follow {
    /* Set by the caller. */
    uint64_t start, end; /* where instructions may be read that have no unwind information */
    follow_load *load;
    follow_ask *rule;
    void *where;
    struct cfi *scratch;
    /* The answer. */
    struct follow_exit exit[FOLLOW_EXITS]; /* different ones, of the ways with the fewest doubts */
    uint32_t exits;
    uint32_t doubts;
    bool disagree;   /* more exits than that, or a place that was reached with different stack pointers */
    uint64_t steady; /* up to here, this included, every instruction has the same rule as the first */
    /* Its own. */
    uint64_t first_sp;
    uint64_t counted; /* the processor's clock when `credit` was */
    uint32_t credit;  /* instructions that may still be looked at: it grows with time */
    uint32_t budget, looked, ways;
    struct follow_way way[FOLLOW_WAYS], now;
    /* Places that were reached: in the procedure itself, and in what it calls, which may be much and leaves it room. */
    struct follow_seen {
        uint64_t key; /* 0: free */
        int32_t sp;   /* bytes from first_sp */
        uint32_t doubts;
    } seen[2][1 << FOLLOW_SEEN_LOG2];
};

/* DWARF's numbers of the processor's registers. */
extern const uint8_t follow_dwarf[MACHINE_REGISTERS];

/* May the program be kept waiting? Asked before follow_out. */
bool follow_may(struct follow *f);

/* From these registers (DWARF numbers), of which `known` has a bit each. False if no way out was found. */
bool follow_out(struct follow *f, const uint64_t reg[CFI_REGISTERS], uint32_t known);

/* Returns, of the ways out that were found, the one whose return address, a word of the stack not below sp, satisfies
 * `is_return`; NULL if there is none, or more than one. *pc becomes that address. */
const struct follow_exit *follow_exit_of(const struct follow *f, uint64_t sp, bool (*is_return)(void *arg, uint64_t pc),
                                         void *arg, uint64_t *pc);

/* Computes a value from the stack as it is now. False if it cannot be known. */
bool follow_evaluate(const struct follow *f, const struct follow_value *value, uint64_t *result);

#endif
