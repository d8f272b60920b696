/* Runs a command in a room beside the session's sandbox, in place of itself. Its own name says which: /.tool, /.server.
 *
 *   tool COMMAND [ARGUMENT...]   in the session: same directory, environment, inputs, outputs and end as the command
 *   tool --serve [DESK]          in the room, with the listener as descriptor 0, or as what a caller of DESK is handed
 *   tool --serve-sealed [DESK]   the same, with the room's environment for its commands instead of the session's
 */
#define _GNU_SOURCE
#include "tool.h"
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

extern char **environ;

static struct sockaddr_un room = {.sun_family = AF_UNIX};

static _Noreturn void fail(const char *what) {
    dprintf(2, "tool: %s: %s\n", what, strerror(errno));
    _exit(NOT_RUN);
}

static char *append(char *at, const char *end, const char *word) {
    size_t length = strlen(word) + 1;
    if (length > (size_t)(end - at)) {
        errno = E2BIG;
        fail("order");
    }
    return memcpy(at, word, length) + length;
}

static void send_all(int to, const char *from, size_t size) {
    while (size > 0) {
        ssize_t sent = send(to, from, size, MSG_NOSIGNAL);
        if (sent < 0 && errno == EINTR) continue;
        if (sent < 0) fail(room.sun_path);
        from += sent;
        size -= (size_t)sent;
    }
}

static void send_order(int to, struct order *order) {
    int stdio[STDIO] = {0, 1, 2};
    union rights space = {{0}};
    struct iovec body = {order, sizeof *order};
    struct msghdr message = {
        .msg_iov = &body, .msg_iovlen = 1, .msg_control = &space, .msg_controllen = CMSG_SPACE(sizeof stdio)};
    struct cmsghdr *rights = CMSG_FIRSTHDR(&message);
    rights->cmsg_level = SOL_SOCKET;
    rights->cmsg_type = SCM_RIGHTS;
    rights->cmsg_len = CMSG_LEN(sizeof stdio);
    memcpy(CMSG_DATA(rights), stdio, sizeof stdio);
    if (sendmsg(to, &message, MSG_NOSIGNAL) != (ssize_t)sizeof *order) fail(room.sun_path);
}

static int run_there(char **words, int count) {
    char *text = malloc(MOST_BYTES), *at = text, *end = text + MOST_BYTES, *here = getcwd(NULL, 0);
    if (!text || !here) fail("order");
    at = append(at, end, here);
    for (int number = 0; number < count; number++) at = append(at, end, words[number]);
    for (char **entry = environ; *entry; entry++) at = append(at, end, *entry);
    struct order order = {(unsigned)(at - text), (unsigned)count};
    int there = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0), status;
    if (there < 0 || connect(there, (const struct sockaddr *)&room, sizeof room) != 0) fail(room.sun_path);
    send_order(there, &order);
    send_all(there, text, order.size);
    ssize_t got;
    while ((got = recv(there, &status, sizeof status, MSG_WAITALL)) < 0 && errno == EINTR) continue;
    if (got == (ssize_t)sizeof status) return status;
    dprintf(2, "tool: the room ended before the command\n");
    _exit(NOT_RUN);
}

static _Noreturn void serve(const char *desk, bool is_sealed) {
    if (!desk) serve_room(0, is_sealed);
    char byte;
    int listener;
    union rights space = {{0}};
    struct iovec body = {&byte, 1};
    struct msghdr message = {
        .msg_iov = &body, .msg_iovlen = 1, .msg_control = &space, .msg_controllen = CMSG_SPACE(sizeof listener)};
    int there = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    snprintf(room.sun_path, sizeof room.sun_path, "%s", desk);
    if (there < 0 || connect(there, (const struct sockaddr *)&room, sizeof room) != 0) fail(desk);
    if (recvmsg(there, &message, MSG_CMSG_CLOEXEC) != 1) fail(desk);
    struct cmsghdr *rights = CMSG_FIRSTHDR(&message);
    if (!rights || rights->cmsg_type != SCM_RIGHTS || rights->cmsg_len != CMSG_LEN(sizeof listener)) fail(desk);
    memcpy(&listener, CMSG_DATA(rights), sizeof listener);
    serve_room(listener, is_sealed);
}

int main(int count, char **words) {
    if ((count == 2 || count == 3) && strcmp(words[1], "--serve") == 0) serve(words[2], false);
    if ((count == 2 || count == 3) && strcmp(words[1], "--serve-sealed") == 0) serve(words[2], true);
    if (count < 2) {
        dprintf(2, "usage: tool COMMAND [ARGUMENT...]\n");
        return NOT_RUN;
    }
    const char *slash = strrchr(words[0], '/');
    snprintf(room.sun_path, sizeof room.sun_path, "/run/%s.sock", slash ? slash + 1 : words[0]);
    int status = run_there(words + 1, count - 1);
    if (WIFSIGNALED(status)) {
        signal(WTERMSIG(status), SIG_DFL);
        raise(WTERMSIG(status));
        return 128 + WTERMSIG(status);
    }
    return WEXITSTATUS(status);
}
