/* SPDX-License-Identifier: BSD-3-Clause */
/* build: -O2 -g -fomit-frame-pointer -fno-optimize-sibling-calls */
/*
 * assembly SECONDS: procedures in assembly without unwind information, of every shape that hides the return address.
 * Each is called by a procedure of its own, from_NAME, from below a stack that is littered with old return addresses,
 * so the only right path is main;round;from_NAME;NAME and what NAME calls.
 */
#include <stdint.h>
#include <stdlib.h>
#include <time.h>

#define PROCEDURE(name, text) \
    __asm__(".text\n.p2align 4\n.globl " #name "\n.type " #name ", @function\n" #name ":\n" text "\n.size " #name \
            ", . - " #name "\n"); \
    uint64_t name(uint64_t, uint64_t *)

/* rdi counts down; every label is used once in its procedure. */
#define SPIN(label) "mov $6000, %ecx\n" label ": imul $17, %rdi, %rdi\n inc %rdi\n dec %ecx\n jnz " label "b\n"

PROCEDURE(leaf, SPIN("1") "mov %rdi, %rax\n ret");

/* rbp is data: here it points to what looks like a frame, the words that main has prepared. */
PROCEDURE(pushes, "push %rbp\n push %rbx\n mov %rsi, %rbp\n push %r12\n push %r13\n" SPIN("1") "mov %rbp, %rbx\n" SPIN(
                      "2") "pop %r13\n pop %r12\n pop %rbx\n pop %rbp\n" SPIN("3") "ret");

PROCEDURE(locals, "sub $520, %rsp\n" SPIN("1") "mov %rdi, 8(%rsp)\n" SPIN("2") "add $520, %rsp\n ret");

PROCEDURE(framed, "push %rbp\n mov %rsp, %rbp\n sub $200, %rsp\n and $-32, %rsp\n" SPIN("1") "leave\n ret");

/* The old stack pointer stays in a register, or in the new frame. */
PROCEDURE(aligned, SPIN("1") "mov %rsp, %r9\n and $-64, %rsp\n sub $256, %rsp\n" SPIN("2") "mov %r9, %rsp\n ret");
PROCEDURE(saved,
          "push %rbp\n push %r12\n mov %rsp, %rax\n and $-64, %rsp\n sub $256, %rsp\n" SPIN(
              "1") "mov %rax, 192(%rsp)\n xor %eax, %eax\n mov %rdi, %rbp\n" SPIN("2") "mov 192(%rsp), %rsp\n pop "
                                                                                       "%r12\n pop %rbp\n ret");

/* Calls within assembly that keep to no convention, and calls of C. */
PROCEDURE(helper, SPIN("1") "ret");
PROCEDURE(nested, "mov %rsp, %r10\n and $-32, %rsp\n sub $96, %rsp\n call helper\n" SPIN(
                      "1") "call helper\n mov %r10, %rsp\n mov %rdi, %rax\n ret");
PROCEDURE(outer, "push %rbp\n push %rbx\n sub $72, %rsp\n mov %rsi, %rbp\n call back\n mov %rax, %rdi\n" SPIN(
                     "1") "call helper\n call back\n add $72, %rsp\n pop %rbx\n pop %rbp\n ret");

/* Jumps out of the procedure, and to computed places. */
PROCEDURE(tail, "push %rbx\n" SPIN("1") "pop %rbx\n jmp leaf");
PROCEDURE(tail_to_c, "sub $24, %rsp\n" SPIN("1") "add $24, %rsp\n jmp back");
PROCEDURE(computed,
          "push %rbx\n push %rbp\n mov %rsi, %rbp\n" SPIN(
              "1") "lea 4f(%rip), %rdx\n mov %edi, %ecx\n and $1, %ecx\n shl $4, %rcx\n add %rcx, %rdx\n jmp *%rdx\n"
                   ".p2align 4\n 4: add $1, %rdi\n jmp 5f\n .p2align 4\n add $3, %rdi\n 5: " SPIN(
                       "2") "pop %rbp\n pop %rbx\n mov %rdi, %rax\n ret");
PROCEDURE(branching,
          "test $1, %dil\n jz 3f\n push %rbx\n sub $64, %rsp\n" SPIN(
              "1") "add $64, %rsp\n pop %rbx\n ret\n 3: push %r12\n push %r13\n" SPIN("2") "pop %r13\n pop %r12\n ret");
PROCEDURE(exchanged, "lea -4096(%rsp), %rax\n xchg %rax, %rsp\n" SPIN("1") "mov %rax, %rsp\n ret");

static volatile uint64_t sink;

__attribute__((noinline, noipa)) uint64_t back(uint64_t x, uint64_t *frame)
{
    for (int i = 0; i < 4000; i++)
        sink += x ^ (uint64_t)i;
    return x + (uint64_t)frame;
}

/* Leaves return addresses, of itself and what calls it, all over the stack below. */
__attribute__((noinline, noipa)) static uint64_t litter(uint64_t depth)
{
    volatile uint64_t room[3] = {depth, depth, depth};

    return depth ? litter(depth - 1) + room[depth % 3] : sink;
}

#define FROM(name) \
    __attribute__((noinline, noipa)) static void from_##name(uint64_t x, uint64_t *frame) \
    { \
        sink += litter(60 + x % 7); \
        sink += name(x, frame); \
        sink += x; \
    }
#define ALL(X) \
    X(leaf) \
    X(pushes) \
    X(locals) \
    X(framed) X(aligned) X(saved) X(nested) X(outer) X(tail) X(tail_to_c) X(computed) X(branching) X(exchanged)
ALL(FROM)

#define ROW(name) from_##name,
static void (*const from[])(uint64_t, uint64_t *) = {ALL(ROW)};

/* `frame` looks like one that a frame pointer leads to, with a return address into main. */
__attribute__((noinline, noipa)) static void round_of_all(uint64_t x, uint64_t *frame)
{
    for (unsigned i = 0; i < sizeof from / sizeof *from; i++) {
        from[i](x + i, frame);
        sink++;
    }
}

__attribute__((noinline, noipa)) static void *here(void)
{
    return __builtin_return_address(0);
}

int main(int argc, char **argv)
{
    double seconds = argc > 1 ? atof(argv[1]) : 1;
    struct timespec begin, now;
    uint64_t frame[4], x = 0;

    frame[0] = (uint64_t)&frame[2];
    frame[1] = (uint64_t)here();
    frame[2] = 0;
    frame[3] = frame[1];
    clock_gettime(CLOCK_MONOTONIC, &begin);
    do {
        round_of_all(x++, frame);
        clock_gettime(CLOCK_MONOTONIC, &now);
    } while ((double)(now.tv_sec - begin.tv_sec) + (double)(now.tv_nsec - begin.tv_nsec) / 1e9 < seconds);
    return sink == 42;
}
