/* The safetensors format: 8 bytes with the header's length, a JSON header of names, types,
 * shapes and offsets, then the data (https://github.com/huggingface/safetensors, "Format"). */
#ifndef INGOT_FLASH_IMAGE_SAFETENSORS_H
#define INGOT_FLASH_IMAGE_SAFETENSORS_H

#include <cjson/cJSON.h>

#include "flash_image/source/source.h"

enum { SAFETENSORS_MOST_DIMS = 8 };

struct safetensors_tensor {
    const char *name;  /* valid as long as the header */
    const char *dtype; /* "F32", "BF16", "I64", ... */
    uint32_t n_dims;
    uint64_t dims[SAFETENSORS_MOST_DIMS]; /* none is 0 */
    uint64_t first, end;                  /* bytes of the data */
    const uint8_t *data;
};

struct safetensors {
    cJSON *header;
    struct safetensors_tensor *tensors; /* in the order of their data */
    size_t n_tensors;
};

/* Parse a file of `bytes` bytes at data. Every tensor must be inside the file and have exactly the
 * bytes that its type and shape require, and tensors must not overlap. Free *out after errors as
 * well. Errors: ERR_BAD_MODEL, ERR_UNSUPPORTED (an unknown type), ERR_NO_SPACE. */
enum err safetensors_parse(struct source *s, const uint8_t *data, size_t bytes,
                           struct safetensors *out);
void safetensors_free(struct safetensors *f);

/* Store the tensor in *t as a matrix, as a vector of one row or, if it has no dimensions, as one
 * number. On an error *t does not change. Errors: ERR_UNSUPPORTED (neither F32, F16 nor BF16),
 * ERR_BAD_MODEL (more than two dimensions, or too large ones). */
enum err safetensors_as_source(struct source *s, const struct safetensors_tensor *from,
                               struct source_tensor *t);

#endif
