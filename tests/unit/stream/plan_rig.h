/* The tables of a model of any shape, and a request to plan it; the planner's tests share them. */
#ifndef INGOT_TESTS_UNIT_PLAN_RIG_H
#define INGOT_TESTS_UNIT_PLAN_RIG_H

#include <string.h>

#include "runtime/image/image.h"
#include "runtime/stream/plan.h"

static struct ingot_header header;
static struct ingot_tensor tensors[9 * INGOT_MAX_LAYERS + 3];
static struct ingot_segment segments[INGOT_MAX_SEGMENTS];
static struct ingot_layer layer_table[INGOT_MAX_LAYERS];
static struct image image = {
    .header = &header, .layers = layer_table, .segments = segments, .tensors = tensors
};
static struct plan_request request;
static struct plan plan;

static uint64_t up(uint64_t n, uint64_t to)
{
    return (n + to - 1) / to * to;
}

static void put_tensor(struct ingot_tensor *t, enum ingot_role role, unsigned layer,
                       uint32_t segment, enum ingot_type type)
{
    uint64_t *end = &segments[segment].bytes;

    memset(t, 0, sizeof *t);
    t->role = (uint16_t)role;
    t->layer = (uint16_t)layer;
    t->type = (uint8_t)type;
    t->interleave = (uint8_t)image_type_interleave(type);
    image_role_shape(&header.params, &layer_table[0], role, &t->rows, &t->cols);
    t->cols_padded = (uint32_t)up(t->cols, image_type_padding(type));
    t->segment = segment;
    t->offset = up(*end, INGOT_TENSOR_ALIGN);
    t->bytes = image_tensor_bytes(type, t->rows, t->cols);
    *end = t->offset + t->bytes;
}

/* The tables of a model, without its weights; header.params are set. gap: bytes that lie before
 * embedding and output matrix, which a packer leaves out. */
static void make_image(enum ingot_type type, uint64_t gap)
{
    struct ingot_tensor *t = tensors;
    uint32_t n = header.params.n_layers;
    uint64_t at = 5 * INGOT_PAGE;

    memset(segments, 0, sizeof segments);
    segments[0].bytes = gap;
    put_tensor(t++, INGOT_TOKEN_EMBEDDING, INGOT_NO_LAYER, 0, type);
    for (uint32_t layer = 0; layer < n; layer++) {
        unsigned phase = 0;

        layer_table[layer] = (struct ingot_layer){ .mixer = INGOT_MIXER_ATTENTION,
                                                   .kv_layer = (uint16_t)layer,
                                                   .ffn = INGOT_FFN_DENSE,
                                                   .norms = INGOT_NORM_BEFORE,
                                                   .features = INGOT_GATED,
                                                   .n_heads = header.params.n_heads,
                                                   .n_kv_heads = header.params.n_kv_heads,
                                                   .head_dim = header.params.head_dim,
                                                   .value_dim = header.params.head_dim,
                                                   .hidden = header.params.hidden,
                                                   .segment = layer + 1,
                                                   .first_tensor = (uint32_t)(t - tensors) };
        for (int role = INGOT_ATTN_NORM; role < INGOT_OUTPUT_NORM; role++) {
            if (image_role_presence(&header.params, &layer_table[layer], (enum ingot_role)role) ==
                IMAGE_DEMANDED) {
                bool matrix = image_role_is_matrix((enum ingot_role)role);

                if (role == INGOT_ATTN_OUT || role == INGOT_FFN_NORM || role == INGOT_FFN_DOWN) {
                    segments[layer + 1].phase_end[phase++] = up(segments[layer + 1].bytes,
                                                                INGOT_TENSOR_ALIGN);
                }
                put_tensor(t++, (enum ingot_role)role, layer, layer + 1, matrix ? type : INGOT_F32);
            }
        }
        layer_table[layer].n_tensors = (uint32_t)(t - tensors) - layer_table[layer].first_tensor;
    }
    put_tensor(t++, INGOT_OUTPUT_NORM, INGOT_NO_LAYER, n + 1, INGOT_F32);
    segments[n + 1].bytes += header.params.tied ? 0 : gap;
    put_tensor(t, INGOT_OUTPUT, INGOT_NO_LAYER, n + 1, type);
    if (header.params.tied) {
        segments[n + 1].bytes = t[-1].bytes;
        *t = tensors[0];
        t->role = INGOT_OUTPUT;
    }
    for (uint32_t i = 0; i < n + 2; i++) {
        segments[i].kind = i == 0   ? INGOT_SEGMENT_EMBEDDING
                           : i <= n ? INGOT_SEGMENT_LAYER
                                    : INGOT_SEGMENT_HEAD;
        segments[i].offset = at;
        segments[i].bytes = up(segments[i].bytes, INGOT_PAGE);
        segments[i].phase_end[INGOT_PHASES - 1] = segments[i].bytes;
        at += segments[i].bytes;
    }
    header.file_bytes = at;
    header.segments.count = n + 2;
    header.tensors.count = (uint32_t)(t - tensors) + 1;
    memset(&request, 0, sizeof request);
    request.image = &image;
    request.arena_bytes = (size_t)1 << 40;
}

static void set_params(uint32_t dim, uint32_t hidden, uint32_t layers, uint32_t heads,
                       uint32_t kv_heads, uint32_t vocab, uint32_t context, bool tied)
{
    memset(&header, 0, sizeof header);
    header.params = (struct ingot_params){ .family = INGOT_LLAMA,
                                           .dim = dim,
                                           .hidden = hidden,
                                           .n_layers = layers,
                                           .n_heads = heads,
                                           .n_kv_heads = kv_heads,
                                           .head_dim = dim / heads,
                                           .vocab = vocab,
                                           .context = context,
                                           .tied = tied,
                                           .n_ropes = 1,
                                           .norm_eps = 1e-5f };
}

static inline uint64_t total_bytes(void)
{
    uint64_t total = 0;

    for (uint32_t i = 0; i < header.params.n_layers + 2; i++) {
        total += segments[i].bytes;
    }
    return total;
}

static enum err plan_with(size_t limit)
{
    request.limits.weights = limit;
    return plan_make(&plan, &request);
}

#endif
