/* The tables of layers, segments and tensors of a packed model: where each of its tensors goes. */
#ifndef INGOT_FLASH_IMAGE_PACK_TABLES_H
#define INGOT_FLASH_IMAGE_PACK_TABLES_H

#include "flash_image/pack/pack.h"
#include "flash_image/source/source.h"

struct pack_tables {
    struct source *source;
    const struct pack_options *options;
    uint64_t first_byte;            /* of the file that is a weight's, a multiple of INGOT_PAGE */
    struct ingot_header *header;    /* takes file_bytes */
    struct ingot_layer *layers;     /* (n_layers), zeroed, as the next two */
    struct ingot_segment *segments; /* embedding, perhaps the table per layer, layers, head */
    struct ingot_tensor *tensors;   /* (pack_count_tensors) */
};

/* How many tensors the table has: of a tied model the output too. */
uint32_t pack_count_tensors(const struct source *s);

/* How many extents have a checksum of their own: experts, and rows of the table per layer. */
uint32_t pack_count_extents(const struct source *s);

/* Fill the tables, but for the checksums of segments. */
void pack_lay_tables(struct pack_tables *t);

#endif
