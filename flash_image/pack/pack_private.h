/* A packer at work: shared by pack_write.c, which writes, and pack_layout.c, which lays out alone. */
#ifndef INGOT_FLASH_IMAGE_PACK_PRIVATE_H
#define INGOT_FLASH_IMAGE_PACK_PRIVATE_H

#include "flash_image/pack/pack_report.h"
#include "flash_image/pack/pack_tables.h"
#include "flash_image/pack/pack_write.h"
#include "flash_image/quantize/rows.h"

enum {
    OUT_BUFFER = 1 << 20,
    HOLE_BYTES = 1 << 14, /* fewer zeros are written */
    N_MEMORY = 8,
};

struct writer {
    struct source *s;
    const struct pack_options *options;
    const char *path;
    int fd;
    bool holes; /* fd is a file, where zeros need not be written */
    struct ingot_header *header;
    uint8_t *meta;
    uint64_t meta_bytes;
    struct pack_tables tables; /* in meta, as the next one */
    uint32_t *expert_crcs;     /* of the extents of all layers */
    struct rows_buffers rows;
    uint8_t *out; /* OUT_BUFFER bytes, out_used of them waiting */
    size_t out_used;
    uint64_t at;         /* of the file: where the next byte goes */
    uint32_t crc;        /* of the segment so far */
    uint32_t expert_crc; /* and of the extent at work */
    struct pack_report report;
    float *importance; /* of the tensor at work, padded */
    void *memory[N_MEMORY];
    size_t n_memory;
};

/* Header, sections in w->meta, and the tables of where everything goes; the memory for writing. Errors
 * as pack_file. */
enum err pack_lay_out(struct writer *w);

#endif
