#include "flash_image/pack/ingot_file.h"

#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "flash_image/source/map_file.h"
#include "kernels/ref/scalar.h"
#include "runtime/base/crc32c.h"

enum { STEP_BYTES = 16 << 20 }; /* bytes that one step checks and then releases */

enum err ingot_file_open(struct ingot_file *f, const char *path, char *error_message,
                         size_t error_message_bytes)
{
    struct mapping file;
    char why[320];
    enum err e;

    memset(f, 0, sizeof *f);
    e = mapping_open(&file, path, why, sizeof why);
    if (e != ERR_OK) {
        snprintf(error_message, error_message_bytes, "%s: %s", path, why);
        return e;
    }
    f->data = file.data;
    f->bytes = file.bytes;
    if (!file_kind_suits(PLACE_INGOT, f->data, f->bytes, why, sizeof why)) {
        snprintf(error_message, error_message_bytes, "%s: %s", path, why);
        ingot_file_close(f);
        return ERR_BAD_MODEL;
    }
    if (f->bytes < sizeof(struct ingot_header)) {
        snprintf(error_message, error_message_bytes, "%s: too short to be an .ingot file", path);
        ingot_file_close(f);
        return ERR_TRUNCATED;
    }
    e = image_check_header(&f->image, (const void *)f->data, f->bytes);
    if (e == ERR_OK) {
        e = image_check_meta(&f->image, f->data + INGOT_PAGE);
    }
    if (e != ERR_OK) {
        snprintf(error_message, error_message_bytes, "%s: %s", path, f->image.error_message);
        ingot_file_close(f);
    }
    return e;
}

enum err ingot_file_check_segment(struct ingot_file *f, unsigned segment)
{
    const struct ingot_segment *x = &f->image.segments[segment];
    uint32_t crc = 0;

    for (uint64_t at = 0; at < x->bytes; at += STEP_BYTES) {
        size_t n = (size_t)min_u64(x->bytes - at, STEP_BYTES);
        const uint8_t *p = f->data + x->offset + at;
        uintptr_t page = (uintptr_t)sysconf(_SC_PAGESIZE);
        uintptr_t start = (uintptr_t)p / page * page;

        crc = crc32c(crc, p, n);
        madvise((void *)start, (uintptr_t)p + n - start, MADV_DONTNEED);
    }
    return image_check_segment(&f->image, segment, crc);
}

static bool is_finite(const uint8_t *p, size_t width)
{
    if (width == 2) {
        return (load_u16(p) & 0x7c00u) != 0x7c00u;
    }
    return (load_u32(p) & 0x7f800000u) != 0x7f800000u;
}

/* True if n floats of `width` bytes, 2 or 4, are finite. */
static bool are_finite(const uint8_t *p, size_t n, size_t width)
{
    for (size_t i = 0; i < n; i++) {
        if (!is_finite(p + width * i, width)) {
            return false;
        }
    }
    return true;
}

/* F32 and F16 consist of floats. A quantized group begins with its scales: one per row, two for
 * types with mins. */
static bool tensor_is_finite(const struct ingot_tensor *t, const uint8_t *data)
{
    static const struct {
        size_t block_bytes, floats, width;
    } types[INGOT_N_TYPES] = {
#define TYPE_FLOATS(NAME, id, name, cols, bytes, ...) [INGOT_##NAME] = { bytes, 1, bytes },
#define TYPE_WEIGHTS(NAME, id, name, layout, cols, act, halves, ...) \
    [INGOT_##NAME] = { sizeof(struct block_##layout##x8), halves, 2 },
#define TYPE_PACKED TYPE_WEIGHTS
#include "flash_image/format/types.def"
    };

    for (uint64_t at = 0; at < t->bytes; at += types[t->type].block_bytes) {
        if (!are_finite(data + at, types[t->type].floats, types[t->type].width)) {
            return false;
        }
    }
    return true;
}

/* One table entry describes a tensor of all experts, each of which is in its own extent. */
static bool all_are_finite(const struct ingot_file *f, const struct ingot_tensor *t)
{
    const uint8_t *data = f->data + f->image.segments[t->segment].offset + t->offset;
    const struct ingot_layer *l;

    if (!image_role_is_expert((enum ingot_role)t->role)) {
        return tensor_is_finite(t, data);
    }
    l = image_layer(&f->image, t->layer);
    for (uint32_t i = 0; i < l->n_experts; i++) {
        if (!tensor_is_finite(t, data + l->expert_offset + i * l->expert_bytes)) {
            return false;
        }
    }
    return true;
}

enum err ingot_file_check_finite(struct ingot_file *f, unsigned segment)
{
    for (uint32_t i = 0; i < f->image.header->tensors.count; i++) {
        const struct ingot_tensor *t = &f->image.tensors[i];

        if (t->segment == segment && !all_are_finite(f, t)) {
            char place[32];

            image_segment_name(&f->image, segment, place, sizeof place);
            snprintf(f->image.error_message, sizeof f->image.error_message,
                     "%s: %s has a weight or a scale that is not finite", place,
                     image_role_name(t->role));
            return ERR_BAD_MODEL;
        }
    }
    return ERR_OK;
}

void ingot_file_close(struct ingot_file *f)
{
    struct mapping m = { (uint8_t *)(uintptr_t)f->data, f->bytes };

    unmap_file(&m);
    f->data = NULL;
}
