/* The tables of layers, segments and tensors of a packed model: the position of each of its
 * tensors. */
#ifndef INGOT_FLASH_IMAGE_PACK_TABLES_H
#define INGOT_FLASH_IMAGE_PACK_TABLES_H

#include "flash_image/pack/pack.h"
#include "flash_image/source/source.h"

struct pack_tables {
    struct source *source;
    const struct pack_options *options;
    uint64_t first_byte;            /* position of the first weight in the file, a multiple of
                                       INGOT_PAGE */
    struct ingot_header *header;    /* pack_lay_tables sets its file_bytes */
    struct ingot_layer *layers;     /* (n_layers), zeroed, like the next two */
    struct ingot_segment *segments; /* embedding, perhaps the per-layer table, layers, head */
    struct ingot_tensor *tensors;   /* (pack_count_tensors) */
};

/* The number of tensors in the table, including a tied output. */
uint32_t pack_count_tensors(const struct source *s);

/* The number of extents with their own checksum: experts, and rows of the per-layer table. */
uint32_t pack_count_extents(const struct source *s);

/* Fill the tables, except for the checksums of segments. */
void pack_lay_tables(struct pack_tables *t);

#endif
