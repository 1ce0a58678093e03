#include "flash_image/source/map_file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

enum { RELEASE_BYTES = 32 << 20 };

/* What errno says. */
static enum err refuse_open(char *problem, size_t problem_bytes)
{
    if (errno == ENOENT) {
        snprintf(problem, problem_bytes, "no such file");
        return ERR_NOT_FOUND;
    }
    snprintf(problem, problem_bytes, "%s", strerror(errno));
    return ERR_IO;
}

static enum err map_open(struct mapping *m, int fd, char *problem, size_t problem_bytes)
{
    struct stat st;

    if (fd < 0 || fstat(fd, &st) != 0) {
        return refuse_open(problem, problem_bytes);
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

    if (e != ERR_OK) {
        return source_refuse(s, e, "%s", problem);
    }
    return ERR_OK;
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
