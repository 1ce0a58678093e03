/* The file NAME.use next to a model says how often its experts were used, so that a plan knows how
 * often a cache of some size has the needed experts. The file's two halves are written alternately
 * (runtime/storage/halves.h).
 *
 *   payload: for each expert, layer after layer, u32 taken, u32 found (struct stream_expert); zeros
 *   to the end of the sector */
#ifndef INGOT_RUNTIME_EXPERT_USE_H
#define INGOT_RUNTIME_EXPERT_USE_H

#include <stdint.h>

#include "board/err.h"
#include "runtime/storage/halves.h"
#include "runtime/stream/plan.h"
#include "runtime/stream/stream_experts.h"

enum { EXPERT_USE_BUFFER_BYTES = 4096, EXPERT_USE_ERROR_MESSAGE_BYTES = 320 };

/* Begins like struct half_header. */
struct expert_use_header {
    char magic[8];       /* "INGOTUSE" */
    uint32_t version;    /* 1 */
    uint32_t header_crc; /* CRC-32C of the sector with this field zero */
    uint64_t sequence;   /* number of this save; the file's first is 1 */
    uint32_t model_crc;  /* the model's own header_crc32c */
    uint32_t payload_crc;
    uint32_t n; /* experts of all layers */
    uint8_t zeros[476];
};
_Static_assert(sizeof(struct expert_use_header) == SECTOR_BYTES, "written in one piece");

struct expert_use {
    struct halves halves; /* the file */
    _Alignas(64) uint8_t buffer[EXPERT_USE_BUFFER_BYTES];
    char error_message[EXPERT_USE_ERROR_MESSAGE_BYTES]; /* after an error, what is wrong and what
                                                        * helps */
};

/* Return the bytes that the file must have, or 0 if the model has no experts. */
uint64_t expert_use_bytes(const struct image *image);

/* Read the newest valid counts into *found (for a plan) and into a stream's experts. Either may be
 * NULL. After an error both hold zeros. ERR_NOT_FOUND: nothing was saved. ERR_BAD_MODEL: the
 * counts are of another model or version. ERR_BAD_CHECKSUM: both halves are damaged. Errors of
 * file.h. */
enum err expert_use_read(struct expert_use *u, const struct file *file, const struct image *image,
                         struct plan_use *found, struct stream_expert *all);

/* Save the counts of a stream, and verify them. ERR_NO_SPACE: the file is too small.
 * ERR_UNSUPPORTED: its device cannot be written. ERR_BAD_CHECKSUM: the device returns other bytes
 * than were written. Errors of file.h. The earlier save is still there after an error. */
enum err expert_use_write(struct expert_use *u, const struct file *file, const struct image *image,
                          const struct stream_expert *all);

#endif
