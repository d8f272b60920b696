/* Copies bytes between callers on the loopback and the cell's door, one process for all of them.
 *
 * Each direction of a link has a buffer and ends on its own, so a caller that has said all may still listen, and an
 * answer that was given before the question's end still arrives. With MOST links open, further callers wait.
 */
#define _GNU_SOURCE
#include "forwarder.h"
#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

enum { MOST = 64, HELD = 32768, BACKLOG = 128 };

static const struct sockaddr_un door = {.sun_family = AF_UNIX, .sun_path = "/run/model.sock"};

struct direction {
    int from, to;
    size_t start, end;
    bool has_all, is_over;
    char held[HELD];
};

/* way[0]: from the caller to the door; way[1]: back. A caller of -1 is a free place. */
static struct link {
    int caller, door;
    struct direction way[2];
} links[MOST];

static struct pollfd polled[1 + 2 * MOST];

int door_listen(int port) {
    struct sockaddr_in here = {.sin_family = AF_INET, .sin_port = htons((unsigned short)port)};
    int on = 1, listener = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    here.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    if (listener < 0) return -1;
    /* Inherited by what is accepted: a small question must not wait for its neighbour's acknowledgement. */
    setsockopt(listener, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
    setsockopt(listener, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
    if (bind(listener, (struct sockaddr *)&here, sizeof here) == 0 && listen(listener, BACKLOG) == 0) return listener;
    return -1;
}

static bool must_wait(void) { return errno == EAGAIN || errno == EINTR; }

static struct link *free_link(void) {
    for (int number = 0; number < MOST; number++)
        if (links[number].caller < 0) return &links[number];
    return NULL;
}

static void open_way(struct direction *way, int from, int to) {
    way->from = from;
    way->to = to;
    way->start = way->end = 0;
    way->has_all = way->is_over = false;
}

static void accept_caller(int listener, struct link *link) {
    int caller = accept4(listener, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);
    if (caller < 0) {
        /* Short of descriptors or memory, the listener stays ready: no turning in circles. */
        if (!must_wait()) poll(NULL, 0, 10);
        return;
    }
    int there = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    if (there < 0 || connect(there, (const struct sockaddr *)&door, sizeof door) != 0) {
        if (there >= 0) close(there);
        close(caller);
        return;
    }
    link->caller = caller;
    link->door = there;
    open_way(&link->way[0], caller, there);
    open_way(&link->way[1], there, caller);
}

static void copy(struct direction *way) {
    while (!way->is_over) {
        if (way->start == way->end && !way->has_all) {
            ssize_t got = read(way->from, way->held, HELD);
            if (got < 0 && must_wait()) return;
            way->start = 0;
            way->end = got > 0 ? (size_t)got : 0;
            way->has_all = got <= 0;
        }
        if (way->start == way->end) {
            if (way->has_all) {
                shutdown(way->to, SHUT_WR);
                way->is_over = true;
            }
            return;
        }
        ssize_t put = send(way->to, way->held + way->start, way->end - way->start, MSG_NOSIGNAL);
        if (put < 0 && must_wait()) return;
        /* Nobody takes any more: what is left is lost, but the other direction may go on. */
        if (put < 0) way->is_over = true;
        else way->start += (size_t)put;
        /* One round, and then the others: level-triggered polling comes back here. */
        if (way->start == way->end && !way->has_all) return;
    }
}

static void serve(struct link *link) {
    for (int which = 0; which < 2; which++) copy(&link->way[which]);
    if (!link->way[0].is_over || !link->way[1].is_over) return;
    close(link->caller);
    close(link->door);
    link->caller = -1;
}

static void want(struct pollfd *place, const struct direction *way) {
    bool is_held = way->start < way->end;
    /* A descriptor that is asked nothing is left out: its hang-up would be told without end. */
    place->fd = way->is_over ? -1 : is_held ? way->to : way->from;
    place->events = is_held ? POLLOUT : POLLIN;
}

_Noreturn void forward(int listener) {
    for (int number = 0; number < MOST; number++) links[number].caller = -1;
    for (;;) {
        struct link *place = free_link();
        polled[0] = (struct pollfd){.fd = place ? listener : -1, .events = POLLIN};
        for (int number = 0; number < MOST; number++)
            for (int which = 0; which < 2; which++) {
                struct pollfd *asked = &polled[1 + 2 * number + which];
                asked->revents = 0;
                asked->fd = -1;
                if (links[number].caller >= 0) want(asked, &links[number].way[which]);
            }
        if (poll(polled, 1 + 2 * MOST, -1) < 0 && errno != EINTR) _exit(1);
        for (int number = 0; number < MOST; number++)
            if (links[number].caller >= 0 && (polled[1 + 2 * number].revents || polled[2 + 2 * number].revents))
                serve(&links[number]);
        if (place && polled[0].revents) accept_caller(listener, place);
    }
}
