#include "flash_image/hf/hf_quantized.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "flash_image/hf/hf_f8.h"
#include "flash_image/quantize/source_rows.h"
#include "flash_image/source/map_file.h"
#include "runtime/image/image.h"

#define LEAST_MEAN 1e-5f /* a smaller mean magnitude becomes this, as in Transformers */

enum { MXFP4_ELEMENTS = 32, MXFP4_BYTES = 16, ROWS_PER_BYTE = 4, LARGE_BYTES = 1 << 20 };

/* ---- config.json ------------------------------------------------------------------------------- */

static void refuse_config(struct hf_json *j, const char *what)
{
    j->e = source_refuse(j->s, ERR_UNSUPPORTED,
                         "the field \"quantization_config\" %s: such a model cannot be packed",
                         what);
}

/* True if some layers stay floats while others are rounded. The output matrix does not count: it
 * always stays floats. */
static bool leaves_layers_out(const cJSON *config)
{
    const cJSON *entry;

    cJSON_ArrayForEach(entry, hf_json_list(hf_json_get(config, "modules_to_not_convert")))
    {
        if (!cJSON_IsString(entry) || strcmp(entry->valuestring, "lm_head") != 0) {
            return true;
        }
    }
    return false;
}

/* Transformers has two classes of layers: one multiplies by weight_scale, the older one divides.
 * Files for the newer class may also have floats, which the class rounds to three values. */
static void read_bitnet(struct hf_json *j, struct hf_config *c, const cJSON *config)
{
    bool newer = hf_json_is(config, "linear_class", "autobitlinear");

    c->quantized = newer ? HF_TERNARY_TIMES : HF_TERNARY_OVER;
    if (newer && hf_json_is(config, "quantization_mode", "online")) {
        c->quantized = HF_ROUNDED;
    }
    if (hf_json_is_true(config, "use_rms_norm", false)) {
        refuse_config(j, "asks for \"use_rms_norm\"");
    } else if (c->quantized == HF_ROUNDED && leaves_layers_out(config)) {
        refuse_config(j, "has \"modules_to_not_convert\" other than lm_head");
    }
}

/* Read the first BitNet models: their own code rounds floats, and config.json only gives the number
 * of bits. */
static void read_weight_bits(struct hf_json *j, struct hf_config *c)
{
    if (strcmp(c->family->architecture, "BitnetForCausalLM") != 0) {
        return;
    }
    c->quantized = HF_ROUNDED;
    if (hf_json_u32(j, "weight_bits", 1) != 1 && j->e == ERR_OK) {
        j->e =
            source_refuse(j->s, ERR_UNSUPPORTED,
                          "the field \"weight_bits\" is not 1, the only value that can be packed");
    }
}

void hf_quantized_read(struct hf_json *j, struct hf_config *c)
{
    static const struct {
        enum ingot_family family;
        const char *method;
    } known[] = { { INGOT_GPT_OSS, "mxfp4" }, { INGOT_BITNET, "bitnet" } };
    const cJSON *config = hf_json_get(j->object, "quantization_config");
    const char *method = hf_json_string(hf_json_get(config, "quant_method"));

    if (j->e != ERR_OK) {
        return;
    }
    if (config == NULL) {
        read_weight_bits(j, c);
        return;
    }
    if (hf_f8_read_config(j, c, config)) {
        return;
    }
    for (size_t i = 0; i < sizeof known / sizeof known[0]; i++) {
        if (method == NULL || c->family->family != known[i].family ||
            strcmp(method, known[i].method) != 0) {
            continue;
        }
        if (known[i].family == INGOT_BITNET) {
            read_bitnet(j, c, config);
        }
        return; /* tensors in MXFP4 are recognized by their names */
    }
    j->e =
        source_refuse(j->s, ERR_UNSUPPORTED,
                      "the field \"quantization_config\" is set (%.40s), and models of the "
                      "family %s cannot be packed with it: take the original model, which is not "
                      "quantized",
                      method == NULL ? "no quant_method" : method, c->family->name);
}

/* ---- MXFP4 ------------------------------------------------------------------------------------- */

static enum err refuse_shape(struct source *s, const struct hf_placed *t)
{
    return source_refuse(
        s, ERR_BAD_MODEL,
        "the dtype or the shape of the tensor %.120s does not match its quantized matrix in "
        "config.json",
        t->from->name);
}

/* True if the shape is (experts, rows, blocks) or, unless these are scales, (experts, rows, blocks,
 * 16). */
static bool is_mxfp4(const struct source *s, const struct hf_placed *t, uint32_t rows,
                     uint32_t cols)
{
    const struct safetensors_tensor *from = t->from;
    bool blocks = (t->rule->kind & HF_BLOCKS) != 0;

    return (strcmp(from->dtype, "U8") == 0 || strcmp(from->dtype, "F8_E8M0") == 0) &&
           from->n_dims == (blocks ? 4u : 3u) && from->dims[0] == s->params.experts.n &&
           from->dims[1] == (uint64_t)rows * t->rule->parts && cols % MXFP4_ELEMENTS == 0 &&
           from->dims[2] == cols / MXFP4_ELEMENTS && (!blocks || from->dims[3] == MXFP4_BYTES);
}

/* Place blocks whose rows alternate: the first of each two rows belongs to the gate. */
static void place_blocks(struct source *s, const struct hf_placed *t, uint32_t rows, uint32_t cols,
                         uint32_t part, struct source_tensor *slot)
{
    const uint8_t *scales = slot->scales; /* the scales may have been read before */
    uint32_t parts = t->rule->parts;

    *slot = (struct source_tensor){
        .data = t->from->data + (size_t)part * (cols / MXFP4_ELEMENTS) * MXFP4_BYTES,
        .scales = scales,
        .rows = rows,
        .cols = cols,
        .type = SOURCE_MXFP4_PAIRS,
        .run = parts - 1,
        .run_step = parts > 1 ? parts : 0,
        .stack = s->params.experts.n,
        .stack_step = parts * rows,
    };
}

enum err hf_place_mxfp4(struct source *s, const struct hf_placed *t)
{
    uint32_t rows, cols;

    source_role_shape(s, t->rule->role, t->layer, &rows, &cols);
    if (!is_mxfp4(s, t, rows, cols)) {
        return refuse_shape(s, t);
    }
    for (uint32_t i = 0; i < t->rule->parts; i++) {
        enum ingot_role role = i == 0 ? t->rule->role : INGOT_EXPERT_UP;
        struct source_tensor *slot = source_tensor(s, role, t->layer);

        if ((t->rule->kind & HF_BLOCKS) == 0) {
            slot->scales = t->from->data + (size_t)i * (cols / MXFP4_ELEMENTS);
            continue;
        }
        slot = hf_take_slot(s, t->from->name, role, t->layer);
        if (slot == NULL) {
            return ERR_BAD_MODEL;
        }
        place_blocks(s, t, rows, cols, i, slot);
    }
    return ERR_OK;
}

/* ---- ternary matrices ---------------------------------------------------------------------------- */

enum err hf_place_ternary(struct source *s, const struct hf_config *c, const struct hf_placed *t,
                          enum ingot_role role)
{
    struct source_tensor *slot;
    uint32_t rows, cols;

    if ((c->quantized != HF_TERNARY_TIMES && c->quantized != HF_TERNARY_OVER) ||
        !image_role_is_matrix(role) || t->rule->parts != 1) {
        return source_refuse(
            s, ERR_UNSUPPORTED,
            "the tensor %.120s is %s; only F32, F16 and BF16 can be packed: take the original "
            "model, which is not quantized",
            t->from->name, t->from->dtype);
    }
    source_role_shape(s, role, t->layer, &rows, &cols);
    if (t->from->n_dims != 2 || t->from->dims[0] * ROWS_PER_BYTE != rows ||
        t->from->dims[1] != cols) {
        return refuse_shape(s, t);
    }
    slot = hf_take_slot(s, t->from->name, role, t->layer);
    if (slot == NULL) {
        return ERR_BAD_MODEL;
    }
    *slot = (struct source_tensor){
        .data = t->from->data, .rows = rows, .cols = cols, .type = SOURCE_TERNARY
    };
    return ERR_OK;
}

bool hf_is_weight_scale(const struct hf_config *c, const char *name, char *bare, size_t bytes)
{
    static const char ending[] = ".weight_scale", kept[] = ".weight";
    size_t n = strlen(name), m = sizeof ending - 1;

    if ((c->quantized != HF_TERNARY_TIMES && c->quantized != HF_TERNARY_OVER) || n < m ||
        strcmp(name + n - m, ending) != 0) {
        return false;
    }
    n = n - m + sizeof kept - 1;
    if (n >= bytes) {
        return false;
    }
    snprintf(bare, bytes, "%.*s", (int)n, name);
    return true;
}

enum err hf_place_weight_scale(struct source *s, struct hf_config *c, const struct hf_placed *t,
                               enum ingot_role role)
{
    struct source_tensor one;
    enum err e = safetensors_as_source(s, t->from, &one);
    float scale;

    if (e != ERR_OK) {
        return e;
    }
    scale = one.type == SOURCE_F8 ? 0.0f : source_read_plain(&one, 0, 0);
    if (one.rows != 1 || one.cols != 1 || !(fabsf(scale) > 0.0f) || !isfinite(1.0f / scale)) {
        return source_refuse(s, ERR_BAD_MODEL,
                             "the tensor %.120s is not a single number other "
                             "than 0",
                             t->from->name);
    }
    if (c->weight_scales == NULL) {
        c->weight_scales = hf_take_memory(s, &c->memory,
                                          SOURCE_MAX_TENSORS * sizeof *c->weight_scales);
    }
    if (c->weight_scales == NULL) {
        return ERR_NO_SPACE;
    }
    c->weight_scales[source_tensor(s, role, t->layer) - s->tensors] =
        c->quantized == HF_TERNARY_TIMES ? scale : 1.0f / scale;
    return ERR_OK;
}

/* ---- together ------------------------------------------------------------------------------------ */

/* The sum of the magnitudes of all weights. Pages are released, because the file may be larger than
 * memory. */
static double sum_sizes(const struct source_tensor *t)
{
    bool large = source_type_bytes(t->type, (uint64_t)t->rows * t->cols) >= LARGE_BYTES;
    const uint8_t *kept = t->data;
    double sum = 0.0;

    for (uint32_t r = 0; r < t->rows; r++) {
        for (uint32_t c = 0; c < t->cols; c++) {
            sum += fabs((double)source_read_plain(t, r, c));
        }
        if (large) {
            map_release(&kept, source_row_data(t, r), r + 1 == t->rows);
        }
    }
    return sum;
}

static enum source_type rounded_type(enum source_type floats)
{
    if (floats == SOURCE_F16) {
        return SOURCE_ROUNDED_F16;
    }
    return floats == SOURCE_BF16 ? SOURCE_ROUNDED_BF16 : SOURCE_ROUNDED_F32;
}

/* Round floats to three values around 0; the step is the mean magnitude of all weights. */
static enum err round_floats(struct source *s, struct hf_config *c, struct source_slot at,
                             struct source_tensor *t)
{
    float mean = (float)(sum_sizes(t) / ((double)t->rows * t->cols));

    if (!isfinite(mean)) {
        return source_refuse(s, ERR_BAD_MODEL,
                             "the tensor %s of layer %u has a weight that is not finite",
                             image_role_name(at.role), at.layer);
    }
    t->rounding = 1.0f / fmaxf(mean, LEAST_MEAN);
    t->type = rounded_type(t->type);
    return hf_scale_rows(s, c, t, 0, t->rows, 1.0f / t->rounding);
}

static enum err finish(struct source *s, struct hf_config *c, struct source_slot at)
{
    struct source_tensor *t = source_tensor(s, at.role, at.layer);
    float scale = c->weight_scales == NULL ? 0.0f : c->weight_scales[t - s->tensors];
    bool ternary = t->type == SOURCE_TERNARY;

    if ((ternary && scale == 0.0f) || (t->type == SOURCE_MXFP4_PAIRS && t->scales == NULL)) {
        return source_refuse(s, ERR_BAD_MODEL,
                             "the scales of the tensor %s of layer %u are missing: the file is cut "
                             "short or not a whole model",
                             image_role_name(at.role), at.layer);
    }
    if (c->quantized == HF_ROUNDED && at.layer != INGOT_NO_LAYER && image_role_is_matrix(at.role)) {
        return round_floats(s, c, at, t);
    }
    if (c->quantized == HF_TERNARY_OVER && !ternary && scale != 0.0f) {
        return source_refuse(s, ERR_BAD_MODEL,
                             "the tensor %s of layer %u has a scale, but is not packed in bytes",
                             image_role_name(at.role), at.layer);
    }
    return scale != 0.0f ? hf_scale_rows(s, c, t, 0, t->rows, scale) : ERR_OK;
}

enum err hf_finish_quantized(struct source *s, struct hf_config *c)
{
    for (struct source_slot at = source_first_slot; at.role < INGOT_N_ROLES;
         source_next_slot(&s->params, &at)) {
        enum err e = ERR_OK;

        if (source_tensor(s, at.role, at.layer)->data != NULL) {
            e = finish(s, c, at);
        }
        if (e != ERR_OK) {
            return e;
        }
    }
    return ERR_OK;
}
