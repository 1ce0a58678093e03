#include "flash_image/hf/hf_recurrent.h"

#include <math.h>
#include <string.h>

/* Names of a family's fields for the sizes. `heads` is the number of heads of the values or of the
 * states; `width` is one head's width. NULL: a field gives the width of all heads together. */
static const struct field_names {
    enum ingot_family family;
    const char *taps, *groups, *heads, *state, *width;
} names[] = {
    { INGOT_QWEN35, "linear_conv_kernel_dim", "linear_num_key_heads", "linear_num_value_heads",
      "linear_key_head_dim", "linear_value_head_dim" },
    { INGOT_QWEN35_MOE, "linear_conv_kernel_dim", "linear_num_key_heads", "linear_num_value_heads",
      "linear_key_head_dim", "linear_value_head_dim" },
    { INGOT_GRANITE_HYBRID, "mamba_d_conv", "mamba_n_groups", "mamba_n_heads", "mamba_d_state",
      "mamba_d_head" },
    { INGOT_FALCON_H1, "mamba_d_conv", "mamba_n_groups", "mamba_n_heads", "mamba_d_state", NULL },
    { INGOT_NEMOTRON_H, "conv_kernel", "n_groups", "mamba_num_heads", "ssm_state_size",
      "mamba_head_dim" },
};

static const struct field_names *names_of(enum ingot_family family)
{
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        if (names[i].family == family) {
            return &names[i];
        }
    }
    return NULL;
}

/* Read a number in a list; Transformers 5 writes an infinite number as {"__float__":
 * "Infinity"}. */
static double number_of(const cJSON *value)
{
    if (cJSON_IsNumber(value)) {
        return value->valuedouble;
    }
    return hf_json_is(value, "__float__", "Infinity") ? (double)INFINITY : (double)NAN;
}

/* Mamba2 clamps its time step between two numbers. Refuse all but 0 and infinity, which change
 * nothing. */
static void check_time_steps(struct hf_json *j)
{
    const cJSON *limits = hf_json_get(j->object, "time_step_limit");
    const cJSON *low = cJSON_GetArrayItem(limits, 0), *high = cJSON_GetArrayItem(limits, 1);

    if (limits == NULL || j->e != ERR_OK) {
        return;
    }
    if (cJSON_GetArraySize(limits) != 2 || !(number_of(low) <= 0.0) ||
        number_of(high) != (double)INFINITY) {
        j->e = source_refuse(j->s, ERR_UNSUPPORTED,
                             "the field \"time_step_limit\" clamps the steps of time; only [0.0, "
                             "Infinity] can be packed");
    }
}

/* Falcon-H1 has a norm before or after the gate, or none; a norm before the gate is not
 * supported. */
static void check_norm(struct hf_json *j)
{
    if (hf_json_bool(j, "mamba_rms_norm", false) &&
        hf_json_bool(j, "mamba_norm_before_gate", true) && j->e == ERR_OK) {
        j->e =
            source_refuse(j->s, ERR_UNSUPPORTED,
                          "the field \"mamba_norm_before_gate\" is true with \"mamba_rms_norm\", "
                          "which cannot be packed");
    }
}

/* Check the activation of Mamba2's convolution. */
static void check_activation(struct hf_json *j)
{
    const char *name = hf_json_text(j, "mamba_hidden_act");

    if (name != NULL && strcmp(name, "silu") != 0 && strcmp(name, "swish") != 0) {
        j->e = source_refuse(j->s, ERR_UNSUPPORTED,
                             "the field \"mamba_hidden_act\" is '%.40s'; only models with silu "
                             "can be packed",
                             name);
    }
}

/* Read Falcon-H1's width of all heads together. */
static void read_falcon(struct hf_json *j)
{
    struct source_params *p = &j->s->params;
    uint32_t expand = hf_json_u32(j, "mamba_expand", 2);

    check_norm(j);
    p->recurrent.inner_dim =
        hf_json_u32(j, "mamba_d_ssm", min_u32(expand, UINT8_MAX) * min_u32(p->dim, INGOT_MAX_DIM));
}

/* Both factors are below 2^16, so their product does not overflow. */
static void read_width(struct hf_json *j, const struct field_names *n)
{
    struct source_params *p = &j->s->params;
    uint32_t width = hf_json_u32(j, n->width, HF_NEEDED);

    if (j->e == ERR_OK && (p->recurrent.inner_heads > UINT16_MAX || width > UINT16_MAX)) {
        j->e = source_refuse(j->s, ERR_UNSUPPORTED, "the field \"%s\" is out of bounds", n->width);
        return;
    }
    p->recurrent.inner_dim = p->recurrent.inner_heads * width;
}

static void read_sizes(struct hf_json *j, const struct field_names *n)
{
    struct source_params *p = &j->s->params;

    p->recurrent.conv_taps = hf_json_u32(j, n->taps, 4);
    p->recurrent.n_groups = hf_json_u32(j, n->groups, HF_NEEDED);
    p->recurrent.inner_heads = hf_json_u32(j, n->heads, HF_NEEDED);
    p->recurrent.state_dim = hf_json_u32(j, n->state, HF_NEEDED);
    if (n->width == NULL) {
        read_falcon(j);
    } else {
        read_width(j, n);
    }
}

void hf_recurrent_read(struct hf_json *j, const struct family *f)
{
    struct source_params *p = &j->s->params;
    const struct field_names *n = names_of(f->family);

    if (f->mixer == INGOT_MIXER_SHORTCONV) {
        p->recurrent.conv_taps = hf_json_u32(j, "conv_L_cache", 3);
        p->recurrent.inner_dim = p->dim;
    }
    if (f->mixer == INGOT_MIXER_MAMBA2) {
        check_time_steps(j);
        check_activation(j);
    }
    if (n != NULL) {
        read_sizes(j, n);
    }
}
