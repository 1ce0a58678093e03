/* The reader of adapters (flash_image/format/adapter.h) over memory: no I/O, no allocation. The
 * caller reads the bytes in three steps, each checked completely before the next: the header
 * page, the table of pairs, the data. */
#ifndef INGOT_RUNTIME_ADAPTER_IMAGE_H
#define INGOT_RUNTIME_ADAPTER_IMAGE_H

#include "board/err.h"
#include "flash_image/format/adapter.h"
#include "runtime/image/image.h"

enum { ADAPTER_ERROR_MESSAGE_BYTES = 160 };

/* Check the header page of a file of file_bytes. h is 8-byte aligned. Errors: ERR_TRUNCATED,
 * ERR_BAD_MAGIC, ERR_BAD_VERSION, ERR_BAD_CHECKSUM, ERR_BAD_HEADER; error_message
 * (ADAPTER_ERROR_MESSAGE_BYTES) says what is wrong. */
enum err adapter_check_header(const struct adapter_header *h, uint64_t file_bytes,
                              char *error_message);

/* Return how many bytes the table of pairs has, with its padding. The table follows the header. */
uint64_t adapter_table_bytes(const struct adapter_header *h);

/* Check the table, 8-byte aligned: its checksum, order, ranks and places. Errors: those of
 * adapter_check_header. */
enum err adapter_check_pairs(const struct adapter_header *h, const struct adapter_pair *pairs,
                             char *error_message);

/* Check that the model has the matrices of the pairs. ERR_BAD_MODEL: the adapter is for another
 * model. */
enum err adapter_check_base(const struct adapter_header *h, const struct adapter_pair *pairs,
                            const struct image *base, char *error_message);

/* Return true if a role can have an adapter. The role must be a matrix that is multiplied with
 * tokens, and must not belong to an expert. */
bool adapter_takes_role(enum ingot_role role);

/* Return how many numbers A or B of a pair contains, including the zeros of the padding.
 * adapter_type_bytes returns the bytes of n numbers of a type, rounded up to ADAPTER_ALIGN. */
uint64_t adapter_a_numbers(const struct adapter_pair *p);
uint64_t adapter_b_numbers(const struct adapter_pair *p);
uint64_t adapter_type_bytes(unsigned type, uint64_t n);

/* Columns of A as they are stored. */
static inline uint32_t adapter_cols_padded(uint32_t cols)
{
    return (cols + ADAPTER_COLS - 1) / ADAPTER_COLS * ADAPTER_COLS;
}

#endif
