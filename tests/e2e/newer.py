#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""What the oldest release that hq is built on does not have (Debian 11: headers of Linux 5.10, gcc 10; of the C library 2.28, for those of clusters)
stands only where it is asked for, or is another thing of that name. The machine that runs the tests compiles it without a word."""
import glob
import os
import re
import subprocess

from counting import check, finish

TOP = os.environ["TOP"]
# Words, since when they are there, and the files where they may stand without `#if __GLIBC_PREREQ` or an `#ifndef` of their own.
NEWER = [
    # What the C library declares.
    (r"pthread_(cond_clockwait|mutex_clocklock|rwlock_clock(rd|wr)lock)|sem_clockwait", "glibc 2.30",
     ["preload/waits/joining.c", "preload/exact/lock.c", "preload/waits/sleep.c", "tests/programs/interrupts.c", "tests/programs/waiting_calls.h"]),  # ours
    (r"gettid|tgkill|getdents64|twalk_r|getcpu|posix_spawn_file_actions_addf?chdir_np", "glibc 2.29 and 2.30", ["tests/programs/named.c"]),
    (r"_dl_find_object|dl_find_object|dlfo_\w+", "glibc 2.35", ["tests/collector/check_unwind.c"]),  # unwind.sh asks
    (r"close_range|CLOSE_RANGE_\w+|closefrom", "glibc 2.34", ["tests/programs/clock.c", "tests/programs/closing.h", "tests/programs/confined.c"]),
    (r"_Fork", "glibc 2.34", ["preload/process.c"]),  # ours, as the next two in preload/
    (r"execveat", "glibc 2.34", ["preload/process.c"]),
    (r"epoll_pwait2", "glibc 2.35", ["preload/waits/poll.c"]),
    (r"strerror(name|desc)_np|sig(abbrev|descr)_np|mallinfo2|pthread_attr_[gs]etsigmask_np|__libc_single_threaded|__memcmpeq", "glibc 2.32 to 2.35", []),
    (r"timespec_getres|posix_spawn_file_actions_add(closefrom|tcsetpgrp)_np|__rseq_\w+|arc4random\w*|c8rtomb|mbrtoc8", "glibc 2.34 to 2.36", []),
    (r"pidfd_(open|getfd|send_signal|spawnp?|getpid)|process_(madvise|mrelease)|fs(open|mount|config|pick)|open_tree|move_mount|mount_setattr",
     "glibc 2.36 to 2.39", []),
    (r"(str|wcs)l(cpy|cat)|stdc_\w+|sched_[gs]etattr", "glibc 2.38 to 2.41", []),
    (r"f(max|min)imum\w*|(exp2|exp10)m1\w*|log(2|10)p1\w*|(a?(cos|sin|tan)|atan2)pi[fl]?|f(sqrt|fma)l?", "glibc 2.35 to 2.41", []),
    (r"ELFCOMPRESS_ZSTD", "glibc 2.36", []),
    (r"EM_LOONGARCH", "glibc 2.36", []),
    # What the kernel's headers define, or the list of system calls that comes with the C library.
    (r"MADV_(POPULATE_\w+|DONTNEED_LOCKED|COLLAPSE|GUARD_\w+)|MAP_DROPPABLE", "Linux 5.14", []),
    (r"PR_SET_SYSCALL_USER_DISPATCH|PR_SYS_DISPATCH_\w+", "Linux 5.11", ["preload/confine.c"]),
    (r"PERF_(RECORD_MISC_MMAP_BUILD_ID|RECORD_AUX_OUTPUT_HW_ID|SAMPLE_WEIGHT_STRUCT|FORMAT_LOST|ATTR_SIZE_VER[7-9])|remove_on_exec|inherit_thread|sig_data",
     "Linux 5.12 to 6.0", []),
    (r"SYS_close_range", "Linux 5.9", []),
    (r"SYS_epoll_pwait2|IORING_ENTER_(EXT_ARG|REGISTERED_RING|ABS_TIMER)", "Linux 5.11 to 6.12", []),
    (r"SYS_(openat2|pidfd_getfd|faccessat2|process_m\w+|mount_setattr|landlock_\w+|memfd_secret|futex_\w+|cachestat|map_shadow_stack)", "Linux 5.6 to 6.7", []),
    # What the compiler knows.
    (r"__builtin_(thread_pointer|clear_padding|dynamic_object_size|shufflevector|bit_cast|popcountg|clzg|ctzg|stdc_\w+)", "gcc 11 to 15", []),
    (r"nullptr|constexpr|typeof_unqual|_BitInt|elifn?def|embed|unreachable", "C23", []),
]
# <file.h> that is included.
HEADERS = r"sys/(single_threaded|rseq|pidfd)\.h|linux/(landlock|futex_waitv)\.h|std(bit|ckdint)\.h"

patterns = ("*.c", "*.h", "*.def")
listed = subprocess.run(["git", "-C", TOP, "ls-files", *patterns], capture_output=True, text=True, check=False).stdout.split()
# A source archive is no clone.
files = listed or [f for pattern in patterns for f in glob.glob("**/" + pattern, root_dir=TOP, recursive=True) if not f.startswith("build")]
check(len(files) > 500, f"only {len(files)} sources were found")
texts, whole = {}, {}
for path in files:
    with open(os.path.join(TOP, path), encoding="utf-8") as source:
        text = source.read()
    whole[path] = text
    check(not re.search(rf"^\s*#\s*include <({HEADERS})>", text, re.M), f"{path} includes a header that Debian 11 does not have")
    # What stands in a string is looked up when the program runs.
    text = re.sub(r"/\*.*?\*/|//[^\n]*|\"(\\.|[^\"\\\n])*\"", " ", text, flags=re.S)
    texts[path] = re.sub(r"^#if __GLIBC_PREREQ.*?^#(else|endif)", " ", text, flags=re.S | re.M)
# Numbers that are defined where they are missing: in that file, or in a header of ours.
own = {path: set(re.findall(r"^#ifndef (\w+)\s*\n#define \1\b", text, re.M)) for path, text in texts.items()}
shared = set().union(*(words for path, words in own.items() if path.endswith(".h")))
for words, since, places in NEWER:
    seen = {path for path, text in texts.items() if any(m[1] not in own[path] | shared for m in re.finditer(rf"(?<![\w.>])({words})(?!\w)", text))}
    check(seen <= set(places), f"{words} ({since}) stands in {', '.join(sorted(seen - set(places)))}")
# That of gcc 10 has no guard against being included twice.
by = [path for path, text in whole.items() if re.search(r"^\s*#\s*include <cpuid\.h>", text, re.M)]
check(len(by) == 1, f"<cpuid.h> is included by {', '.join(by)}")

# Before 2.34 <signal.h> does not bring <unistd.h> along: who uses its names includes it, or a header of ours that does.
UNISTD = r"(?:_exit|access|alarm|ch(?:dir|own)|close|dup[23]?|exec[lv]p?e?|f(?:chdir|datasync|ork|sync|truncate)|get(?:cwd|hostname|opt|p?pid|uid)|is" \
    r"atty|link|lseek|pathconf|pause|pipe2?|pread|pwrite|read|readlink(?:at)?|rmdir|set(?:sid|uid)|sleep|symlink|syscall|sysconf|truncate|unlink(?:at)?" \
    r"|usleep|vfork|write)(?= ?\()|__environ|STD(?:IN|OUT|ERR)_FILENO|_SC_\w+|[FRWX]_OK"


def included(path):
    """Headers of the system that a source includes, also by those of ours."""
    seen, todo, found = {path}, [path], set()
    while todo:
        for system, name in re.findall(r"^\s*#\s*include (?:<([^>]+)>|\"([^\"]+)\")", whole[todo.pop()], re.M):
            found.add(system)
            if name in whole and name not in seen:
                seen.add(name)
                todo.append(name)
    return found


for path, text in texts.items():
    if path.endswith(".c") and "unistd.h" not in included(path):
        code = re.sub(r"^\s*#\s*define\b(\\\n|.)*", " ", text, flags=re.M)
        used = {m[0] for m in re.finditer(rf"(?<![\w.>*])({UNISTD})\b", code)}
        used -= {m[1] for m in re.finditer(r"^[a-z]\w* [\w *]*?\b(\w+)\(", text, re.M)}  # of its own
        check(not used, f"{path} uses {', '.join(sorted(used))} without <unistd.h>")
finish()
