#include "flash_image/hf/hf_tensors.h"

#include <stdio.h>
#include <string.h>

#include "flash_image/hf/hf_folder.h"
#include "flash_image/hf/hf_text_part.h"
#include "flash_image/quantize/equal_tensors.h"
#include "runtime/image/image.h"
#include "runtime/text/plural.h"

enum { TRANSPOSED = 1 << 0, NORM = 1 << 1 };

/* A name without "model.layers.N." or "transformer.h.N.", the role, and, where a tensor is
 * several in one, how many roles from there on. */
static const struct name_rule {
    const char *name;
    enum ingot_role role;
    uint32_t parts;
    uint32_t kind;
} outside[] = {
    { "embed_tokens.weight", INGOT_TOKEN_EMBEDDING, 1, 0 },
    { "norm.weight", INGOT_OUTPUT_NORM, 1, NORM },
    { "lm_head.weight", INGOT_OUTPUT, 1, 0 },
    { "wte.weight", INGOT_TOKEN_EMBEDDING, 1, 0 },
    { "wpe.weight", INGOT_POSITION_EMBEDDING, 1, 0 },
    { "ln_f.weight", INGOT_OUTPUT_NORM, 1, 0 },
    { "ln_f.bias", INGOT_OUTPUT_NORM_BIAS, 1, 0 },
}, inside[] = {
    { "input_layernorm.weight", INGOT_ATTN_NORM, 1, NORM },
    { "self_attn.q_proj.weight", INGOT_ATTN_Q, 1, 0 },
    { "self_attn.k_proj.weight", INGOT_ATTN_K, 1, 0 },
    { "self_attn.v_proj.weight", INGOT_ATTN_V, 1, 0 },
    { "self_attn.qkv_proj.weight", INGOT_ATTN_Q, 3, 0 },
    { "self_attn.q_proj.bias", INGOT_ATTN_Q_BIAS, 1, 0 },
    { "self_attn.k_proj.bias", INGOT_ATTN_K_BIAS, 1, 0 },
    { "self_attn.v_proj.bias", INGOT_ATTN_V_BIAS, 1, 0 },
    { "self_attn.q_norm.weight", INGOT_ATTN_Q_NORM, 1, NORM },
    { "self_attn.k_norm.weight", INGOT_ATTN_K_NORM, 1, NORM },
    { "self_attn.o_proj.weight", INGOT_ATTN_OUT, 1, 0 },
    { "self_attn.o_proj.bias", INGOT_ATTN_OUT_BIAS, 1, 0 },
    { "post_attention_layernorm.weight", INGOT_FFN_NORM, 1, NORM }, /* see role_of() */
    { "pre_feedforward_layernorm.weight", INGOT_FFN_NORM, 1, NORM },
    { "post_feedforward_layernorm.weight", INGOT_FFN_POST_NORM, 1, NORM },
    { "mlp.gate_proj.weight", INGOT_FFN_GATE, 1, 0 },
    { "mlp.up_proj.weight", INGOT_FFN_UP, 1, 0 },
    { "mlp.gate_up_proj.weight", INGOT_FFN_GATE, 2, 0 },
    { "mlp.down_proj.weight", INGOT_FFN_DOWN, 1, 0 },
    { "ln_1.weight", INGOT_ATTN_NORM, 1, 0 },
    { "ln_1.bias", INGOT_ATTN_NORM_BIAS, 1, 0 },
    { "attn.c_attn.weight", INGOT_ATTN_Q, 3, TRANSPOSED },
    { "attn.c_attn.bias", INGOT_ATTN_Q_BIAS, 3, 0 },
    { "attn.c_proj.weight", INGOT_ATTN_OUT, 1, TRANSPOSED },
    { "attn.c_proj.bias", INGOT_ATTN_OUT_BIAS, 1, 0 },
    { "ln_2.weight", INGOT_FFN_NORM, 1, 0 },
    { "ln_2.bias", INGOT_FFN_NORM_BIAS, 1, 0 },
    { "mlp.c_fc.weight", INGOT_FFN_UP, 1, TRANSPOSED },
    { "mlp.c_fc.bias", INGOT_FFN_UP_BIAS, 1, 0 },
    { "mlp.c_proj.weight", INGOT_FFN_DOWN, 1, TRANSPOSED },
    { "mlp.c_proj.bias", INGOT_FFN_DOWN_BIAS, 1, 0 },
};

/* Constants that old files carry: frequencies of rotation, and GPT-2's triangular masks. */
static const char *const needless[] = {
    "self_attn.rotary_emb.inv_freq",
    "rotary_emb.inv_freq",
    "attn.bias",
    "attn.masked_bias",
};

static const char *skip(const char *text, const char *prefix)
{
    size_t n = strlen(prefix);

    if (strncmp(text, prefix, n) != 0) {
        return text;
    }
    return text + n;
}

/* "layers.12.mlp.up_proj.weight" to 12 and the rest; false: of no layer. */
static bool split_layer(const char *name, unsigned *layer, const char **rest)
{
    const char *digits = skip(name, "layers.");
    const char *at;
    unsigned n = 0;

    if (digits == name) {
        digits = skip(name, "h.");
    }
    at = digits;
    for (; *at >= '0' && *at <= '9' && n < INGOT_MAX_LAYERS; at++) {
        n = n * 10 + (unsigned)(*at - '0');
    }
    if (digits == name || at == digits || *at != '.' || n >= INGOT_MAX_LAYERS) {
        return false;
    }
    *layer = n;
    *rest = at + 1;
    return true;
}

static const struct name_rule *find_rule(const char *name, unsigned *layer)
{
    const struct name_rule *rules = outside;
    size_t n = sizeof outside / sizeof outside[0];

    *layer = INGOT_NO_LAYER;
    if (split_layer(name, layer, &name)) {
        rules = inside;
        n = sizeof inside / sizeof inside[0];
    }
    for (size_t i = 0; i < n; i++) {
        if (strcmp(name, rules[i].name) == 0) {
            return &rules[i];
        }
    }
    return NULL;
}

static bool is_needless(const char *name)
{
    unsigned layer;

    split_layer(name, &layer, &name);
    for (size_t i = 0; i < sizeof needless / sizeof needless[0]; i++) {
        if (strcmp(name, needless[i]) == 0) {
            return true;
        }
    }
    return false;
}

/* Where a block's result is normed too, the norm after the attention is just that. */
static enum ingot_role role_of(const struct source *s, const struct name_rule *rule)
{
    if ((s->params.features & SOURCE_POST_NORMS) != 0 &&
        strcmp(rule->name, "post_attention_layernorm.weight") == 0) {
        return INGOT_ATTN_POST_NORM;
    }
    return rule->role;
}

/* Rows of a matrix's part, elements of a vector's. */
static uint32_t part_size(const struct source *s, enum ingot_role role)
{
    uint32_t rows, cols;

    source_role_shape(s, role, 0, &rows, &cols);
    if (!image_role_is_matrix(role)) {
        return cols;
    }
    return rows;
}

static enum err check_fused(struct source *s, const char *name, const struct source_tensor *t,
                            enum ingot_role role, uint32_t parts)
{
    uint64_t sum = 0;
    uint32_t there = t->cols;

    if (image_role_is_matrix(role)) {
        there = t->rows;
    }

    for (uint32_t i = 0; i < parts; i++) {
        sum += part_size(s, source_part_role(role, i));
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
    struct source_tensor *slot = source_tensor(s, role, layer);

    if (slot->data != NULL) {
        return source_refuse(s, ERR_BAD_MODEL, "the tensor %.120s comes twice", name);
    }
    *slot = *t;
    return ERR_OK;
}

/* A transposed matrix as it is multiplied. */
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

    if (image_role_is_matrix(role)) {
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

/* The parts of a fused tensor, one slot after the other. */
static enum err place_parts(struct source *s, const char *name, const struct source_tensor *t,
                            enum ingot_role first_role, uint32_t n, unsigned layer)
{
    uint32_t first = 0;
    enum err e = check_fused(s, name, t, first_role, n);

    for (uint32_t i = 0; e == ERR_OK && i < n; i++) {
        enum ingot_role role = source_part_role(first_role, i);
        struct source_tensor slice = source_slice(t, first, part_size(s, role));

        e = place(s, name, &slice, role, layer);
        first += part_size(s, role);
    }
    return e;
}

static enum err place_tensor(struct source *s, const struct family *f,
                             const struct safetensors_tensor *from, const struct name_rule *rule,
                             unsigned layer)
{
    enum ingot_role role = role_of(s, rule);
    struct source_tensor t;
    enum err e = safetensors_as_source(s, from, &t);

    if (e != ERR_OK) {
        return e;
    }
    e = check_dimensions(s, from, role);
    if (e != ERR_OK) {
        return e;
    }
    if ((rule->kind & TRANSPOSED) != 0) {
        transpose(&t);
    }
    if ((rule->kind & NORM) != 0 && family_has(f, FAMILY_NORM_PLUS_1)) {
        t.add = 1.0f;
    }
    if (rule->parts == 1) {
        return place(s, from->name, &t, role, layer);
    }
    return place_parts(s, from->name, &t, role, rule->parts, layer);
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
                         "the tensor %.120s is none of the models that can be packed", name);
}

/* The name without what stands before the layers; NULL: the tensor is passed over. */
static const char *bare_name(const struct hf_config *c, const char *name)
{
    if (c->vision) {
        return hf_text_part_tensor(name);
    }
    return skip(skip(name, "model."), "transformer.");
}

enum err hf_place_tensors(struct source *s, const struct hf_config *c,
                          const struct safetensors *file)
{
    enum err e = ERR_OK;

    for (size_t i = 0; e == ERR_OK && i < file->n_tensors; i++) {
        const struct safetensors_tensor *t = &file->tensors[i];
        const char *name = bare_name(c, t->name);
        const struct name_rule *rule;
        unsigned layer;

        if (name == NULL) {
            continue;
        }
        rule = find_rule(name, &layer);
        if (rule != NULL) {
            e = place_tensor(s, c->family, t, rule, layer);
        } else if (!is_needless(name)) {
            e = refuse_tensor(s, t->name);
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

/* Of a tied pair a file may hold either, or both, which must then be equal: one of them would be
 * thrown away. */
enum err hf_finish_tensors(struct source *s, const struct hf_config *c)
{
    struct source_tensor *embedding = source_tensor(s, INGOT_TOKEN_EMBEDDING, INGOT_NO_LAYER);
    struct source_tensor *output = source_tensor(s, INGOT_OUTPUT, INGOT_NO_LAYER);

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
    return source_check_tensors(s);
}
