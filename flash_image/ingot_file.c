#include "flash_image/ingot_file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "runtime/crc32c.h"

enum { STEP_BYTES = 16 << 20 }; /* checked at once, then let go of */

static enum err map_file(struct ingot_file *f, const char *path, char *problem,
                         size_t problem_bytes)
{
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    struct stat st;
    enum err e = ERR_IO;

    if (fd < 0 || fstat(fd, &st) != 0) {
        e = errno == ENOENT ? ERR_NOT_FOUND : ERR_IO;
        snprintf(problem, problem_bytes, "%s: %s", path,
                 e == ERR_NOT_FOUND ? "no such file" : strerror(errno));
    } else if (!S_ISREG(st.st_mode) || st.st_size < (off_t)sizeof(struct ingot_header)) {
        e = ERR_TRUNCATED;
        snprintf(problem, problem_bytes, "%s: no file, or too short to be an .ingot file", path);
    } else {
        f->bytes = (size_t)st.st_size;
        f->data = mmap(NULL, f->bytes, PROT_READ, MAP_PRIVATE, fd, 0);
        e = f->data == MAP_FAILED ? ERR_IO : ERR_OK;
        if (e != ERR_OK) {
            f->data = NULL;
            snprintf(problem, problem_bytes, "%s: cannot be mapped: %s", path, strerror(errno));
        }
    }
    if (fd >= 0) {
        close(fd);
    }
    return e;
}

enum err ingot_file_open(struct ingot_file *f, const char *path, char *problem,
                         size_t problem_bytes)
{
    enum err e;

    memset(f, 0, sizeof *f);
    e = map_file(f, path, problem, problem_bytes);
    if (e != ERR_OK) {
        return e;
    }
    e = image_check_header(&f->image, (const void *)f->data, f->bytes);
    if (e == ERR_OK) {
        e = image_check_meta(&f->image, f->data + INGOT_PAGE);
    }
    if (e != ERR_OK) {
        snprintf(problem, problem_bytes, "%s: %s", path, f->image.problem);
        ingot_file_close(f);
    }
    return e;
}

enum err ingot_file_check_extent(struct ingot_file *f, unsigned extent)
{
    const struct ingot_extent *x = &f->image.extents[extent];
    uint32_t crc = 0;

    for (uint64_t at = 0; at < x->bytes; at += STEP_BYTES) {
        uint64_t left = x->bytes - at;
        size_t n = left < STEP_BYTES ? (size_t)left : STEP_BYTES;
        const uint8_t *p = f->data + x->offset + at;
        uintptr_t page = (uintptr_t)sysconf(_SC_PAGESIZE);
        uintptr_t start = (uintptr_t)p / page * page;

        crc = crc32c(crc, p, n);
        madvise((void *)start, (uintptr_t)p + n - start, MADV_DONTNEED);
    }
    return image_check_extent(&f->image, extent, crc);
}

void ingot_file_close(struct ingot_file *f)
{
    union {
        const uint8_t *in;
        void *out;
    } data = { .in = f->data };

    if (f->data != NULL) {
        munmap(data.out, f->bytes);
    }
    f->data = NULL;
}
