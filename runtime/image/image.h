/* The reader of .ingot files (flash_image/FORMAT.md) over memory: no I/O, no allocation. The
 * caller brings the bytes in three steps, each checked completely before the next is used.
 *
 *   header page         -> image_check_header.
 *   image_meta_bytes()  -> image_check_meta    tokenizer, chat, tables of layers, segments, tensors.
 *   each segment         -> image_check_segment   the CRC of weights as they arrive.
 *
 * Nothing is copied: header and meta must stay where they are as long as the image is used. */
#ifndef INGOT_RUNTIME_IMAGE_H
#define INGOT_RUNTIME_IMAGE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "board/err.h"
#include "flash_image/format/format.h"

struct image {
    const struct ingot_header *header;
    const uint8_t *tokenizer;             /* struct ingot_tokenizer and its arrays */
    const struct ingot_chat *chat;        /* and its strings */
    const float *factors;                 /* (header->rope.count) factors to which header->ropes
                                           * refer */
    const struct ingot_layer *layers;     /* (n_layers) */
    const struct ingot_segment *segments; /* embedding, layers, head */
    const struct ingot_tensor *tensors;   /* in order of roles; the tensors of a layer are
                                           * adjacent */
    const uint32_t *expert_crcs;          /* (header->experts.count) */
    uint32_t first_row;                   /* index in expert_crcs of the first row (token 0) of the
                                           * table of per-layer embeddings */
    char error_message[96];               /* after an error: a message that names the field */
};

/* Check the header page of a file of file_bytes bytes: magic, version, CRC, bounds of every
 * parameter; sections aligned, in order, without gaps and inside the file. h is 8-byte aligned.
 * Clears *img and sets img->header. Errors: ERR_TRUNCATED, ERR_BAD_MAGIC, ERR_BAD_VERSION,
 * ERR_BAD_CHECKSUM, ERR_BAD_HEADER, ERR_UNSUPPORTED; img->error_message says what is wrong. */
enum err image_check_header(struct image *img, const struct ingot_header *h, uint64_t file_bytes);

/* These functions are parts of the checks. A packer calls them before it multiplies any numbers. In
 * this order, they check: the parameters; n ropes with n_factors factors, and that all further
 * ropes up to INGOT_MAX_ROPES are zeros; the layers, but not where their weights are. Errors:
 * ERR_BAD_HEADER, ERR_UNSUPPORTED. */
enum err image_check_params(struct image *img, const struct ingot_params *p);
enum err image_check_ropes(struct image *img, const struct ingot_rope *ropes, uint32_t n,
                           uint32_t n_factors);
enum err image_check_layers(struct image *img, const struct ingot_params *p,
                            const struct ingot_rope *ropes, const struct ingot_layer *layers);

/* Bytes of the file from offset 4096 to the first segment: the sections with their padding, a
 * multiple of 4096. h has passed image_check_header. */
uint64_t image_meta_bytes(const struct ingot_header *h);

/* Check the image_meta_bytes() bytes from file offset 4096, which are at meta (8-byte aligned):
 * section CRCs, tables of layers, segments and tensors, tokenizer, chat. Sets the pointers of
 * *img into meta. Errors: ERR_BAD_CHECKSUM, ERR_BAD_HEADER, ERR_BAD_TOKENIZER, ERR_UNSUPPORTED. */
enum err image_check_meta(struct image *img, const uint8_t *meta);

/* Check only the tokenizer section (bytes, 4-byte aligned), for a model of vocab tokens; part of
 * image_check_meta. Errors: ERR_BAD_TOKENIZER, ERR_UNSUPPORTED. */
enum err image_check_tokenizer(struct image *img, const uint8_t *section, uint64_t bytes,
                               uint32_t vocab);

/* image_role_presence tells whether, with these parameters and this layer (NULL for roles outside
 * layers), a tensor of the role must be absent, may exist or must exist. image_role_is_layer
 * returns true if the role belongs to a layer. */
enum image_presence { IMAGE_ABSENT, IMAGE_OPTIONAL, IMAGE_DEMANDED };
enum image_presence image_role_presence(const struct ingot_params *p, const struct ingot_layer *l,
                                        enum ingot_role role);
bool image_role_is_layer(enum ingot_role role);

/* Return true if every expert of a layer has a tensor of this role, in its own extent; one entry of
 * the tensor table describes all of them. */
bool image_role_is_expert(enum ingot_role role);

/* Return true if the role is a matrix, which is quantized and multiplied. Other roles are norms and
 * biases (F32) and positions. */
bool image_role_is_matrix(enum ingot_role role);

/* Return the entry of layer number `layer` (< n_layers) in the table of layers. */
const struct ingot_layer *image_layer(const struct image *img, uint32_t layer);

/* Return the table entry of a tensor: layer < n_layers for roles of a layer, INGOT_NO_LAYER for
 * others. Return NULL if there is no such tensor. */
const struct ingot_tensor *image_tensor(const struct image *img, enum ingot_role role,
                                        unsigned layer);

/* Return the type that a model's name shows: the type of a feed-forward's first matrix or, if there
 * is none, the output's type. */
unsigned image_main_type(const struct image *img);

/* Return the most experts that a token takes in a layer; 0 if there are no experts. */
uint32_t image_most_experts(const struct image *img);

/* Return the width of the widest recurrent mixer; 0 if there is none. */
uint32_t image_inner_dim(const struct image *img);

/* Return the most numbers that a token needs for all heads of one layer: for their queries, or for
 * their attended values. */
uint32_t image_queries(const struct image *img);

/* Return the longest sequence that uses LongRoPE's short factors; 0 if the model does not use
 * LongRoPE. */
uint32_t image_long_context(const struct image *img);

/* Return the last layer that writes a state: its own keys and values, or a recurrent mixer's state.
 * In later layers a token does not affect other tokens. */
uint32_t image_last_written(const struct image *img);

/* Return the types of the model's tensors, as bits 1 << enum ingot_type. */
uint32_t image_types(const struct image *img);

/* Return how many segments there are, or the index of one of them: the segment of the token
 * embedding, of the tensors that a layer always needs, or of the output norm and an untied output.
 * layer < n_layers. */
uint32_t image_segment_count(const struct image *img);
uint32_t image_front_segments(const struct ingot_params *p); /* number of segments before those of
                                                              * layers */
uint32_t image_embedding_segment(const struct image *img);
uint32_t image_layer_segment(const struct image *img, uint32_t layer);
uint32_t image_head_segment(const struct image *img);

/* Find a token's rows in the table of per-layer embeddings. image_table_row returns where they
 * begin in the file, and sets *bytes; image_table_crc returns their checksum. Only for a model that
 * has this table. */
uint64_t image_table_row(const struct image *img, uint32_t token, size_t *bytes);
uint32_t image_table_crc(const struct image *img, uint32_t token);

/* Return how many bytes of a layer's segment are needed up to the end of a phase (<
 * INGOT_PHASES). */
uint64_t image_phase_end(const struct image *img, uint32_t layer, unsigned phase);

/* Compare the CRC-32C of segment number `segment`, as read, with the table. ERR_BAD_CHECKSUM:
 * the error_message names "embedding", "layer 3" or "head". */
enum err image_check_segment(struct image *img, unsigned segment, uint32_t crc);

/* Write "embedding", "layer 3" or "head" to text, NUL-terminated. */
void image_segment_name(const struct image *img, unsigned segment, char *text, size_t text_bytes);

/* Return the name "token_embedding", "attn_norm", ..., or "unknown". */
const char *image_role_name(unsigned role);

/* Return the name "attention", "dense", ..., "own" for a kind that a program adds, or "unknown". */
const char *image_mixer_name(unsigned mixer);
const char *image_ffn_name(unsigned ffn);

/* Return the name "llama", "mistral", ..., or "unknown". */
const char *image_family_name(unsigned family);

/* Return the name "f32", "q4_0", ..., as in types.def, or "unknown". */
const char *image_type_name(unsigned type);

/* In this order, these functions return: how many rows a group has; how many columns a chunk has;
 * how many columns a block has (a divisor of cols_padded); and how many bytes a row of cols_padded
 * columns has (an eighth of a group if rows are interleaved). The result is 0 for unknown types,
 * and for the chunk of a type without groups. */
uint32_t image_type_interleave(unsigned type);
uint32_t image_type_chunk(unsigned type);
uint32_t image_type_padding(unsigned type);
size_t image_type_row_bytes(unsigned type, uint32_t cols_padded);

/* Return the 16 values of a tensor's nibbles, if its type has a table: IQ4_NL and MXFP4 have one
 * table for all tensors, FIG4 has one for each tensor. NULL if there is no table. */
const int8_t *image_tensor_values(const struct ingot_tensor *t);

/* Return true if a matrix of cols columns can have the type: columns of F32, F16, Q8_0 and Q4_0 are
 * padded, and other types need whole blocks. */
bool image_type_takes(unsigned type, uint32_t cols);

/* Return true if the type suits a matrix whose rows belong to heads: its products must take f32
 * or Q8 vectors. */
bool image_type_suits_head(unsigned type);

/* The types that a product has to unpack (runtime/compute/packed.h), bits 1 << ingot_type. */
enum {
    IMAGE_PACKED_TYPES =
#define TYPE_PACKED(NAME, ...) 1u << INGOT_##NAME |
#include "flash_image/format/types.def"
        0u
};

/* Return true if a product has to unpack the type; called for each product. */
static inline bool image_type_is_packed(unsigned type)
{
    return type < 32 && (IMAGE_PACKED_TYPES >> type & 1) != 0;
}

/* Bytes of a tensor as it is stored, including the padding of rows and columns. The result is 0 if
 * the type does not allow this number of columns, or if the dimensions exceed the bounds of
 * format.h. */
uint64_t image_tensor_bytes(unsigned type, uint32_t rows, uint32_t cols);

/* Return false for an MTP head, which uses its model's output matrix. An assistant has its own
 * output matrix. */
static inline bool image_has_output(const struct ingot_params *p)
{
    return p->mtp == 0 || p->target_dim != 0;
}

/* Return how many numbers the input of an MTP head or of an assistant has; 0 for other models. */
static inline uint32_t image_mtp_inputs(const struct ingot_params *p)
{
    return p->mtp * 2 * (p->target_dim != 0 ? p->target_dim : p->dim);
}

/* Set *rows and *cols to the shape that the parameters and the layer require of a tensor. `l` is
 * NULL for roles outside layers. */
void image_role_shape(const struct ingot_params *p, const struct ingot_layer *l,
                      enum ingot_role role, uint32_t *rows, uint32_t *cols);

/* Return a chat string of *bytes bytes, not NUL-terminated, from the image or from a separate
 * section. */
const char *image_chat_text(const struct ingot_chat *chat, enum ingot_chat_string which,
                            uint32_t *bytes);
const char *image_chat_string(const struct image *img, enum ingot_chat_string which,
                              uint32_t *bytes);

#endif
