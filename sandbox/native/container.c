/* Process 1 of a container, which tells the truth about its end and does not outlive whoever started it.
 *
 *   container CWD FSIZE NOFILE PORT COMMAND [ARGUMENT...]
 *
 * PORT is where the loopback leads to the cell's door, 0 for a cell without one, as in init.c.
 *
 * Standard input brings, in this order: a nonce of 32 characters, the length of a system-call filter (8 hexadecimal
 * digits), the length of the command's own standard input (16), the filter, and that input. After that it is the
 * lifeline: when it ends, whoever started us is dead, and so is everything here.
 *
 * The last that is written to standard error is the nonce and a line. After an end of the command we stay until our
 * input ends: so long our control group stands, and what was used can be read there.
 *
 *   descriptor N CPU   N was left open by somebody: nothing was started
 *   limit E CPU        setrlimit failed with errno E: nothing was started
 *   door E CPU         the loopback's port could not be had, errno E: nothing was started
 *   fork E CPU, chdir E CPU, filter E CPU, exec E CPU   the command could not be executed, errno E
 *   exited N CPU       the command ended by itself
 *   signaled N CPU     the command was ended by signal N
 *
 * The last two have one word more, tmp, where there is no room left in /tmp.
 *
 * CPU is in microseconds, of every process that somebody waited for. An engine's own exit code can't tell exit 137 from
 * signal 9. The guest has our uid, but we are not dumpable, so it can't read the nonce from our memory or our input.
 */
#define _GNU_SOURCE
#include "forwarder.h"
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/signalfd.h>
#include <sys/statvfs.h>
#include <sys/wait.h>
#include <unistd.h>

enum { BROKEN = 125, ORPHANED = 126, NOT_EXECUTED = 127, FIRST_COMMAND_WORD = 5, NONCE = 32, MOST_FILTER = 1 << 16 };

static char nonce[NONCE];
static char filter[MOST_FILTER];
static size_t filter_bytes;

/* Guests share our standard error and may have made it non-blocking. */
static void write_all(const char *from, size_t left) {
    while (left > 0) {
        ssize_t done = write(2, from, left);
        if (done > 0) {
            from += done;
            left -= done;
        } else if (errno == EAGAIN) {
            poll(&(struct pollfd){.fd = 2, .events = POLLOUT}, 1, -1);
        } else if (errno != EINTR) {
            _exit(BROKEN);
        }
    }
}

static const char *touched = "";

static void say(const char *what, int number) {
    char line[NONCE + 64];
    struct rusage usage;
    getrusage(RUSAGE_CHILDREN, &usage);
    long long cpu = (usage.ru_utime.tv_sec + usage.ru_stime.tv_sec) * 1000000LL;
    cpu += usage.ru_utime.tv_usec + usage.ru_stime.tv_usec;
    memcpy(line, nonce, NONCE);
    int size = snprintf(line + NONCE, sizeof line - NONCE, "%s %d %lld%s\n", what, number, cpu, touched);
    write_all(line, NONCE + size);
}

static void give_up(const char *what, int number) {
    say(what, number);
    _exit(BROKEN);
}

static void read_all(char *to, size_t left) {
    while (left > 0) {
        ssize_t done = read(0, to, left);
        if (done == 0 || (done < 0 && errno != EINTR)) _exit(ORPHANED);
        if (done > 0) {
            to += done;
            left -= done;
        }
    }
}

static unsigned long long read_length(size_t digits) {
    char text[17] = "";
    read_all(text, digits);
    return strtoull(text, NULL, 16);
}

static void refuse_open_descriptors(void) {
    DIR *folder = opendir("/proc/self/fd");
    if (!folder) give_up("descriptor", -1);
    for (struct dirent *entry; (entry = readdir(folder));) {
        int fd = atoi(entry->d_name);
        if (entry->d_name[0] != '.' && fd > 2 && fd != dirfd(folder)) give_up("descriptor", fd);
    }
    closedir(folder);
}

static void limit(int which, const char *text) {
    rlim_t value = strtoull(text, NULL, 10);
    struct rlimit bound;
    /* Where the engine is stricter already, its bound stays. */
    if (getrlimit(which, &bound) == 0 && value > bound.rlim_max) value = bound.rlim_max;
    bound.rlim_cur = bound.rlim_max = value;
    if (setrlimit(which, &bound) != 0) give_up("limit", errno);
}

static void open_door(int port) {
    int listener = door_listen(port);
    pid_t forwarder = listener < 0 ? -1 : fork();
    if (forwarder == 0) {
        /* The guest's outputs end with the guest. */
        for (int fd = 0; fd < 3; fd++) close(fd);
        forward(listener);
    }
    if (forwarder < 0) give_up("door", errno);
    close(listener);
}

static void kill_the_rest(void) {
    do {
        kill(-1, SIGKILL);
    } while (waitpid(-1, NULL, __WALL) >= 0 || errno == EINTR);
}

struct failure {
    char what[12];
    int number;
};

static void fail(int to, const char *what) {
    struct failure failure = {.number = errno};
    strncpy(failure.what, what, sizeof failure.what - 1);
    if (write(to, &failure, sizeof failure) < 0) _exit(BROKEN);
    _exit(NOT_EXECUTED);
}

static void execute(int input, int failures, const char *cwd, char **command) {
    sigset_t none;
    struct sock_fprog program = {.len = filter_bytes / sizeof(struct sock_filter), .filter = (void *)filter};
    for (int number = 1; number < NSIG; number++) signal(number, SIG_DFL);
    sigemptyset(&none);
    sigprocmask(SIG_SETMASK, &none, NULL);
    setsid();
    dup2(input, 0);
    if (chdir(cwd) != 0) fail(failures, "chdir");
    if (filter_bytes && prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0) fail(failures, "filter");
    if (filter_bytes && prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) != 0) fail(failures, "filter");
    execvp(command[0], command);
    fail(failures, "exec");
}

static int reap(pid_t command, int *status) {
    int found = 0, one;
    for (pid_t ended; (ended = waitpid(-1, &one, __WALL | WNOHANG)) > 0;) {
        if (ended == command) {
            *status = one;
            found = 1;
        }
    }
    return found;
}

/* Passes the command's input on and waits for its end; our own input's end is ours. */
static int serve(pid_t command, int to, unsigned long long left) {
    static char buffer[65536];
    size_t at = 0, have = 0;
    int status = 0;
    sigset_t children;
    sigemptyset(&children);
    sigaddset(&children, SIGCHLD);
    int ended = signalfd(-1, &children, SFD_CLOEXEC | SFD_NONBLOCK);
    if (ended < 0) give_up("fork", errno);
    for (;;) {
        if (to >= 0 && have == 0 && left == 0) {
            close(to);
            to = -1;
        }
        struct pollfd looks[3] = {
            {.fd = ended, .events = POLLIN},
            {.fd = 0, .events = have == 0 ? POLLIN : 0},
            {.fd = to, .events = have > 0 ? POLLOUT : 0},
        };
        if (poll(looks, 3, -1) < 0 && errno != EINTR) _exit(BROKEN);
        if (looks[0].revents) {
            struct signalfd_siginfo told;
            while (read(ended, &told, sizeof told) > 0) {}
            if (reap(command, &status)) return status;
        }
        if (looks[1].revents & POLLIN) {
            size_t most = left < sizeof buffer ? left : sizeof buffer;
            ssize_t got = read(0, buffer, most ? most : 1);
            if (got <= 0 && errno != EINTR) _exit(ORPHANED);
            if (got > 0 && left > 0) {
                left -= got;
                have = to >= 0 ? got : 0;
                at = 0;
            }
        } else if (looks[1].revents) {
            _exit(ORPHANED);
        }
        if (to >= 0 && looks[2].revents) {
            ssize_t put = have > 0 ? write(to, buffer + at, have) : -1;
            if (put > 0) {
                at += put;
                have -= put;
            } else if (have == 0 || (errno != EAGAIN && errno != EINTR)) {
                /* Nobody will read the rest. */
                close(to);
                to = -1;
                have = 0;
            }
        }
    }
}

static _Noreturn void leave(int code) {
    static char rest[65536];
    ssize_t got;
    while ((got = read(0, rest, sizeof rest)) > 0 || (got < 0 && errno == EINTR)) continue;
    _exit(code);
}

int main(int count, char **words) {
    int input[2], failures[2];
    struct failure failure;
    sigset_t all;
    /* Anywhere else, kill(-1) would end whatever the user owns. */
    if (getpid() != 1 || count <= FIRST_COMMAND_WORD || prctl(PR_SET_DUMPABLE, 0) != 0) return BROKEN;
    sigfillset(&all);
    sigprocmask(SIG_SETMASK, &all, NULL);
    read_all(nonce, NONCE);
    filter_bytes = read_length(8);
    unsigned long long left = read_length(16);
    if (filter_bytes > MOST_FILTER) give_up("filter", E2BIG);
    read_all(filter, filter_bytes);
    refuse_open_descriptors();
    if (atoi(words[4]) != 0) open_door(atoi(words[4]));
    limit(RLIMIT_CORE, "0");
    limit(RLIMIT_FSIZE, words[2]);
    limit(RLIMIT_NOFILE, words[3]);
    if (pipe2(input, O_CLOEXEC) != 0 || pipe2(failures, O_CLOEXEC) != 0) give_up("fork", errno);
    pid_t command = fork();
    if (command == 0) execute(input[0], failures[1], words[1], words + FIRST_COMMAND_WORD);
    if (command < 0) give_up("fork", errno);
    close(input[0]);
    close(failures[1]);
    fcntl(input[1], F_SETFL, O_NONBLOCK);
    int status = serve(command, input[1], left);
    kill_the_rest();
    if (read(failures[0], &failure, sizeof failure) == sizeof failure) give_up(failure.what, failure.number);
    struct statvfs tmp;
    if (statvfs("/tmp", &tmp) == 0 && tmp.f_bavail == 0) touched = " tmp";
    if (WIFSIGNALED(status)) {
        say("signaled", WTERMSIG(status));
        leave(128 + WTERMSIG(status));
    }
    say("exited", WEXITSTATUS(status));
    leave(WEXITSTATUS(status));
}
