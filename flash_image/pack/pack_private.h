/* The state of a packer: shared by pack_write.c, which writes, and pack_layout.c, which makes the
 * layout. */
#ifndef INGOT_FLASH_IMAGE_PACK_PRIVATE_H
#define INGOT_FLASH_IMAGE_PACK_PRIVATE_H

#include "flash_image/pack/pack_report.h"
#include "flash_image/pack/pack_tables.h"
#include "flash_image/pack/pack_write.h"
#include "flash_image/quantize/rows.h"

enum {
    OUT_BUFFER = 1 << 20,
    HOLE_BYTES = 1 << 14, /* a shorter run of zeros is written */
    N_MEMORY = 8,
};

struct writer {
    struct source *s;
    const struct pack_options *options;
    const char *path;
    int fd;
    bool holes; /* fd is a regular file, in which zeros need not be written */
    struct ingot_header *header;
    uint8_t *meta;
    uint64_t meta_bytes;
    struct pack_tables tables; /* in meta, like expert_crcs */
    uint32_t *expert_crcs;     /* CRCs of the extents of all layers */
    struct rows_buffers rows;
    uint8_t *out; /* OUT_BUFFER bytes, of which out_used wait to be written */
    size_t out_used;
    uint64_t at;         /* position in the file of the next byte */
    uint32_t crc;        /* CRC of the segment so far */
    uint32_t expert_crc; /* CRC of the current extent so far */
    struct pack_report report;
    float *importance; /* importance of the current tensor's columns, padded */
    void *memory[N_MEMORY];
    size_t n_memory;
};

/* Make the header, the sections in w->meta, and the tables with all positions; allocate the memory
 * for writing. Errors as pack_file. */
enum err pack_lay_out(struct writer *w);

/* The importance of a tensor's columns for the search for scales, padded; NULL: all are equal. */
const float *pack_importance(struct writer *w, const struct ingot_tensor *entry);

#endif
