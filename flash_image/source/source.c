#include "flash_image/source/source.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "flash_image/source/source_layers.h"
#include "kernels/ref/scalar.h"
#include "runtime/image/image.h"
#include "runtime/text/plural.h"

/* Write "PATH: SENTENCE" to text; names in a file may contain anything. */
__attribute__((format(printf, 4, 0))) static void
error_message(char *text, size_t bytes, const char *path, const char *format, va_list args)
{
    size_t n = min_size((size_t)snprintf(text, bytes, "%.160s: ", path), bytes - 1);

    vsnprintf(text + n, bytes - n, format, args);
    for (char *c = text; *c != '\0'; c++) {
        if ((unsigned char)*c < ' ' || *c == 127) {
            *c = '?';
        }
    }
}

enum err source_refuse(struct source *s, enum err e, const char *format, ...)
{
    va_list args;

    va_start(args, format);
    error_message(s->error_message, sizeof s->error_message, s->path, format, args);
    va_end(args);
    return e;
}

void source_note(struct source *s, const char *format, ...)
{
    size_t used = strlen(s->notes), n;
    va_list args;

    if (used + 2 >= sizeof s->notes) {
        return;
    }
    va_start(args, format);
    error_message(s->notes + used, sizeof s->notes - used - 1, s->path, format, args);
    va_end(args);
    n = strlen(s->notes);
    memcpy(s->notes + n, "\n", 2);
}

bool source_text_is(struct source_text t, const char *text)
{
    return t.bytes == strlen(text) && memcmp(t.data, text, t.bytes) == 0;
}

float load_f32(const uint8_t *p)
{
    return f32_from_bits(load_u32(p));
}

float load_f16(const uint8_t *p)
{
    return f32_from_f16(load_u16(p));
}

float load_bf16(const uint8_t *p)
{
    return f32_from_bits((uint32_t)load_u16(p) << 16);
}

void source_default_params(struct source_params *p)
{
    p->rope_dims = p->head_dim;
    p->rope_magnitude = 1.0f;
    p->attn_scale = 1.0f / sqrtf((float)p->head_dim);
    p->embedding_scale = 1.0f;
    p->residual_scale = 1.0f;
    p->logits_scale = 1.0f;
    p->experts.scale = 1.0f;
    source_default_layers(p);
}

void source_default_layers(struct source_params *p)
{
    for (uint32_t i = 0; i < min_u32(p->n_layers, INGOT_MAX_LAYERS); i++) {
        p->layers[i] = (struct source_layer_params){
            .mixer = INGOT_MIXER_ATTENTION,
            .ffn = INGOT_FFN_DENSE,
            .kv_layer = (uint16_t)i,
            .n_kv_heads = p->n_kv_heads,
            .hidden = p->hidden,
            .output_scale = 1.0f,
        };
    }
}

static size_t slot_index(enum ingot_role role, unsigned layer)
{
    if (role < INGOT_ATTN_NORM) {
        return role;
    }
    if (role >= INGOT_OUTPUT_NORM) {
        return (size_t)role - SOURCE_ROLES_PER_LAYER;
    }
    return SOURCE_ROLES_OUTSIDE + (size_t)layer * SOURCE_ROLES_PER_LAYER +
           (size_t)(role - INGOT_ATTN_NORM);
}

struct source_tensor *source_tensor(struct source *s, enum ingot_role role, unsigned layer)
{
    return &s->tensors[slot_index(role, layer)];
}

const struct source_tensor *source_slot_of(const struct source *s, enum ingot_role role,
                                           unsigned layer)
{
    return &s->tensors[slot_index(role, layer)];
}

struct source_tensor source_expert(const struct source_tensor *t, uint32_t expert)
{
    struct source_tensor one = *t;

    if (t->parts != NULL) {
        one = t->parts[expert];
    } else {
        uint32_t step = t->stack_step != 0 ? t->stack_step : t->rows;
        uint64_t before = (uint64_t)expert * step * t->cols;

        one.data += source_type_bytes(t->type, before);
        one.group += t->type == SOURCE_SYNTH ? expert : 0; /* each expert has other weights */
        if (t->type == SOURCE_MXFP4_PAIRS && t->scales != NULL) {
            one.scales += before / source_type_block(t->type);
        }
    }
    one.stack = one.stack_step = 0;
    one.parts = NULL;
    return one;
}

void source_next_slot(const struct source_params *p, struct source_slot *slot)
{
    if (image_role_is_layer(slot->role) && slot->layer + 1 < p->n_layers) {
        slot->layer++;
        return;
    }
    slot->role = (enum ingot_role)(slot->role + 1);
    slot->layer = INGOT_NO_LAYER;
    if (slot->role < INGOT_N_ROLES && image_role_is_layer(slot->role)) {
        slot->layer = 0;
    }
}

/* The types; made-up weights have 0 bytes, because they are not stored. */
static const struct {
    const char *name;
    uint32_t elements, bytes; /* of a block */
} types[] = {
#define TYPE_FLOATS(NAME, id, name, cols, bytes, ...) [SOURCE_##NAME] = { #NAME, 1, bytes },
#define TYPE_WEIGHTS(NAME, id, name, layout, cols, act, halves, fit, of, bytes, ...) \
    [SOURCE_##NAME] = { #NAME, of, bytes },
#define TYPE_TABLED_OWN(...)
#define TYPE_TABLED_AGAIN(...)
#define TYPE_READ_FLOATS(NAME, name, bytes, ...) [SOURCE_##NAME] = { #NAME, 1, bytes },
#define TYPE_READ(NAME, name, of, bytes, ...) [SOURCE_##NAME] = { #NAME, of, bytes },
#include "flash_image/format/types.def"
    [SOURCE_GROUPED] = { "int8", 1, 1 },        [SOURCE_Q2_0_128] = { "Q2_0", 128, 34 },
    [SOURCE_SYNTH] = { "made up", 1, 0 },       [SOURCE_NONE] = { "none", 1, 0 },
    [SOURCE_MXFP4_PAIRS] = { "MXFP4", 32, 16 }, [SOURCE_TERNARY] = { "ternary", 4, 1 },
    [SOURCE_ROUNDED_F32] = { "F32", 1, 4 },     [SOURCE_ROUNDED_F16] = { "F16", 1, 2 },
    [SOURCE_ROUNDED_BF16] = { "BF16", 1, 2 },   [SOURCE_F8] = { "F8_E4M3", 1, 1 },
};

uint32_t source_type_block(enum source_type type)
{
    return types[type].elements;
}

uint64_t source_type_bytes(enum source_type type, uint64_t elements)
{
    return elements / types[type].elements * types[type].bytes;
}

const char *source_type_name(enum source_type type)
{
    return types[type].name;
}

/* Refuse numbers that are too large for the image's fields, or for which the image's reader would
 * blame another field. */
static enum err check_mixers(struct source *s)
{
    const struct source_params *p = &s->params;
    bool attends = false;

    for (uint32_t i = 0; i < min_u32(p->n_layers, INGOT_MAX_LAYERS); i++) {
        attends = attends || p->layers[i].mixer == INGOT_MIXER_ATTENTION;
    }
    if (p->n_layers != 0 && !attends) {
        return source_refuse(
            s, ERR_UNSUPPORTED,
            "the model has no attention layer, and models with recurrent layers only are not supported");
    }
    if (p->recurrent.conv_taps > INGOT_MAX_TAPS) {
        return source_refuse(s, ERR_UNSUPPORTED,
                             "the model's convolutions have %u taps, but may have at most %u",
                             p->recurrent.conv_taps, (unsigned)INGOT_MAX_TAPS);
    }
    return ERR_OK;
}

enum err source_check_params(struct source *s)
{
    struct ingot_rope ropes[INGOT_MAX_ROPES];
    struct ingot_layer layers[INGOT_MAX_LAYERS];
    uint32_t n_ropes = source_ropes(s, ropes);
    struct ingot_params model;
    struct image img;
    enum err e = check_mixers(s);

    if (e != ERR_OK) {
        return e;
    }
    source_model(&s->params, &model);
    e = image_check_params(&img, &model);
    for (uint32_t i = 0; e == ERR_OK && i < s->params.n_layers; i++) {
        source_layer(&s->params, i, &layers[i]);
    }
    if (e == ERR_OK) {
        e = image_check_layers(&img, &model, ropes, layers);
    }
    if (e == ERR_OK) {
        e = image_check_ropes(&img, ropes, n_ropes, SOURCE_ROPE_SETS * (s->params.rope_dims / 2));
    }
    if (e == ERR_OK) {
        return ERR_OK;
    }
    /* The image's reader says "header: dim is ..."; here this is the model's header. */
    return source_refuse(s, ERR_UNSUPPORTED, "the model's %s", img.error_message);
}

static enum err check_tensor(struct source *s, enum ingot_role role, unsigned layer)
{
    const struct source_tensor *t = source_tensor(s, role, layer);
    uint32_t rows, cols;
    char place[32] = "";

    if (layer != INGOT_NO_LAYER) {
        snprintf(place, sizeof place, " of layer %u", layer);
    }
    if (t->data == NULL) {
        return source_refuse(s, ERR_BAD_MODEL,
                             "the tensor %s%s is missing: the file is cut short "
                             "or not a whole model",
                             image_role_name(role), place);
    }
    if (image_role_is_expert(role) && t->stack != s->params.experts.n) {
        return source_refuse(s, ERR_BAD_MODEL,
                             "the tensor %s%s has %u experts, but the parameters say %u",
                             image_role_name(role), place, t->stack, s->params.experts.n);
    }
    source_role_shape(s, role, layer, &rows, &cols);
    if (t->rows != rows || t->cols != cols) {
        return source_refuse(s, ERR_BAD_MODEL,
                             "the tensor %s%s has %u %s of %u, the parameters "
                             "demand %u of %u",
                             image_role_name(role), place, t->rows, plural(t->rows, "row", "rows"),
                             t->cols, rows, cols);
    }
    return ERR_OK;
}

/* Return the feature of models that have the role's tensor, or 0 if no feature decides. */
static uint32_t feature_of(enum ingot_role role)
{
    switch (role) {
    case INGOT_POSITION_EMBEDDING: return SOURCE_POSITIONS;
    case INGOT_ATTN_Q_BIAS:
    case INGOT_ATTN_K_BIAS:
    case INGOT_ATTN_V_BIAS: return SOURCE_QKV_BIAS;
    case INGOT_ATTN_OUT_BIAS: return SOURCE_OUT_BIAS;
    case INGOT_FFN_UP_BIAS:
    case INGOT_FFN_DOWN_BIAS: return SOURCE_FFN_BIAS;
    default: return 0;
    }
}

/* A tied output has no tensor: it is the embedding. */
bool source_has_role(const struct source *s, enum ingot_role role, unsigned layer)
{
    struct ingot_params model;
    struct ingot_layer l = { 0 };

    if (role == INGOT_OUTPUT && s->params.tied) {
        return false;
    }
    source_model(&s->params, &model);
    if (image_role_is_layer(role)) {
        source_layer(&s->params, layer, &l);
    }
    switch (image_role_presence(&model, &l, role)) {
    case IMAGE_ABSENT: return false;
    case IMAGE_OPTIONAL:
        return (s->params.features & feature_of(role)) != 0 ||
               source_slot_of(s, role, layer)->data != NULL;
    case IMAGE_DEMANDED: break;
    }
    return true;
}

void source_role_shape(const struct source *s, enum ingot_role role, unsigned layer, uint32_t *rows,
                       uint32_t *cols)
{
    struct ingot_params model;
    struct ingot_layer l = { 0 };

    source_model(&s->params, &model);
    if (image_role_is_layer(role)) {
        source_layer(&s->params, layer, &l);
    }
    image_role_shape(&model, &l, role, rows, cols);
}

/* Refuse a tensor in a role that the parameters do not have. */
static enum err check_absent(struct source *s, enum ingot_role role, unsigned layer)
{
    if (role == INGOT_OUTPUT || source_tensor(s, role, layer)->data == NULL) {
        return ERR_OK;
    }
    return source_refuse(s, ERR_UNSUPPORTED,
                         "there is a tensor %s, which this family does not have",
                         image_role_name(role));
}

static enum err check_slot(struct source *s, struct source_slot at)
{
    if (source_has_role(s, at.role, at.layer)) {
        return check_tensor(s, at.role, at.layer);
    }
    return check_absent(s, at.role, at.layer);
}

static enum err check_no_layer_beyond(struct source *s)
{
    uint32_t n_layers = s->params.n_layers;

    for (unsigned i = SOURCE_ROLES_OUTSIDE + n_layers * SOURCE_ROLES_PER_LAYER;
         i < SOURCE_MAX_TENSORS; i++) {
        if (s->tensors[i].data != NULL) {
            return source_refuse(s, ERR_BAD_MODEL,
                                 "the file has tensors of layer %u, but the "
                                 "model has %u %s",
                                 (i - SOURCE_ROLES_OUTSIDE) / SOURCE_ROLES_PER_LAYER, n_layers,
                                 plural(n_layers, "layer", "layers"));
        }
    }
    return ERR_OK;
}

/* Split each token's row of the per-layer table into eight rows, which are stored as one group. */
static void split_table(struct source *s)
{
    struct source_tensor *t = source_tensor(s, INGOT_PER_LAYER_EMBEDDING, INGOT_NO_LAYER);

    if (t->data != NULL && t->rows == s->params.vocab && t->cols % INGOT_TABLE_ROWS == 0) {
        t->rows *= INGOT_TABLE_ROWS;
        t->cols /= INGOT_TABLE_ROWS;
    }
}

enum err source_check_tensors(struct source *s)
{
    split_table(s);
    for (struct source_slot at = source_first_slot; at.role < INGOT_N_ROLES;
         source_next_slot(&s->params, &at)) {
        enum err e = check_slot(s, at);

        if (e != ERR_OK) {
            return e;
        }
    }
    return check_no_layer_beyond(s);
}

uint64_t source_row_element(const struct source_tensor *t, uint32_t row)
{
    uint64_t before = row;

    if (t->run != 0) {
        before = (uint64_t)(row / t->run) * t->run_step + row % t->run;
    }
    return t->stride == 0 ? before * t->cols : before;
}

const uint8_t *source_row_data(const struct source_tensor *t, uint32_t row)
{
    if (t->run != 0 && t->stride == 0 && row == t->rows) {
        return source_row_data(t, row - 1) + source_type_bytes(t->type, t->cols);
    }
    return t->data + source_type_bytes(t->type, source_row_element(t, row));
}

/* The role of attention's gate, between those of q and k, is skipped. */
enum ingot_role source_part_role(enum ingot_role first, unsigned i)
{
    if (first == INGOT_ATTN_Q && i > 0) {
        return (enum ingot_role)(INGOT_ATTN_K + i - 1);
    }
    return (enum ingot_role)(first + i);
}

struct source_tensor source_slice(const struct source_tensor *t, uint32_t first, uint32_t n)
{
    struct source_tensor part = *t;

    if (t->rows == 1) {
        part.data = t->data + source_type_bytes(t->type, first);
        part.cols = n;
        return part;
    }
    part.data = source_row_data(t, first);
    part.rows = n;
    return part;
}
