/* Giving up root, in one place: whoever executes bubblewrap does it through this. */
#ifndef SANDBOX_DROP_H
#define SANDBOX_DROP_H
#include <errno.h>
#include <grp.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

enum { REFUSED = 97 };

static int fail(const char *what) {
    dprintf(2, "launcher: %s: %s\n", what, strerror(errno));
    return REFUSED;
}

/* Become `uid` and `gid` for good; 0, or REFUSED after saying why. */
static int drop(uid_t uid, gid_t gid) {
    if (setgroups(0, NULL) != 0) return fail("setgroups");
    if (setresgid(gid, gid, gid) != 0) return fail("setresgid");
    if (setresuid(uid, uid, uid) != 0) return fail("setresuid");
    if (getuid() == 0 || geteuid() == 0 || getgid() == 0 || getegid() == 0) {
        dprintf(2, "launcher: refusing to run bubblewrap as uid or gid 0\n");
        return REFUSED;
    }
    return 0;
}
#endif
