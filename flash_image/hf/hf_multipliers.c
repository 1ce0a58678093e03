#include "flash_image/hf/hf_multipliers.h"

#include <math.h>

#include "flash_image/hf/hf_stacks.h"

/* ---- config.json ------------------------------------------------------------------------------- */

static void read_minicpm(struct hf_json *j)
{
    struct source_params *p = &j->s->params;

    p->embedding_scale = hf_json_float(j, "scale_emb", 1.0f);
    p->residual_scale = hf_json_float(j, "scale_depth", 1.0f) / sqrtf((float)p->n_layers);
    p->logits_scale = hf_json_float(j, "dim_model_base", 1.0f) / (float)p->dim;
}

static void read_granite(struct hf_json *j)
{
    struct source_params *p = &j->s->params;

    p->embedding_scale = hf_json_float(j, "embedding_multiplier", 1.0f);
    p->residual_scale = hf_json_float(j, "residual_multiplier", 1.0f);
    p->attn_scale = hf_json_float(j, "attention_multiplier", 1.0f);
    p->logits_scale = 1.0f / hf_json_float(j, "logits_scaling", 1.0f);
}

/* Read n numbers; they stay 1 if the field is absent. */
static void read_list(struct hf_json *j, const char *field, uint32_t n, float *values)
{
    const cJSON *list = hf_json_get(j->object, field);

    for (uint32_t i = 0; i < n; i++) {
        const cJSON *value = cJSON_GetArrayItem(list, (int)i);

        values[i] = 1.0f;
        if (list == NULL || j->e != ERR_OK) {
            continue;
        }
        if (cJSON_GetArraySize(list) != (int)n || !cJSON_IsNumber(value) ||
            !(fabs(value->valuedouble) <= 1e30)) {
            j->e = source_refuse(j->s, ERR_BAD_MODEL,
                                 "the field \"%s\" is not a list of %u numbers", field, n);
            continue;
        }
        values[i] = (float)value->valuedouble;
    }
}

static void read_falcon(struct hf_json *j, struct hf_config *c)
{
    struct source_params *p = &j->s->params;
    struct hf_multipliers *m = &c->multipliers;
    float gate_down[2];

    p->embedding_scale = hf_json_float(j, "embedding_multiplier", 1.0f);
    p->logits_scale = hf_json_float(j, "lm_head_multiplier", 1.0f);
    m->attention_in = hf_json_float(j, "attention_in_multiplier", 1.0f);
    m->attention_out = hf_json_float(j, "attention_out_multiplier", 1.0f);
    m->key = hf_json_float(j, "key_multiplier", 1.0f);
    m->ssm_in = hf_json_float(j, "ssm_in_multiplier", 1.0f);
    m->ssm_out = hf_json_float(j, "ssm_out_multiplier", 1.0f);
    read_list(j, "ssm_multipliers", HF_SSM_PARTS, m->ssm);
    read_list(j, "mlp_multipliers", 2, gate_down);
    m->gate = gate_down[0];
    m->down = gate_down[1];
}

void hf_multipliers_read(struct hf_json *j, struct hf_config *c)
{
    if (family_has(c->family, FAMILY_PARALLEL)) {
        read_falcon(j, c);
    } else if (c->family->family == INGOT_MINICPM) {
        read_minicpm(j);
    } else if (family_has(c->family, FAMILY_MULTIPLIERS)) {
        read_granite(j);
    }
}

/* ---- weights ------------------------------------------------------------------------------------- */

/* Multiply the rows of Mamba2's first matrix: z, x, B, C and dt, each with its own multiplier. */
static enum err fold_parts(struct source *s, struct hf_config *c, unsigned layer)
{
    const struct source_params *p = &s->params;
    uint32_t states = p->recurrent.n_groups * p->recurrent.state_dim, first = 0;
    const uint32_t rows[HF_SSM_PARTS] = { p->recurrent.inner_dim, p->recurrent.inner_dim, states,
                                          states, p->recurrent.inner_heads };
    struct source_tensor *t = source_tensor(s, INGOT_SSM_IN, layer);
    enum err e = ERR_OK;

    for (size_t i = 0; e == ERR_OK && i < HF_SSM_PARTS; i++) {
        e = hf_scale_rows(s, c, t, first, rows[i], c->multipliers.ssm[i] * c->multipliers.ssm_in);
        first += rows[i];
    }
    return e;
}

static enum err fold_layer(struct source *s, struct hf_config *c, unsigned layer)
{
    const struct hf_multipliers *m = &c->multipliers;
    const struct {
        enum ingot_role role;
        float scale;
    } all[] = {
        { INGOT_ATTN_Q, m->attention_in }, { INGOT_ATTN_K, m->attention_in * m->key },
        { INGOT_ATTN_V, m->attention_in }, { INGOT_ATTN_OUT, m->attention_out },
        { INGOT_SSM_OUT, m->ssm_out },     { INGOT_FFN_GATE, m->gate },
        { INGOT_FFN_DOWN, m->down },
    };
    enum err e = fold_parts(s, c, layer);

    for (size_t i = 0; e == ERR_OK && i < sizeof all / sizeof all[0]; i++) {
        struct source_tensor *t = source_tensor(s, all[i].role, layer);

        if (all[i].scale != 1.0f) {
            e = hf_scale_rows(s, c, t, 0, t->rows, all[i].scale);
        }
    }
    return e;
}

enum err hf_multipliers_fold(struct source *s, struct hf_config *c)
{
    enum err e = ERR_OK;

    if (!family_has(c->family, FAMILY_PARALLEL)) {
        return ERR_OK;
    }
    for (unsigned i = 0; e == ERR_OK && i < s->params.n_layers; i++) {
        e = fold_layer(s, c, i);
    }
    return e;
}
