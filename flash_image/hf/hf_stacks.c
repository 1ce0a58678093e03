#include "flash_image/hf/hf_stacks.h"

#include <math.h>
#include <stdlib.h>

#include "flash_image/quantize/source_rows.h"
#include "runtime/image/image.h"

/* A piece of memory, in a list. */
struct hf_memory {
    struct hf_memory *next;
    max_align_t bytes[];
};

void *hf_take_memory(struct source *s, struct hf_memory **memory, size_t bytes)
{
    struct hf_memory *m = calloc(1, sizeof *m + bytes);

    if (m == NULL) {
        (void)source_refuse(s, ERR_NO_SPACE, "out of memory");
        return NULL;
    }
    m->next = *memory;
    *memory = m;
    return m->bytes;
}

void hf_config_free(struct hf_config *c)
{
    while (c->memory != NULL) {
        struct hf_memory *next = c->memory->next;

        free(c->memory);
        c->memory = next;
    }
}

struct source_tensor *hf_take_slot(struct source *s, const char *name, enum ingot_role role,
                                   unsigned layer)
{
    struct source_tensor *slot = source_tensor(s, role, layer);

    if (slot->data == NULL) {
        return slot;
    }
    (void)source_refuse(s, ERR_BAD_MODEL, "the tensor %.120s appears twice", name);
    return NULL;
}

static enum err refuse_shape(struct source *s, const struct hf_placed *t)
{
    return source_refuse(s, ERR_BAD_MODEL,
                         "the shape of the tensor %.120s does not match the experts in config.json",
                         t->from->name);
}

static bool is_bias(enum ingot_role role)
{
    return !image_role_is_matrix(role);
}

/* Read the stack's first expert: a matrix, or a row of a bias. */
static enum err read_first(struct source *s, const struct hf_placed *t, struct source_tensor *first)
{
    struct safetensors_tensor one = *t->from;
    uint32_t wanted = is_bias(t->rule->role) ? 2 : 3;

    if (one.n_dims != wanted || one.dims[0] > INGOT_MAX_EXPERTS) {
        return refuse_shape(s, t);
    }
    for (uint32_t i = 1; i < wanted; i++) {
        one.dims[i - 1] = one.dims[i];
    }
    one.n_dims--;
    return safetensors_as_source(s, &one, first);
}

/* Place the gate and the matrix that it multiplies: two halves, or (gpt-oss) alternating
 * rows. */
static enum err place_halves(struct source *s, const struct hf_placed *t,
                             const struct source_tensor *all, bool in_turn)
{
    enum ingot_role role = t->rule->role;
    enum ingot_role second = is_bias(role) ? INGOT_EXPERT_UP_BIAS : INGOT_EXPERT_UP;
    struct source_tensor *gate = hf_take_slot(s, t->from->name, role, t->layer);
    struct source_tensor *up = hf_take_slot(s, t->from->name, second, t->layer), half = *all;
    uint32_t *size = is_bias(role) ? &half.cols : &half.rows;
    uint64_t between = 1;

    if (gate == NULL || up == NULL) {
        return ERR_BAD_MODEL;
    }
    if (*size % 2 != 0) {
        return refuse_shape(s, t);
    }
    half.stack_step = is_bias(role) ? 2 : *size; /* a row of a bias becomes two rows, half
                                                    as long */
    *size /= 2;
    if (!in_turn) {
        between = (uint64_t)half.rows * half.cols;
    } else if (is_bias(role)) {
        half.stride = 2;
    } else {
        half.run = 1;
        half.run_step = 2;
    }
    *gate = *up = half;
    up->data += source_type_bytes(up->type, between);
    return ERR_OK;
}

enum err hf_place_stack(struct source *s, const struct hf_placed *t)
{
    bool transposed = (s->params.features & SOURCE_SWIGLU_OAI) != 0; /* as gpt-oss stores them */
    struct source_tensor all, *slot;
    enum err e = read_first(s, t, &all);

    if (e != ERR_OK) {
        return e;
    }
    all.stack = (uint32_t)t->from->dims[0];
    if (transposed && !is_bias(t->rule->role)) {
        uint32_t cols = all.cols;

        all.stride = cols;
        all.cols = all.rows;
        all.rows = cols;
    }
    if (t->rule->parts == 2) {
        return place_halves(s, t, &all, transposed);
    }
    slot = hf_take_slot(s, t->from->name, t->rule->role, t->layer);
    if (slot == NULL) {
        return ERR_BAD_MODEL;
    }
    *slot = all;
    return ERR_OK;
}

/* Return the slot's parts, one for each expert, and allocate them at the slot's first tensor. */
static struct source_tensor *parts_of(struct source *s, struct hf_memory **memory,
                                      struct source_tensor *slot)
{
    uint32_t n = min_u32(s->params.experts.n, INGOT_MAX_EXPERTS);

    if (slot->parts == NULL) {
        slot->parts = hf_take_memory(s, memory, n * sizeof *slot->parts);
        slot->stack = n;
    }
    return (struct source_tensor *)(uintptr_t)slot->parts;
}

struct source_tensor *hf_expert_part(struct source *s, struct hf_memory **memory,
                                     const struct hf_placed *t)
{
    struct source_tensor *slot = source_tensor(s, t->rule->role, t->layer), *parts;

    if (t->expert >= s->params.experts.n || t->expert >= INGOT_MAX_EXPERTS ||
        (slot->data != NULL && slot->parts == NULL)) {
        (void)refuse_shape(s, t);
        return NULL;
    }
    parts = parts_of(s, memory, slot);
    return parts == NULL ? NULL : &parts[t->expert];
}

enum err hf_place_expert(struct source *s, struct hf_memory **memory, const struct hf_placed *t)
{
    struct source_tensor *slot = source_tensor(s, t->rule->role, t->layer), one, *part;
    enum err e = safetensors_as_source(s, t->from, &one);

    if (e != ERR_OK) {
        return e;
    }
    if (t->from->n_dims != 2) {
        return refuse_shape(s, t);
    }
    part = hf_expert_part(s, memory, t);
    if (part == NULL) {
        return ERR_BAD_MODEL;
    }
    if (part->data != NULL) {
        return source_refuse(s, ERR_BAD_MODEL, "the tensor %.120s appears twice", t->from->name);
    }
    one.tiles = part->tiles;
    *part = one;
    if (slot->data == NULL) { /* the slot gets the shape and the type that all experts share */
        slot->data = one.data;
        slot->rows = one.rows;
        slot->cols = one.cols;
        slot->type = one.type;
    }
    return ERR_OK;
}

static enum err check_parts(struct source *s, struct source_slot at, const struct source_tensor *t)
{
    for (uint32_t i = 0; i < t->stack; i++) {
        const struct source_tensor *one = &t->parts[i];

        if (one->data == NULL) {
            return source_refuse(s, ERR_BAD_MODEL,
                                 "the tensor %s of expert %u in layer %u is missing: the file is "
                                 "cut short or not a whole model",
                                 image_role_name(at.role), i, at.layer);
        }
        if (one->rows != t->rows || one->cols != t->cols || one->type != t->type) {
            return source_refuse(s, ERR_BAD_MODEL,
                                 "the tensors %s of layer %u have different shapes or dtypes",
                                 image_role_name(at.role), at.layer);
        }
    }
    return ERR_OK;
}

enum err hf_check_experts(struct source *s)
{
    for (struct source_slot at = source_first_slot; at.role < INGOT_N_ROLES;
         source_next_slot(&s->params, &at)) {
        const struct source_tensor *t = source_tensor(s, at.role, at.layer);
        enum err e = t->parts == NULL ? ERR_OK : check_parts(s, at, t);

        if (e != ERR_OK) {
            return e;
        }
    }
    return ERR_OK;
}

enum err hf_minus_exp(struct source *s, struct hf_memory **memory, const char *name,
                      struct source_tensor *t)
{
    float *values;

    if (t->rows != 1 || t->cols > INGOT_MAX_HIDDEN) {
        return source_refuse(s, ERR_BAD_MODEL, "the tensor %.120s is not a vector", name);
    }
    values = hf_take_memory(s, memory, t->cols * sizeof *values);
    if (values == NULL) {
        return ERR_NO_SPACE;
    }
    source_read_row(t, 0, values);
    for (uint32_t i = 0; i < t->cols; i++) {
        values[i] = -expf(values[i]);
    }
    /* a stride marks data that are not in a file, so that no pages are released */
    *t = (struct source_tensor){
        .data = (const uint8_t *)values, .rows = 1, .cols = t->cols, .stride = 1, .type = SOURCE_F32
    };
    return ERR_OK;
}

enum err hf_scale_rows(struct source *s, struct hf_config *c, struct source_tensor *t,
                       uint32_t first, uint32_t n, float scale)
{
    float *scales = (float *)(uintptr_t)t->row_scales;

    if (scales == NULL) {
        scales = hf_take_memory(s, &c->memory, t->rows * sizeof *scales);
    }
    if (scales == NULL) {
        return ERR_NO_SPACE;
    }
    for (uint32_t i = 0; t->row_scales == NULL && i < t->rows; i++) {
        scales[i] = 1.0f;
    }
    for (uint32_t i = first; i < first + n; i++) {
        scales[i] *= scale;
    }
    t->row_scales = scales;
    return ERR_OK;
}
