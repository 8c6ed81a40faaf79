/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * jit: code written at run time, with frame pointers and without unwind information: below main three of its frames, then work() of this program
 * for 0.3 s; then a loop in such code for as long.
 */
#include "burn.h"

#include <string.h>
#include <sys/mman.h>

typedef void function(void *argument, void *second);

/*
 * push %rbp; mov %rsp,%rbp; push %rbx; push %rbx; mov %rdi,%rax; mov (%rsi),%rdi; add $8,%rsi; call *%rax; pop %rbx; pop %rbx; pop %rbp; ret:
 * calls its first argument with the first word of the list that is its second, and the rest of the list.
 */
static const unsigned char forward[] = {
    0x55, 0x48, 0x89, 0xe5, 0x53, 0x53, 0x48, 0x89, 0xf8, 0x48, 0x8b, 0x3e, 0x48, 0x83, 0xc6, 0x08, 0xff, 0xd0, 0x5b, 0x5b, 0x5d, 0xc3,
};
/* push %rbp; mov %rsp,%rbp; 1: dec %rdi; jne 1b; pop %rbp; ret */
static const unsigned char countdown[] = { 0x55, 0x48, 0x89, 0xe5, 0x48, 0xff, 0xcf, 0x75, 0xfb, 0x5d, 0xc3 };

static __attribute__((noinline)) void work(void *unused, void *list)
{
    (void)unused, (void)list;
    burn(0.3);
    __asm__ volatile("");
}

int main(void)
{
    char *code = mmap(NULL, 3 * 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

    /* forward three times, on two pages, and then work */
    memcpy(code, forward, sizeof forward);
    memcpy(code + 64, forward, sizeof forward);
    memcpy(code + 2 * 4096, forward, sizeof forward);
    memcpy(code + 128, countdown, sizeof countdown);
    if (mprotect(code, 3 * 4096, PROT_READ | PROT_EXEC))
        return 1;
    void *list[] = { code + 2 * 4096, (void *)work, NULL, NULL };
    ((function *)code)(code + 64, list);
    double end = thread_seconds() + 0.3;
    while (thread_seconds() < end)
        ((void (*)(unsigned long))(code + 128))(1000000);
    return 0;
}
