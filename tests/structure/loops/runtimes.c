/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What runtimes raise errors by does not return, though no debug information says so: by its name, called through a
 * linkage stub or (-fno-plt) through the slot that the loader fills. What stands behind such a call is other code.
 *
 *! build: gcc -O0 -fPIC -shared | gcc -O2 -fPIC -shared
 *! build: gcc -O1 -fPIC -shared -fno-plt | clang -O2 -fPIC -shared -fno-plt
 *! ada: loops elements
 *! fortran: loops elements2
 *! sanitized: loops elements3
 *! grows: loops elements6
 *! declared: loops elements7
 *! declared_here: loops elements8
 *! goes_on: loops elements4
 *! last: loops elements5
 */
#define NOINLINE __attribute__((noinline))

void __gnat_rcheck_CE_Index_Check(const char *file, int line);
void _gfortran_os_error(const char *text);
void __asan_report_load8(const void *address);
void __asan_report_load8_noabort(const void *address);
void more_stack(void) __asm__("runtime.morestackc.abi0"); /* Go's, behind which a procedure is begun anew */
void ends_here(void) __attribute__((noreturn));           /* of a library that is known by this alone */
int element(const int *v, int i);
void put(int c);

NOINLINE int ada(const int *v, int n)
{
    int sum = 0;

    for (int i = 0; i < n; i++) /* @elements */
        sum += element(v, i);
    while (sum & 1) {
        __gnat_rcheck_CE_Index_Check("a.adb", 3);
        sum += element(v, n);
    }
    return sum;
}

NOINLINE int fortran(const int *v, int n)
{
    int sum = 0;

    for (int i = 0; i < n; i++) /* @elements2 */
        sum += element(v, i);
    while (sum & 1) {
        _gfortran_os_error("a.f90");
        sum += element(v, n);
    }
    return sum;
}

NOINLINE int sanitized(const int *v, int n)
{
    int sum = 0;

    for (int i = 0; i < n; i++) /* @elements3 */
        sum += element(v, i);
    while (sum & 1) {
        __asan_report_load8(v);
        sum += element(v, n);
    }
    return sum;
}

NOINLINE int grows(const int *v, int n)
{
    int sum = 0;

    for (int i = 0; i < n; i++) /* @elements6 */
        sum += element(v, i);
    while (sum & 1) {
        more_stack();
        sum += element(v, n);
    }
    return sum;
}

NOINLINE int declared(const int *v, int n)
{
    int sum = 0;

    for (int i = 0; i < n; i++) /* @elements7 */
        sum += element(v, i);
    if (n == 3)
        goto out;
back:
    ends_here();
out:
    if (element(v, n))
        goto back;
    return sum;
}

/* Its code alone would tell that it returns. */
static NOINLINE __attribute__((noreturn)) void ends_too(void)
{
    __asm__ volatile("ret");
    __builtin_unreachable();
}

NOINLINE int declared_here(const int *v, int n)
{
    int sum = 0;

    for (int i = 0; i < n; i++) /* @elements8 */
        sum += element(v, i);
    if (n == 3)
        goto out;
back:
    ends_too();
out:
    if (element(v, n))
        goto back;
    return sum;
}

NOINLINE int goes_on(const int *v, int n)
{
    int sum = 0;

    while (sum < n) { /* @elements4 */
        __asan_report_load8_noabort(v);
        sum += element(v, n);
    }
    return sum;
}

/* Where it ends by a jump through a slot, that leads to no code of its own. */
NOINLINE void last(const int *v, int n)
{
    for (int i = 0; i < n; i++) /* @elements5 */
        if (element(v, i) == 77) {
            __gnat_rcheck_CE_Index_Check("a.adb", 4);
            for (int k = 0; k < n; k++)
                put(k);
        }
    put('.');
}
