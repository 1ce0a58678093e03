/* Shared only by the files of the image reader. */
#ifndef INGOT_RUNTIME_IMAGE_CHECK_H
#define INGOT_RUNTIME_IMAGE_CHECK_H

#include <stdbool.h>

#include "runtime/image/image.h"
#include "runtime/text/format_text.h"

/* Set img->error_message to the message, and return e. */
#define REFUSE(img, e, ...) \
    (format_text((img)->error_message, sizeof(img)->error_message, __VA_ARGS__), (e))

enum { IMAGE_PLACE_BYTES = 32 }; /* bytes of a name such as "layer 12 attn_post_norm" */

/* A number that must be in [low, high]. */
struct image_bound {
    const char *name;
    uint32_t value, low, high;
};
struct image_range {
    const char *name;
    float value, low, high;
};

/* The comparison is written so that a NaN fails. */
static inline bool image_in_range(const struct image_range *r)
{
    return r->value >= r->low && r->value <= r->high;
}

/* The layer that is being checked in the table of layers. */
struct image_checked {
    struct image *img;
    const struct ingot_params *params;
    const struct ingot_rope *ropes;
    const struct ingot_layer *layers;
    const struct ingot_layer *layer;
    uint32_t number;
};

#define REFUSE_LAYER(c, e, format, ...) \
    REFUSE((c)->img, e, "layer %u: " format, (c)->number, __VA_ARGS__)

enum err image_layer_bounds(const struct image_checked *c, const struct image_bound *bounds,
                            size_t n);
enum err image_layer_ranges(const struct image_checked *c, const struct image_range *ranges,
                            size_t n);

/* Check the fields of attention, and of mixers with a state (image_mixers.c). */
enum err image_check_attention(const struct image_checked *c);
enum err image_check_recurrent(const struct image_checked *c);

/* Call these in this order, after image_check_layers. The first checks the table of segments. The
 * second checks the tensor table, and the phases of the segments against the tensors. Errors:
 * ERR_BAD_HEADER, ERR_UNSUPPORTED. */
enum err image_check_segments(struct image *img);
enum err image_check_tensors(struct image *img);

/* Round n up to a multiple. The sum cannot overflow, because the file's size bounds every size. */
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
