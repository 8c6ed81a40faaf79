/* SPDX-License-Identifier: BSD-3-Clause */
#include "common/process.h"
#include "tests/unit/test.h"

#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

TEST(a_name_with_brackets_hides_no_field)
{
    AUTO_STR struct str text = {0};

    CHECK(prctl(PR_SET_NAME, "a) R 1 (b") == 0);
    CHECK_EQ_INT(process_number(getpid(), PROCESS_PARENT), getppid());
    CHECK(process_number(getpid(), PROCESS_START) > 0);
    const char *state = process_field(getpid(), PROCESS_STATE, &text);
    CHECK(state && *state == 'R' && state[1] == ' ');
}

TEST(who_has_ended_and_is_not_waited_for_is_told)
{
    AUTO_STR struct str text = {0}, none = {0};
    siginfo_t info;
    pid_t child = fork();

    if (!child)
        _exit(0);
    CHECK(waitid(P_PID, (id_t)child, &info, WEXITED | WNOWAIT) == 0);
    const char *state = process_field(child, PROCESS_STATE, &text);
    CHECK(state && *state == 'Z');
    CHECK_EQ_INT(process_number(child, PROCESS_PARENT), getpid());
    CHECK(waitpid(child, NULL, 0) == child);
    CHECK(!process_field(child, PROCESS_STATE, &none));
    CHECK_EQ_INT(process_number(child, PROCESS_PARENT), 0);
}

TEST_MAIN
