/* SPDX-License-Identifier: BSD-3-Clause */
#include "structure/source/statements.h"
#include <string.h>
#include <strings.h>

statements_scan *statements_scanner(const char *path)
{
    static const struct {
        const char *end;
        statements_scan *scan;
    } known[] = {
        {".c", statements_of_c},       {".h", statements_of_c},       {".cc", statements_of_c},
        {".cpp", statements_of_c},     {".cxx", statements_of_c},     {".c++", statements_of_c},
        {".hpp", statements_of_c},     {".hh", statements_of_c},      {".hxx", statements_of_c},
        {".h++", statements_of_c},     {".ipp", statements_of_c},     {".ixx", statements_of_c},
        {".cppm", statements_of_c},    {".inl", statements_of_c},     {".inc", statements_of_c},
        {".tcc", statements_of_c},     {".tpp", statements_of_c},     {".txx", statements_of_c},
        {".tpl", statements_of_c},     {".cu", statements_of_c},      {".cuh", statements_of_c},
        {".icc", statements_of_c},     {".hip", statements_of_c},     {".cl", statements_of_c},
        {".m", statements_of_c},       {".mm", statements_of_c},      {".y", statements_of_c},
        {".yy", statements_of_c},      {".ypp", statements_of_c},     {".l", statements_of_c},
        {".ll", statements_of_c},      {".lpp", statements_of_c},     {".f90", statements_of_free},
        {".f95", statements_of_free},  {".f03", statements_of_free},  {".f08", statements_of_free},
        {".f18", statements_of_free},  {".f", statements_of_fixed},   {".for", statements_of_fixed},
        {".ftn", statements_of_fixed}, {".fpp", statements_of_fixed}, {".f77", statements_of_fixed},
        {".adb", statements_of_ada},   {".ads", statements_of_ada},   {".ada", statements_of_ada},
    };
    const char *dot = strrchr(path, '.');

    for (size_t i = 0; dot && i < sizeof known / sizeof *known; i++)
        if (!strcasecmp(dot, known[i].end))
            return known[i].scan;
    return NULL;
}

void statements_deinit(struct statements *s)
{
    vec_deinit(&s->loops);
    vec_deinit(&s->gotos);
    vec_deinit(&s->ifs);
    vec_deinit(&s->arrays);
    vec_deinit(&s->rounds);
    vec_deinit(&s->parts);
}
