/* SPDX-License-Identifier: BSD-3-Clause */
#include "db/runtimes.h"
#include "common/file.h"
#include "common/names.h"
#include <stddef.h>
#include <string.h>

static const struct runtime runtimes[] = {
#define RUNTIME(match, name, kind) {match, name, RUNTIME_##kind},
#include "db/runtimes.def"
#undef RUNTIME
};

static const char *const launchers[] = {
#define LAUNCHER(match) match,
#include "db/launchers.def"
#undef LAUNCHER
};

const struct runtime *runtime_of_module(const char *path)
{
    const char *file = file_basename(path);

    for (size_t i = 0; i < sizeof runtimes / sizeof *runtimes; i++)
        if (glob_matches(runtimes[i].match, file, strlen(file)))
            return &runtimes[i];
    return NULL;
}

bool runtime_is_mpi_of_c(const char *path)
{
    static const char *const names[] = {"libmpi.so*", "libmpich.so*", "libmpi-*.so*", "libmpich-*.so*"};
    const char *file = file_basename(path);

    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (glob_matches(names[i], file, strlen(file)))
            return true;
    return false;
}

bool is_launcher(const char *command)
{
    const char *file = file_basename(command);

    for (size_t i = 0; i < sizeof launchers / sizeof *launchers; i++)
        if (glob_matches(launchers[i], file, strlen(file)))
            return true;
    return false;
}
