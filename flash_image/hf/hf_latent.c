#include "flash_image/hf/hf_latent.h"

#include <string.h>

#include "flash_image/hf/hf_stacks.h"

static void refuse(struct hf_json *j, const char *field, const char *what)
{
    if (j->e == ERR_OK) {
        j->e = source_refuse(j->s, ERR_UNSUPPORTED, "the field \"%s\" %s", field, what);
    }
}

/* Count the layers that guess further tokens: the files have them after the model's layers. */
static void read_more_layers(struct hf_json *j, struct hf_config *c)
{
    c->n_more_layers = hf_json_u32(j, "num_nextn_predict_layers", 0);
    if (c->n_more_layers != 0 && j->e == ERR_OK) {
        source_note(j->s,
                    "blocks that guess further tokens (num_nextn_predict_layers) are left out");
    }
}

void hf_latent_read(struct hf_json *j, struct hf_config *c)
{
    struct source_params *p = &j->s->params;
    uint32_t rope;

    if (!family_has(c->family, FAMILY_LATENT)) {
        return;
    }
    rope = hf_json_u32(j, "qk_rope_head_dim", HF_NEEDED);
    p->latent.kv_rank = hf_json_u32(j, "kv_lora_rank", HF_NEEDED);
    p->latent.q_rank = hf_json_u32(j, "q_lora_rank", 0);
    p->latent.query_dim = hf_json_u32(j, "qk_nope_head_dim", HF_NEEDED);
    p->latent.value_dim = hf_json_u32(j, "v_head_dim", HF_NEEDED);
    if (p->latent.query_dim > INGOT_MAX_DIM || rope > INGOT_MAX_DIM || p->latent.kv_rank == 0) {
        refuse(j, "kv_lora_rank", "is 0, or makes heads too wide");
        return;
    }
    p->latent.query_dim += rope;
    source_latent_params(p, rope);
    if (!hf_json_bool(j, "rope_interleave", true)) {
        p->rope = INGOT_ROPE_HALVES;
    }
    read_more_layers(j, c);
}

/* Read how many groups of experts there are, and how many of the best ones are used. Softmax rates
 * a group by its best expert, sigmoid by its best two. */
static void read_groups(struct hf_json *j, const char *method, bool third)
{
    struct source_params *p = &j->s->params;
    bool sigmoid = p->experts.router == INGOT_ROUTER_SIGMOID;
    uint32_t groups = hf_json_u32(j, "n_group", third ? 8 : 1);

    if (method == NULL) {
        method = sigmoid ? "noaux_tc" : "greedy";
    }
    if (strcmp(method, "greedy") == 0) {
        return;
    }
    if (strcmp(method, sigmoid ? "noaux_tc" : "group_limited_greedy") != 0) {
        refuse(j, "topk_method",
               "is neither \"greedy\" nor the method that belongs to \"scoring_func\"");
        return;
    }
    if (groups > 1) {
        p->experts.groups = groups;
        p->experts.groups_used = hf_json_u32(j, "topk_group", third ? 4 : HF_NEEDED);
    }
}

void hf_latent_read_router(struct hf_json *j, const struct family *f)
{
    struct source_params *p = &j->s->params;
    bool third = strcmp(f->name, "deepseek_v3") == 0; /* its class has other defaults */
    const char *scores = hf_json_text(j, "scoring_func");

    if (scores != NULL && strcmp(scores, "sigmoid") == 0) {
        p->experts.router = INGOT_ROUTER_SIGMOID;
    } else if (scores != NULL && strcmp(scores, "softmax") == 0) {
        p->experts.router = INGOT_ROUTER_SOFTMAX;
    } else if (scores != NULL) {
        refuse(j, "scoring_func", "is neither \"softmax\" nor \"sigmoid\"");
    }
    if (hf_json_u32(j, "moe_layer_freq", 1) != 1) {
        refuse(j, "moe_layer_freq", "is not 1, the only value that can be packed");
    }
    p->experts.scale = hf_json_float(j, "routed_scaling_factor", third ? 2.5f : 1.0f);
    read_groups(j, hf_json_text(j, "topk_method"), third);
}

uint32_t hf_latent_shared_width(struct hf_json *j)
{
    uint32_t n = hf_json_u32(j, "n_shared_experts", 0), width = j->s->params.experts.hidden;

    if (n > INGOT_MAX_EXPERTS || width > INGOT_MAX_HIDDEN) {
        refuse(j, "n_shared_experts", "makes the feed-forward too wide");
        return 0;
    }
    return n * width;
}

enum err hf_latent_place(struct source *s, const char *name, const struct source_tensor *t,
                         unsigned layer)
{
    struct source_tensor *k = hf_take_slot(s, name, INGOT_ATTN_K_B, layer);
    struct source_tensor *v = hf_take_slot(s, name, INGOT_ATTN_V_B, layer);

    if (k == NULL || v == NULL) {
        return ERR_BAD_MODEL;
    }
    if (source_split_latent(&s->params, t, k, v) == ERR_OK) {
        return ERR_OK;
    }
    return source_refuse(s, ERR_BAD_MODEL,
                         "the tensor %.120s has %u rows of %u, which does not match the heads in "
                         "config.json",
                         name, t->rows, t->cols);
}
