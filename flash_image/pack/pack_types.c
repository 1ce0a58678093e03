#include "flash_image/pack/pack_types.h"

#include <math.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "flash_image/pack/pack_own_type.h"
#include "flash_image/quantize/requantize.h"
#include "flash_image/quantize/rows.h"
#include "flash_image/quantize/source_rows.h"
#include "flash_image/source/map_file.h"
#include "kernels/ref/scalar.h"
#include "runtime/image/image.h"

/* True for the output matrix, which is the embedding if the output is tied. */
static bool is_head(const struct source_params *p, enum ingot_role role)
{
    if (p->tied) {
        return role == INGOT_TOKEN_EMBEDDING;
    }
    return role == INGOT_OUTPUT;
}

/* True for the first and last eighth of n layers, and for every third layer between. */
static bool is_sensitive(unsigned layer, unsigned n)
{
    return layer < n / 8 || layer >= 7 * n / 8 || (layer - n / 8) % 3 == 2;
}

static const struct mixture {
    const char *name;
    enum ingot_type most, output, value, value_sensitive, down, down_sensitive;
} mixtures[] = {
#define TYPE_MIXTURE(name, most, output, value, value_sensitive, down, down_sensitive) \
    { #name,        INGOT_##most,          INGOT_##output, INGOT_##value, INGOT_##value_sensitive, \
      INGOT_##down, INGOT_##down_sensitive },
#include "flash_image/format/types.def"
};

enum { FIRST_VALUES = 2, FIRST_DOWNS = 16, SHARED_VALUES = 4 };

/* True if a mixture gives the layer more bits. With Q3_K_M this is the first layer; with Q2_K it is
 * every layer if four query heads share a value head, because then the matrix is small. */
static bool is_raised(const struct mixture *m, const struct source_params *p, enum ingot_role role,
                      unsigned layer)
{
    if (m->most == INGOT_Q2_K) {
        return p->n_heads >= SHARED_VALUES * p->n_kv_heads;
    }
    if (m->most != INGOT_Q3_K) {
        return is_sensitive(layer, p->n_layers);
    }
    if (role == INGOT_ATTN_V) {
        return layer < FIRST_VALUES;
    }
    return layer < p->n_layers / FIRST_DOWNS;
}

static enum ingot_type mixed_type(const struct mixture *m, const struct source_params *p,
                                  enum ingot_role role, unsigned layer)
{
    bool raised = is_raised(m, p, role, layer);

    if (is_head(p, role)) {
        return INGOT_Q6_K;
    }
    switch (role) {
    case INGOT_OUTPUT: return INGOT_Q6_K;
    case INGOT_ATTN_OUT: return m->output;
    case INGOT_ATTN_V: return raised ? m->value_sensitive : m->value;
    case INGOT_FFN_DOWN: return raised ? m->down_sensitive : m->down;
    default: return m->most;
    }
}

/* True for types of one or two bits per weight, whose values Q4_0 can all represent. */
static bool is_few(enum ingot_type type)
{
    return 16 * image_type_row_bytes(type, BLOCK_K_COLS) < 5 * BLOCK_K_COLS; /* below 2.5 bits */
}

static bool is_below_4_bits(enum ingot_type type)
{
    return image_type_row_bytes(type, BLOCK_K_COLS) < BLOCK_K_COLS / 2;
}

/* Give more bits to the embedding and the output, which lose most, as in GGUF files of such
 * types. */
static enum ingot_type few_type(const struct source_params *p, enum ingot_role role,
                                enum ingot_type type)
{
    if (is_head(p, role) || role == INGOT_OUTPUT) {
        return INGOT_Q6_K;
    }
    return role == INGOT_TOKEN_EMBEDDING ? INGOT_Q4_K : type;
}

enum ingot_type pack_type_asked(const struct pack_options *o, const struct source_params *p,
                                enum ingot_role role, unsigned layer)
{
    if (o->mixed) {
        return mixed_type(&mixtures[o->mixture], p, role, layer);
    }
    if (is_few(o->type)) {
        return few_type(p, role, o->type);
    }
    return o->type;
}

bool pack_type_is_named(const struct pack_options *o, const struct source *s, enum ingot_role role)
{
    return (o->head_given && is_head(&s->params, role)) ||
           (o->experts_given && image_role_is_expert(role));
}

/* True if no option names a type for a matrix of this role. */
static bool is_own(const struct pack_options *o, const struct source *s, enum ingot_role role)
{
    return !o->type_given && o->chosen == NULL && !pack_type_is_named(o, s, role);
}

/* Return the type for a matrix, as if its columns fitted any type. */
static enum ingot_type wanted_type(const struct pack_options *o, struct source *s,
                                   enum ingot_role role, unsigned layer)
{
    if (!image_role_is_matrix(role)) {
        return INGOT_F32;
    }
    if (o->head_given && is_head(&s->params, role)) {
        return o->head;
    }
    if (o->experts_given && image_role_is_expert(role)) {
        return o->experts;
    }
    if (o->chosen != NULL) {
        return (enum ingot_type)o->chosen[source_slot_of(s, role, layer) - s->tensors];
    }
    if (!o->type_given) {
        return pack_own_type(source_tensor(s, role, layer));
    }
    return pack_type_asked(o, &s->params, role, layer);
}

enum ingot_type pack_type_for_cols(enum ingot_type type, uint32_t cols)
{
    if (image_type_takes(type, cols)) {
        return type;
    }
    if (is_few(type)) {
        return INGOT_Q4_0; /* Q4_0 can represent the same values */
    }
    if ((is_below_4_bits(type) || type == INGOT_FIG4) && image_type_takes(INGOT_IQ4_NL, cols)) {
        return INGOT_IQ4_NL; /* for Q3_K and Q2_K as in llama.cpp */
    }
    if (is_below_4_bits(type)) {
        return INGOT_Q4_0;
    }
    if (type == INGOT_Q4_K && image_type_takes(INGOT_Q5_0, cols)) { /* as llama.cpp does */
        return INGOT_Q5_0;
    }
    if (type == INGOT_Q5_K && image_type_takes(INGOT_Q5_1, cols)) {
        return INGOT_Q5_1;
    }
    return INGOT_Q8_0;
}

/* True if each head multiplies only its own rows of the matrix. */
static bool is_of_heads(enum ingot_role role)
{
    return role == INGOT_ATTN_K_B || role == INGOT_ATTN_V_B;
}

enum ingot_type pack_type_allowed(enum ingot_type type, enum ingot_role role, uint32_t cols)
{
    if (is_of_heads(role) && image_type_padding(type) >= FIG4_COLS) {
        type = INGOT_Q8_0;
    }
    return pack_type_for_cols(type, cols);
}

enum ingot_type pack_choose_type(const struct pack_options *o, struct source *s,
                                 enum ingot_role role, unsigned layer)
{
    const struct source_tensor *t = source_tensor(s, role, layer);
    enum ingot_type type = wanted_type(o, s, role, layer);

    if (is_of_heads(role) && is_own(o, s, role)) {
        return pack_own_head_type(t);
    }
    if (type == INGOT_MXFP4 && source_ggml_type(t->type) == SOURCE_MXFP4) {
        type = pack_mxfp4_type(t); /* the user named MXFP4 */
    }
    return pack_type_allowed(type, role, t->cols);
}

void pack_type_remark(const struct pack_options *o, struct source *s, enum ingot_role role,
                      unsigned layer, char *text, size_t bytes)
{
    enum ingot_type wanted = wanted_type(o, s, role, layer);

    text[0] = '\0';
    if (!image_type_takes(wanted, source_tensor(s, role, layer)->cols)) {
        snprintf(text, bytes, "%s takes multiples of %u columns", image_type_name(wanted),
                 image_type_padding(wanted));
    } else if (is_of_heads(role) && pack_choose_type(o, s, role, layer) != wanted) {
        snprintf(text, bytes, "a head does not take %s", image_type_name(wanted));
    } else if (pack_choose_type(o, s, role, layer) != wanted) {
        snprintf(text, bytes, "16 bits do not hold the scales of %s", image_type_name(wanted));
    } else if (o->head_given && is_head(&s->params, role) && wanted != o->type) {
        snprintf(text, bytes, "by --head");
    } else if (o->experts_given && image_role_is_expert(role) && wanted != o->type) {
        snprintf(text, bytes, "by --experts-type");
    } else if (o->type_given && o->chosen == NULL && wanted != o->type) {
        snprintf(text, bytes, "matters more");
    }
}

static bool is_rounded(enum source_type type)
{
    return type != SOURCE_F32 && type != SOURCE_F16 && type != SOURCE_BF16 &&
           !source_is_rounded(type);
}

/* Report how the weights of one type change, and how to avoid it. asked: an option names the new
 * type. */
static void tell_type(const struct source *s, enum source_type from, enum ingot_type to,
                      enum rows_way way, bool asked)
{
    bool again = asked && way == ROWS_QUANTIZED;
    const char *done = "stored", *advice = "; --type chooses another";

    if (again && (!is_rounded(from) || to == INGOT_F32 || to == INGOT_F16)) {
        return; /* the user asked for this, or nothing is lost */
    }
    if (again) {
        done = "quantized again";
        advice = "; a file of floats would lose less";
    } else if (source_is_rounded(from)) {
        advice = ", by the three values to which the model rounds them as it runs";
    } else if (from == SOURCE_F8 && to == INGOT_F16) {
        advice = ", with their scales (NMSE below 1e-7); --type chooses another";
    } else if (way == ROWS_REQUANTIZED || from == SOURCE_TERNARY) {
        advice = ", which has the same values in more bits";
    } else if (way == ROWS_RESCALED) {
        advice = ", with scales rounded to 16 bits (NMSE below 1e-6)";
    } else if (!asked && to == INGOT_F32 && from == SOURCE_MXFP4) {
        advice = ", because 16 bits do not hold their scales; --type chooses another";
    } else if (!asked && to == INGOT_F32) {
        advice = " where no smaller type holds their values; --type chooses another";
    }
    fprintf(stderr, "%s: %s weights are %s as %s%s\n", s->path, source_type_name(from), done,
            image_type_name(to), advice);
}

/* Report that a type changes, but only once per type. told: bits of types, by the file's type. */
static void tell_own_type(const struct source *s, const struct source_tensor *t, enum ingot_type to,
                          bool asked, uint32_t told[])
{
    enum rows_way way = rows_way(t->type, to);

    if (t->data == NULL || way == ROWS_COPIED || t->type == SOURCE_SYNTH ||
        (told[t->type] >> to & 1) != 0) {
        return;
    }
    told[t->type] |= 1u << to;
    tell_type(s, t->type, to, way, asked);
}

static void tell_own_types(const struct pack_options *o, struct source *s)
{
    uint32_t told[2][SOURCE_SYNTH + 1] = { { 0 } }; /* for types that no option names; for others */

    for (struct source_slot at = source_first_slot; at.role < INGOT_N_ROLES;
         source_next_slot(&s->params, &at)) {
        const struct source_tensor *t = source_tensor(s, at.role, at.layer);
        bool asked = o->type_given || pack_type_is_named(o, s, at.role);

        if (image_role_is_matrix(at.role) && t->data != NULL) {
            tell_own_type(s, t, pack_choose_type(o, s, at.role, at.layer), asked, told[asked]);
        }
    }
}

/* True if an option names a type that cannot store the matrix, which therefore gets the type
 * `to`. */
static bool is_misfit(const struct pack_options *o, struct source *s, enum ingot_role role,
                      unsigned layer, enum ingot_type to)
{
    uint32_t cols = source_tensor(s, role, layer)->cols;
    enum ingot_type wanted;

    if (cols == 0 || !((o->type_given && o->chosen == NULL) || pack_type_is_named(o, s, role))) {
        return false;
    }
    wanted = wanted_type(o, s, role, layer);
    return !image_type_takes(wanted, cols) && pack_type_allowed(wanted, role, cols) == to;
}

/* List the matrices that get the type `to` because the requested type cannot store them: each role
 * once, with the first layer that has such a matrix. */
static void tell_columns(const struct pack_options *o, struct source *s, enum ingot_type to)
{
    char names[INGOT_N_ROLES * 20] = "";
    const char *comma = "";
    enum ingot_role last = INGOT_N_ROLES;
    size_t used = 0;
    uint32_t padding = 0;

    for (struct source_slot at = source_first_slot; at.role < INGOT_N_ROLES;
         source_next_slot(&s->params, &at)) {
        if (at.role != last && is_misfit(o, s, at.role, at.layer, to)) {
            last = at.role;
            used += (size_t)snprintf(names + used, sizeof names - used, "%s%s", comma,
                                     image_role_name(at.role));
            comma = ", ";
            padding = image_type_padding(wanted_type(o, s, at.role, at.layer));
        }
    }
    if (used != 0) {
        fprintf(stderr, "%s: stored as %s, because their columns are not a multiple of %u: %s\n",
                s->path, image_type_name(to), padding, names);
    }
}

static const bool only_asked[SOURCE_NONE + 1] = {
#define TYPE_READ(...)
#define TYPE_ASKED(NAME, ...) [SOURCE_##NAME] = true,
#include "flash_image/format/types.def"
};

enum err pack_check_types(const struct pack_options *o, struct source *s)
{
    for (struct source_slot at = source_first_slot; at.role < INGOT_N_ROLES;
         source_next_slot(&s->params, &at)) {
        const struct source_tensor *t = source_tensor(s, at.role, at.layer);

        if (t->data != NULL && only_asked[t->type] && image_role_is_matrix(at.role) &&
            !o->type_given && !pack_type_is_named(o, s, at.role)) {
            return source_refuse(
                s, ERR_UNSUPPORTED,
                "%s has weights in %s, which no type of .ingot files holds exactly. "
                "Convert them with `ingot pack --type q8_0`, which loses little, or "
                "`--type q4_k_m`, whose file is smaller",
                image_role_name((unsigned)at.role), source_type_name(t->type));
        }
    }
    return ERR_OK;
}

void pack_tell_types(const struct pack_options *o, struct source *s)
{
    if (o->quiet) {
        return;
    }
    tell_own_types(o, s);
    if (o->row_scales) {
        fprintf(stderr,
                "%s: stored as %s, because a scale for every 32 weights loses less than a scale "
                "for each row with a list of outliers\n",
                s->path, image_type_name(o->type));
    }
    tell_columns(o, s, INGOT_Q8_0);
    tell_columns(o, s, INGOT_Q5_0);
    tell_columns(o, s, INGOT_Q5_1);
    tell_columns(o, s, INGOT_Q4_0);
    tell_columns(o, s, INGOT_IQ4_NL);
}

static const struct {
    const char *name;
    enum ingot_type stored;
} stand_ins[] = {
#define TYPE_STAND_IN(name, stored) { #name, INGOT_##stored },
#include "flash_image/format/types.def"
};

static enum ingot_type stand_in_by_name(const char *name)
{
    for (size_t i = 0; i < sizeof stand_ins / sizeof stand_ins[0]; i++) {
        if (strcasecmp(name, stand_ins[i].name) == 0) {
            return stand_ins[i].stored;
        }
    }
    return INGOT_N_TYPES;
}

/* Return the type with this name, or INGOT_N_TYPES if there is none. */
static enum ingot_type type_by_name(const char *name)
{
    for (unsigned type = 0; type < INGOT_N_TYPES; type++) {
        if (image_type_padding(type) != 0 && !image_type_is_packed(type) &&
            strcasecmp(name, image_type_name(type)) == 0) {
            return (enum ingot_type)type;
        }
    }
    return INGOT_N_TYPES;
}

bool pack_parse_head(const char *name, struct pack_options *o)
{
    enum ingot_type type = type_by_name(name);

    if (type == INGOT_N_TYPES) {
        return false;
    }
    o->head = type;
    return o->head_given = true;
}

bool pack_parse_experts(const char *name, struct pack_options *o)
{
    enum ingot_type type = type_by_name(name);

    if (type == INGOT_N_TYPES) {
        return false;
    }
    o->experts = type;
    return o->experts_given = true;
}

bool pack_parse_type(const char *name, struct pack_options *o)
{
    enum ingot_type type = type_by_name(name);

    o->automatic = strcasecmp(name, "auto") == 0;
    if (o->automatic) {
        return o->type_given = true;
    }
    o->mixed = false;
    o->row_scales = stand_in_by_name(name) != INGOT_N_TYPES;
    if (o->row_scales) {
        type = stand_in_by_name(name);
    }
    for (unsigned i = 0; i < sizeof mixtures / sizeof mixtures[0]; i++) {
        if (strcasecmp(name, mixtures[i].name) == 0) {
            o->mixture = i;
            o->mixed = true;
            type = mixtures[i].most;
        }
    }
    if (type == INGOT_N_TYPES) {
        return false;
    }
    o->type = type;
    return o->type_given = true;
}
