#include "flash_image/hf/hf_f8.h"

#include <stdio.h>
#include <string.h>

#include "runtime/image/image.h"

enum { MODELOPT_BLOCK = 128 };

/* ---- config.json ------------------------------------------------------------------------------- */

static void refuse_config(struct hf_json *j, enum err e, const char *field, const char *what)
{
    j->e = source_refuse(j->s, e, "the field \"%s\" of \"quantization_config\" %s", field, what);
}

/* Read the size of the tiles of all matrices. False if the value is not a pair of sizes. */
static bool read_tile(struct hf_config *c, const cJSON *size)
{
    const cJSON *height = cJSON_GetArrayItem(size, 0), *width = cJSON_GetArrayItem(size, 1);

    if (cJSON_GetArraySize(size) != 2 || !hf_json_whole(height, UINT16_MAX) ||
        !hf_json_whole(width, UINT16_MAX) || height->valuedouble < 1 || width->valuedouble < 1) {
        return false;
    }
    c->tile_height = (uint32_t)height->valuedouble;
    c->tile_width = (uint32_t)width->valuedouble;
    return true;
}

/* Transformers ("fp8", "fbgemm_fp8") gives the height and width of tiles; without them a scale
 * covers a whole matrix or a row. */
static void read_transformers(struct hf_json *j, struct hf_config *c, const cJSON *config)
{
    const cJSON *size = hf_json_list(hf_json_get(config, "weight_block_size"));

    c->quantized = HF_F8;
    if (size != NULL && !read_tile(c, size)) {
        refuse_config(j, ERR_BAD_MODEL, "weight_block_size", "is not a pair of sizes");
    }
}

/* ModelOpt's FP8_PB_WO has blocks of 128 by 128; the scales' shapes show the other methods. */
static void read_modelopt(struct hf_json *j, struct hf_config *c, const cJSON *config)
{
    const char *algo = hf_json_string(hf_json_get(config, "quant_algo"));

    if (algo == NULL || strncmp(algo, "FP8", 3) != 0) {
        j->e = source_refuse(j->s, ERR_UNSUPPORTED,
                             "the field \"quant_algo\" of \"quantization_config\" is %.40s; only "
                             "FP8 can be packed: take the original model, which is not quantized",
                             algo == NULL ? "missing" : algo);
        return;
    }
    c->quantized = HF_F8;
    if (strncmp(algo, "FP8_PB", 6) == 0) {
        c->tile_height = c->tile_width = MODELOPT_BLOCK;
    }
}

/* Read the block size of a group, which must be the block size of all groups. */
static void read_block(struct hf_json *j, struct hf_config *c, const cJSON *block)
{
    uint32_t height = c->tile_height, width = c->tile_width;

    if (!read_tile(c, block)) {
        refuse_config(j, ERR_BAD_MODEL, "block_structure", "is not a pair of sizes");
    } else if (height != 0 && (c->tile_height != height || c->tile_width != width)) {
        refuse_config(j, ERR_UNSUPPORTED, "block_structure",
                      "differs between groups: take the original model, which is not quantized");
    }
}

/* Read a group of compressed-tensors: 8-bit floats with one scale per matrix, row or block. The
 * shape of the scales shows if there is one per matrix or one per row. All blocks must have the
 * same size. */
static void read_group(struct hf_json *j, struct hf_config *c, const cJSON *weights)
{
    const cJSON *bits = hf_json_get(weights, "num_bits");
    const cJSON *block = hf_json_get(weights, "block_structure");

    if (!hf_json_is(weights, "type", "float") || !cJSON_IsNumber(bits) || bits->valuedouble != 8) {
        refuse_config(j, ERR_UNSUPPORTED, "config_groups",
                      "has weights that are not floats of 8 bits: take the original model, "
                      "which is not quantized");
    } else if (hf_json_is(weights, "strategy", "block")) {
        read_block(j, c, hf_json_list(block));
    } else if (hf_json_is(weights, "strategy", "tensor") ||
               hf_json_is(weights, "strategy", "channel")) {
        c->has_whole_scales = true;
    } else {
        refuse_config(j, ERR_UNSUPPORTED, "strategy", "is neither tensor, channel nor block");
    }
}

static bool has_members(const cJSON *value)
{
    return value != NULL && value->child != NULL;
}

static void read_compressed(struct hf_json *j, struct hf_config *c, const cJSON *config)
{
    const cJSON *sparsity = hf_json_get(config, "sparsity_config"), *group;

    c->quantized = HF_F8;
    if (has_members(sparsity) && !hf_json_is(sparsity, "format", "dense")) {
        refuse_config(j, ERR_UNSUPPORTED, "sparsity_config", "is set: take the dense model");
    } else if (has_members(hf_json_get(config, "transform_config"))) {
        refuse_config(j, ERR_UNSUPPORTED, "transform_config",
                      "is set: the model multiplies activations by more matrices as it runs");
    }
    cJSON_ArrayForEach(group, hf_json_get(config, "config_groups"))
    {
        if (j->e == ERR_OK && hf_json_get(group, "weights") != NULL) {
            read_group(j, c, hf_json_get(group, "weights"));
        }
    }
}

bool hf_f8_read_config(struct hf_json *j, struct hf_config *c, const cJSON *config)
{
    static const struct {
        const char *method;
        void (*read)(struct hf_json *j, struct hf_config *c, const cJSON *config);
    } methods[] = { { "fp8", read_transformers },
                    { "fbgemm_fp8", read_transformers },
                    { "modelopt", read_modelopt },
                    { "compressed-tensors", read_compressed } };

    for (size_t i = 0; i < sizeof methods / sizeof methods[0]; i++) {
        if (hf_json_is(config, "quant_method", methods[i].method)) {
            methods[i].read(j, c, config);
            return true;
        }
    }
    return false;
}

/* ---- names --------------------------------------------------------------------------------------- */

static bool ends_with(const char *name, const char *end)
{
    size_t n = strlen(name), m = strlen(end);

    return n >= m && strcmp(name + n - m, end) == 0;
}

/* True if matrices may be in F8, which an older ModelOpt does not mention in config.json. */
static bool may_have_f8(const struct hf_config *c)
{
    return c->quantized == HF_F8 || c->quantized == HF_NOT_QUANTIZED;
}

bool hf_is_tile_scale(const struct hf_config *c, const char *name, char *bare, size_t bytes)
{
    static const char *const endings[] = { ".weight_scale_inv", ".weight_scale" };
    static const char kept[] = ".weight";

    for (size_t i = 0; may_have_f8(c) && i < sizeof endings / sizeof endings[0]; i++) {
        size_t n = strlen(name), m = strlen(endings[i]);

        if (ends_with(name, endings[i]) && n - m + sizeof kept <= bytes) {
            snprintf(bare, bytes, "%.*s", (int)(n - m + sizeof kept - 1), name);
            return true;
        }
    }
    return false;
}

static bool is_zero(const struct safetensors_tensor *t)
{
    for (uint64_t i = t->first; i < t->end; i++) {
        if (t->data[i - t->first] != 0) {
            return false;
        }
    }
    return true;
}

bool hf_is_activation_scale(const struct hf_config *c, const struct safetensors_tensor *t,
                            const char *name)
{
    static const char *const endings[] = {
        ".input_scale", ".activation_scale", ".input_scale_ub", ".output_scale", ".k_scale",
        ".v_scale",     ".q_scale",          ".kv_scale",       ".prob_scale",
    };

    for (size_t i = 0; may_have_f8(c) && i < sizeof endings / sizeof endings[0]; i++) {
        if (ends_with(name, endings[i])) {
            return true;
        }
    }
    return c->quantized == HF_F8 && ends_with(name, ".weight_zero_point") && is_zero(t);
}

/* ---- scales -------------------------------------------------------------------------------------- */

/* Return the tensor that keeps tiles until all tensors are read: the slot, or the
 * expert's part of it. */
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

/* Read (rows, 1, cols, 1), ModelOpt's shape of block scales, as (rows, cols). */
static struct safetensors_tensor flat_shape(const struct safetensors_tensor *from)
{
    struct safetensors_tensor flat = *from;

    if (from->n_dims == 4 && from->dims[1] == 1 && from->dims[3] == 1) {
        flat.n_dims = 2;
        flat.dims[1] = from->dims[2];
    }
    return flat;
}

static uint32_t tiles_along(uint32_t size, uint32_t tile)
{
    return (size + tile - 1) / tile;
}

/* True if the matrix is in blocks. If the model also has groups with a scale per matrix or row, the
 * shape of the matrix's scales decides. */
static bool is_in_blocks(const struct hf_config *c, const struct source_tiles *t)
{
    return c->tile_height != 0 &&
           (!c->has_whole_scales || (t->scale_rows == tiles_along(t->rows, c->tile_height) &&
                                     t->scale_cols == tiles_along(t->cols, c->tile_width)));
}

/* Set the size of tiles once the matrix and its scales are known. If config.json does not give the
 * size, there is one scale for the matrix, or one per row. */
static void set_tile_size(const struct hf_config *c, struct source_tiles *t)
{
    bool in_blocks;

    if (t->scales == NULL || t->base == NULL) {
        return;
    }
    in_blocks = is_in_blocks(c, t);
    t->height = in_blocks ? c->tile_height : t->rows;
    t->width = in_blocks ? c->tile_width : t->cols;
    if (in_blocks || (uint64_t)t->scale_rows * t->scale_cols != t->rows) {
        return;
    }
    if (t->scale_rows == 1 || t->scale_cols == 1) { /* (rows), (1, rows) or (rows, 1) */
        t->height = 1;
        t->scale_rows = t->rows;
        t->scale_cols = 1;
    }
}

enum err hf_place_tile_scale(struct source *s, struct hf_config *c, const struct hf_placed *t,
                             enum ingot_role role)
{
    struct safetensors_tensor flat = flat_shape(t->from);
    struct source_tiles *tiles;
    struct source_tensor one;
    enum err e = safetensors_as_source(s, &flat, &one);

    if (e != ERR_OK) {
        return e;
    }
    tiles = take_tiles(s, c, t, role);
    if (tiles == NULL) {
        return ERR_NO_SPACE;
    }
    if (one.type == SOURCE_F8 || tiles->scales != NULL) {
        return source_refuse(s, ERR_BAD_MODEL,
                             "the scales in the tensor %.120s appear twice, or are F8 themselves",
                             t->from->name);
    }
    tiles->scales = one.data;
    tiles->scale_rows = one.rows;
    tiles->scale_cols = one.cols;
    tiles->type = one.type;
    set_tile_size(c, tiles);
    return ERR_OK;
}

const struct source_tiles *hf_tiles_of(struct source *s, struct hf_config *c,
                                       const struct hf_placed *t, enum ingot_role role)
{
    struct source_tiles *tiles;

    if (!may_have_f8(c) || !image_role_is_matrix(role) || t->from->n_dims != 2) {
        (void)source_refuse(
            s, ERR_UNSUPPORTED,
            "the tensor %.120s is %s; only F32, F16 and BF16 can be packed: take the original "
            "model, which is not quantized",
            t->from->name, t->from->dtype);
        return NULL;
    }
    tiles = take_tiles(s, c, t, role);
    if (tiles != NULL) {
        tiles->base = t->from->data;
        tiles->rows = (uint32_t)t->from->dims[0]; /* safetensors_as_source() refuses other types */
        tiles->cols = (uint32_t)t->from->dims[1];
        set_tile_size(c, tiles);
    }
    return tiles;
}

static bool fits(const struct source_tiles *t)
{
    return t->scales != NULL && t->base != NULL &&
           t->scale_rows == tiles_along(t->rows, t->height) &&
           t->scale_cols == tiles_along(t->cols, t->width);
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
                             "the tensor %s of layer %u has scales, but is not F8",
                             image_role_name(at.role), at.layer);
    }
    return ERR_OK;
}

enum err hf_check_tiles(struct source *s, const struct hf_config *c)
{
    enum err e = ERR_OK;

    for (struct source_slot at = source_first_slot;
         may_have_f8(c) && e == ERR_OK && at.role < INGOT_N_ROLES;
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
