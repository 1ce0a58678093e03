#include "flash_image/map_file.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

static enum err map_open(struct source *s, int fd, struct mapping *m)
{
    struct stat st;

    if (fd < 0 || fstat(fd, &st) != 0) {
        return errno == ENOENT ? source_refuse(s, ERR_NOT_FOUND, "no such file")
                               : source_refuse(s, ERR_IO, "%s", strerror(errno));
    }
    if (!S_ISREG(st.st_mode) || st.st_size == 0) {
        return source_refuse(s, ERR_BAD_MODEL, "this is no file, or an empty one");
    }
    m->bytes = (size_t)st.st_size;
    m->data = mmap(NULL, m->bytes, PROT_READ, MAP_PRIVATE, fd, 0);
    if (m->data == MAP_FAILED) {
        m->data = NULL;
        return source_refuse(s, ERR_IO, "cannot be mapped: %s", strerror(errno));
    }
    return ERR_OK;
}

enum err map_file(struct source *s, const char *path, struct mapping *m)
{
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    enum err e = map_open(s, fd, m);

    if (fd >= 0) {
        close(fd);
    }
    return e;
}

void unmap_file(struct mapping *m)
{
    if (m->data != NULL) {
        munmap(m->data, m->bytes);
        m->data = NULL;
    }
}
