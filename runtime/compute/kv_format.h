/* The formats of keys and values, one row each. A tile holds KV_TILE positions of one head, of
 * keys or of values. In a vector of keys the lanes are positions, in a vector of values they are
 * dimensions, unless a format's own kernels need another layout. Keys and values can have
 * different formats. */
#ifndef INGOT_RUNTIME_KV_FORMAT_H
#define INGOT_RUNTIME_KV_FORMAT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "kernels/kernels.h"

/* Saved conversations contain these numbers; kv_types.def describes each. */
enum kv_type {
#define KV_TYPE(NAME, number, ...) KV_##NAME = (number),
#include "flash_image/format/kv_types.def"
    KV_N_NUMBERS = 14 /* includes the types of tests/bench/kv */
};

/* The types of keys and values. If hot_tiles is not 0, there are tiers by age (kv_tiers.h), and the
 * hot tier has one type for both. */
struct kv_types {
    uint8_t keys, values; /* enum kv_type; with tiers, the type of the hot tier */
    uint8_t warm, cold;   /* types of the warm and the cold tier */
    uint16_t hot_tiles, warm_tiles;
};

static inline struct kv_types kv_both(enum kv_type type)
{
    return (struct kv_types){ .keys = (uint8_t)type, .values = (uint8_t)type };
}

static inline bool kv_types_equal(struct kv_types a, struct kv_types b)
{
    return a.keys == b.keys && a.values == b.values && a.warm == b.warm && a.cold == b.cold &&
           a.hot_tiles == b.hot_tiles && a.warm_tiles == b.warm_tiles;
}

/* Rows of queries, in the forms from which scores are computed. */
struct kv_queries {
    const float *f32;          /* (n_q, d) */
    const struct block_q8 *q8; /* (n_q, kv_blocks(d)), if the format says integer_query */
};

enum { KV_BLOCK = 32 };

/* Return how many blocks of KV_BLOCK numbers a head of width d takes. */
static inline uint32_t kv_blocks(uint32_t d)
{
    return (d + KV_BLOCK - 1) / KV_BLOCK;
}

/* Block b of x (d), 16-byte aligned: x itself if d is a multiple of KV_BLOCK, otherwise a copy
 * in `room`, padded with zeros. */
const float *kv_block(const float *x, uint32_t d, uint32_t b, float room[KV_BLOCK]);

/* Quantize x (n, d) to q8 (n, kv_blocks(d)). */
void kv_quantize_q8(const struct kernels *k, struct block_q8 *q8, const float *x, uint32_t n,
                    uint32_t d);

struct kv_format {
    const char *name; /* NULL if this number has no format */

    /* How many neighbouring elements share a scale. The last block of a head is padded with zeros;
     * only formats of tests/bench/kv make it shorter. */
    uint32_t block;
    bool rotated;       /* stores heads that kv_rotate has rotated */
    bool integer_query; /* score reads q8 */

    /* The least mean cosine between normally distributed numbers and the stored ones. */
    float cosine;

    /* Bytes of a tile for a head of width d, a multiple of 16. */
    size_t (*key_bytes)(uint32_t d);
    size_t (*value_bytes)(uint32_t d);

    /* Write position j of a tile, in ascending order: x (d) f32, 16-byte aligned if d is a
     * multiple of 4. */
    void (*put_key)(const struct kernels *k, void *tile, uint32_t d, uint32_t j, const float *x);
    void (*put_value)(const struct kernels *k, void *tile, uint32_t d, uint32_t j, const float *x);

    /* Set only if put_key is NULL: write all positions of a tile that `keys` holds in another
     * format. work: (3, d). */
    void (*pack_keys)(void *tile, uint32_t d, const struct kv_format *from, const void *keys,
                      float *work);

    /* Read position j < KV_TILE, which put_key or pack_keys has written: x (d). */
    void (*get_key)(const void *tile, uint32_t d, uint32_t j, float *x);
    void (*get_value)(const void *tile, uint32_t d, uint32_t j, float *x);

    /* Like score_f32_f16 and accumulate_f32_f16 in kernels.h. */
    void (*score)(const struct kernels *k, struct score_row *s, const struct kv_queries *q,
                  const void *keys, size_t n_q, size_t n, size_t d);
    void (*accumulate)(const struct kernels *k, float *o, const struct score_row *s,
                       const void *values, size_t n_q, size_t n, size_t d);
};

extern const struct kv_format kv_formats[KV_N_NUMBERS];

/* Return the name of types in the form of kv=: "f16"; "rot_q8,f16" if keys and values differ; or
 * "tiers:256,1792,f16,q8,kivi", which gives how many positions are hot and how many are warm
 * (multiples of KV_TILE, the first not 0), then the types. */
enum { KV_TYPES_NAME_BYTES = 64 };
const char *kv_types_name(struct kv_types types, char name[KV_TYPES_NAME_BYTES]);

/* Read a name: flat16, flat8, one type for both, or the type of keys, a comma, and the type of
 * values. For tiers, the name is ruv, tiers, or has the form of kv_types_name, which may also give
 * only the cold type (the hot type is then f16, the warm type q8). Return false if no such type
 * exists, or if it cannot be used alone. */
bool kv_types_parse(const char *text, struct kv_types *types);

#endif
