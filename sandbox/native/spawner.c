/* Starts every bubblewrap of one worker, as process 1 of a PID namespace of its own.
 *
 *   spawner SOCKET
 *
 * SOCKET is the number of our end of a pair of SOCK_SEQPACKET sockets; the worker alone holds the other end. When the
 * worker dies, however and whenever, the socket ends, we exit, and the kernel kills the namespace: every sandbox and all
 * in it. Nothing in this argument can come too early or too late, unlike a signal at the parent's death.
 *
 * First we say `ready` with a pidfd of ourselves, or `failed STEP ERRNO`. Then each message makes one child:
 *
 *   spawn UID GID SECCOMP SOURCES   with the descriptors channel, words, stdin, stdout, stderr, plan, status, report,
 *                                   seccomp if SECCOMP is 1, so many binds' sources, and control groups' entries
 *
 * An entry is a file that lets in who writes 0 into it or, for version 2, the group's folder. `words` holds the program and its arguments, each ended by a NUL. They find plan, status, report and seccomp at 3, 4, 5
 * and 6, the sources from 7 on, and our own environment. UID 0 means: as we are. `channel` is the run's own socket, on which we say
 *
 *   failed STEP ERRNO      nothing was started
 *   ended STATUS USER SYS  bubblewrap was waited for: its wait status, its tree's processor time in microseconds
 *   found | gone           the answer to `find PID`: with a pidfd, or there is no such process any more
 *
 * and hear `find PID`, in our numbers, which are bubblewrap's, and `kill`: SIGKILL to its process group. A channel that is
 * closed means `kill` as well. What can't be done between fork and execve is said on the run's stderr, with exit 97.
 */
#define _GNU_SOURCE
#include "drop.h"
#include <fcntl.h>
#include <linux/sched.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/resource.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>

enum { MOST_RUNS = 1024, MOST_FDS = 128, HIGH = 200, LINE = 128 };
enum { CHANNEL, WORDS, STDIN, STDOUT, STDERR, PLAN, STATUS, REPORT, SECCOMP };
enum { FIRST_SOURCE = 7 };
enum { SOCKET_AT, SIGNALS_AT, RUNS_AT };

struct run {
    pid_t pid;   /* 0 once waited for */
    int channel; /* -1 once closed */
};

struct message {
    char text[LINE];
    ssize_t size;
    int fds[MOST_FDS];
    int count;
};

struct order {
    struct message *message;
    unsigned uid, gid, has_seccomp, sources;
    int groups; /* where they begin among the descriptors, behind the sources */
};

static struct run runs[MOST_RUNS];
static int run_count;

static int pidfd_of(pid_t pid) {
    return (int)syscall(SYS_pidfd_open, pid, 0);
}

static void say(int socket, const char *text, int fd) {
    union {
        struct cmsghdr head;
        char room[CMSG_SPACE(sizeof(int))];
    } control = {0};
    struct iovec part = {.iov_base = (char *)text, .iov_len = strlen(text)};
    struct msghdr letter = {.msg_iov = &part, .msg_iovlen = 1};
    if (fd >= 0) {
        letter.msg_control = &control;
        letter.msg_controllen = sizeof control.room;
        control.head.cmsg_level = SOL_SOCKET;
        control.head.cmsg_type = SCM_RIGHTS;
        control.head.cmsg_len = CMSG_LEN(sizeof(int));
        memcpy(CMSG_DATA(&control.head), &fd, sizeof fd);
    }
    /* Whoever does not listen is about to be noticed as gone. */
    (void)!sendmsg(socket, &letter, MSG_NOSIGNAL | MSG_DONTWAIT);
}

static void say_failed(int socket, const char *step) {
    char line[LINE];
    snprintf(line, sizeof line, "failed %s %d", step, errno);
    say(socket, line, -1);
}

static void hear(int socket, struct message *message) {
    union {
        struct cmsghdr head;
        char room[CMSG_SPACE(sizeof(int) * MOST_FDS)];
    } control;
    struct iovec part = {.iov_base = message->text, .iov_len = LINE - 1};
    struct msghdr letter = {
        .msg_iov = &part, .msg_iovlen = 1, .msg_control = &control, .msg_controllen = sizeof control.room};
    message->count = 0;
    do message->size = recvmsg(socket, &letter, MSG_CMSG_CLOEXEC);
    while (message->size < 0 && errno == EINTR);
    message->text[message->size < 0 ? 0 : message->size] = '\0';
    if (message->size <= 0) return;
    for (struct cmsghdr *part_of = CMSG_FIRSTHDR(&letter); part_of; part_of = CMSG_NXTHDR(&letter, part_of)) {
        if (part_of->cmsg_level != SOL_SOCKET || part_of->cmsg_type != SCM_RIGHTS) continue;
        message->count = (int)((part_of->cmsg_len - CMSG_LEN(0)) / sizeof(int));
        memcpy(message->fds, CMSG_DATA(part_of), sizeof(int) * (size_t)message->count);
    }
}

static char **words_in(int fd) {
    struct stat found;
    if (fstat(fd, &found) != 0 || found.st_size == 0) return NULL;
    char *text = mmap(NULL, (size_t)found.st_size, PROT_READ | PROT_WRITE, MAP_PRIVATE, fd, 0);
    if (text == MAP_FAILED) return NULL;
    size_t count = 0, at = 0;
    for (off_t each = 0; each < found.st_size; each++) count += text[each] == '\0';
    char **words = calloc(count + 1, sizeof *words);
    for (char *word = text; words && at < count; word += strlen(word) + 1) words[at++] = word;
    return count ? words : NULL;
}

static int is_order(struct order *order) {
    struct message *message = order->message;
    if (sscanf(message->text, "spawn %u %u %u %u", &order->uid, &order->gid, &order->has_seccomp, &order->sources) != 4)
        return 0;
    if (order->has_seccomp > 1 || order->sources > MOST_FDS) return 0;
    order->groups = SECCOMP + (int)(order->has_seccomp + order->sources);
    return message->count >= order->groups && run_count < MOST_RUNS;
}

static int is_folder(int fd) {
    struct stat found;
    return fstat(fd, &found) == 0 && S_ISDIR(found.st_mode);
}

/* Who is born in a group of version 2 need not be let in, which takes the kernel ten milliseconds. */
static pid_t fork_into(int group) {
    struct clone_args how = {.flags = CLONE_INTO_CGROUP, .exit_signal = SIGCHLD, .cgroup = (unsigned)group};
    return (pid_t)syscall(SYS_clone3, &how, sizeof how);
}

static int enter(int entry) {
    if (is_folder(entry)) entry = openat(entry, "cgroup.procs", O_WRONLY | O_CLOEXEC);
    return entry >= 0 && write(entry, "0", 1) == 1;
}

/* The kernel has 3072 pseudo-terminals for all that is no host, and one guest could take them from the others: so each
 * gets an instance with a bound of its own, mounted where bubblewrap finds it and nobody else does. */
static int have_own_terminals(void) {
    return unshare(CLONE_NEWNS) == 0 &&
           mount("devpts", "/dev/pts", "devpts", MS_NOSUID | MS_NOEXEC, "newinstance,ptmxmode=0666,mode=0620,max=64") == 0;
}

/* In the child: become bubblewrap. Returns only when that failed, after saying why. */
static int become(const struct order *order, int is_in) {
    static const int place[] = {[STDIN] = 0, [STDOUT] = 1, [STDERR] = 2, [PLAN] = 3, [STATUS] = 4, [REPORT] = 5, [SECCOMP] = 6};
    int *fds = order->message->fds, refused = 0;
    sigset_t none;
    sigemptyset(&none);
    sigprocmask(SIG_SETMASK, &none, NULL);
    setpgid(0, 0);
    umask(022);
    errno = 0;
    for (int each = order->groups; each < order->message->count && !is_in && !refused; each++)
        if (!enter(fds[each])) refused = errno;
    /* Above every place first, so that none is overwritten before it is moved. */
    for (int each = WORDS; each < order->groups; each++) {
        fds[each] = fcntl(fds[each], F_DUPFD_CLOEXEC, HIGH);
        if (fds[each] < 0) return fail("descriptors");
    }
    for (int each = STDIN; each < order->groups; each++)
        if (dup2(fds[each], each < SECCOMP + (int)order->has_seccomp ? place[each] : each - SECCOMP - (int)order->has_seccomp + FIRST_SOURCE) < 0)
            return fail("descriptors");
    errno = refused;
    if (refused) return fail("cgroup");
    char **words = words_in(fds[WORDS]);
    if (!words) return fail("words");
    if (!have_own_terminals()) return fail("terminals");
    refused = order->uid ? drop(order->uid, order->gid) : 0;
    if (refused) return refused;
    execv(words[0], words);
    return fail(words[0]);
}

static void start(struct message *message) {
    struct order order = {.message = message};
    if (message->count == 0) return;
    int channel = message->fds[CHANNEL], is_in = 0;
    pid_t pid = -1;
    errno = EPROTO;
    if (is_order(&order)) {
        if (message->count > order.groups && is_folder(message->fds[order.groups])) pid = fork_into(message->fds[order.groups]);
        is_in = pid >= 0;
        if (!is_in) pid = fork(); /* an old kernel, a container that hides clone3, or no right: then `enter` says so */
    }
    if (pid == 0) _exit(become(&order, is_in));
    for (int each = CHANNEL + 1; each < message->count; each++) close(message->fds[each]);
    if (pid < 0) {
        say_failed(channel, "fork");
        close(channel);
        return;
    }
    setpgid(pid, pid); /* as the child does: whoever comes first, `kill` finds the group */
    runs[run_count++] = (struct run){.pid = pid, .channel = channel};
}

static void reap(void) {
    struct rusage used;
    pid_t pid;
    for (int status; (pid = wait4(-1, &status, WNOHANG | __WALL, &used)) > 0;)
        for (int each = 0; each < run_count; each++) {
            if (runs[each].pid != pid) continue;
            char line[LINE];
            snprintf(line, sizeof line, "ended %d %lld %lld", status,
                     used.ru_utime.tv_sec * 1000000LL + used.ru_utime.tv_usec,
                     used.ru_stime.tv_sec * 1000000LL + used.ru_stime.tv_usec);
            runs[each].pid = 0;
            if (runs[each].channel >= 0) say(runs[each].channel, line, -1);
        }
}

static void answer(struct run *run) {
    struct message message;
    hear(run->channel, &message);
    int wanted;
    if (message.size <= 0 || strcmp(message.text, "kill") == 0) {
        /* Not waited for yet, so the number is still its own. */
        if (run->pid) kill(-run->pid, SIGKILL);
    } else if (sscanf(message.text, "find %d", &wanted) == 1) {
        int found = wanted > 1 ? pidfd_of(wanted) : -1;
        say(run->channel, found < 0 ? "gone" : "found", found);
        if (found >= 0) close(found);
    }
    for (int each = 0; each < message.count; each++) close(message.fds[each]);
    if (message.size > 0) return;
    close(run->channel);
    run->channel = -1;
}

static void forget_the_ended(void) {
    for (int each = run_count - 1; each >= 0; each--)
        if (!runs[each].pid && runs[each].channel < 0) runs[each] = runs[--run_count];
}

static int serve(int socket) {
    static struct pollfd polled[RUNS_AT + MOST_RUNS];
    sigset_t children;
    sigemptyset(&children);
    sigaddset(&children, SIGCHLD);
    sigprocmask(SIG_BLOCK, &children, NULL);
    int signals = signalfd(-1, &children, SFD_CLOEXEC | SFD_NONBLOCK);
    int self = pidfd_of(getpid());
    if (signals < 0 || self < 0) {
        say_failed(socket, "pidfd");
        return REFUSED;
    }
    say(socket, "ready", self);
    close(self);
    for (;;) {
        polled[SOCKET_AT] = (struct pollfd){.fd = socket, .events = POLLIN};
        polled[SIGNALS_AT] = (struct pollfd){.fd = signals, .events = POLLIN};
        int polled_runs = run_count;
        for (int each = 0; each < polled_runs; each++)
            polled[RUNS_AT + each] = (struct pollfd){.fd = runs[each].channel, .events = POLLIN};
        if (poll(polled, (nfds_t)(RUNS_AT + polled_runs), -1) < 0) continue;
        if (polled[SIGNALS_AT].revents) {
            struct signalfd_siginfo told;
            while (read(signals, &told, sizeof told) > 0) continue;
            reap();
        }
        for (int each = 0; each < polled_runs; each++)
            if (polled[RUNS_AT + each].revents) answer(&runs[each]);
        if (polled[SOCKET_AT].revents) {
            struct message message;
            hear(socket, &message);
            if (message.size <= 0) return 0;
            start(&message);
        }
        forget_the_ended();
    }
}

static int put(const char *path, const char *text) {
    int fd = open(path, O_WRONLY | O_CLOEXEC);
    ssize_t size = (ssize_t)strlen(text);
    int is_put = fd >= 0 && write(fd, text, (size_t)size) == size;
    if (fd >= 0) close(fd);
    return is_put;
}

/* An ordinary user may have a PID namespace only below a user namespace: one in which it is still itself. */
static int stay_oneself(uid_t uid, gid_t gid) {
    char line[LINE];
    if (!put("/proc/self/setgroups", "deny")) return 0;
    snprintf(line, sizeof line, "%u %u 1", gid, gid);
    if (!put("/proc/self/gid_map", line)) return 0;
    snprintf(line, sizeof line, "%u %u 1", uid, uid);
    return put("/proc/self/uid_map", line);
}

static int refuse(int socket, const char *step) {
    say_failed(socket, step);
    return REFUSED;
}

int main(int count, char **words) {
    if (count != 2) return REFUSED;
    int socket = atoi(words[1]);
    uid_t uid = geteuid();
    gid_t gid = getegid();
    if (fcntl(socket, F_SETFD, FD_CLOEXEC) != 0 || chdir("/") != 0) return REFUSED;
    if (unshare(CLONE_NEWPID | CLONE_NEWNS | (uid ? CLONE_NEWUSER : 0)) != 0) return refuse(socket, "unshare");
    if (uid && !stay_oneself(uid, gid)) return refuse(socket, "map");
    /* What is mounted later arrives here too, where the host shares its mounts; nothing of ours goes back. */
    if (mount(NULL, "/", NULL, MS_REC | MS_SLAVE, NULL) != 0) return refuse(socket, "mounts");
    pid_t first = fork();
    if (first < 0) return refuse(socket, "fork");
    if (first == 0) {
        /* Bubblewrap looks up its child in /proc, so that has to count as we do. */
        if (mount("proc", "/proc", "proc", MS_NOSUID | MS_NODEV | MS_NOEXEC, NULL) != 0) return refuse(socket, "proc");
        return serve(socket);
    }
    close(socket);
    while (waitpid(first, NULL, 0) < 0 && errno == EINTR) continue;
    return 0;
}
