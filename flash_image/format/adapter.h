/* The file of an adapter (LoRA), version 1, as C structures: pairs of matrices A (rank, cols) and B
 * (rows, rank) for a model's matrices W (rows, cols). A pair with the scale s replaces y = W x by
 * y = W x + s B (A x). FORMAT.md, "Adapters", is the specification. Little-endian; every structure
 * is naturally aligned.
 *
 *   header page | pairs, zeros to the next page | data, zeros to the next page
 *
 * The data of a pair are A, then B, each at the next multiple of ADAPTER_ALIGN, without other gaps:
 *   A  (rank, cols_padded) row by row, cols padded with zeros to a multiple of ADAPTER_COLS;
 *      for TOKEN_EMBEDDING (vocab, rank), a row for each token
 *   B  [rows / 8][rank][8], rows padded with zeros to a multiple of 8 (expand_f32_f16 of kernels.h)
 * as F32, F16 or Q8_0. Q8_0: blocks of 32 numbers in this order (the last block filled up with
 * zeros), each an fp16 scale and int8 numbers. */
#ifndef INGOT_FLASH_IMAGE_ADAPTER_FORMAT_H
#define INGOT_FLASH_IMAGE_ADAPTER_FORMAT_H

#include <assert.h>
#include <stdint.h>

#include "flash_image/format/format.h"

#define ADAPTER_MAGIC "INGOT\r\nA" /* 8 bytes, no NUL */

enum {
    ADAPTER_VERSION = 1,
    ADAPTER_ALIGN = 64,
    ADAPTER_COLS = 32,
    ADAPTER_MOST_RANK = 512,
    ADAPTER_MOST_PAIRS = 8192,
};

struct adapter_header {
    char magic[8];
    uint32_t version;
    uint32_t header_crc32c; /* CRC-32C of the 4096 header bytes, with this field zero */
    uint64_t file_bytes;    /* a multiple of 4096 */
    char name[64];          /* NUL-terminated, UTF-8 */
    char base[64];   /* name of the model for which it was made; other models with the same sizes
                      are allowed */
    uint32_t family; /* enum ingot_family of that model; its sizes follow */
    uint32_t dim;
    uint32_t n_layers;
    uint32_t vocab;
    uint32_t type; /* of all matrices: INGOT_F32, INGOT_F16 or INGOT_Q8_0 */
    uint32_t n_pairs;
    uint32_t most_ranks; /* the largest sum of ranks in any layer */
    uint32_t pairs_crc32c;
    uint32_t data_crc32c;
    uint32_t reserved0;
    uint64_t data_bytes; /* a multiple of 4096 */
    uint8_t reserved[4096 - 200];
};
static_assert(sizeof(struct adapter_header) == 4096, "the header is one page");

/* Pairs are sorted by layer, then by role; pairs outside layers (INGOT_NO_LAYER) come
 * last. */
struct adapter_pair {
    uint16_t role; /* enum ingot_role of W; W is never a matrix of an expert */
    uint16_t layer;
    uint32_t rank;
    uint32_t rows; /* outputs of W; for TOKEN_EMBEDDING: dim */
    uint32_t cols; /* inputs of W; for TOKEN_EMBEDDING: vocab */
    float scale;   /* alpha / rank, or the factor that the adapter was trained with */
    uint32_t reserved;
    uint64_t a; /* bytes from the start of the data */
    uint64_t b;
};
static_assert(sizeof(struct adapter_pair) == 40, "a pair is 40 bytes");

#endif
