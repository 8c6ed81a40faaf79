/* SPDX-License-Identifier: BSD-3-Clause */
/* A plugin of adversary.c: a and b have the same layout in memory but frames of different sizes. */
void adversary_spend(void);
void plugin_entry(int depth);

static __attribute__((noinline, noipa)) void inside(int depth)
{
    volatile char memory[48];

    memory[0] = 1;
    if (depth > 0)
        inside(depth - 1);
    adversary_spend();
    memory[1] = 2;
}

void plugin_entry(int depth)
{
    inside(depth);
    __asm__ volatile("");
}
