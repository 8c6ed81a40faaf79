/* SPDX-License-Identifier: BSD-3-Clause */
/* Types as demangling writes them: `char const*`, `unsigned long`, `std::vector<int>&`. Typedefs are looked through. */
#include "structure/dwarf/impl.h"
#include "common/vec.h"
#include <string.h>

#define MAX_DEPTH 20 /* of references, and of packs of parameters */

/* Of names of lambdas within a name. The views of a pipeline have those in front of them as arguments, eight deep for
 * two of them; damaged files may have them lie in one another. */
enum { MAX_NESTED = 24, MAX_NAMED = 4000 };

struct parameters {
    struct dwarf *d;
    const struct dwarf_file *f;
    struct str *out;
    int depth;
    bool any;
};

static void add_type(struct dwarf *d, const struct dwarf_file *f, Dwarf_Die die, int depth, struct str *out);

bool dwarf_has(const struct dwarf_file *f, Dwarf_Die die, Dwarf_Half attribute)
{
    Dwarf_Error err = NULL;
    Dwarf_Bool has = 0;

    return dwarf_ok(f->dbg, dwarf_hasattr(die, attribute, &has, &err), &err) && has;
}

Dwarf_Half dwarf_tag_of(const struct dwarf_file *f, Dwarf_Die die)
{
    Dwarf_Error err = NULL;
    Dwarf_Half tag = 0;

    return die && dwarf_ok(f->dbg, dwarf_tag(die, &tag, &err), &err) ? tag : 0;
}

/* The DIE that DW_AT_type refers to; NULL without one, or if it is in another file. */
static Dwarf_Die type_die(const struct dwarf_file *f, Dwarf_Die die)
{
    Dwarf_Error err = NULL;
    Dwarf_Attribute attr = NULL;
    Dwarf_Half form = 0;
    Dwarf_Off offset;
    Dwarf_Die out = NULL;

    if (!dwarf_ok(f->dbg, dwarf_attr(die, DW_AT_type, &attr, &err), &err))
        return NULL;
    bool here = dwarf_ok(f->dbg, dwarf_whatform(attr, &form, &err), &err) && form != DW_FORM_GNU_ref_alt &&
                form != DW_FORM_ref_sup4 && form != DW_FORM_ref_sup8 && form != DW_FORM_ref_sig8;
    if (!here || !dwarf_ok(f->dbg, dwarf_global_formref(attr, &offset, &err), &err) ||
        !dwarf_ok(f->dbg, dwarf_offdie_b(f->dbg, offset, 1, &out, &err), &err))
        out = NULL;
    dwarf_dealloc_attribute(attr);
    return out;
}

/* Names nothing: the object of a lambda's call is of the class whose name is being made. */
bool dwarf_points_to_const(const struct dwarf_file *f, Dwarf_Die die)
{
    Dwarf_Die type = type_die(f, die), target = NULL;

    if (dwarf_tag_of(f, type) == DW_TAG_const_type) { /* the pointer itself, in a definition */
        Dwarf_Die pointer = type_die(f, type);

        dwarf_dealloc_die(type);
        type = pointer;
    }
    if (dwarf_tag_of(f, type) == DW_TAG_pointer_type)
        target = type_die(f, type);
    bool is_const = dwarf_tag_of(f, target) == DW_TAG_const_type;
    dwarf_dealloc_die(target);
    dwarf_dealloc_die(type);
    return is_const;
}

static void add_target(struct dwarf *d, const struct dwarf_file *f, Dwarf_Die die, int depth, struct str *out)
{
    Dwarf_Die target = type_die(f, die);

    if (target)
        add_type(d, f, target, depth + 1, out);
    else
        str_add(out, dwarf_has(f, die, DW_AT_type) ? "?" : "void");
    dwarf_dealloc_die(target);
}

static void add_parameter(void *arg, Dwarf_Die die, Dwarf_Off offset)
{
    struct parameters *p = arg;

    (void)offset;
    if (dwarf_tag_of(p->f, die) != DW_TAG_formal_parameter)
        return;
    if (p->any)
        str_add(p->out, ", ");
    p->any = true;
    add_target(p->d, p->f, die, p->depth, p->out);
}

static void add_pointer(struct dwarf *d, const struct dwarf_file *f, Dwarf_Die die, int depth, const char *mark,
                        struct str *out)
{
    Dwarf_Die target = type_die(f, die);

    if (dwarf_tag_of(f, target) == DW_TAG_subroutine_type) {
        struct parameters p = {.d = d, .f = f, .out = out, .depth = depth + 1};

        add_target(d, f, target, depth, out);
        str_addf(out, " (%s)(", mark);
        dwarf_children(f, target, add_parameter, &p);
        str_addc(out, ')');
    } else {
        add_target(d, f, die, depth, out);
        str_add(out, mark);
    }
    dwarf_dealloc_die(target);
}

static const char *as_demangled(const char *name)
{
    static const char *const both[][2] = {
        {"long int", "long"},           {"long unsigned int", "unsigned long"},
        {"short int", "short"},         {"short unsigned int", "unsigned short"},
        {"long long int", "long long"}, {"long long unsigned int", "unsigned long long"},
    };

    for (size_t i = 0; i < sizeof both / sizeof *both; i++)
        if (!strcmp(name, both[i][0]))
            return both[i][1];
    return name;
}

static void add_type(struct dwarf *d, const struct dwarf_file *f, Dwarf_Die die, int depth, struct str *out)
{
    Dwarf_Error err = NULL;
    char *name = NULL;
    Dwarf_Half tag = depth < MAX_DEPTH ? dwarf_tag_of(f, die) : 0;

    /* Types of functions that refer to each other stand for more text than there can be. */
    if (out->len > NAME_MOST || !dwarf_spend(d, 1)) {
        str_add(out, "?");
        return;
    }
    switch (tag) {
    case DW_TAG_pointer_type: add_pointer(d, f, die, depth, "*", out); break;
    case DW_TAG_reference_type: add_pointer(d, f, die, depth, "&", out); break;
    case DW_TAG_rvalue_reference_type: add_pointer(d, f, die, depth, "&&", out); break;
    case DW_TAG_typedef: add_target(d, f, die, depth, out); break;
    case DW_TAG_const_type:
    case DW_TAG_volatile_type:
        add_target(d, f, die, depth, out);
        str_add(out, tag == DW_TAG_const_type ? " const" : " volatile");
        break;
    case DW_TAG_array_type:
        add_target(d, f, die, depth, out);
        str_add(out, " []");
        break;
    default:
        if (!dwarf_ok(f->dbg, dwarf_diename(die, &name, &err), &err)) {
            if (!dwarf_add_unnamed(d, f, die, out))
                str_add(out, "?");
            break;
        }
        if (tag != DW_TAG_base_type)
            dwarf_add_scopes(d, f, die, out);
        dwarf_add_instance(d, f, die, as_demangled(name), out);
    }
}

static void add_argument(void *arg, Dwarf_Die die, Dwarf_Off offset)
{
    struct parameters *p = arg;
    Dwarf_Half tag = dwarf_tag_of(p->f, die);

    (void)offset;
    if (tag == DW_TAG_GNU_template_parameter_pack) {
        if (p->depth++ < MAX_DEPTH)
            dwarf_children(p->f, die, add_argument, p);
        p->depth--;
        return;
    }
    if (tag != DW_TAG_template_type_parameter && tag != DW_TAG_template_value_parameter)
        return;
    if (p->any)
        str_add(p->out, ", ");
    p->any = true;
    if (tag == DW_TAG_template_type_parameter)
        add_target(p->d, p->f, die, p->depth, p->out);
    else
        str_addf(p->out, "%lld", (long long)dwarf_number(p->f, die, DW_AT_const_value));
}

bool dwarf_name_begin(struct dwarf *d)
{
    if (!d->naming)
        d->named = 0;
    if (d->naming >= MAX_NESTED || d->named >= MAX_NAMED)
        return false;
    d->naming++;
    d->named++;
    return true;
}

void dwarf_add_instance(struct dwarf *d, const struct dwarf_file *f, Dwarf_Die die, const char *name, struct str *out)
{
    struct parameters p = {.d = d, .f = f, .out = out};

    if ((!strstr(name, "<lambda") && !strstr(name, "<unnamed")) || name[0] == '<' || !dwarf_name_begin(d)) {
        str_add(out, name);
        return;
    }
    str_addn(out, name, strcspn(name, "<"));
    str_addc(out, '<');
    dwarf_children(f, die, add_argument, &p);
    str_addc(out, '>');
    d->naming--;
}

void dwarf_add_type(struct dwarf *d, const struct dwarf_file *f, Dwarf_Die die, struct str *out)
{
    add_target(d, f, die, 0, out);
}
