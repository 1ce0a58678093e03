/* The words about a mapped file that another program writes: it is shorter, or has the same
 * size again, or is replaced. */
#include "flash_image/source/map_file.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "tests/unit/tap.h"

enum { BYTES = 3 * 4096 };

static char path[280], beside[300];

/* Make or change a file so that it has n bytes, and give it another time. */
static void put(const char *name, size_t n)
{
    static const char byte[BYTES];
    int fd = open(name, O_CREAT | O_TRUNC | O_WRONLY, 0600);
    struct timespec times[2] = { { .tv_sec = 1000 }, { .tv_sec = 1000 + (long)n } };

    if (fd < 0 || write(fd, byte, n) != (ssize_t)n || futimens(fd, times) != 0) {
        perror(name);
        exit(1);
    }
    close(fd);
}

static bool says(const struct mapping *m, const char *expected)
{
    const char *change = "not set";
    const char *found = mapping_at(m->data + BYTES - 1, &change);

    return found != NULL && strcmp(found, path) == 0 &&
           (expected == NULL ? change == NULL : change != NULL && strcmp(change, expected) == 0);
}

int main(void)
{
    char folder[256], error_message[512];
    struct mapping m;
    const char *change;
    const uint8_t *data;

    snprintf(folder, sizeof folder, "%s/ingot-map-XXXXXX",
             getenv("TMPDIR") != NULL ? getenv("TMPDIR") : "/tmp");
    if (mkdtemp(folder) == NULL)
        return 1;
    snprintf(path, sizeof path, "%s/in", folder);
    snprintf(beside, sizeof beside, "%s.new", path);
    put(path, BYTES);
    OK(mapping_open(&m, path, error_message, sizeof error_message) == ERR_OK && says(&m, NULL),
       "a file that nobody writes has not changed");
    OK(mapping_at(m.data + BYTES, &change) == NULL, "the byte after the mapping is of no file");
    put(path, BYTES - 1);
    OK(says(&m, "became shorter") && mapping_check(error_message, sizeof error_message) != ERR_OK,
       "a file that lost bytes became shorter");
    put(path, 1);
    if (truncate(path, BYTES) != 0)
        return 1;
    OK(says(&m, "was changed") && mapping_check(error_message, sizeof error_message) != ERR_OK,
       "a file that lost bytes and has its size again was changed");
    put(beside, 1);
    OK(rename(beside, path) == 0 && says(&m, NULL), "a file that took the name is another file");
    data = m.data;
    unmap_file(&m);
    OK(mapping_at(data, &change) == NULL, "an unmapped file has no bytes");
    unlink(path);
    rmdir(folder);
    return tap_done();
}
