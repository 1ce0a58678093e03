/* The shapes of made-up models: some for tests, others from published models. */
#ifndef INGOT_FLASH_IMAGE_SYNTH_SHAPES_H
#define INGOT_FLASH_IMAGE_SYNTH_SHAPES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "flash_image/format/format.h"

/* Parts of a shape in addition to attention and one dense feed-forward in each layer. */
struct synth_layers {
    enum ingot_mixer mixer; /* mixer of the first n_recurrent layers; the others have attention */
    uint32_t n_recurrent;
    uint32_t conv_taps, n_groups, inner_heads, state_dim, inner_dim; /* as in struct ingot_layer */
    uint32_t rope_dims;                                              /* 0: the whole head */
    bool gated; /* the result of attention is gated */
    uint32_t n_experts, n_used, expert_hidden;
};

struct synth_shape {
    const char *name;
    enum ingot_family family;
    uint32_t dim, hidden, n_layers, n_heads, n_kv_heads, vocab, context;
    uint32_t tied;
    uint32_t head_dim; /* 0: dim / n_heads */
    uint32_t window;   /* window of local layers; 0: none */
    bool sparse;       /* a layer's matrices are zero after their first group of rows */
    const struct synth_layers *layers; /* or NULL */
};

/* Find a shape by name. NULL: no shape has the name; error_message lists the names. */
const struct synth_shape *synth_shape_find(const char *name, char *error_message,
                                           size_t error_message_bytes);

#endif
