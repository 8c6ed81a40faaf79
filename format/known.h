/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The names of all procedures of a load module, with or without samples, as databases and the structure cache keep
 * them: those that the linker and the debug information give, not demangled, sorted by byte value, each once. Of each,
 * one byte says how many bytes it shares with the one before it (at most 255), then come the others and a NUL. All of
 * it is one zstd frame. 42,000 names of libLLVM (3 MB) take 360 kB.
 */
#ifndef HQ_FORMAT_KNOWN_H
#define HQ_FORMAT_KNOWN_H

/* How much is known; the more the greater. */
enum known_names {
    KNOWN_NOT,      /* nothing: the file was not there, or another one */
    KNOWN_EXPORTED, /* stripped: names that other modules may use */
    KNOWN_SYMBOLS,  /* all that have code of their own */
    KNOWN_ALL,      /* those that were inlined everywhere, too */
    KNOWN_KINDS
};

#endif
