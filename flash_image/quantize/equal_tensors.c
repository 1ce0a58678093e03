#include "flash_image/quantize/equal_tensors.h"

#include <stdlib.h>
#include <string.h>

#include "flash_image/quantize/source_rows.h"
#include "flash_image/source/map_file.h"

enum { STEP_BYTES = 4 << 20, LARGE_BYTES = 16 << 20 };

/* Compares part by part and releases the pages of large tensors, which are mapped; small ones may
 * not be. */
static bool same_bytes(const uint8_t *a, const uint8_t *b, size_t n)
{
    const uint8_t *kept_a = a, *kept_b = b;
    bool same = true;

    for (size_t at = 0; same && at < n; at += STEP_BYTES) {
        size_t end = at + min_size(n - at, STEP_BYTES);

        same = memcmp(a + at, b + at, end - at) == 0;
        if (n >= LARGE_BYTES) {
            map_release(&kept_a, a + end, !same || end == n);
            map_release(&kept_b, b + end, !same || end == n);
        }
    }
    return same;
}

static bool same_shape(const struct source_tensor *a, const struct source_tensor *b)
{
    return a->data != NULL && b->data != NULL && a->rows == b->rows && a->cols == b->cols;
}

bool tensors_same_bytes(const struct source_tensor *a, const struct source_tensor *b)
{
    return same_shape(a, b) && a->type == b->type &&
           same_bytes(a->data, b->data,
                      (size_t)source_type_bytes(a->type, (uint64_t)a->rows * a->cols));
}

bool tensors_same_values(const struct source_tensor *a, const struct source_tensor *b)
{
    float *rows;
    bool same = true;

    if (!same_shape(a, b) || a->type == b->type) {
        return tensors_same_bytes(a, b);
    }
    rows = calloc(2, a->cols * sizeof *rows);
    for (uint32_t i = 0; rows != NULL && same && i < a->rows; i++) {
        source_read_row(a, i, rows);
        source_read_row(b, i, rows + a->cols);
        same = memcmp(rows, rows + a->cols, a->cols * sizeof *rows) == 0;
    }
    same = same && rows != NULL;
    free(rows);
    return same;
}
