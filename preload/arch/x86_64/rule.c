/* SPDX-License-Identifier: BSD-3-Clause */
#include "preload/arch/x86_64/rule.h"

#include "preload/walk/recipe.h"

struct follow_rule recipe_rule(const struct follow *f, uint64_t address)
{
    struct recipe recipe = recipe_find(address, f->scratch);
    uint32_t kind = recipe.kind == RECIPE_SP        ? FOLLOW_RULE_RSP
                    : recipe.kind == RECIPE_FP      ? FOLLOW_RULE_RBP
                    : recipe.kind == RECIPE_GENERAL ? FOLLOW_RULE_OTHER
                                                    : FOLLOW_RULE_NONE;

    return (struct follow_rule){kind, recipe.cfa, recipe.rbp};
}
