/* SPDX-License-Identifier: BSD-3-Clause */
/* `hq record`: what the program and the collector in it are told by the environment (record.h). */
#include "repl/record/record.h"

#include "common/file.h"
#include "common/units.h"
#include "format/patches.h"

#include <fcntl.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>
#include <time.h>
#include <unistd.h>

/* --delay and --duration as points in time, which hold for all processes of the launch. */
static struct hq_error *set_window(const struct opt_args *args)
{
    const char *delay = opt_value(args, "delay"), *duration = opt_value(args, "duration");
    double wait = 0, length = 0;
    AUTO_STR struct str from = {0}, until = {0};
    struct timespec now;

    if (delay)
        HQ_TRY(hq_error_prefix(units_parse_seconds(delay, &wait), "--delay"));
    if (duration)
        HQ_TRY(hq_error_prefix(units_parse_seconds(duration, &length), "--duration"));
    clock_gettime(CLOCK_REALTIME, &now);
    double start = (double)now.tv_sec * 1e6 + (double)now.tv_nsec / 1e3 + wait * 1e6;
    str_addf(&from, "%.0f", start);
    str_addf(&until, "%.0f", start + length * 1e6);
    unsetenv("HQ_FROM_US");
    unsetenv("HQ_UNTIL_US");
    if (delay)
        setenv("HQ_FROM_US", str_cstr(&from), 1);
    if (duration)
        setenv("HQ_UNTIL_US", str_cstr(&until), 1);
    return NULL;
}

/* LIST is numbers and ranges, separated by commas. */
static struct hq_error *set_ranks(const struct opt_args *args)
{
    const char *list = opt_value(args, "ranks");

    if (!list) {
        unsetenv("HQ_RANKS");
        return NULL;
    }
    for (const char *at = list;;) {
        char *end;
        long first = strtol(at, &end, 10), last = first;
        bool fine = *at >= '0' && *at <= '9';
        if (fine && *end == '-') {
            at = end + 1;
            last = strtol(at, &end, 10);
            fine = *at >= '0' && *at <= '9';
        }
        if (!fine || last < first || (*end && *end != ','))
            return hq_error_new(HQ_USAGE, "--ranks %s is no list of ranks such as 0-3,7", list);
        if (!*end)
            break;
        at = end + 1;
    }
    setenv("HQ_RANKS", list, 1);
    return NULL;
}

static struct hq_error *set_max_size(const struct opt_args *args)
{
    const char *text = opt_value(args, "max-size");
    AUTO_STR struct str bytes = {0};
    uint64_t size;

    unsetenv("HQ_MAX_SIZE");
    if (!text)
        return NULL;
    HQ_TRY(hq_error_prefix(units_parse_count(text, &size), "--max-size"));
    if (size < 256 << 10)
        return hq_error_new(HQ_USAGE, "--max-size %s: 256KiB is the least", text);
    if (!opt_flag(args, "trace", true))
        return hq_error_new(HQ_USAGE, "--max-size bounds the trace, and --no-trace keeps none");
    str_addf(&bytes, "%llu", (unsigned long long)size);
    setenv("HQ_MAX_SIZE", str_cstr(&bytes), 1);
    return NULL;
}

struct hq_error *record_set_limits(const struct opt_args *args)
{
    HQ_TRY(set_ranks(args));
    HQ_TRY(set_window(args));
    return set_max_size(args);
}

/* Processes on other nodes have another directory of that name, and bring their files home themselves. */
static void set_home(const struct record_place *place)
{
    char host[256] = "";

    unsetenv("HQ_HOME");
    unsetenv("HQ_NODE");
    if (!place->buffer || gethostname(host, sizeof host - 1) != 0)
        return;
    setenv("HQ_HOME", place->measurements, 1);
    setenv("HQ_NODE", host, 1);
}

/* AddressSanitizer's library wants to be the first, or not to ask; being second it works as well. */
static void calm_sanitizer(void)
{
    const char *old = getenv("ASAN_OPTIONS");
    AUTO_STR struct str list = {0};

    if (old && strstr(old, "verify_asan_link_order"))
        return;
    str_addf(&list, "%s%sverify_asan_link_order=0", old ? old : "", old && *old ? ":" : "");
    setenv("ASAN_OPTIONS", str_cstr(&list), 1);
}

/* A loader of OpenCL's drivers that has layers passes its calls by the last of the list first. */
static void set_layer(const char *library, int directory)
{
    AUTO_STR struct str layers = {0};
    const char *old = getenv("OPENCL_LAYERS");

    str_addf(&layers, "%s%s%.*slibhqgpu.so", old ? old : "", old && *old ? ":" : "", directory, library);
    setenv("OPENCL_LAYERS", str_cstr(&layers), 1);
}

void record_set_preload(const char *library, const char *events)
{
    AUTO_STR struct str preload = {0};
    const char *old = getenv("LD_PRELOAD");

    int directory = (int)(strlen(library) - strlen("libhqpreload.so"));
    struct record_libraries needed = record_libraries(events);

    str_add(&preload, library);
    if (needed.exact)
        str_addf(&preload, ":%.*slibhqexact.so", directory, library);
    if (needed.mpi)
        str_addf(&preload, ":%.*slibhqmpi.so", directory, library);
    if (needed.gpu) {
        str_addf(&preload, ":%.*slibhqgpu.so", directory, library);
        set_layer(library, directory);
    }
    if (old && *old && !strstr(old, library))
        str_addf(&preload, ":%s", old);
    setenv("LD_PRELOAD", str_cstr(&preload), 1);
}

/* The value of a key of /proc/cpuinfo, of the first processor; "" if there is none. The beginning of the file tells:
 * the whole is long where there are many. */
static void find_in_cpuinfo(const char *text, const char *key, char *out, size_t size)
{
    const char *at = strstr(text, key), *value = at ? strchr(at, ':') : NULL;

    *out = '\0';
    if (value && value[1] == ' ')
        snprintf(out, size, "%.*s", (int)strcspn(value + 2, "\n"), value + 2);
}

/* Of ARM the kernel has numbers alone. */
static void add_processor(struct str *out, const struct utsname *names)
{
    char text[4096] = "", model[128], part[32];
    int fd = open("/proc/cpuinfo", O_RDONLY | O_CLOEXEC);

    if (fd >= 0) {
        ssize_t n = read(fd, text, sizeof text - 1);

        text[n > 0 ? n : 0] = '\0';
        close(fd);
    }
    find_in_cpuinfo(text, "model name", model, sizeof model);
    if (*model) {
        str_add(out, model);
        return;
    }
    find_in_cpuinfo(text, "CPU implementer", model, sizeof model);
    find_in_cpuinfo(text, "CPU part", part, sizeof part);
    str_addf(out, "%s%s%s%s%s", names->machine, *model ? " " : "", model, *part ? " " : "", part);
}

void record_machine(struct str *out)
{
    struct utsname names;
    cpu_set_t may;
    long n = sched_getaffinity(0, sizeof may, &may) == 0 ? CPU_COUNT(&may) : sysconf(_SC_NPROCESSORS_ONLN);

    if (uname(&names) != 0)
        return;
    add_processor(out, &names);
    str_addf(out, ", %ld processor%s, %s %s", n, n == 1 ? "" : "s", names.sysname, names.release);
}

/* Begins with the host, of which alone it is true. */
static void set_machine(void)
{
    AUTO_STR struct str text = {0};
    struct utsname names;

    unsetenv("HQ_MACHINE");
    if (uname(&names) != 0)
        return;
    str_addf(&text, "%s/", names.nodename);
    for (size_t i = 0; i + 1 < text.len; i++)
        text.s[i] = text.s[i] == '/' ? '_' : text.s[i];
    record_machine(&text);
    setenv("HQ_MACHINE", str_cstr(&text), 1);
}

void record_set_environment(const struct record_place *place, const char *events, const struct opt_args *args)
{
    AUTO_STR struct str launch = {0};

    str_addf(&launch, "%llu", (unsigned long long)place->launch);
    calm_sanitizer();
    setenv("HQ_DIR", place->buffer ? place->buffer : place->measurements, 1);
    set_home(place);
    set_machine();
    setenv("HQ_LAUNCH", str_cstr(&launch), 1);
    setenv("HQ_EVENTS", events, 1);
    setenv("HQ_CLOCK", opt_value(args, "clock") ? opt_value(args, "clock") : "auto", 1);
    setenv("HQ_TRACE", opt_flag(args, "trace", true) ? "1" : "0", 1);
    setenv("HQ_STOPPED", opt_flag(args, "stopped", false) ? "1" : "0", 1);
    unsetenv("HQ_TOLD");
}

struct hq_error *record_set_marks(const struct str *places, const char *directory)
{
    AUTO_FREE char *path = file_join(directory, HQP_NAME);
    struct file_writer w;

    unsetenv("HQ_MARKS");
    if (!places->len)
        return NULL;
    HQ_TRY(file_writer_open(&w, path));
    file_writer_write(&w, str_cstr(places), places->len);
    setenv("HQ_MARKS", path, 1);
    return file_writer_commit(&w);
}
