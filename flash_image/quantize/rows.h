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
    struct table_codec *codec; /* made by rows_begin for a type with a table */
    const float
        *importance; /* (cols_padded) importance of the columns: quantize.h; NULL: all are equal */
    struct rows_loss *loss; /* NULL: losses are not measured, which saves time */
};

/* The loss of packing, summed over all rows so far: the NMSE is errors / squares, and the cosine is
 * products / sqrt(squares * stored). */
struct rows_loss {
    double squares;  /* of the weights */
    double errors;   /* squares of (stored value - weight) */
    double products; /* products of stored values and weights */
    double stored;   /* squares of the stored values */
    double counted,
        counted_errors; /* squares and errors, each multiplied by the square of its column's
                           importance */
};

/* How weights are converted to a type. */
enum rows_way {
    ROWS_COPIED,      /* unchanged, as in the file */
    ROWS_REQUANTIZED, /* other blocks with the same values (requantize.h) */
    ROWS_RESCALED,    /* other blocks, with scales rounded to fp16: NMSE below 1e-6 */
    ROWS_QUANTIZED,   /* rounded to the nearest values of the type */
};
enum rows_way rows_way(enum source_type from, enum ingot_type to);

/* The size of each buffer for tensors of at most most_cols columns, in bytes. */
struct rows_sizes {
    size_t row, blocks, group;
};
struct rows_sizes rows_buffer_bytes(uint32_t most_cols);

/* Make the codec of a type with a table. Call this before packing a tensor, or each expert of a
 * stack t. For FIG4, the first call finds one table for all experts and stores it in *entry. */
void rows_begin(const struct source_tensor *t, struct ingot_tensor *entry,
                const struct rows_buffers *b);

/* Pack rows from first_row on into b->group: one row for F32 and F16, else eight. Columns, and rows
 * after the last, are filled up with zeros. Returns the number of bytes. If a weight is not finite,
 * or exceeds a scale of 16 bits, returns 0 and sets *error_message. */
size_t rows_pack_group(const struct source_tensor *t, enum ingot_type type, uint32_t first_row,
                       const struct rows_buffers *b, const char **error_message);

#endif
