#include "flash_image/hf/hf_f8.h"

#include <stdio.h>
#include <string.h>

#include "runtime/image/image.h"

bool hf_is_tile_scale(const struct hf_config *c, const char *name, char *bare, size_t bytes)
{
    static const char ending[] = ".weight_scale_inv", kept[] = ".weight";
    size_t n = strlen(name), m = sizeof ending - 1;

    if (c->quantized != HF_F8 || n < m || strcmp(name + n - m, ending) != 0 ||
        n - m + sizeof kept > bytes) {
        return false;
    }
    snprintf(bare, bytes, "%.*s", (int)(n - m + sizeof kept - 1), name);
    return true;
}

/* Where the tiles of a tensor are kept until all is there: in its slot, or in the first of its parts. */
static struct source_tensor *keeper_of(struct source *s, struct hf_config *c,
                                       const struct hf_placed *t, enum ingot_role role)
{
    if ((t->rule->kind & HF_EACH) != 0) {
        return hf_expert_part(s, &c->memory, t);
    }
    return source_tensor(s, role, t->layer);
}

static struct source_tiles *take_tiles(struct source *s, struct hf_config *c,
                                       const struct hf_placed *t, enum ingot_role role)
{
    struct source_tensor *keeper = keeper_of(s, c, t, role);

    if (keeper != NULL && keeper->tiles == NULL) {
        keeper->tiles = hf_take_memory(s, &c->memory, sizeof *keeper->tiles);
    }
    return keeper == NULL ? NULL : (struct source_tiles *)(uintptr_t)keeper->tiles;
}

enum err hf_place_tile_scale(struct source *s, struct hf_config *c, const struct hf_placed *t,
                             enum ingot_role role)
{
    struct source_tiles *tiles;
    struct source_tensor one;
    enum err e = safetensors_as_source(s, t->from, &one);

    if (e != ERR_OK) {
        return e;
    }
    tiles = take_tiles(s, c, t, role);
    if (tiles == NULL) {
        return ERR_NO_SPACE;
    }
    if (one.type == SOURCE_F8 || tiles->scales != NULL) {
        return source_refuse(s, ERR_BAD_MODEL, "the tensor %.120s comes twice, or is F8 itself",
                             t->from->name);
    }
    tiles->scales = one.data;
    tiles->scale_rows = one.rows;
    tiles->scale_cols = one.cols;
    tiles->type = one.type;
    return ERR_OK;
}

const struct source_tiles *hf_tiles_of(struct source *s, struct hf_config *c,
                                       const struct hf_placed *t, enum ingot_role role)
{
    struct source_tiles *tiles;

    if (c->quantized != HF_F8 || !image_role_is_matrix(role) || t->from->n_dims != 2) {
        (void)source_refuse(
            s, ERR_UNSUPPORTED,
            "the tensor %.120s is %s; F32, F16 and BF16 can be packed: take the model "
            "before it was quantized",
            t->from->name, t->from->dtype);
        return NULL;
    }
    tiles = take_tiles(s, c, t, role);
    if (tiles != NULL) {
        tiles->base = t->from->data;
        tiles->rows =
            (uint32_t)t->from->dims[0]; /* safetensors_as_source() refuses what is beyond */
        tiles->cols = (uint32_t)t->from->dims[1];
        tiles->height = c->tile_height != 0 ? c->tile_height : tiles->rows;
        tiles->width = c->tile_width != 0 ? c->tile_width : tiles->cols;
    }
    return tiles;
}

static bool fits(const struct source_tiles *t)
{
    return t->scales != NULL && t->base != NULL &&
           t->scale_rows == (t->rows + t->height - 1) / t->height &&
           t->scale_cols == (t->cols + t->width - 1) / t->width;
}

static enum err check(struct source *s, struct source_slot at, const struct source_tensor *t)
{
    if (t->type == SOURCE_F8 && (t->tiles == NULL || !fits(t->tiles))) {
        return source_refuse(s, ERR_BAD_MODEL,
                             "the scales of the tensor %s of layer %u are missing or have another "
                             "shape: the file is cut short or not a whole model",
                             image_role_name(at.role), at.layer);
    }
    if (t->type != SOURCE_F8 && t->tiles != NULL) {
        return source_refuse(s, ERR_BAD_MODEL,
                             "the tensor %s of layer %u has scales, and is not F8",
                             image_role_name(at.role), at.layer);
    }
    return ERR_OK;
}

enum err hf_check_tiles(struct source *s, const struct hf_config *c)
{
    enum err e = ERR_OK;

    for (struct source_slot at = source_first_slot;
         c->quantized == HF_F8 && e == ERR_OK && at.role < INGOT_N_ROLES;
         source_next_slot(&s->params, &at)) {
        const struct source_tensor *t = source_tensor(s, at.role, at.layer);

        for (uint32_t i = 0; t->parts != NULL && e == ERR_OK && i < t->stack; i++) {
            e = check(s, at, &t->parts[i]);
        }
        if (e == ERR_OK && t->parts == NULL) {
            e = check(s, at, t);
        }
    }
    return e;
}
