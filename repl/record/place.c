/* SPDX-License-Identifier: BSD-3-Clause */
/* `hq record`: the directory that the data goes to, and who else uses it (record.h). */
#include "repl/record/record.h"

#include "common/file.h"
#include "common/hash.h"
#include "common/mem.h"
#include "common/process.h"
#include "common/str.h"
#include "db/binaries.h"
#include "db/elsewhere.h"
#include "db/sources.h"
#include "format/measurement.h"
#include "format/patches.h"
#include "format/stream.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

enum { TEXTS_MOST = 1 << 22 }; /* bytes of an environment that is read */

/* In measurements/launch: behind the identity a byte for each rank, not 0 if it has begun. */
enum { IDENTITY_ROOM = 512, RANKS_MOST = 1 << 24 };

/* The variable that tells this process its rank, NULL: it has none. */
static const char *rank_variable(void)
{
    static const struct {
        const char *variable, *needs;
    } ranks[] = {
#define RANK(name, of, with) {name, with},
#include "format/ranks.def"
    };

    for (size_t i = 0; i < sizeof ranks / sizeof *ranks; i++)
        if (getenv(ranks[i].variable) && (!ranks[i].needs || getenv(ranks[i].needs)))
            return ranks[i].variable;
    return NULL;
}

/* Reads from /proc of a process texts that end with a zero: its environment, its arguments. */
static bool texts_of(pid_t pid, const char *what, struct str *texts)
{
    AUTO_STR struct str path = {0};
    struct hq_error *error;

    str_addf(&path, "/proc/%d/%s", (int)pid, what);
    error = file_read_regular(str_cstr(&path), texts, TEXTS_MOST);
    hq_error_free(error);
    return !error;
}

static const char *next_text(const struct str *texts, const char *text)
{
    text = text ? text + strlen(text) + 1 : texts->s;
    return texts->len && text < texts->s + texts->len ? text : NULL;
}

static bool has_variable(pid_t pid, const char *name)
{
    AUTO_STR struct str environment = {0};
    size_t length = strlen(name);

    if (!texts_of(pid, "environ", &environment))
        return false;
    for (const char *text = NULL; (text = next_text(&environment, text));)
        if (!strncmp(text, name, length) && text[length] == '=')
            return true;
    return false;
}

/* Between the launcher and this command may be scripts, which have the rank as well. */
static pid_t launcher_of(const char *variable)
{
    pid_t pid = getppid();

    while (pid > 1 && has_variable(pid, variable))
        pid = (pid_t)process_number(pid, PROCESS_PARENT);
    return pid;
}

/* Each node has a launcher of its own where ranks are on several: those of Hydra (MPICH, Intel MPI) are told by an
 * argument where the one is that they all belong to. */
static bool add_common_launcher(struct str *identity, pid_t launcher)
{
    static const char *const options[] = {"--control-port", "--upstream-host", "--upstream-port"};
    const char *here = getenv(HQ_OF_HYDRA), *all = getenv("PMI_SIZE");
    AUTO_STR struct str arguments = {0};
    size_t before = identity->len;

    if ((here && all && !strcmp(here, all)) || !texts_of(launcher, "cmdline", &arguments))
        return false;
    for (const char *text = NULL; (text = next_text(&arguments, text));)
        for (size_t i = 0; i < sizeof options / sizeof *options; i++) {
            const char *value = strcmp(text, options[i]) ? NULL : next_text(&arguments, text);

            if (value)
                str_addf(identity, " %s", value);
        }
    return identity->len > before;
}

/* The name that the launcher gives the launch, on all nodes; false: none. Of Hydra none counts: it is of what was
 * around it. */
static bool add_name_of_launch(struct str *identity, const char *variable)
{
    const char *job = getenv("SLURM_JOB_ID"), *step = getenv("SLURM_STEP_ID"), *pmix = getenv("PMIX_NAMESPACE");
    const char *pals = getenv("PALS_APID"), *flux = getenv("FLUX_JOB_ID");

    if (!strcmp(variable, "PMI_RANK") && getenv(HQ_OF_HYDRA))
        return false;
    if (pmix)
        str_addf(identity, "pmix %s", pmix);
    else if (flux && getenv("FLUX_TASK_RANK"))
        str_addf(identity, "flux %s", flux);
    else if (job && step)
        str_addf(identity, "slurm %s.%s", job, step);
    else if (pals)
        str_addf(identity, "pals %s", pals);
    return identity->len > 0;
}

/* All ranks of one launch must find the same text, and no two launches may, but for those that one rank begins: a shell
 * in a step of Slurm is a rank, and what it records comes after another (is_again). */
static void identify_launch(struct record_place *place, struct str *identity)
{
    const char *variable = rank_variable();
    struct timespec now;

    place->rank = variable ? atoi(getenv(variable)) : -1;
    clock_gettime(CLOCK_REALTIME, &now);
    if (place->rank < 0) {
        str_addf(identity, "process %d %lld.%09ld", (int)getpid(), (long long)now.tv_sec, now.tv_nsec);
    } else if (add_name_of_launch(identity, variable)) {
        place->once = place->rank < RANKS_MOST;
    } else {
        pid_t launcher = launcher_of(variable);

        str_addf(identity, "launcher");
        if (!add_common_launcher(identity, launcher))
            /* Its start in clock ticks since boot: with the pid it names a process for good. */
            str_addf(identity, " %d %llu", (int)launcher, process_number(launcher, PROCESS_START));
    }
    place->launch = hash_bytes(str_cstr(identity), identity->len, 0);
}

static bool is_of_recording(const char *name)
{
    static const char *const suffixes[] = {HQM_SUFFIX, ".so", HQM_UNMEASURED, HQM_NAMES, HQS_SUFFIX, HQS_DONE};
    const char *suffix = strrchr(name, '.');

    for (size_t i = 0; suffix && i < sizeof suffixes / sizeof *suffixes; i++)
        if (!strcmp(suffix, suffixes[i]))
            return true;
    return false;
}

/* Removes what an earlier recording left, and nothing that is not known to be of it. What stayed would count as if the
 * program that runs now had done it. The database comes last: it is lost only with what it was made of. */
static struct hq_error *remove_recording(const struct record_place *place)
{
    AUTO_FREE char *database = file_join(place->database, "hq.db");
    struct hq_error *error = NULL;
    const struct dirent *entry;

    HQ_TRY(elsewhere_discard(place->measurements));
    DIR *directory = file_dir_open(place->measurements, &error);
    while (directory && !error && (entry = file_dir_next(directory, place->measurements, &error))) {
        AUTO_FREE char *path = is_of_recording(entry->d_name) ? file_join(place->measurements, entry->d_name) : NULL;
        if (path)
            error = file_remove(path);
    }
    if (directory)
        closedir(directory);
    if (!error)
        error = binaries_discard(place->measurements);
    return error ? error : file_remove(database);
}

/* *found also where nobody can say that there is none. */
static struct hq_error *find_recording(const struct record_place *place, bool *found)
{
    AUTO_FREE char *database = file_join(place->database, "hq.db");
    struct hq_error *error = NULL;
    DIR *directory = file_dir_open(place->measurements, &error);
    const struct dirent *entry;

    *found = !file_is_absent(database);
    while (directory && !*found && (entry = file_dir_next(directory, place->measurements, &error))) {
        const char *suffix = strrchr(entry->d_name, '.');
        *found = (suffix && (!strcmp(suffix, HQM_SUFFIX) || !strcmp(suffix, HQS_SUFFIX))) ||
                 str_begins(entry->d_name, ELSEWHERE_PREFIX);
    }
    if (directory)
        closedir(directory);
    *found |= error != NULL;
    return error;
}

static bool has_recording(const struct record_place *place)
{
    bool found;

    hq_error_free(find_recording(place, &found));
    return found;
}

static struct hq_error *refuse(const struct record_place *place)
{
    return hq_error_new(HQ_USAGE, "%s holds a recording already; name another with -o, or replace it with --force",
                        place->database);
}

/* Where a file system has no locks everybody gets one: pids and times then have to do. */
static bool lock(int fd, int how)
{
    return flock(fd, how) == 0 || errno == ENOSYS || errno == EOPNOTSUPP || errno == ENOLCK;
}

/* Every `hq record` of a launch holds this lock until its program has ended, so that others see it from any host. */
static int open_lock_of_life(const struct record_place *place)
{
    char *path = file_join(place->measurements, "running");
    int fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0666);

    free(path);
    return fd;
}

static struct hq_error *is_recording(const struct record_place *place, bool *held)
{
    AUTO_CLOSE int fd = open_lock_of_life(place);

    *held = fd >= 0 && !lock(fd, LOCK_EX | LOCK_NB);
    return fd < 0 ? hq_error_errno(HQ_DATA, "%s/running: whether its program still runs cannot be told",
                                   place->measurements)
                  : NULL;
}

/* Its processes would go on writing to files that have lost their names, and nobody would see what they measure. */
static struct hq_error *check_has_ended(const struct record_place *place)
{
    AUTO(sources_deinit) struct source_files files = {0};
    const char *input = place->measurements;
    bool held;

    HQ_TRY(sources_find(&input, 1, &files));
    struct sources_state state = sources_look(&files);
    HQ_TRY(is_recording(place, &held));
    if (state.running || held)
        return hq_error_new(
            HQ_USAGE, "the program that %s is a recording of still runs; name another with -o, or wait for its end",
            place->database);
    if (state.perhaps)
        return hq_error_new(HQ_USAGE,
                            "the program that %s is a recording of was still running on another host less than %d "
                            "minutes ago; name another "
                            "with -o, wait for its end, or remove %s if it has been killed",
                            place->database, SOURCES_RECENT / 60, place->database);
    return elsewhere_check(place->measurements, place->database);
}

static struct hq_error *nothing_written(const struct record_place *place)
{
    return hq_error_new(HQ_DATA, "%s cannot be written: %s; name another with -o", place->database, strerror(errno));
}

static struct hq_error *write_identity(const struct record_place *place, const char *identity, int fd)
{
    size_t length = strlen(identity);
    ssize_t written = ftruncate(fd, 0) != 0 ? -1 : pwrite(fd, identity, length, 0);

    if (written == (ssize_t)length)
        return NULL;
    if (written >= 0)
        errno = ENOSPC;
    return nothing_written(place);
}

/* Has this rank begun a recording of this launch already? */
static bool is_again(const struct record_place *place, int fd)
{
    char begun = 0;

    return place->once && pread(fd, &begun, 1, IDENTITY_ROOM + place->rank) == 1 && begun;
}

static void set_begun(const struct record_place *place, int fd, bool begun)
{
    char byte = begun;

    if (place->once && pwrite(fd, &byte, 1, IDENTITY_ROOM + place->rank) < 0)
        return; /* then another one of this rank joins it */
}

/* measurements/launch holds the identity, and is locked while somebody decides. A launch without files found no room
 * for them, or has not come to one: it counts only where no lock tells whether it lives. */
static struct hq_error *decide(const struct record_place *place, const char *identity, bool force, int fd)
{
    char old[IDENTITY_ROOM] = "";
    bool has_locks = flock(fd, LOCK_EX) == 0, found;

    if (pread(fd, old, sizeof old - 1, 0) < 0)
        return nothing_written(place);
    if (!strcmp(old, identity) && !is_again(place, fd))
        return NULL;
    HQ_TRY(find_recording(place, &found));
    if (((old[0] && !has_locks) || found) && !force)
        return refuse(place);
    HQ_TRY(check_has_ended(place));
    HQ_TRY(hq_error_prefix(remove_recording(place), "%s cannot be replaced; name another with -o", place->database));
    return write_identity(place, identity, fd);
}

/* Another rank that could not go on may remove directory and file before this one has the lock. */
static int open_launch(const struct record_place *place)
{
    AUTO_FREE char *path = file_join(place->measurements, "launch");
    struct stat st;
    int fd = -1;

    for (int i = 0; i < 10; i++) {
        fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0666);
        if (fd < 0 && errno == ENOENT) {
            hq_error_free(file_make_dirs(place->measurements));
            continue;
        }
        if (fd < 0 || (lock(fd, LOCK_EX) && fstat(fd, &st) == 0 && st.st_nlink > 0))
            break;
        int why = errno;
        close(fd);
        fd = -1;
        errno = why;
    }
    return fd;
}

static struct hq_error *claim(struct record_place *place, const char *identity, bool force)
{
    int fd = open_launch(place);
    struct hq_error *error = fd < 0 ? nothing_written(place) : decide(place, identity, force, fd);

    if (!error) {
        set_begun(place, fd, true);
        place->claimed = true;
        place->life = open_lock_of_life(place);
        if (place->life < 0)
            error = nothing_written(place);
    }
    if (!error && place->life >= 0)
        lock(place->life, LOCK_SH | LOCK_NB);
    if (fd >= 0)
        close(fd);
    return error;
}

/* A command that cannot go on leaves nothing, unless there is a recording, or another rank makes one. */
static void take_back(const struct record_place *place)
{
    static const char *const names[] = {HQP_NAME, "running", "launch"};
    AUTO_FREE char *launch = file_join(place->measurements, "launch");
    int fd = open(launch, O_RDWR | O_CLOEXEC);

    if (fd >= 0 && place->claimed)
        set_begun(place, fd, false);
    if (has_recording(place)) {
        if (fd >= 0)
            close(fd);
        return;
    }
    int life = place->life >= 0 ? dup(place->life) : open_lock_of_life(place);
    bool alone = (fd < 0 || flock(fd, LOCK_EX) == 0) && (life < 0 || flock(life, LOCK_EX | LOCK_NB) == 0);

    for (size_t i = 0; alone && !has_recording(place) && i < sizeof names / sizeof *names; i++) {
        AUTO_FREE char *path = file_join(place->measurements, names[i]);
        unlink(path);
    }
    if (alone)
        file_remove_empty(place->measurements, place->made);
    if (life >= 0)
        close(life);
    if (fd >= 0)
        close(fd);
}

/* A directory with other things in it is never taken for a database. */
static struct hq_error *check_is_database(const struct record_place *place)
{
    bool empty = true;

    if (file_is_absent(place->database))
        return NULL;
    if (file_exists(place->database) && !file_is_dir(place->database))
        return hq_error_new(HQ_USAGE, "%s is not a directory; name another with -o", place->database);
    HQ_TRY(file_dir_is_empty(place->database, &empty));
    char *inside = file_join(place->database, HQM_DIRECTORY), *database = file_join(place->database, "hq.db");
    bool ours = empty || file_is_dir(inside) || file_exists(database);
    free(inside);
    free(database);
    return ours ? NULL
                : hq_error_new(HQ_USAGE, "%s is not empty and not a recording; name another with -o", place->database);
}

/* The lock, what decides, a directory that is listed, the way back from the program: three at a time. */
static bool has_descriptors(void)
{
    int fds[3], n = 0;

    while (n < 3 && (fds[n] = open("/", O_RDONLY | O_CLOEXEC)) >= 0)
        n++;
    bool enough = n == 3 || errno != EMFILE;
    while (n > 0)
        close(fds[--n]);
    return enough;
}

const char *record_place_limit(void)
{
    struct rlimit size;

    if (getrlimit(RLIMIT_FSIZE, &size) == 0 && size.rlim_cur < HQM_ALIGN)
        return "the limit of a file's size (ulimit -f) leaves no room for measurements";
    return has_descriptors() ? NULL : "the limit of open files (ulimit -n) leaves no room for measurements";
}

struct hq_error *record_place_open(const char *database, bool force, struct record_place *place)
{
    AUTO_STR struct str identity = {0};
    AUTO_FREE char *directory = file_join(database, HQM_DIRECTORY);

    *place = (struct record_place){.database = strdup(database), .life = -1};
    identify_launch(place, &identity);
    HQ_TRY(check_is_database(place));
    place->made = file_count_missing(directory);
    struct hq_error *error = file_make_dirs(directory);
    if (!error && !(place->measurements = realpath(directory, NULL)))
        error = hq_error_errno(HQ_DATA, "%s", database);
    if (!error)
        return claim(place, str_cstr(&identity), force);
    file_remove_empty(directory, place->made);
    return error;
}

void record_place_deinit(struct record_place *place)
{
    record_buffer_remove(place);
    if (place->measurements && !place->begun)
        take_back(place);
    if (place->life >= 0)
        close(place->life);
    free(place->database);
    free(place->measurements);
    free(place->buffer);
}
