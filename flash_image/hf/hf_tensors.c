#include "flash_image/hf/hf_tensors.h"

#include <stdio.h>
#include <string.h>

#include "flash_image/hf/hf_f8.h"
#include "flash_image/hf/hf_folder.h"
#include "flash_image/hf/hf_latent.h"
#include "flash_image/hf/hf_multipliers.h"
#include "flash_image/hf/hf_names.h"
#include "flash_image/hf/hf_quantized.h"
#include "flash_image/hf/hf_stacks.h"
#include "flash_image/hf/hf_text_part.h"
#include "flash_image/quantize/equal_tensors.h"
#include "flash_image/quantize/source_rows.h"
#include "runtime/image/image.h"
#include "runtime/text/plural.h"

/* Return the role of a rule's tensor. In models that also normalize the result of a block,
 * "post_attention_layernorm" is the norm of attention's result. */
static enum ingot_role role_of(const struct source *s, const struct hf_name_rule *rule,
                               unsigned layer)
{
    if (rule->role == INGOT_ATTN_NORM && layer < s->params.n_layers &&
        s->params.layers[layer].mixer == INGOT_MIXER_NONE) {
        return INGOT_FFN_NORM; /* a layer of one block has one norm */
    }
    if ((s->params.features & SOURCE_POST_NORMS) != 0 &&
        strcmp(rule->name, "post_attention_layernorm.weight") == 0) {
        return INGOT_ATTN_POST_NORM;
    }
    return rule->role;
}

/* The number of rows of a part of a matrix, or of elements of a part of a vector. */
static uint32_t part_size(const struct source *s, enum ingot_role role, unsigned layer)
{
    uint32_t rows, cols;

    source_role_shape(s, role, layer, &rows, &cols);
    if (!image_role_is_matrix(role)) {
        return cols;
    }
    return rows;
}

static enum err check_fused(struct source *s, const char *name, const struct source_tensor *t,
                            enum ingot_role role, uint32_t parts, unsigned layer)
{
    uint64_t sum = 0;
    uint32_t there = t->cols;

    if (image_role_is_matrix(role)) {
        there = t->rows;
    }

    for (uint32_t i = 0; i < parts; i++) {
        sum += part_size(s, source_part_role(role, i), layer);
    }
    if (there == sum) {
        return ERR_OK;
    }
    return source_refuse(s, ERR_BAD_MODEL,
                         "the tensor %.120s has %u %s, its %u %s demand "
                         "%llu",
                         name, there, plural(there, "row", "rows"), parts,
                         plural(parts, "part", "parts"), (unsigned long long)sum);
}

static enum err place(struct source *s, const char *name, const struct source_tensor *t,
                      enum ingot_role role, unsigned layer)
{
    struct source_tensor *slot = hf_take_slot(s, name, role, layer);
    const struct source_tiles *tiles;

    if (slot == NULL) {
        return ERR_BAD_MODEL;
    }
    tiles = slot->tiles; /* scales may have been read before */
    *slot = *t;
    slot->tiles = tiles != NULL ? tiles : t->tiles;
    return ERR_OK;
}

/* Describe a transposed matrix in the order in which it is multiplied. */
static void transpose(struct source_tensor *t)
{
    uint32_t cols = t->cols;

    t->stride = cols;
    t->cols = t->rows;
    t->rows = cols;
}

static enum err check_dimensions(struct source *s, const struct safetensors_tensor *t,
                                 enum ingot_role role)
{
    uint32_t wanted = 1;

    if (image_role_is_matrix(role) || role == INGOT_ROUTER) {
        wanted = 2;
    }
    if (t->n_dims == wanted || role == INGOT_POSITION_EMBEDDING) {
        return ERR_OK;
    }
    return source_refuse(s, ERR_BAD_MODEL,
                         "the tensor %.120s has %u %s, it should "
                         "have %u",
                         t->name, t->n_dims, plural(t->n_dims, "dimension", "dimensions"), wanted);
}

/* Place the parts of a fused tensor, slot by slot. */
static enum err place_parts(struct source *s, const char *name, const struct source_tensor *t,
                            enum ingot_role first_role, uint32_t n, unsigned layer)
{
    uint32_t first = 0;
    enum err e = check_fused(s, name, t, first_role, n, layer);

    for (uint32_t i = 0; e == ERR_OK && i < n; i++) {
        enum ingot_role role = source_part_role(first_role, i);
        struct source_tensor slice = source_slice(t, first, part_size(s, role, layer));

        e = place(s, name, &slice, role, layer);
        first += part_size(s, role, layer);
    }
    return e;
}

/* Read (channels, 1, taps) as a row for each tap with all channels. */
static enum err read_convolution(struct source *s, const struct safetensors_tensor *from,
                                 struct source_tensor *t)
{
    struct safetensors_tensor flat = *from;
    enum err e;

    if (from->n_dims != 3 || from->dims[1] != 1) {
        return source_refuse(s, ERR_BAD_MODEL, "the tensor %.120s is not a depthwise convolution",
                             from->name);
    }
    flat.n_dims = 2;
    flat.dims[1] = from->dims[2];
    e = safetensors_as_source(s, &flat, t);
    if (e == ERR_OK) {
        transpose(t);
    }
    return e;
}

/* Place a matrix in which rows of a head's query and rows of its gate alternate. */
static enum err place_query_gate(struct source *s, const char *name, const struct source_tensor *t,
                                 unsigned layer)
{
    struct source_tensor *query = hf_take_slot(s, name, INGOT_ATTN_Q, layer);
    struct source_tensor *gate = hf_take_slot(s, name, INGOT_ATTN_GATE, layer);
    uint32_t width = s->params.head_dim, rows, cols;

    if (query == NULL || gate == NULL) {
        return ERR_BAD_MODEL;
    }
    source_role_shape(s, INGOT_ATTN_Q, layer, &rows, &cols);
    if (rows == 0 || t->rows % 2 != 0 || t->rows / 2 != rows || t->cols != cols) {
        return source_refuse(s, ERR_BAD_MODEL,
                             "the tensor %.120s has %u rows of %u, but queries and gates need %u "
                             "of %u",
                             name, t->rows, t->cols, 2 * rows, cols);
    }
    *query = *t;
    query->rows = rows;
    query->run = width;
    query->run_step = 2 * width;
    *gate = *query;
    gate->data += source_type_bytes(gate->type, (uint64_t)width * cols);
    return ERR_OK;
}

/* Read the tensor in the form that its rule describes. */
static enum err read_tensor(struct source *s, struct hf_config *c, const struct hf_placed *t,
                            enum ingot_role role, struct source_tensor *out)
{
    uint32_t kind = t->rule->kind;
    enum err e;

    if ((kind & HF_CONVOLUTION) != 0) {
        return read_convolution(s, t->from, out);
    }
    e = safetensors_as_source(s, t->from, out);
    if (e == ERR_OK && (kind & HF_ONE_ROW) == 0) {
        e = check_dimensions(s, t->from, role);
    }
    if (e == ERR_OK && (kind & HF_MINUS_EXP) != 0) {
        e = hf_minus_exp(s, &c->memory, t->from->name, out);
    }
    if (e == ERR_OK && (kind & HF_TRANSPOSED) != 0 && s->params.family == INGOT_GPT2) {
        transpose(out);
    }
    if ((kind & HF_NORM) != 0 && family_has(c->family, FAMILY_NORM_PLUS_1)) {
        out->add = 1.0f;
    }
    return e;
}

static enum err take_output_scale(struct source *s, const struct hf_config *c,
                                  const struct hf_placed *placed)
{
    struct source_tensor t;
    enum err e = safetensors_as_source(s, placed->from, &t);

    if (e != ERR_OK) {
        return e;
    }
    if (t.rows != 1 || t.cols != 1 || placed->layer >= s->params.n_layers ||
        !family_has(c->family, FAMILY_PER_LAYER)) {
        return source_refuse(s, ERR_BAD_MODEL,
                             "the tensor %.120s is not a single number for a "
                             "layer",
                             placed->from->name);
    }
    s->params.layers[placed->layer].output_scale = source_read_plain(&t, 0, 0);
    return ERR_OK;
}

/* True for unused keys and values: their layer uses those of another layer. */
static bool is_unused(const struct source *s, enum ingot_role role, unsigned layer)
{
    return (role == INGOT_ATTN_K || role == INGOT_ATTN_V || role == INGOT_ATTN_K_NORM) &&
           layer < s->params.n_layers && s->params.layers[layer].kv_layer != layer;
}

static enum err place_tensor(struct source *s, struct hf_config *c, const struct hf_placed *placed)
{
    const struct hf_name_rule *rule = placed->rule;
    enum ingot_role role = role_of(s, rule, placed->layer);
    const struct source_tiles *tiles = NULL;
    struct source_tensor t = { .data = NULL };
    enum err e;

    if (is_unused(s, role, placed->layer)) {
        return ERR_OK;
    }
    if (strcmp(placed->from->dtype, "F8_E4M3") == 0) {
        tiles = hf_tiles_of(s, c, placed, role);
        if (tiles == NULL) {
            return ERR_UNSUPPORTED;
        }
    }
    if ((rule->kind & HF_OUTPUT_SCALE) != 0) {
        return take_output_scale(s, c, placed);
    }
    if ((rule->kind & (HF_BLOCKS | HF_BLOCK_SCALES)) != 0) {
        return hf_place_mxfp4(s, placed);
    }
    if (strcmp(placed->from->dtype, "U8") == 0) {
        return hf_place_ternary(s, c, placed, role);
    }
    if ((rule->kind & HF_STACK) != 0) {
        return hf_place_stack(s, placed);
    }
    if ((rule->kind & HF_EACH) != 0) {
        return hf_place_expert(s, &c->memory, placed);
    }
    e = read_tensor(s, c, placed, role, &t);
    if (e != ERR_OK) {
        return e;
    }
    t.tiles = tiles;
    if (role == INGOT_ATTN_Q && family_has(c->family, FAMILY_GATED_QUERY)) {
        return place_query_gate(s, placed->from->name, &t, placed->layer);
    }
    if ((rule->kind & HF_LATENT) != 0) {
        return hf_latent_place(s, placed->from->name, &t, placed->layer);
    }
    if (rule->parts == 1) {
        return place(s, placed->from->name, &t, role, placed->layer);
    }
    return place_parts(s, placed->from->name, &t, role, rule->parts, placed->layer);
}

static enum err refuse_tensor(struct source *s, const char *name)
{
    if (strstr(name, ".lora_A") != NULL || strstr(name, ".lora_B") != NULL) {
        return source_refuse(
            s, ERR_UNSUPPORTED,
            "the tensor %.120s belongs to an adapter (LoRA), not to a model: " HF_MERGE_ADAPTER,
            name);
    }
    return source_refuse(s, ERR_UNSUPPORTED,
                         "the tensor %.120s is not part of a model that can be packed", name);
}

/* Return the part of the name from the layers on; NULL: the tensor is ignored. */
static const char *bare_name(const struct hf_config *c, const char *name)
{
    static const char *const prefixes[] = { "model.", "transformer.", "backbone." };

    if (c->family->mixer == INGOT_MIXER_DELTA && strncmp(name, "mtp.", 4) == 0) {
        return NULL; /* part of an MTP head */
    }
    if (c->vision) {
        return hf_text_part_tensor(name);
    }
    for (size_t i = 0; i < sizeof prefixes / sizeof prefixes[0]; i++) {
        if (strncmp(name, prefixes[i], strlen(prefixes[i])) == 0) {
            name += strlen(prefixes[i]);
        }
    }
    return name;
}

static enum err place_named(struct source *s, struct hf_config *c,
                            const struct safetensors_tensor *t, const char *name)
{
    struct hf_placed placed = { .from = t };
    char matrix[128];
    bool tiles = hf_is_tile_scale(c, name, matrix, sizeof matrix);
    bool scale = !tiles && hf_is_weight_scale(c, name, matrix, sizeof matrix);

    placed.rule = hf_find_rule(scale || tiles ? matrix : name, &placed.layer, &placed.expert);
    if (placed.layer >= s->params.n_layers && placed.layer != INGOT_NO_LAYER &&
        placed.layer - s->params.n_layers < c->n_more_layers) {
        return ERR_OK; /* the layer guesses further tokens */
    }
    if (placed.rule != NULL && scale) {
        return hf_place_weight_scale(s, c, &placed, role_of(s, placed.rule, placed.layer));
    }
    if (placed.rule != NULL && tiles) {
        if (is_unused(s, placed.rule->role, placed.layer)) {
            return ERR_OK;
        }
        return hf_place_tile_scale(s, c, &placed, role_of(s, placed.rule, placed.layer));
    }
    if (placed.rule != NULL) {
        return place_tensor(s, c, &placed);
    }
    if (hf_is_activation_scale(c, t, name)) {
        c->activation_scales = true;
        return ERR_OK;
    }
    return hf_is_needless(name) ? ERR_OK : refuse_tensor(s, t->name);
}

enum err hf_place_tensors(struct source *s, struct hf_config *c, const struct safetensors *file)
{
    enum err e = ERR_OK;

    for (size_t i = 0; e == ERR_OK && i < file->n_tensors; i++) {
        const struct safetensors_tensor *t = &file->tensors[i];
        const char *name = bare_name(c, t->name);

        if (name != NULL) {
            e = place_named(s, c, t, name);
        }
    }
    return e;
}

static enum err refuse_tied(struct source *s, bool known)
{
    const char *how = "";

    if (!known) {
        how = " (the default of its family)";
    }
    return source_refuse(s, ERR_BAD_MODEL,
                         "tie_word_embeddings is true%s, and lm_head.weight differs from the "
                         "embedding: set it to false in config.json if the model was trained with "
                         "an output matrix of its own, or take lm_head.weight out",
                         how);
}

/* A file may store either tensor of a tied pair, or both, which must then be equal, because one of
 * them is dropped. */
enum err hf_finish_tensors(struct source *s, struct hf_config *c)
{
    struct source_tensor *embedding = source_tensor(s, INGOT_TOKEN_EMBEDDING, INGOT_NO_LAYER);
    struct source_tensor *output = source_tensor(s, INGOT_OUTPUT, INGOT_NO_LAYER);
    enum err e;

    if (!c->tied_known && output->data == NULL) {
        s->params.tied = 1;
    }
    if (s->params.tied && embedding->data == NULL) {
        *embedding = *output;
    }
    if (s->params.tied && output->data != NULL && output->data != embedding->data &&
        !tensors_same_values(embedding, output)) {
        return refuse_tied(s, c->tied_known);
    }
    e = hf_check_experts(s);
    if (e == ERR_OK) {
        e = hf_check_tiles(s, c);
    }
    if (e == ERR_OK) {
        e = source_check_params(s); /* only now, because the scales of layers come from tensors */
    }
    if (e == ERR_OK) {
        e = source_check_tensors(s);
    }
    if (e == ERR_OK) {
        e = hf_finish_quantized(s, c);
    }
    if (c->activation_scales) {
        source_note(
            s, "scales of activations are ignored, because activations are not rounded to F8 here");
    }
    return e == ERR_OK ? hf_multipliers_fold(s, c) : e;
}
