/* SPDX-License-Identifier: BSD-3-Clause */
/* Opens the library that behaves as Go's runtime does (libgoes.c), which is in this program's directory, while it runs:
 *   goes DIRECTORY */
#include <dlfcn.h>
#include <stdio.h>

int main(int count, char **argument)
{
    char path[4096];

    snprintf(path, sizeof path, "%s/libgoes.so", count > 1 ? argument[1] : ".");
    void *library = dlopen(path, RTLD_NOW);
    void (*goes)(void) = library ? (void (*)(void))dlsym(library, "goes") : NULL;
    if (!goes)
        return 2;
    goes();
    return 5;
}
