/* What the parts of the image reader share; nobody else includes it. */
#ifndef INGOT_RUNTIME_IMAGE_CHECK_H
#define INGOT_RUNTIME_IMAGE_CHECK_H

#include <stdbool.h>

#include "runtime/image/image.h"
#include "runtime/text/format_text.h"

/* The sentence goes to img->problem; the value is e. */
#define REFUSE(img, e, ...) (format_text((img)->problem, sizeof(img)->problem, __VA_ARGS__), (e))

/* n is far from the top: every size has been bounded by the file's. */
static inline uint64_t image_round_up(uint64_t n, uint64_t multiple)
{
    return (n + multiple - 1) / multiple * multiple;
}

static inline bool image_all_zero(const void *data, size_t bytes)
{
    const uint8_t *p = data;
    uint8_t any = 0;

    for (size_t i = 0; i < bytes; i++) {
        any |= p[i];
    }
    return any == 0;
}

#endif
