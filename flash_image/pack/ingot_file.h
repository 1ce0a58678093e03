/* An .ingot file on the host, mapped, with header and tables checked, for tools that inspect it. */
#ifndef INGOT_FLASH_IMAGE_INGOT_FILE_H
#define INGOT_FLASH_IMAGE_INGOT_FILE_H

#include "runtime/image/image.h"

struct ingot_file {
    const uint8_t *data;
    size_t bytes;
    struct image image;
};

/* Map path and check header and sections. ERR_NOT_FOUND, ERR_IO, or errors of
 * runtime/image/image.h; error_message holds one error message with the path. On an error nothing
 * stays open. */
enum err ingot_file_open(struct ingot_file *f, const char *path, char *error_message,
                         size_t error_message_bytes);

/* Compare the CRC of a segment's bytes with the table, as image_check_segment does. */
enum err ingot_file_check_segment(struct ingot_file *f, unsigned segment);

/* Check that all scales and floats of a segment's tensors are finite, which boards require.
 * ERR_BAD_MODEL: image.error_message names the tensor. */
enum err ingot_file_check_finite(struct ingot_file *f, unsigned segment);

void ingot_file_close(struct ingot_file *f);

#endif
