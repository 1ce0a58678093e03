#include "flash_image/source/source.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

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

struct source_tensor source_slice(const struct source_tensor *t, uint32_t first, uint32_t n)
{
    struct source_tensor part = *t;
    uint64_t before = t->rows == 1 || t->stride != 0 ? first : (uint64_t)first * t->cols;

    part.data = t->data + source_type_bytes(t->type, before);
    part.rows = t->rows == 1 ? 1 : n;
    part.cols = t->rows == 1 ? n : t->cols;
    return part;
}
