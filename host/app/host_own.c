#include "host/app/host_own.h"

#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "board/block_device.h"
#include "flash_image/source/file_kind.h"

enum { MAGIC_BYTES = 8, MOST_MAGICS = 4, READ_BYTES = 1 << 16, KIND_BYTES = 4096 };

/* First bytes of a half (runtime/saved/saved_chat.h, runtime/stream/expert_use.h) or of a record
 * (runtime/storage/record_ring.h). */
static const struct {
    const char *what;
    const char *magics[MOST_MAGICS];
} kinds[] = {
    [HOST_OWN_SAVE] = { "a saved conversation",
                        { "INGOTSAV", "INGOTLRN", "INGOTPOL", "INGOTFAB" } },
    [HOST_OWN_PREFIX] = { "a prefix that Ingot saved", { "INGOTPRE" } },
    [HOST_OWN_USE] = { "a record of how experts are used", { "INGOTUSE" } },
    [HOST_OWN_LOG] = { "a log of Ingot", { "INGOTREC" } },
    [HOST_OWN_KEPT] = { "a file of kept prompts", { "INGOTKPT" } },
    [HOST_OWN_KV] = { "room for keys and values", { NULL } },
};

static bool has_magic(int fd, uint64_t at, enum host_own kind)
{
    char first[MAGIC_BYTES];

    if (pread(fd, first, sizeof first, (off_t)at) != (ssize_t)sizeof first) {
        return false;
    }
    for (unsigned i = 0; i < MOST_MAGICS && kinds[kind].magics[i] != NULL; i++) {
        if (memcmp(first, kinds[kind].magics[i], MAGIC_BYTES) == 0) {
            return true;
        }
    }
    return false;
}

/* True if Ingot wrote the file. Looks at both halves of a save, because the first may be damaged or
 * not written yet. */
static bool is_own(int fd, uint64_t bytes, enum host_own kind)
{
    return has_magic(fd, 0, kind) || has_magic(fd, bytes / 2 / SECTOR_BYTES * SECTOR_BYTES, kind);
}

/* True if the file has only zeros. Holes are skipped, because a file made by truncate is one hole.
 * False: errno, which is 0 if a byte is not zero. */
static bool is_zeros(int fd)
{
    static uint8_t buffer[READ_BYTES];
    off_t at = 0;

    for (;;) {
        off_t data = lseek(fd, at, SEEK_DATA);
        ssize_t n;

        if (data < 0 && errno == ENXIO) { /* only a hole remains */
            return true;
        }
        n = pread(fd, buffer, sizeof buffer, data < 0 ? at : data);
        if (n <= 0) {
            return n == 0;
        }
        if (buffer[0] != 0 || memcmp(buffer, buffer + 1, (size_t)n - 1) != 0) {
            errno = 0;
            return false;
        }
        at = (data < 0 ? at : data) + n;
    }
}

static bool is_known_kind(int fd)
{
    uint8_t first[KIND_BYTES];
    ssize_t n = pread(fd, first, sizeof first, 0);
    enum file_kind kind = n > 0 ? file_kind_of(first, (size_t)n) : FILE_UNKNOWN;

    return kind != FILE_UNKNOWN && kind != FILE_ZEROS;
}

static enum err check(const char *path, int fd, enum host_own kind, bool *is_blank,
                      char *error_message, size_t bytes)
{
    struct stat st;
    bool fits;

    if (fstat(fd, &st) != 0) {
        snprintf(error_message, bytes, "%.400s: %s", path, strerror(errno));
        return ERR_IO;
    }
    if (!S_ISREG(st.st_mode)) {
        return ERR_OK; /* the caller reports this error when it opens the file */
    }
    errno = 0;
    fits = kind == HOST_OWN_KV ? !is_known_kind(fd) : is_own(fd, (uint64_t)st.st_size, kind);
    if (fits) {
        return ERR_OK;
    }
    *is_blank = kind != HOST_OWN_KV && is_zeros(fd);
    if (*is_blank) {
        return ERR_OK;
    }
    snprintf(error_message, bytes,
             "%.400s: cannot be written: it is not %s; name another file, or move this one away",
             path, kinds[kind].what);
    return ERR_BAD_ARGUMENT;
}

enum err host_own_check(const char *path, enum host_own kind, bool *is_blank, char *error_message,
                        size_t bytes)
{
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    enum err e;

    *is_blank = false;
    if (fd < 0 && (errno == ENOENT || errno == ENOTDIR)) {
        *is_blank = true;
        return ERR_OK;
    }
    if (fd < 0) {
        snprintf(error_message, bytes, "%.400s: %s", path, strerror(errno));
        return ERR_IO;
    }
    e = check(path, fd, kind, is_blank, error_message, bytes);
    close(fd);
    return e;
}
