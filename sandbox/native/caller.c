/* Calls a sandbox's door for preflight, by its socket and by its port, and tells what answers or why nothing does.
 *
 *   caller SOCKET PORT NAME [ABSTRACT]
 *
 * ABSTRACT is a socket's name in the network namespace, as a third way. It prints one line: NAME, and for each way the word that came, or the error's name.
 */
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <errno.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <sys/un.h>
#include <unistd.h>

enum { ANSWER_S = 10, MOST_WORD = 64 };

static void tell_error(int number) {
    switch (number) {
    case ENOENT: printf(" ENOENT"); break;
    case ECONNREFUSED: printf(" ECONNREFUSED"); break;
    default: printf(" errno-%d", number);
    }
}

static void call(const struct sockaddr *place, socklen_t size) {
    char word[MOST_WORD + 1] = "";
    struct timeval limit = {.tv_sec = ANSWER_S};
    int door = socket(place->sa_family, SOCK_STREAM, 0);
    setsockopt(door, SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof limit);
    if (door < 0 || connect(door, place, size) != 0 || send(door, "?", 1, MSG_NOSIGNAL) != 1 ||
        recv(door, word, MOST_WORD, 0) < 0)
        tell_error(errno);
    else
        printf(" %s", word);
    if (door >= 0) close(door);
}

int main(int count, char **words) {
    if (count != 4 && count != 5) return 2;
    struct sockaddr_un by_name = {.sun_family = AF_UNIX};
    struct sockaddr_in by_port = {
        .sin_family = AF_INET, .sin_port = htons(atoi(words[2])), .sin_addr = {htonl(INADDR_LOOPBACK)}};
    snprintf(by_name.sun_path, sizeof by_name.sun_path, "%s", words[1]);
    printf("%s", words[3]);
    call((const struct sockaddr *)&by_name, sizeof by_name);
    call((const struct sockaddr *)&by_port, sizeof by_port);
    if (count == 5) {
        struct sockaddr_un abstract = {.sun_family = AF_UNIX};
        int length = snprintf(abstract.sun_path + 1, sizeof abstract.sun_path - 1, "%s", words[4]);
        call((const struct sockaddr *)&abstract, offsetof(struct sockaddr_un, sun_path) + 1 + length);
    }
    printf("\n");
    return 0;
}
