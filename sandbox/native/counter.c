/* Tells preflight how many descriptors it can have at once, its three streams included, up to the number that it is
 * given.
 *
 *   counter MOST
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>

int main(int count, char **words) {
    int had = 3;
    if (count != 2) return 2;
    while (had < atoi(words[1]) && open("/dev/null", O_RDONLY) >= 0) had++;
    if (had < atoi(words[1]) && errno != EMFILE) return 1;
    printf("files %d\n", had);
    return 0;
}
