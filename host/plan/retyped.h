/* The tables of a model as the packer would write them for other weight types, so that the planner
 * can use them without packing. */
#ifndef INGOT_HOST_RETYPED_H
#define INGOT_HOST_RETYPED_H

#include <stdbool.h>
#include <stdint.h>

#include "flash_image/pack/pack.h"
#include "runtime/image/image.h"

struct retyped {
    struct image image;
    struct ingot_tensor *tensors;
    struct ingot_segment *segments;
    struct ingot_layer *layers;
    uint64_t bytes; /* of all segments */
};

/* Allocate memory for the tables of an image. False: out of memory. Call retyped_close in any
 * case. */
bool retyped_open(struct retyped *r, const struct image *image);
void retyped_close(struct retyped *r);

/* Write to r->image the tables that `image` would have in the types that o asks for. */
void retype(struct retyped *r, const struct image *image, const struct pack_options *o);

/* The size of the file after retype(), in bytes. */
uint64_t retyped_file_bytes(const struct retyped *r);

#endif
