#include "flash_image/ingot_file.h"

#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "flash_image/map_file.h"
#include "runtime/crc32c.h"

enum { STEP_BYTES = 16 << 20 }; /* checked at once, then let go of */

enum err ingot_file_open(struct ingot_file *f, const char *path, char *problem,
                         size_t problem_bytes)
{
    struct mapping file;
    char why[128];
    enum err e;

    memset(f, 0, sizeof *f);
    e = mapping_open(&file, path, why, sizeof why);
    if (e != ERR_OK) {
        snprintf(problem, problem_bytes, "%s: %s", path, why);
        return e;
    }
    f->data = file.data;
    f->bytes = file.bytes;
    if (f->bytes < sizeof(struct ingot_header)) {
        snprintf(problem, problem_bytes, "%s: too short to be an .ingot file", path);
        ingot_file_close(f);
        return ERR_TRUNCATED;
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
