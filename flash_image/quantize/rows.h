/* Rows of a source tensor, group by group, in the layout of an .ingot tensor. */
#ifndef INGOT_FLASH_IMAGE_ROWS_H
#define INGOT_FLASH_IMAGE_ROWS_H

#include "flash_image/quantize/quantize_table.h"
#include "flash_image/source/source.h"

/* Buffers for one group, for the widest tensor of the model. */
struct rows_buffers {
    float *row;                /* cols_padded */
    uint8_t *blocks;           /* 8 rows of GGML blocks */
    uint8_t *group;            /* the result */
    struct table_codec *codec; /* codec of a type with a table, made by rows_begin */
    const float
        *importance; /* importance of the columns (cols_padded), see quantize.h; NULL: all equal */
    struct rows_loss *loss; /* NULL: losses are not measured, because that takes time */
};

/* The loss of packing, summed over all rows so far: errors / squares is the NMSE, and products over
 * the root of squares and stored the cosine. */
struct rows_loss {
    double squares;  /* of the weights */
    double errors;   /* stored values less the weights, squared */
    double products; /* stored values times the weights */
    double stored;   /* squares of the stored values */
    double counted,
        counted_errors; /* squares and errors, each column times the square of its importance */
};

/* How a tensor's weights become those of a type. */
enum rows_way {
    ROWS_COPIED,      /* unchanged, as in the file */
    ROWS_REQUANTIZED, /* other blocks, the same values (requantize.h) */
    ROWS_RESCALED,    /* the same, but scales are rounded to fp16: NMSE below 1e-6 */
    ROWS_QUANTIZED,   /* by rounding to the nearest values of the type */
};
enum rows_way rows_way(enum source_type from, enum ingot_type to);

/* The size of each buffer for tensors of at most most_cols columns, in bytes. */
struct rows_sizes {
    size_t row, blocks, group;
};
struct rows_sizes rows_buffer_bytes(uint32_t most_cols);

/* Call before the rows of a tensor, or of each expert of a stack t: makes the table of its type.
 * The first call for FIG4 finds the table from all experts and stores it in the entry. */
void rows_begin(const struct source_tensor *t, struct ingot_tensor *entry,
                const struct rows_buffers *b);

/* Pack the rows from first_row on (one for F32 and F16, eight for the others, those beyond the
 * last as zeros) into b->group, columns padded with zeros. Returns the bytes, or 0 with *problem
 * set: a weight is not finite, or does not fit a scale of 16 bits. */
size_t rows_pack_group(const struct source_tensor *t, enum ingot_type type, uint32_t first_row,
                       const struct rows_buffers *b, const char **error_message);

#endif
