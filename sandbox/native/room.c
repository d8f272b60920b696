/* A room's server: a minder for each command, which starts it, waits for it and tells how it ended.
 *
 * It is not dumpable, and neither are its minders. Commands can kill it, which ends the room and their own chances.
 */
#define _GNU_SOURCE
#include "tool.h"
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

extern char **environ;

static bool has_own_environment;

static void wake(int number) { (void)number; }

static _Noreturn void tell(int caller, int status) {
    send(caller, &status, sizeof status, MSG_NOSIGNAL);
    _exit(0);
}

/* A folder of the session would lead to all that the session sees, its door included. */
static bool is_stream(int fd) {
    struct stat found;
    int flags = fcntl(fd, F_GETFL);
    return flags >= 0 && !(flags & O_PATH) && fstat(fd, &found) == 0 && !S_ISDIR(found.st_mode);
}

static bool receive(int caller, struct order *order, int *stdio) {
    union rights space;
    struct iovec body = {order, sizeof *order};
    struct msghdr message = {
        .msg_iov = &body, .msg_iovlen = 1, .msg_control = &space, .msg_controllen = CMSG_SPACE(STDIO * sizeof(int))};
    if (recvmsg(caller, &message, MSG_CMSG_CLOEXEC | MSG_WAITALL) != (ssize_t)sizeof *order) return false;
    if (order->size == 0) return true;
    struct cmsghdr *rights = CMSG_FIRSTHDR(&message);
    if (!rights || rights->cmsg_type != SCM_RIGHTS || rights->cmsg_len != CMSG_LEN(STDIO * sizeof(int))) return false;
    memcpy(stdio, CMSG_DATA(rights), STDIO * sizeof(int));
    for (int fd = 0; fd < STDIO; fd++)
        if (!is_stream(stdio[fd])) return false;
    return order->size <= MOST_BYTES && order->words > 0;
}

/* Gives the words' places, NULL after the arguments and after the environment; NULL when the text is not as said. */
static char **split(char *text, const struct order *order) {
    unsigned count = 0, made = 0;
    if (text[order->size - 1] != '\0') return NULL;
    for (unsigned at = 0; at < order->size; at++) count += text[at] == '\0';
    if (order->words >= count) return NULL; /* not words + 1, which a caller can wrap around */
    char **places = calloc(count + 2, sizeof *places);
    for (char *at = text; places && at < text + order->size; at += strlen(at) + 1) {
        places[made++] = at;
        if (made == order->words + 1) made++;
    }
    return places;
}

static _Noreturn void become(char **places, unsigned words, const int *stdio) {
    char *program = places[1];
    setsid();
    for (int fd = 0; fd < STDIO; fd++) dup2(stdio[fd], fd);
    signal(SIGCHLD, SIG_DFL);
    if (!has_own_environment) environ = places + words + 2;
    if (chdir(places[0]) != 0) {
        dprintf(2, "tool: %s: %s\n", places[0], strerror(errno));
        _exit(NOT_RUN);
    }
    if (has_own_environment) setenv("PWD", places[0], true);
    execvp(program, places + 1);
    int reason = errno;
    dprintf(2, "tool: %s: %s\n", program, strerror(reason));
    _exit(reason == ENOENT ? NOT_FOUND : NOT_EXECUTABLE);
}

static _Noreturn void mind(int caller) {
    struct order order = {0, 0};
    int stdio[STDIO], status = NOT_RUN << 8;
    if (!receive(caller, &order, stdio)) tell(caller, status);
    if (order.size == 0) {
        /* The init reaps the server and then all others, so that their processor time is counted. */
        kill(getppid(), SIGKILL);
        _exit(0);
    }
    char *text = malloc(order.size), **places = NULL;
    if (text && recv(caller, text, order.size, MSG_WAITALL) == (ssize_t)order.size) places = split(text, &order);
    if (!places) tell(caller, status);
    pid_t command = fork();
    if (command == 0) become(places, order.words, stdio);
    for (int fd = 0; fd < STDIO; fd++) close(stdio[fd]);
    if (command < 0) tell(caller, status);
    struct pollfd asked[2] = {{.fd = (int)syscall(SYS_pidfd_open, command, 0), .events = POLLIN},
                              {.fd = caller, .events = POLLIN}};
    while (poll(asked, 2, -1) < 0 && errno == EINTR) continue;
    if (!asked[0].revents) {
        /* In this order: one that has no session of its own yet will never have one. */
        kill(command, SIGKILL);
        kill(-command, SIGKILL);
    }
    while (waitpid(command, &status, 0) < 0 && errno == EINTR) continue;
    tell(caller, status);
}

_Noreturn void serve_room(int given, bool is_sealed) {
    has_own_environment = is_sealed;
    struct sigaction woken = {.sa_handler = wake};
    int listener = fcntl(given, F_DUPFD_CLOEXEC, STDIO), nothing = open("/dev/null", O_RDWR | O_CLOEXEC);
    if (listener < 0 || nothing < 0 || prctl(PR_SET_DUMPABLE, 0) != 0) _exit(NOT_RUN);
    for (int fd = 0; fd < STDIO; fd++) dup2(nothing, fd);
    /* Without SA_RESTART: a minder's end interrupts the wait for callers, and is reaped. */
    sigaction(SIGCHLD, &woken, NULL);
    for (;;) {
        int caller = accept4(listener, NULL, NULL, SOCK_CLOEXEC), reason = errno;
        while (waitpid(-1, NULL, WNOHANG) > 0) continue;
        if (caller < 0) {
            /* Short of descriptors or memory, the listener stays ready: no turning in circles. */
            if (reason != EINTR) poll(NULL, 0, 10);
            continue;
        }
        pid_t minder = fork();
        if (minder == 0) {
            close(listener);
            mind(caller);
        }
        close(caller);
    }
}
