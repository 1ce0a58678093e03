/* The reader of .ingot files (flash_image/FORMAT.md) over memory: no I/O, no allocation. The
 * caller brings the bytes in three steps, each checked completely before the next is used:
 *
 *   header page         -> image_check_header
 *   image_meta_bytes()  -> image_check_meta     tokenizer, chat, tensor and segment tables
 *   each segment         -> image_check_segment   the CRC of weights as they arrive
 *
 * Nothing is copied: header and meta must stay where they are as long as the image is used. */
#ifndef INGOT_RUNTIME_IMAGE_H
#define INGOT_RUNTIME_IMAGE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "board/err.h"
#include "flash_image/format.h"

struct image {
    const struct ingot_header *header;
    const uint8_t *tokenizer;             /* struct ingot_tokenizer and its arrays */
    const struct ingot_chat *chat;        /* and its strings */
    const float *rope;                    /* (INGOT_ROPE_SETS, rope_dims / 2), or NULL */
    const struct ingot_tensor *tensors;   /* those that the parameters demand, in order of roles */
    const struct ingot_segment *segments; /* n_layers + 2: embedding, layers, head */
    char problem[96];                     /* after an error: a sentence naming the field */
};

/* Check the header page of a file of file_bytes bytes: magic, version, CRC, every parameter in
 * bounds, sections aligned, in order, without gaps and inside the file. h is 8-byte aligned.
 * Clears *img and sets img->header. Errors: ERR_TRUNCATED, ERR_BAD_MAGIC, ERR_BAD_VERSION,
 * ERR_BAD_CHECKSUM, ERR_BAD_HEADER, ERR_UNSUPPORTED; img->problem says what. */
enum err image_check_header(struct image *img, const struct ingot_header *h, uint64_t file_bytes);

/* The parameters alone, part of the check above: for a packer before it multiplies them.
 * Errors: ERR_BAD_HEADER. */
enum err image_check_params(struct image *img, const struct ingot_params *p);

/* Bytes of the file from offset 4096 to the first segment: the four sections with their padding,
 * a multiple of 4096. h has passed image_check_header. */
uint64_t image_meta_bytes(const struct ingot_header *h);

/* Check the image_meta_bytes() bytes at file offset 4096, which lie at meta (8-byte aligned):
 * section CRCs, segment table, tensor table, tokenizer, chat. Sets the pointers of *img into
 * meta. Errors: ERR_BAD_CHECKSUM, ERR_BAD_HEADER, ERR_BAD_TOKENIZER, ERR_UNSUPPORTED. */
enum err image_check_meta(struct image *img, const uint8_t *meta);

/* The check of the tokenizer section alone, bytes bytes at section (4-byte aligned), for a model
 * of vocab tokens; part of image_check_meta. Errors: ERR_BAD_TOKENIZER, ERR_UNSUPPORTED. */
enum err image_check_tokenizer(struct image *img, const uint8_t *section, uint64_t bytes,
                               uint32_t vocab);

/* Whether the parameters demand the tensor; image_role_is_layer: whether every layer has one. */
bool image_has_role(const struct ingot_params *p, enum ingot_role role);
bool image_role_is_layer(enum ingot_role role);

/* How many positions a query of this layer sees, its own the last; 0: all. */
uint32_t image_layer_window(const struct ingot_params *p, uint32_t layer);

/* A matrix is quantized and multiplied; the others are norms and biases (F32) and positions. */
bool image_role_is_matrix(enum ingot_role role);

/* Entries of the tensor table. */
uint32_t image_tensor_count(const struct ingot_params *p);

/* The table entry of a tensor: layer < n_layers for the roles of a layer, INGOT_NO_LAYER for
 * the others. NULL only where the parameters do not demand it. */
const struct ingot_tensor *image_tensor(const struct image *img, enum ingot_role role,
                                        unsigned layer);

/* The types of the model's tensors, as bits 1 << enum ingot_type. */
uint32_t image_types(const struct image *img);

/* How many segments there are, and the numbers of those with the token embedding, with what a layer
 * always needs, and with the output norm and an untied output. layer < n_layers. */
uint32_t image_segment_count(const struct image *img);
uint32_t image_embedding_segment(const struct image *img);
uint32_t image_layer_segment(const struct image *img, uint32_t layer);
uint32_t image_head_segment(const struct image *img);

/* Compare the CRC-32C of segment number `segment` as read with the table. ERR_BAD_CHECKSUM: the
 * problem names "embedding", "layer 3" or "head". */
enum err image_check_segment(struct image *img, unsigned segment, uint32_t crc);

/* "embedding", "layer 3" or "head" into text, NUL-terminated. */
void image_segment_name(const struct image *img, unsigned segment, char *text, size_t text_bytes);

/* "token_embedding", "attn_norm", ... as the enum spells it, or "unknown". */
const char *image_role_name(unsigned role);

/* "llama", "mistral", ..., or "unknown". */
const char *image_family_name(unsigned family);

/* "f32", "f16", "q8_0", "q4_0", "q4_k", "q6_k", or "unknown". */
const char *image_type_name(unsigned type);

/* Rows of a group, columns of a chunk, columns of a block (cols_padded is a multiple of it), and
 * bytes of one row of cols_padded columns (of an eighth of a group where rows are interleaved).
 * 0 for a type that does not exist, and the chunk of one without groups. */
uint32_t image_type_interleave(unsigned type);
uint32_t image_type_chunk(unsigned type);
uint32_t image_type_padding(unsigned type);
size_t image_type_row_bytes(unsigned type, uint32_t cols_padded);

/* A matrix of cols columns can have the type: Q4_K and Q6_K demand whole blocks of 256, the
 * others are padded. */
bool image_type_takes(unsigned type, uint32_t cols);

/* Bytes of a tensor as it is stored, padding of rows and columns included. 0 for a type that
 * does not take the columns and for dimensions beyond the bounds of format.h. */
uint64_t image_tensor_bytes(unsigned type, uint32_t rows, uint32_t cols);

/* The tensor's shape as the parameters demand it: rows and cols. */
void image_role_shape(const struct ingot_params *p, enum ingot_role role, uint32_t *rows,
                      uint32_t *cols);

/* A chat string of *bytes bytes, not terminated; of the image, or of a section by itself. */
const char *image_chat_text(const struct ingot_chat *chat, enum ingot_chat_string which,
                            uint32_t *bytes);
const char *image_chat_string(const struct image *img, enum ingot_chat_string which,
                              uint32_t *bytes);

#endif
