#include "flash_image/source/source.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "flash_image/quantize/dequantize.h"
#include "kernels/ref/scalar.h"
#include "runtime/image/image.h"

enum err source_refuse(struct source *s, enum err e, const char *format, ...)
{
    int n = snprintf(s->problem, sizeof s->problem, "%.160s: ", s->path);
    va_list args;

    va_start(args, format);
    vsnprintf(s->problem + n, sizeof s->problem - (size_t)n, format, args);
    va_end(args);
    for (char *c = s->problem; *c != '\0'; c++) { /* names in a file may hold anything */
        *c = (unsigned char)*c < ' ' || *c == 127 ? '?' : *c;
    }
    return e;
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

void source_default_params(struct ingot_params *p)
{
    p->rope_dims = p->head_dim;
    p->rope_magnitude = 1.0f;
    p->attn_scale = 1.0f / sqrtf((float)p->head_dim);
    p->embedding_scale = 1.0f;
}

struct source_tensor *source_tensor(struct source *s, enum ingot_role role, unsigned layer)
{
    if (role < INGOT_ATTN_NORM) {
        return &s->tensors[role];
    }
    if (role >= INGOT_OUTPUT_NORM) {
        return &s->tensors[role - SOURCE_ROLES_PER_LAYER];
    }
    return &s->tensors[SOURCE_ROLES_OUTSIDE + layer * SOURCE_ROLES_PER_LAYER +
                       (unsigned)(role - INGOT_ATTN_NORM)];
}

/* Made-up weights lie nowhere: 0 bytes. */
static const struct {
    const char *name;
    uint32_t elements, bytes; /* of a block */
} types[] = {
    [SOURCE_F32] = { "F32", 1, 4 },           [SOURCE_F16] = { "F16", 1, 2 },
    [SOURCE_BF16] = { "BF16", 1, 2 },         [SOURCE_Q8_0] = { "Q8_0", 32, 34 },
    [SOURCE_Q4_0] = { "Q4_0", 32, 18 },       [SOURCE_Q4_1] = { "Q4_1", 32, 20 },
    [SOURCE_Q5_0] = { "Q5_0", 32, 22 },       [SOURCE_Q5_1] = { "Q5_1", 32, 24 },
    [SOURCE_Q2_K] = { "Q2_K", 256, 84 },      [SOURCE_Q3_K] = { "Q3_K", 256, 110 },
    [SOURCE_Q4_K] = { "Q4_K", 256, 144 },     [SOURCE_Q5_K] = { "Q5_K", 256, 176 },
    [SOURCE_Q6_K] = { "Q6_K", 256, 210 },     [SOURCE_IQ4_NL] = { "IQ4_NL", 32, 18 },
    [SOURCE_IQ4_XS] = { "IQ4_XS", 256, 136 }, [SOURCE_GROUPED] = { "int8", 1, 1 },
    [SOURCE_SYNTH] = { "made up", 1, 0 },
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

enum err source_check_params(struct source *s)
{
    struct image img;

    if (image_check_params(&img, &s->params) == ERR_OK) {
        return ERR_OK;
    }
    /* The reader says "header: dim is ..."; here the header is the model's. */
    return source_refuse(s, ERR_UNSUPPORTED, "the model's %s", img.problem);
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
    image_role_shape(&s->params, role, &rows, &cols);
    if (t->rows != rows || t->cols != cols) {
        return source_refuse(s, ERR_BAD_MODEL,
                             "the tensor %s%s has %u rows of %u, the parameters "
                             "demand %u of %u",
                             image_role_name(role), place, t->rows, t->cols, rows, cols);
    }
    return ERR_OK;
}

/* A tied output is the embedding, whatever lies in its slot. */
static bool wants(const struct source *s, enum ingot_role role)
{
    return image_has_role(&s->params, role) && !(role == INGOT_OUTPUT && s->params.tied);
}

/* A role that the parameters do not have: what a file brings in its place is not understood. */
static enum err check_absent(struct source *s, enum ingot_role role, unsigned layer)
{
    if (role == INGOT_OUTPUT || source_tensor(s, role, layer)->data == NULL) {
        return ERR_OK;
    }
    return source_refuse(s, ERR_UNSUPPORTED,
                         "there is a tensor %s, which this family does not have",
                         image_role_name(role));
}

enum err source_check_tensors(struct source *s)
{
    enum err e = ERR_OK;

    for (unsigned role = 0; e == ERR_OK && role < INGOT_N_ROLES; role++) {
        bool of_layer = image_role_is_layer((enum ingot_role)role);
        unsigned n = of_layer ? s->params.n_layers : 1;

        for (unsigned i = 0; e == ERR_OK && i < n; i++) {
            unsigned layer = of_layer ? i : INGOT_NO_LAYER;

            e = wants(s, (enum ingot_role)role) ? check_tensor(s, (enum ingot_role)role, layer)
                                                : check_absent(s, (enum ingot_role)role, layer);
        }
    }
    for (unsigned i = SOURCE_ROLES_OUTSIDE + s->params.n_layers * SOURCE_ROLES_PER_LAYER;
         e == ERR_OK && i < SOURCE_MAX_TENSORS; i++) {
        if (s->tensors[i].data != NULL) {
            e = source_refuse(s, ERR_BAD_MODEL, "tensors of layer %u in a model of %u layers",
                              (i - SOURCE_ROLES_OUTSIDE) / SOURCE_ROLES_PER_LAYER,
                              s->params.n_layers);
        }
    }
    return e;
}

static bool is_byte_text(const uint8_t *text, uint32_t bytes)
{
    return bytes == 6 && memcmp(text, "<0x", 3) == 0 && text[5] == '>';
}

/* llama2.c has no types: 0, 1, 2 are unk, bos, eos, and the <0xXX> after them bytes. */
static uint32_t llama2c_type(uint32_t id, const struct source_token *t)
{
    if (id == 0) {
        return INGOT_TOKEN_UNKNOWN;
    }
    if (id <= 2) {
        return INGOT_TOKEN_CONTROL;
    }
    return id < 259 && is_byte_text(t->text, t->bytes) ? INGOT_TOKEN_BYTE : INGOT_TOKEN_NORMAL;
}

static bool same_text(const struct source_token *t, const char *text)
{
    return t->bytes == strlen(text) && memcmp(t->text, text, t->bytes) == 0;
}

static void next_gguf_token(const struct source_vocab *v, size_t id, struct source_token *t)
{
    t->bytes = (uint32_t)load_u64(t->text - 8);
    t->score = v->scores != NULL ? load_f32(v->scores + 4 * id) : 0.0f;
    t->type = v->types != NULL ? load_u32(v->types + 4 * id) : INGOT_TOKEN_NORMAL;
    t->lstrip = false;
    t->rstrip = v->strip_after_control && t->type == INGOT_TOKEN_CONTROL &&
                !same_text(t, "<unk>") && !same_text(t, "<s>") && !same_text(t, "<|endoftext|>");
}

bool source_next_token(const struct source_vocab *v, struct source_cursor *c,
                       struct source_token *t)
{
    if (c->id >= v->n_tokens) {
        return false;
    }
    if (v->layout == SOURCE_LISTED_VOCAB) {
        *t = v->listed_tokens[c->id++];
        return true;
    }
    if (v->layout == SOURCE_NO_VOCAB) {
        *t = (struct source_token){ .text = (const uint8_t *)"", .type = INGOT_TOKEN_UNUSED };
        c->id++;
        return true;
    }
    t->text = (c->at == NULL ? v->texts : c->at) + 8;
    if (v->layout == SOURCE_GGUF_VOCAB) {
        next_gguf_token(v, c->id, t);
    } else {
        t->score = load_f32(t->text - 8);
        t->bytes = load_u32(t->text - 4);
        t->type = llama2c_type(c->id, t);
        t->lstrip = t->rstrip = false;
    }
    c->at = t->text + t->bytes;
    c->id++;
    return true;
}

/* The space that parts "left right" is not the first byte: a text is not empty. */
static void part_merge(struct source_text both, struct source_merge *m)
{
    const uint8_t *space = both.bytes < 2 ? NULL : memchr(both.data + 1, ' ', both.bytes - 1);
    size_t left = space == NULL ? both.bytes : (size_t)(space - both.data);

    m->left = (struct source_text){ both.data, left };
    m->right = space == NULL ? (struct source_text){ both.data, 0 }
                             : (struct source_text){ space + 1, both.bytes - left - 1 };
}

bool source_next_merge(const struct source_vocab *v, struct source_cursor *c,
                       struct source_merge *m)
{
    struct source_text both;

    if (c->id >= v->n_merges) {
        return false;
    }
    if (v->layout == SOURCE_LISTED_VOCAB) {
        *m = v->listed_merges[c->id++];
        return true;
    }
    both.data = (c->at == NULL ? v->merges : c->at) + 8;
    both.bytes = (size_t)load_u64(both.data - 8);
    part_merge(both, m);
    c->at = both.data + both.bytes;
    c->id++;
    return true;
}

static void read_grouped(const struct source_tensor *t, uint64_t first, float *out)
{
    for (size_t c = 0; c < t->cols; c++) {
        float scale = load_f32(t->scales + 4 * ((first + c) / t->group));

        out[c] = scale * (float)(int8_t)t->data[first + c];
    }
}

struct source_tensor source_slice(const struct source_tensor *t, uint32_t first, uint32_t n)
{
    struct source_tensor part = *t;
    uint64_t before = t->rows == 1 || t->stride != 0 ? first : (uint64_t)first * t->cols;

    part.data = t->data + source_type_bytes(t->type, before);
    part.rows = t->rows == 1 ? 1 : n;
    part.cols = t->rows == 1 ? n : t->cols;
    return part;
}

float source_read_plain(const struct source_tensor *t, uint32_t row, uint32_t col)
{
    uint64_t i = t->stride != 0 ? (uint64_t)col * t->stride + row : (uint64_t)row * t->cols + col;

    return t->type == SOURCE_F32   ? load_f32(t->data + 4 * i)
           : t->type == SOURCE_F16 ? load_f16(t->data + 2 * i)
                                   : load_bf16(t->data + 2 * i);
}

/* Models are read whole: a loop for each type. */
static void read_floats(const struct source_tensor *t, uint32_t row, float *out)
{
    size_t step = t->stride != 0 ? t->stride : 1;
    size_t width = (size_t)source_type_bytes(t->type, step);
    const uint8_t *in = t->data +
                        source_type_bytes(t->type, t->stride != 0 ? row : (uint64_t)row * t->cols);

    if (t->type == SOURCE_F32) {
        for (uint32_t c = 0; c < t->cols; c++) {
            out[c] = load_f32(in + c * width) + t->add;
        }
    } else if (t->type == SOURCE_F16) {
        for (uint32_t c = 0; c < t->cols; c++) {
            out[c] = load_f16(in + c * width) + t->add;
        }
    } else {
        for (uint32_t c = 0; c < t->cols; c++) {
            out[c] = load_bf16(in + c * width) + t->add;
        }
    }
}

static void read_blocks(const struct source_tensor *t, const uint8_t *in, float *out)
{
    dequantize_block_fn *read = dequantize_of(t->type);
    uint32_t n = source_type_block(t->type);

    for (size_t c = 0; c < t->cols; c += n) {
        read(in + source_type_bytes(t->type, c), out + c);
    }
}

void source_read_row(const struct source_tensor *t, uint32_t row, float *out)
{
    uint64_t first = (uint64_t)row * t->cols;
    const uint8_t *in = t->data + source_type_bytes(t->type, first);

    switch (t->type) {
    case SOURCE_F32:
    case SOURCE_F16:
    case SOURCE_BF16: read_floats(t, row, out); return;
    case SOURCE_SYNTH: synth_read_row(t, row, out); return;
    case SOURCE_GROUPED: read_grouped(t, first, out); return;
    default: read_blocks(t, in, out); return;
    }
}
