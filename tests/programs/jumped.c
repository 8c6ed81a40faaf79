/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Procedures that can be marked by jumps, or only by breakpoints, and what is to be as it was after a visit.
 *
 *     jumped        a line for each procedure: its name, its first byte and that where it is left (cc: a breakpoint,
 * e9: a jump), its visits, and the registers that came back wrong jumped alarm  handlers that come anywhere and make
 * visits, too: how many there were in all
 */
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/time.h>

/* Each returns 7 in %rax and changes nothing else but the flags. */
#define PROCEDURE(NAME, BODY) \
    __asm__(".pushsection .text\n.balign 32\n.globl " #NAME "\n.type " #NAME ", @function\n" #NAME ":\n" \
            ".cfi_startproc\n" BODY ".cfi_endproc\n.size " #NAME ", . - " #NAME "\n.balign 32\n.popsection\n"); \
    extern const uint8_t NAME[], NAME##_end[]

PROCEDURE(moves, "push %rbx\n push %rbp\n mov $7, %eax\n pop %rbp\n pop %rbx\nmoves_end: ret\n");
PROCEDURE(relative, "mov seven(%rip), %eax\n nop\n nop\nrelative_end: ret\n");
PROCEDURE(adds, "sub $8, %rsp\n mov $7, %eax\n add $8, %rsp\nadds_end: ret\n");
PROCEDURE(jumps_in,
          "mov $9, %al\n1: mov $8, %ah\n movzbl %al, %eax\n dec %eax\n cmp $7, %eax\n jne 1b\njumps_in_end: ret\n");
PROCEDURE(calls, "call moves\ncalls_end: ret\n");
PROCEDURE(tail, "push %rax\n pop %rax\n mov $7, %eax\ntail_end: jmp moves\n");
PROCEDURE(tight, "mov $7, %eax\n test %eax, %eax\n je 2f\n1:\ntight_end: ret\n2: jmp 1b\n");
__asm__(".section .rodata\nseven: .long 7\n.text\n");

static const struct procedure {
    const char *name;
    const uint8_t *code, *end;
} procedures[] = {{"moves", moves, moves_end},          {"relative", relative, relative_end}, {"adds", adds, adds_end},
                  {"jumps_in", jumps_in, jumps_in_end}, {"calls", calls, calls_end},          {"tail", tail, tail_end},
                  {"tight", tight, tight_end}};

struct registers {
    uint64_t general[14]; /* all but %rax and %rsp */
    uint64_t vectors[16][2];
};

/* Calls it with all registers filled, and stores them behind it; the word below the red zone, too. */
#define EIGHT(WORD, A, B, C, D, ...) FOUR(WORD, A, B, C, D) FOUR(WORD, __VA_ARGS__)
#define FOUR(WORD, A, B, C, D)       WORD(A) WORD(B) WORD(C) WORD(D)

#define LOW(WORD)     WORD(rcx, 0) WORD(rdx, 1) WORD(rbx, 2) WORD(rbp, 3) WORD(rsi, 4) WORD(r8, 5) WORD(r9, 6)
#define HIGH(WORD)    WORD(r10, 7) WORD(r11, 8) WORD(r12, 9) WORD(r13, 10) WORD(r14, 11) WORD(r15, 12)
#define VECTORS(WORD) EIGHT(WORD, 0, 1, 2, 3, 4, 5, 6, 7) EIGHT(WORD, 8, 9, 10, 11, 12, 13, 14, 15)
#define IN(NAME, I)   " mov 8*" #I "(%rdi), %" #NAME "\n"
#define OUT(NAME, I)  " mov %" #NAME ", 8*" #I "(%rdi)\n"
#define VIN(I)        " movups 112+16*" #I "(%rdi), %xmm" #I "\n"
#define VOUT(I)       " movups %xmm" #I ", 112+16*" #I "(%rdi)\n"
uint64_t call_with(struct registers *r, const uint8_t *code);
__asm__(
    ".text\n.type call_with, @function\ncall_with:\n.cfi_startproc\n"
    " push %rbx\n.cfi_adjust_cfa_offset 8\n push %rbp\n.cfi_adjust_cfa_offset 8\n push %r12\n.cfi_adjust_cfa_offset 8\n"
    " push %r13\n.cfi_adjust_cfa_offset 8\n push %r14\n.cfi_adjust_cfa_offset 8\n push %r15\n.cfi_adjust_cfa_offset 8\n"
    " push %rdi\n.cfi_adjust_cfa_offset 8\n mov %rsi, %rax\n" LOW(IN) HIGH(IN)
        VECTORS(VIN) " call *%rax\n pop %rdi\n.cfi_adjust_cfa_offset -8\n" LOW(OUT) HIGH(OUT)
            VECTORS(VOUT) " pop %r15\n.cfi_adjust_cfa_offset -8\n pop %r14\n.cfi_adjust_cfa_offset -8\n pop "
                          "%r13\n.cfi_adjust_cfa_offset -8\n"
                          " pop %r12\n.cfi_adjust_cfa_offset -8\n pop %rbp\n.cfi_adjust_cfa_offset -8\n pop "
                          "%rbx\n.cfi_adjust_cfa_offset -8\n ret\n"
                          ".cfi_endproc\n.size call_with, . - call_with\n");

static int wrong_after(const struct procedure *p, int visits)
{
    struct registers before, after;
    int wrong = 0;

    for (int n = 0; n < visits; n++) {
        for (size_t i = 0; i < sizeof before; i++)
            ((uint8_t *)&before)[i] = (uint8_t)(i * 7 + (size_t)n + 1);
        after = before;
        wrong += call_with(&after, p->code) != 7;
        wrong += memcmp(&before, &after, sizeof before) != 0;
    }
    return wrong;
}

static volatile sig_atomic_t alarms;

static void on_alarm(int number)
{
    struct registers r = {0};

    (void)number;
    call_with(&r, moves);
    alarms++;
}

static void with_alarms(void)
{
    const struct itimerval often = {{0, 300}, {0, 300}}, never = {0};
    struct registers r = {0};
    long visits = 0;

    signal(SIGALRM, on_alarm);
    setitimer(ITIMER_REAL, &often, NULL);
    for (; alarms < 300; visits++)
        call_with(&r, moves);
    setitimer(ITIMER_REAL, &never, NULL);
    signal(SIGALRM, SIG_IGN);
    printf("%ld\n", visits + alarms);
}

int main(int argc, char **argv)
{
    enum { VISITS = 1000 };

    if (argc > 1 && !strcmp(argv[1], "alarm")) {
        with_alarms();
        return 0;
    }
    for (size_t i = 0; i < sizeof procedures / sizeof *procedures; i++) {
        const struct procedure *p = &procedures[i];
        int wrong = wrong_after(p, VISITS);

        printf("%s %02x %02x %d %d\n", p->name, *p->code, *p->end, VISITS, wrong);
    }
    return 0;
}
