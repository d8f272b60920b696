/* What passes between a command's stand-in in the session and the room that runs the command.
 *
 * One connection a command. The stand-in sends a `struct order` with its descriptors 0, 1 and 2 attached, then `size`
 * bytes of words, each ended by a NUL: the working directory, `words` arguments, and what is left as the environment.
 * The room answers with the command's wait status, an int, when it has ended. A connection that is closed before kills
 * the command and its process group. An order of no bytes ends the room.
 */
#ifndef SANDBOX_TOOL_H
#define SANDBOX_TOOL_H

#include <stdbool.h>

enum { STDIO = 3, MOST_BYTES = 4 << 20, NOT_RUN = 125, NOT_EXECUTABLE = 126, NOT_FOUND = 127 };

struct order {
    unsigned size;
    unsigned words;
};

union rights {
    char bytes[64]; /* CMSG_SPACE of STDIO descriptors is less, but no constant */
    long aligned;
};

/* Serves a listener until it is killed. Sealed, it gives its own environment to what it runs. */
_Noreturn void serve_room(int listener, bool is_sealed);

#endif
