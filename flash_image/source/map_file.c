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
    if (S_ISDIR(st.st_mode)) {
        snprintf(problem, problem_bytes, "is a folder, not a file");
        return ERR_BAD_MODEL;
    }
    if (!S_ISREG(st.st_mode)) {
        snprintf(problem, problem_bytes, "is a device or a pipe; give an ordinary file");
        return ERR_BAD_MODEL;
    }
    if (st.st_size == 0) {
        snprintf(problem, problem_bytes, "is empty (0 bytes): fetch the file again");
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

void unmap_file(struct mapping *m)
{
    if (m->data != NULL) {
        munmap(m->data, m->bytes);
        m->data = NULL;
    }
}

/* source_refuse() about `path`, whichever file s is about. */
static enum err refuse_file(struct source *s, const char *path, enum err e, const char *problem)
{
    const char *before = s->path;

    s->path = path;
    e = source_refuse(s, e, "%s", problem);
    s->path = before;
    return e;
}

enum err map_file(struct source *s, const char *path, enum file_place place, struct mapping *m)
{
    char problem[320];
    enum err e = mapping_open(m, path, problem, sizeof problem);

    if (e != ERR_OK) {
        return refuse_file(s, path, e, problem);
    }
    if (!file_kind_suits(place, m->data, m->bytes, problem, sizeof problem)) {
        unmap_file(m);
        return refuse_file(s, path, ERR_BAD_MODEL, problem);
    }
    return ERR_OK;
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
