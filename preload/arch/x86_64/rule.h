/* SPDX-License-Identifier: BSD-3-Clause */
/* Recipes as the follower of machine code wants them. */
#ifndef HQ_PRELOAD_ARCH_X86_64_RULE_H
#define HQ_PRELOAD_ARCH_X86_64_RULE_H

#include "unwind/arch/x86_64/follow.h"

/* Returns the rule for the code at an address that other code leads to, by its recipe; a follow_ask. Safe in signal
 * handlers. */
struct follow_rule recipe_rule(const struct follow *f, uint64_t address);

#endif
