/* Process 1 of a sandbox's PID namespace.
 *
 *   init REPORT FSIZE NOFILE NPROC DATA PORT COMMAND [ARGUMENT...]
 *
 * REPORT is the number of the one descriptor that may be open besides 0, 1 and 2: the sandbox's own pipe, on which a
 * line says what happened:
 *
 *   descriptor N   N was left open by somebody: nothing was started
 *   limit NAME E   setrlimit failed with errno E: nothing was started
 *   door E         the loopback's port could not be had, errno E: nothing was started
 *   started 1      the sandbox stands; one of the following comes later, unless somebody kills this process
 *   fork E         no process could be made for the command, errno E
 *   exec E         the command could not be executed, errno E
 *   touched tmp    the command has ended, and there is no room left in /tmp
 *   exited N       the command ended by itself
 *   signaled N     the command was ended by signal N
 *
 * PORT is where the loopback leads to the cell's door, 0 for a cell without one. The forwarder is a fork of this process
 * and a sibling of the command; it answers before the command starts and is killed with the rest.
 *
 * It is not dumpable, so that the guest, which has the same uid, can neither trace it nor read or write its memory;
 * the command and its descendants are ordinary processes again by their execve. Limits are set here because here
 * RLIMIT_NPROC counts the sandbox's own user namespace and nobody else's processes.
 */
#define _GNU_SOURCE
#include "forwarder.h"
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/statvfs.h>
#include <sys/wait.h>
#include <unistd.h>

enum { BROKEN = 125, NOT_EXECUTED = 127, FIRST_COMMAND_WORD = 7 };

static int report;

static void say(const char *what, const char *name, int number) {
    dprintf(report, "%s %s%d\n", what, name, number);
}

static void refuse_open_descriptors(void) {
    DIR *folder = opendir("/proc/self/fd");
    if (!folder) {
        say("descriptor", "", -1);
        _exit(BROKEN);
    }
    for (struct dirent *entry; (entry = readdir(folder));) {
        int fd = atoi(entry->d_name);
        if (entry->d_name[0] != '.' && fd > 2 && fd != report && fd != dirfd(folder)) {
            say("descriptor", "", fd);
            _exit(BROKEN);
        }
    }
    closedir(folder);
}

static void limit(int which, const char *name, const char *text) {
    rlim_t value = strtoull(text, NULL, 10);
    struct rlimit bound;
    /* Where the host is stricter already, its bound stays. */
    if (getrlimit(which, &bound) == 0 && value > bound.rlim_max) value = bound.rlim_max;
    bound.rlim_cur = bound.rlim_max = value;
    if (setrlimit(which, &bound) != 0) {
        say("limit", name, errno);
        _exit(BROKEN);
    }
}

static void reset_signals(void) {
    sigset_t none;
    for (int number = 1; number < NSIG; number++) signal(number, SIG_DFL);
    sigemptyset(&none);
    sigprocmask(SIG_SETMASK, &none, NULL);
}

static void open_door(int port) {
    int listener = door_listen(port);
    pid_t forwarder = listener < 0 ? -1 : fork();
    if (forwarder == 0) {
        /* The guest's outputs end with the guest. */
        for (int fd = 0; fd < 3; fd++) close(fd);
        close(report);
        forward(listener);
    }
    if (forwarder < 0) {
        say("door", "", errno);
        _exit(BROKEN);
    }
    close(listener);
}

static int reap_until(pid_t command) {
    for (int status;;) {
        pid_t ended = waitpid(-1, &status, __WALL);
        if (ended == command) return status;
        if (ended < 0 && errno != EINTR) _exit(BROKEN);
    }
}

static void kill_the_rest(void) {
    do {
        kill(-1, SIGKILL);
    } while (waitpid(-1, NULL, __WALL) >= 0 || errno == EINTR);
}

/* Nobody is told of a write that failed; what filled a tmpfs and stays there is seen. */
static void tell_of_tmp(void) {
    struct statvfs tmp;
    if (statvfs("/tmp", &tmp) == 0 && tmp.f_bavail == 0) dprintf(report, "touched tmp\n");
}

int main(int count, char **words) {
    /* Anywhere else, kill(-1) would end whatever the user owns. */
    if (getpid() != 1 || count <= FIRST_COMMAND_WORD) return BROKEN;
    report = atoi(words[1]);
    if (prctl(PR_SET_DUMPABLE, 0) != 0 || fcntl(report, F_SETFD, FD_CLOEXEC) != 0) return BROKEN;
    refuse_open_descriptors();
    reset_signals();
    if (atoi(words[6]) != 0) open_door(atoi(words[6]));
    limit(RLIMIT_CORE, "core ", "0");
    limit(RLIMIT_FSIZE, "fsize ", words[2]);
    limit(RLIMIT_NOFILE, "nofile ", words[3]);
    limit(RLIMIT_DATA, "data ", words[5]);
    say("started", "", getpid());
    pid_t command = fork();
    if (command == 0) {
        limit(RLIMIT_NPROC, "nproc ", words[4]);
        execvp(words[FIRST_COMMAND_WORD], words + FIRST_COMMAND_WORD);
        say("exec", "", errno);
        _exit(NOT_EXECUTED);
    }
    if (command < 0) {
        say("fork", "", errno);
        _exit(BROKEN);
    }
    int status = reap_until(command);
    kill_the_rest();
    tell_of_tmp();
    if (WIFSIGNALED(status)) {
        say("signaled", "", WTERMSIG(status));
        _exit(128 + WTERMSIG(status));
    }
    say("exited", "", WEXITSTATUS(status));
    _exit(WEXITSTATUS(status));
}
