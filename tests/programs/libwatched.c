/* SPDX-License-Identifier: BSD-3-Clause */
/* The library that watched.c opens. */
static volatile long sink;

long plugin_work(long x);
long plugin_work(long x)
{
    sink += x;
    return sink;
}
