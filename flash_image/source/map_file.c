#include "flash_image/source/map_file.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

enum { RELEASE_BYTES = 32 << 20 };

/* ---- what is mapped -------------------------------------------------------------------------- */

/* The list only grows, so that a signal handler can walk through it at any time; free entries are
 * reused. */
struct mapped {
    struct mapped *next;
    _Atomic(const uint8_t *) data; /* NULL: free */
    size_t bytes;
    size_t size; /* size of the file, which grows if this program signs it */
    dev_t device;
    ino_t inode;
    struct timespec written;
    char path[PATH_MAX];
};

static _Atomic(struct mapped *) list;
static char ended[PATH_MAX +
                  128]; /* the error message about a file that had changed before it was unmapped */

static struct mapped *find(const uint8_t *data)
{
    struct mapped *m = atomic_load(&list);

    while (m != NULL && atomic_load(&m->data) != data) {
        m = m->next;
    }
    return m;
}

/* If there is no memory for an entry, the file stays mapped, but messages
 * cannot name it. */
static void remember(const struct mapping *map, const char *path, const struct stat *st)
{
    struct mapped *m = find(NULL);

    if (m == NULL) {
        m = calloc(1, sizeof *m);
        if (m == NULL) {
            return;
        }
        m->next = atomic_load(&list);
        atomic_store(&list, m);
    }
    m->bytes = m->size = map->bytes;
    m->device = st->st_dev;
    m->inode = st->st_ino;
    m->written = st->st_mtim;
    snprintf(m->path, sizeof m->path, "%s", path);
    atomic_store(&m->data, map->data);
}

/* Get the current state of the file. False if its name was removed, or names another file now:
 * programs that have mapped the old file keep its bytes. */
static bool look_again(const struct mapped *m, struct stat *st)
{
    return stat(m->path, st) == 0 && st->st_dev == m->device && st->st_ino == m->inode;
}

/* Return, in words, how the file has changed since it was mapped; NULL: not at all. */
static const char *change_of(const struct mapped *m)
{
    struct stat st;

    if (!look_again(m, &st)) {
        return NULL;
    }
    if ((size_t)st.st_size < m->bytes) {
        return "became shorter";
    }
    if ((size_t)st.st_size != m->size || st.st_mtim.tv_sec != m->written.tv_sec ||
        st.st_mtim.tv_nsec != m->written.tv_nsec) {
        return "was changed";
    }
    return NULL;
}

static bool tell_change(const struct mapped *m, char *error_message, size_t error_message_bytes)
{
    const char *change = change_of(m);

    if (change != NULL) {
        snprintf(error_message, error_message_bytes,
                 "%.400s: %s while it was read: wait until it is whole, then try again", m->path,
                 change);
    }
    return change != NULL;
}

enum err mapping_check(char *error_message, size_t error_message_bytes)
{
    for (const struct mapped *m = atomic_load(&list); m != NULL; m = m->next) {
        if (atomic_load(&m->data) != NULL && tell_change(m, error_message, error_message_bytes)) {
            return ERR_TRUNCATED;
        }
    }
    return ERR_OK;
}

enum err mapping_check_all(char *error_message, size_t error_message_bytes)
{
    if (ended[0] != '\0') {
        snprintf(error_message, error_message_bytes, "%s", ended);
        return ERR_TRUNCATED;
    }
    return mapping_check(error_message, error_message_bytes);
}

void mapping_renew(const uint8_t *data)
{
    struct mapped *m = data != NULL ? find(data) : NULL;
    struct stat st;

    if (m != NULL && look_again(m, &st)) {
        m->written = st.st_mtim;
        m->size = (size_t)st.st_size;
        m->bytes = m->size < m->bytes ? m->size : m->bytes;
    }
}

bool mapping_has(dev_t device, ino_t inode)
{
    for (const struct mapped *m = atomic_load(&list); m != NULL; m = m->next) {
        if (atomic_load(&m->data) != NULL && m->device == device && m->inode == inode) {
            return true;
        }
    }
    return false;
}

const char *mapping_at(const void *at, const char **change)
{
    uintptr_t address = (uintptr_t)at;

    for (const struct mapped *m = atomic_load(&list); m != NULL; m = m->next) {
        uintptr_t data = (uintptr_t)atomic_load(&m->data);

        if (data != 0 && address >= data && address - data < m->bytes) {
            *change = change_of(m);
            return m->path;
        }
    }
    return NULL;
}

/* ---- one file -------------------------------------------------------------------------------- */

/* Write the text of errno as the error message. */
static enum err refuse_open(char *error_message, size_t error_message_bytes)
{
    if (errno == ENOENT) {
        snprintf(error_message, error_message_bytes, "no such file");
        return ERR_NOT_FOUND;
    }
    snprintf(error_message, error_message_bytes, "%s", strerror(errno));
    return ERR_IO;
}

static enum err map_open(struct mapping *m, const char *path, int fd, char *error_message,
                         size_t error_message_bytes)
{
    struct stat st;

    if (fd < 0 || fstat(fd, &st) != 0) {
        return refuse_open(error_message, error_message_bytes);
    }
    if (S_ISDIR(st.st_mode)) {
        snprintf(error_message, error_message_bytes, "is a folder, not a file");
        return ERR_BAD_MODEL;
    }
    if (!S_ISREG(st.st_mode)) {
        snprintf(error_message, error_message_bytes,
                 "is a device or a pipe; give an ordinary file");
        return ERR_BAD_MODEL;
    }
    if (st.st_size == 0) {
        snprintf(error_message, error_message_bytes, "is empty (0 bytes): fetch the file again");
        return ERR_BAD_MODEL;
    }
    m->bytes = (size_t)st.st_size;
    m->data = mmap(NULL, m->bytes, PROT_READ, MAP_PRIVATE, fd, 0);
    if (m->data == MAP_FAILED) {
        m->data = NULL;
        snprintf(error_message, error_message_bytes, "cannot be mapped: %s", strerror(errno));
        return ERR_IO;
    }
    remember(m, path, &st);
    return ERR_OK;
}

enum err mapping_open(struct mapping *m, const char *path, char *error_message,
                      size_t error_message_bytes)
{
    /* Without O_NONBLOCK, the open of a pipe would wait for its writer. */
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    enum err e;

    m->data = NULL;
    e = map_open(m, path, fd, error_message, error_message_bytes);
    if (fd >= 0) {
        close(fd);
    }
    return e;
}

void unmap_file(struct mapping *m)
{
    struct mapped *known = m->data != NULL ? find(m->data) : NULL;

    if (known != NULL) {
        (void)tell_change(known, ended, sizeof ended);
        atomic_store(&known->data, NULL);
    }
    if (m->data != NULL) {
        munmap(m->data, m->bytes);
        m->data = NULL;
    }
}

/* Call source_refuse() with `path` instead of s->path. */
static enum err refuse_file(struct source *s, const char *path, enum err e,
                            const char *error_message)
{
    const char *before = s->path;

    s->path = path;
    e = source_refuse(s, e, "%s", error_message);
    s->path = before;
    return e;
}

enum err map_file(struct source *s, const char *path, enum file_place place, struct mapping *m)
{
    char error_message[320];
    enum err e = mapping_open(m, path, error_message, sizeof error_message);

    if (e != ERR_OK) {
        return refuse_file(s, path, e, error_message);
    }
    if (!file_kind_suits(place, m->data, m->bytes, error_message, sizeof error_message)) {
        unmap_file(m);
        return refuse_file(s, path, ERR_BAD_MODEL, error_message);
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
