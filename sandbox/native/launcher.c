/* Gives up root before bubblewrap is executed: run by uid 0, bubblewrap contains nothing.
 *
 *   launcher UID GID PROGRAM [ARGUMENT...]
 */
#define _GNU_SOURCE
#include "drop.h"
#include <stdlib.h>

enum { FIRST_PROGRAM_WORD = 3 };

int main(int count, char **words) {
    if (count <= FIRST_PROGRAM_WORD) return REFUSED;
    int refused = drop((uid_t)strtoul(words[1], NULL, 10), (gid_t)strtoul(words[2], NULL, 10));
    if (refused) return refused;
    execv(words[FIRST_PROGRAM_WORD], words + FIRST_PROGRAM_WORD);
    return fail(words[FIRST_PROGRAM_WORD]);
}
