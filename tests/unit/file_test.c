/* SPDX-License-Identifier: BSD-3-Clause */
#include "common/file.h"
#include "common/mem.h"
#include "tests/unit/test.h"
#include <dirent.h>
#include <signal.h>
#include <sys/stat.h>
#include <sys/wait.h>

static struct hq_error *write_text(const char *path, const char *text)
{
    struct file_writer w;

    HQ_TRY(file_writer_open(&w, path));
    file_writer_write(&w, text, strlen(text));
    return file_writer_commit(&w);
}

static size_t count_entries(const char *path)
{
    DIR *dir = opendir(path);
    size_t n = 0;

    while (dir && readdir(dir))
        n++;
    if (dir)
        closedir(dir);
    return n - 2;
}

TEST(writes_and_maps)
{
    AUTO_FREE char *dir = test_tmpdir();
    AUTO_FREE char *path = file_join(dir, "f");
    struct file_map m;
    struct stat st;
    mode_t mask = umask(022);

    CHECK_OK(write_text(path, "old"));
    CHECK_OK(write_text(path, "hello"));
    CHECK_OK(file_map_open(path, &m));
    CHECK_EQ_INT(m.size, 5);
    CHECK(m.size == 5 && memcmp(m.data, "hello", 5) == 0);
    CHECK_EQ_STR(m.path, path);
    file_map_close(&m);
    file_map_close(&m);
    CHECK_EQ_INT(count_entries(dir), 1);
    CHECK(stat(path, &st) == 0 && (st.st_mode & 0777) == 0644);
    umask(mask);
    CHECK_OK(file_remove_tree(dir));
}

TEST(maps_the_empty_file)
{
    AUTO_FREE char *dir = test_tmpdir();
    AUTO_FREE char *path = file_join(dir, "f");
    struct file_map m;

    CHECK_OK(write_text(path, ""));
    CHECK_OK(file_map_open(path, &m));
    CHECK(m.size == 0 && m.data);
    file_map_close(&m);
    CHECK_OK(file_remove_tree(dir));
}

TEST(refuses_what_is_no_file)
{
    AUTO_FREE char *dir = test_tmpdir();
    AUTO_FREE char *path = file_join(dir, "p");
    struct file_map m;

    CHECK_ERROR(file_map_open(dir, &m), HQ_DATA, "is a directory, not a file");
    CHECK_ERROR(file_map_open("/dev/null", &m), HQ_DATA, "/dev/null: is a device");
    CHECK_EQ_INT(mkfifo(path, 0600), 0);
    CHECK_ERROR(file_map_open(path, &m), HQ_DATA, "is a pipe");
    CHECK_ERROR(file_map_open("/nonexistent/x", &m), HQ_DATA, "/nonexistent/x: cannot be opened: No such file");
    file_map_close(&m);
    CHECK_OK(file_remove_tree(dir));
}

/* In a child that has begun to write: what ends it is a signal, or the end of its memory. */
static int end_while_writing(const char *path, int number)
{
    int status = 0;
    pid_t pid = fork();

    if (pid == 0) {
        struct file_writer w;

        temporary_catch_signals();
        if (file_writer_open(&w, path))
            _exit(1);
        file_writer_write(&w, "new", 3);
        if (number)
            raise(number);
        mem_exhausted();
    }
    CHECK(waitpid(pid, &status, 0) == pid);
    return status;
}

TEST(who_ends_while_writing_leaves_the_old_file)
{
    AUTO_FREE char *dir = test_tmpdir();
    AUTO_FREE char *path = file_join(dir, "f");
    static const int ends[] = {SIGHUP, SIGINT, SIGTERM, SIGXCPU};
    struct file_writer own;

    CHECK_OK(write_text(path, "old"));
    CHECK_OK(file_writer_open(&own, path));
    for (size_t i = 0; i < sizeof ends / sizeof *ends; i++) {
        int status = end_while_writing(path, ends[i]);

        CHECK(WIFSIGNALED(status) && WTERMSIG(status) == ends[i]);
        CHECK_EQ_INT(count_entries(dir), 2); /* the file that this process writes stays */
    }
    int status = end_while_writing(path, 0);
    CHECK(WIFEXITED(status) && WEXITSTATUS(status) == HQ_DATA);
    CHECK_EQ_INT(count_entries(dir), 2);
    CHECK_OK(file_writer_commit(&own));
    CHECK_EQ_INT(count_entries(dir), 1);
    CHECK_OK(file_remove_tree(dir));
}

TEST(discard_leaves_the_old_file)
{
    AUTO_FREE char *dir = test_tmpdir();
    AUTO_FREE char *path = file_join(dir, "f");
    AUTO_STR struct str text = {0};
    struct file_writer w;

    CHECK_OK(write_text(path, "old"));
    CHECK_OK(file_writer_open(&w, path));
    file_writer_write(&w, "new", 3);
    CHECK_EQ_INT(count_entries(dir), 2);
    file_writer_discard(&w);
    file_writer_discard(&w);
    CHECK_EQ_INT(count_entries(dir), 1);
    CHECK_OK(file_read(path, &text, 100));
    CHECK_EQ_STR(str_cstr(&text), "old");
    CHECK_OK(file_remove_tree(dir));
}

TEST(pads_and_patches)
{
    AUTO_FREE char *dir = test_tmpdir();
    AUTO_FREE char *path = file_join(dir, "f");
    struct file_writer w;
    struct file_map m;

    CHECK_OK(file_writer_open(&w, path));
    file_writer_write(&w, "abc", 3);
    file_writer_pad(&w, 8);
    file_writer_pad(&w, 8);
    CHECK_EQ_INT(w.offset, 8);
    file_writer_patch(&w, 1, "X", 1);
    file_writer_write(&w, "end", 3);
    CHECK_OK(file_writer_commit(&w));
    CHECK_OK(file_map_open(path, &m));
    CHECK(m.size == 11 && memcmp(m.data, "aXc\0\0\0\0\0end", 11) == 0);
    file_map_close(&m);
    CHECK_OK(file_remove_tree(dir));
}

TEST(reports_a_full_disk)
{
    struct file_writer w;
    char block[4096] = {0};

    CHECK_OK(file_writer_open(&w, "/dev/full"));
    for (int i = 0; i < 100; i++)
        file_writer_write(&w, block, sizeof block);
    CHECK_ERROR(file_writer_commit(&w), HQ_DATA, "/dev/full: cannot be written: No space left");
    CHECK_ERROR(file_writer_open(&w, "/dev/null/x"), HQ_DATA, "/dev/null/x: cannot be written");
    CHECK_ERROR(file_writer_open(&w, "/"), HQ_DATA, "is a directory");
}

TEST(keeps_symbolic_links)
{
    AUTO_FREE char *dir = test_tmpdir();
    AUTO_FREE char *path = file_join(dir, "f"), AUTO_FREE *link_path = file_join(dir, "l");
    AUTO_STR struct str text = {0};
    struct stat st;

    CHECK_OK(write_text(path, "old"));
    CHECK_EQ_INT(symlink("f", link_path), 0);
    CHECK_OK(write_text(link_path, "new"));
    CHECK(lstat(link_path, &st) == 0 && S_ISLNK(st.st_mode));
    CHECK_OK(file_read(path, &text, 3));
    CHECK_EQ_STR(str_cstr(&text), "new");
    CHECK_ERROR(file_read(path, &text, 5), HQ_DATA, "is longer than the 5 bytes");
    CHECK_OK(file_remove_tree(dir));
}

#define CHECK_PATH(expr, want) \
    do { \
        AUTO_FREE char *path_ = (expr); \
        CHECK_EQ_STR(path_, want); \
    } while (0)

TEST(paths)
{
    CHECK_PATH(file_join("a", "b"), "a/b");
    CHECK_PATH(file_join("a/", "b"), "a/b");
    CHECK_PATH(file_join("", "b"), "b");
    CHECK_PATH(file_join("a", "/b"), "/b");
    CHECK_PATH(file_dirname("a/b"), "a");
    CHECK_PATH(file_dirname("a//b//"), "a");
    CHECK_PATH(file_dirname("a"), ".");
    CHECK_PATH(file_dirname("/a"), "/");
    CHECK_PATH(file_dirname("/"), "/");
    CHECK_PATH(file_dirname(""), ".");
    CHECK_EQ_STR(file_basename("a/b"), "b");
    CHECK_EQ_STR(file_basename("b"), "b");
    CHECK_EQ_STR(file_basename("a/"), "");
}

TEST(user_directories)
{
    unsetenv("XDG_CACHE_HOME");
    unsetenv("XDG_STATE_HOME");
    setenv("HOME", "/h", 1);
    CHECK_PATH(file_cache_dir(), "/h/.cache/hq");
    CHECK_PATH(file_state_dir(), "/h/.local/state/hq");
    CHECK_PATH(file_expand_home("~/x"), "/h/x");
    CHECK_PATH(file_expand_home("~"), "/h");
    CHECK_PATH(file_expand_home("~x"), "~x");
    setenv("XDG_CACHE_HOME", "relative", 1);
    CHECK_PATH(file_cache_dir(), "/h/.cache/hq");
    setenv("XDG_CACHE_HOME", "/c", 1);
    CHECK_PATH(file_cache_dir(), "/c/hq");
    unsetenv("HOME");
    CHECK_PATH(file_cache_dir(), "/c/hq");
    CHECK_PATH(file_state_dir(), NULL);
    CHECK_PATH(file_expand_home("~/x"), "~/x");
}

TEST(directories)
{
    AUTO_FREE char *dir = test_tmpdir();
    AUTO_FREE char *deep = file_join(dir, "a/b//c/"), AUTO_FREE *file = file_join(dir, "a/f");
    AUTO_FREE char *below = file_join(dir, "a/f/x"), AUTO_FREE *loop = file_join(dir, "a/up");
    AUTO_FREE char *dangling = file_join(dir, "a/nowhere");
    bool empty = false;

    CHECK_OK(file_dir_is_empty(dir, &empty));
    CHECK(empty);
    CHECK_OK(file_make_dirs(deep));
    CHECK_OK(file_make_dirs(deep));
    CHECK(file_is_dir(deep));
    CHECK_OK(write_text(file, "x"));
    CHECK(file_exists(file) && !file_is_dir(file));
    CHECK_ERROR(file_make_dirs(below), HQ_DATA, "a/f: cannot be made a directory: File exists");
    /* The reason is mkdir's, not that of the look after it, which finds nothing. */
    CHECK_EQ_INT(symlink("missing", dangling), 0);
    CHECK_ERROR(file_make_dirs(dangling), HQ_DATA, "a/nowhere: cannot be made a directory: File exists");
    CHECK_ERROR(file_dir_is_empty(file, &empty), HQ_DATA, "cannot be opened as a directory");
    CHECK_EQ_INT(symlink("..", loop), 0);
    CHECK_OK(file_dir_is_empty(dir, &empty));
    CHECK(!empty);
    /* Of a link to itself it is not known what it is. */
    AUTO_FREE char *itself = file_join(dir, "itself");
    CHECK_EQ_INT(symlink("itself", itself), 0);
    CHECK(!file_exists(itself) && !file_is_absent(itself));
    CHECK(!file_is_absent(file) && file_is_absent(below) && file_is_absent(dangling));
    CHECK_OK(file_remove_tree(dir));
    CHECK(!file_exists(dir) && file_is_absent(dir));
    CHECK_OK(file_remove_tree(dir));
}

/* flock belongs to the open file, so a second one in the same process competes like one in another process. */
TEST(locks)
{
    AUTO_FREE char *dir = test_tmpdir();
    AUTO_FREE char *path = file_join(dir, "lock");
    struct file_lock a, b;
    bool got;

    CHECK_OK(file_lock_try(path, &a, &got));
    CHECK(got);
    CHECK_OK(file_lock_try(path, &b, &got));
    CHECK(!got && b.fd == -1);
    file_unlock(&a);
    file_unlock(&a);
    CHECK_OK(file_lock_wait(path, &b));
    CHECK(b.fd >= 0);
    /* Who waits while the file is removed gets the lock of the one that others lock then. */
    pid_t waits = fork();
    if (waits == 0) {
        struct stat own, there;

        close(b.fd); /* which holds the lock, too */
        bool is_that = !file_lock_wait(path, &a) && !fstat(a.fd, &own) && !stat(path, &there);
        _exit(is_that && own.st_ino == there.st_ino ? 0 : 1);
    }
    file_lock_remove(&b, path);
    int status = 1;
    CHECK(waitpid(waits, &status, 0) == waits && status == 0);
    CHECK_OK(file_lock_try(path, &b, &got));
    CHECK(got);
    file_unlock(&b);
    CHECK_ERROR(file_lock_try("/dev/null/lock", &a, &got), HQ_DATA, "cannot be opened as a lock file");
    CHECK(!got);
    CHECK_OK(file_remove_tree(dir));
}

TEST_MAIN
