/* Reads the experts of a GGUF: number, width, and how they are chosen, within the image's
 * bounds. */
#include "flash_image/gguf/gguf_private.h"

enum { SCORES_SOFTMAX = 1, SCORES_SIGMOID, SCORES_SOFTMAX_CHOSEN }; /* as numbered in the file */

static enum err refuse_number(struct gguf *g, enum gguf_number which, const char *why)
{
    return source_refuse(g->s, ERR_UNSUPPORTED, "%.*s%s is %llu, %s",
                         GGUF_SHOW_KEY(g, gguf_number_name(which)),
                         (unsigned long long)g->number[which], why);
}

/* True if the router gives the same weights as `scores`, the file's function. Softmax before
 * choosing equals softmax after it if the chosen weights are made to sum to 1. */
static bool scores_agree(enum ingot_router router, uint64_t scores)
{
    switch (scores) {
    case 0: return true;
    case SCORES_SOFTMAX: return router != INGOT_ROUTER_SIGMOID;
    case SCORES_SIGMOID: return router == INGOT_ROUTER_SIGMOID;
    case SCORES_SOFTMAX_CHOSEN: return router == INGOT_ROUTER_SOFTMAX_CHOSEN;
    default: return false;
    }
}

static void set_renormalize(struct gguf *g, bool norm)
{
    struct source_params *p = &g->s->params;

    p->features &= ~(uint32_t)SOURCE_RENORMALIZE;
    if (norm && p->experts.router != INGOT_ROUTER_SOFTMAX_CHOSEN) {
        p->features |= SOURCE_RENORMALIZE;
    }
}

/* DeepSeek's models use different functions; the oldest files mean softmax but do not say so. */
static enum err read_free_router(struct gguf *g)
{
    struct source_params *p = &g->s->params;
    uint64_t groups = gguf_number_or(g, N_EXPERT_GROUPS, 0);

    switch (gguf_number_or(g, N_EXPERT_SCORES, 0)) {
    case 0:
    case SCORES_SOFTMAX: p->experts.router = INGOT_ROUTER_SOFTMAX; break;
    case SCORES_SIGMOID: p->experts.router = INGOT_ROUTER_SIGMOID; break;
    default: return refuse_number(g, N_EXPERT_SCORES, "which is neither softmax nor sigmoid");
    }
    set_renormalize(g, gguf_number_or(g, N_EXPERT_NORM, 0) != 0);
    if (groups > 1) {
        p->experts.groups = gguf_narrow(groups);
        p->experts.groups_used = gguf_narrow(gguf_number_or(g, N_EXPERT_GROUPS_USED, 0));
    }
    return ERR_OK;
}

static enum err read_router(struct gguf *g)
{
    struct source_params *p = &g->s->params;
    bool norm = gguf_number_or(g, N_EXPERT_NORM, 1) != 0;

    if (family_has(g->family, FAMILY_FREE_ROUTER)) {
        return read_free_router(g);
    }
    if (!scores_agree(g->family->router, gguf_number_or(g, N_EXPERT_SCORES, 0))) {
        return refuse_number(g, N_EXPERT_SCORES, "which is not how this family chooses experts");
    }
    if (gguf_number_or(g, N_EXPERT_GROUPS, 0) > 1 ||
        gguf_number_or(g, N_EXPERT_GROUPS_USED, 0) > 1) {
        return refuse_number(g, N_EXPERT_GROUPS, "experts in groups are not supported");
    }
    if (!g->has_number[N_EXPERT_NORM]) {
        return ERR_OK;
    }
    if (p->experts.router == INGOT_ROUTER_SOFTMAX_CHOSEN && !norm) {
        return refuse_number(g, N_EXPERT_NORM, "but this family's weights always sum to 1");
    }
    set_renormalize(g, norm);
    return ERR_OK;
}

static enum err check_counts(struct gguf *g)
{
    uint64_t n = g->number[N_EXPERTS], used = gguf_number_or(g, N_EXPERTS_USED, 0);

    if (n > INGOT_MAX_EXPERTS || used < 1 || used > n) {
        return source_refuse(
            g->s, ERR_UNSUPPORTED,
            "%.*s%s is %llu and %s is %llu: a model has at most %u experts, and uses at least one "
            "of them",
            GGUF_SHOW_KEY(g, gguf_number_name(N_EXPERTS)), (unsigned long long)n,
            gguf_number_name(N_EXPERTS_USED), (unsigned long long)used,
            (unsigned)INGOT_MAX_EXPERTS);
    }
    return ERR_OK;
}

static bool is_qwen(const struct gguf *g)
{
    enum ingot_family family = g->family->family;

    return family == INGOT_QWEN3_MOE || family == INGOT_QWEN35_MOE;
}

/* Return an expert's width if the file does not give it: a dense layer's width, or a part of
 * it. */
static uint64_t usual_hidden(const struct gguf *g)
{
    uint64_t hidden = gguf_number_or(g, N_HIDDEN, 0);
    uint64_t used = gguf_number_or(g, N_EXPERTS_USED, 0);

    return is_qwen(g) && used != 0 ? hidden / used : hidden;
}

static void read_sizes(struct gguf *g)
{
    struct source_params *p = &g->s->params;

    p->experts.n = gguf_narrow(g->number[N_EXPERTS]);
    p->experts.used = gguf_narrow(gguf_number_or(g, N_EXPERTS_USED, 0));
    p->experts.hidden = gguf_narrow(gguf_number_or(g, N_EXPERT_HIDDEN, usual_hidden(g)));
    if (gguf_real_or(g, R_EXPERT_SCALE, 0.0) != 0.0) {
        p->experts.scale = (float)g->real[R_EXPERT_SCALE];
    }
}

/* The width of the shared experts, which act as one expert with the sum of their widths. */
static uint32_t shared_hidden(const struct gguf *g)
{
    uint64_t n = gguf_number_or(g, N_SHARED_EXPERTS, 0);

    if (g->family->family == INGOT_QWEN35_MOE && n == 0) {
        return gguf_narrow(gguf_number_or(g, N_SHARED_HIDDEN, g->s->params.experts.hidden));
    }
    if (g->has_number[N_SHARED_HIDDEN] || n > INGOT_MAX_EXPERTS) {
        return gguf_narrow(gguf_number_or(g, N_SHARED_HIDDEN, n));
    }
    return gguf_narrow(n * min_u64(g->s->params.experts.hidden, INGOT_MAX_HIDDEN + 1));
}

enum err gguf_read_experts(struct gguf *g)
{
    struct source_params *p = &g->s->params;
    uint64_t dense = gguf_number_or(g, N_DENSE_LAYERS, 0);
    enum err e = ERR_OK;

    if (gguf_number_or(g, N_EXPERTS, 0) == 0) {
        return ERR_OK;
    }
    if (!family_has(g->family, FAMILY_EXPERTS)) {
        return refuse_number(g, N_EXPERTS, "which this family does not have");
    }
    read_sizes(g);
    if (dense > p->n_layers) {
        return refuse_number(g, N_DENSE_LAYERS, "more than the model has layers");
    }
    e = check_counts(g);
    if (e == ERR_OK) {
        e = read_router(g);
    }
    if (e != ERR_OK) {
        return e;
    }
    for (uint32_t i = 0; i < min_u32(p->n_layers, INGOT_MAX_LAYERS); i++) {
        if (i >= dense && p->layers[i].ffn == INGOT_FFN_DENSE) {
            p->layers[i].ffn = INGOT_FFN_EXPERTS;
            p->layers[i].hidden = shared_hidden(g);
        }
    }
    return ERR_OK;
}
