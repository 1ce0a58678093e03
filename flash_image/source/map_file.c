#include "flash_image/source/map_file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

enum { RELEASE_BYTES = 32 << 20 };

static enum err map_open(struct mapping *m, int fd, char *problem, size_t problem_bytes)
{
    struct stat st;

    if (fd < 0 || fstat(fd, &st) != 0) {
        enum err e = errno == ENOENT ? ERR_NOT_FOUND : ERR_IO;

        snprintf(problem, problem_bytes, "%s",
                 e == ERR_NOT_FOUND ? "no such file" : strerror(errno));
        return e;
    }
    if (!S_ISREG(st.st_mode) || st.st_size == 0) {
        snprintf(problem, problem_bytes, "this is no file, or an empty one");
        return ERR_BAD_MODEL;
    }
    m->bytes = (size_t)st.st_size;
    m->data = mmap(NULL, m->bytes, PROT_READ, MAP_PRIVATE, fd, 0);
    if (m->data == MAP_FAILED) {
        m->data = NULL;
        snprintf(problem, problem_bytes, "cannot be mapped: %s", strerror(errno));
        return ERR_IO;
    }
    return ERR_OK;
}

enum err mapping_open(struct mapping *m, const char *path, char *problem, size_t problem_bytes)
{
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    enum err e;

    m->data = NULL;
    e = map_open(m, fd, problem, problem_bytes);
    if (fd >= 0) {
        close(fd);
    }
    return e;
}

enum err map_file(struct source *s, const char *path, struct mapping *m)
{
    char problem[128];
    enum err e = mapping_open(m, path, problem, sizeof problem);

    return e == ERR_OK ? ERR_OK : source_refuse(s, e, "%s", problem);
}

void unmap_file(struct mapping *m)
{
    if (m->data != NULL) {
        munmap(m->data, m->bytes);
        m->data = NULL;
    }
}

void map_release(const uint8_t **from, const uint8_t *to, bool last)
{
    const size_t page = (size_t)sysconf(_SC_PAGESIZE);
    size_t bytes = (size_t)(to - *from);
    uintptr_t start = (uintptr_t)*from / page * page;

    if (bytes < RELEASE_BYTES && !last) {
        return;
    }
    madvise((void *)start, ((uintptr_t)to - start) / page * page, MADV_DONTNEED);
    *from = to;
}
