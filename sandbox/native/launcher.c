/* Gives up root before bubblewrap is executed: run by uid 0, bubblewrap contains nothing.
 *
 *   launcher UID GID PROGRAM [ARGUMENT...]
 */
#define _GNU_SOURCE
#include <errno.h>
#include <grp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { REFUSED = 97, FIRST_PROGRAM_WORD = 3 };

static int fail(const char *what) {
    fprintf(stderr, "launcher: %s: %s\n", what, strerror(errno));
    return REFUSED;
}

int main(int count, char **words) {
    if (count <= FIRST_PROGRAM_WORD) return REFUSED;
    uid_t uid = (uid_t)strtoul(words[1], NULL, 10);
    gid_t gid = (gid_t)strtoul(words[2], NULL, 10);
    if (setgroups(0, NULL) != 0) return fail("setgroups");
    if (setresgid(gid, gid, gid) != 0) return fail("setresgid");
    if (setresuid(uid, uid, uid) != 0) return fail("setresuid");
    if (getuid() == 0 || geteuid() == 0 || getgid() == 0 || getegid() == 0) {
        fputs("launcher: refusing to run bubblewrap as uid or gid 0\n", stderr);
        return REFUSED;
    }
    execv(words[FIRST_PROGRAM_WORD], words + FIRST_PROGRAM_WORD);
    return fail(words[FIRST_PROGRAM_WORD]);
}
