/* For `ingot info`: the features that only some layers have, in words. */
#include "host/plan/info.h"
#include "runtime/text/format_text.h"
#include "runtime/text/plural.h"

enum { MIXERS = INGOT_MIXER_MAMBA2 + 1 };

/* The number of layers of each kind, and the first of each. */
struct census {
    const struct image *img;
    uint32_t n; /* of layers */
    uint32_t mixers[MIXERS], parallel, unfed, experts, ropes, shared_kv, v_is_k;
    const struct ingot_layer *recurrent, *expert, *late, *wide, *v_norm, *local, *latent;
};

/* Return how many numbers a recurrent layer keeps: the convolution's earlier rows, and sums. */
static uint64_t state_floats(const struct ingot_layer *l, unsigned mixer)
{
    uint64_t rows = l->conv_taps - 1, channels = 2 * l->n_groups * l->state_dim + l->inner_dim;

    if (mixer == INGOT_MIXER_NONE || mixer == INGOT_MIXER_ATTENTION || l->conv_taps == 0) {
        return 0;
    }
    return rows * channels + (uint64_t)l->inner_dim * l->state_dim;
}

static uint64_t layer_state(const struct ingot_layer *l)
{
    return state_floats(l, l->mixer) + state_floats(l, l->parallel);
}

uint64_t info_state_bytes(const struct image *img)
{
    uint64_t floats = 0;

    for (uint32_t i = 0; i < img->header->params.n_layers; i++) {
        floats += layer_state(image_layer(img, i));
    }
    return floats * sizeof(float);
}

static void note_first(const struct ingot_layer **first, const struct ingot_layer *l, bool is)
{
    if (is && *first == NULL) {
        *first = l;
    }
}

static void count_layer(struct census *c, uint32_t number)
{
    const struct ingot_layer *l = image_layer(c->img, number);

    if (l->mixer < MIXERS) {
        c->mixers[l->mixer]++;
    }
    c->parallel += l->parallel != INGOT_MIXER_NONE;
    c->unfed += l->ffn == INGOT_FFN_NONE;
    c->experts += l->ffn == INGOT_FFN_EXPERTS;
    c->ropes += l->rope != INGOT_NO_ROPE;
    c->shared_kv += (l->features & INGOT_SHARED_KV) != 0;
    c->v_is_k += (l->features & INGOT_V_IS_K) != 0;
    note_first(&c->recurrent, l, layer_state(l) != 0);
    note_first(&c->local, l, l->window != 0 && l->head_dim != c->img->header->params.head_dim);
    note_first(&c->expert, l, l->ffn == INGOT_FFN_EXPERTS);
    note_first(&c->late, l, (l->features & INGOT_QK_NORM_LATE) != 0);
    note_first(&c->wide, l, (l->features & INGOT_QK_NORM_WIDE) != 0);
    note_first(&c->latent, l, (l->features & INGOT_LATENT_KV) != 0);
    note_first(&c->v_norm, l, (l->features & INGOT_V_NORM) != 0);
}

/* Add "WHAT in n of N layers", if some but not all layers have it. */
static void add_some(struct info_features *f, const struct census *c, const char *what, uint32_t n)
{
    if (n != 0 && n != c->n) {
        info_add(f, "%s in %u of %u layers", what, n, c->n);
    } else if (n != 0) {
        info_add(f, "%s in all layers", what);
    }
}

static void add_mixers(struct info_features *f, const struct census *c)
{
    static const char *const names[MIXERS] = {
        [INGOT_MIXER_NONE] = "no mixer",           [INGOT_MIXER_ATTENTION] = "attention",
        [INGOT_MIXER_DELTA] = "a gated delta net", [INGOT_MIXER_SHORTCONV] = "a short convolution",
        [INGOT_MIXER_MAMBA2] = "Mamba2",
    };
    char size[FORMAT_NUMBER_BYTES];

    for (unsigned i = 0; i < MIXERS; i++) {
        if (c->mixers[INGOT_MIXER_ATTENTION] != c->n) {
            add_some(f, c, names[i], c->mixers[i]);
        }
    }
    add_some(f, c, "Mamba2 beside attention", c->parallel);
    add_some(f, c, "no feed-forward", c->unfed);
    if (c->recurrent == NULL) {
        return;
    }
    info_add(f, "a convolution of %u positions", c->recurrent->conv_taps);
    if (c->recurrent->inner_heads != 0) {
        info_add(f, "%u recurrent heads of %u with %u %s of %u", c->recurrent->inner_heads,
                 c->recurrent->inner_dim / c->recurrent->inner_heads, c->recurrent->n_groups,
                 plural(c->recurrent->n_groups, "group", "groups"), c->recurrent->state_dim);
    }
    info_add(f, "a state of %s", format_bytes(size, info_state_bytes(c->img)));
}

static void add_experts(struct info_features *f, const struct census *c)
{
    static const char *const routers[] = {
        [INGOT_ROUTER_SOFTMAX] = "chosen by softmax",
        [INGOT_ROUTER_SOFTMAX_CHOSEN] = "weighed by softmax of the chosen",
        [INGOT_ROUTER_SIGMOID] = "chosen by sigmoid",
    };
    const struct ingot_layer *l = c->expert;

    if (l == NULL) {
        return;
    }
    info_add(f, "%u experts of %u in %u of %u layers", l->n_experts, l->expert_hidden, c->experts,
             c->n);
    info_add(f, "%u used", l->n_experts_used);
    info_add(f, "%s", routers[l->router]);
    if (l->expert_groups != 0) {
        info_add(f, "from %u of %u groups", l->expert_groups_used, l->expert_groups);
    }
    if ((l->features & INGOT_RENORMALIZE) != 0) {
        info_add(f, "weights sum to 1");
    }
    if (l->hidden != 0) {
        info_add(f, "a shared expert of %u", l->hidden);
    }
    if (info_has(c->img, INGOT_SHARED_SCALE)) {
        info_add(f, "gated for each position");
    }
}

static void add_attention(struct info_features *f, const struct census *c)
{
    const struct ingot_params *p = &c->img->header->params;

    if (c->wide != NULL) {
        info_add(f, "q/k norms over all heads");
    }
    if (c->late != NULL) {
        info_add(f, "q/k norms after the rope");
    }
    if (c->local != NULL) {
        info_add(f, "heads of %u where there is a window", c->local->head_dim);
    }
    if (c->latent != NULL) {
        info_add(f, "latent keys of %u, and %u more that rotate", c->latent->kv_rank,
                 c->latent->head_dim - c->latent->kv_rank);
        info_add(f, "queries of %u, values of %u", c->latent->query_dim, c->latent->value_dim);
    }
    if (c->v_norm != NULL) {
        info_add(f, "values normed");
    }
    if (c->ropes != 0 && c->ropes != c->mixers[INGOT_MIXER_ATTENTION]) {
        add_some(f, c, "rope", c->ropes);
    }
    add_some(f, c, "keys of other layers", c->shared_kv);
    add_some(f, c, "values are keys", c->v_is_k);
    if (p->per_layer_dim != 0) {
        info_add(f, "an embedding of %u for each layer", p->per_layer_dim);
    }
}

void info_add_layers(struct info_features *f, const struct image *img)
{
    struct census c = { .img = img, .n = img->header->params.n_layers };

    for (uint32_t i = 0; i < c.n; i++) {
        count_layer(&c, i);
    }
    add_mixers(f, &c);
    add_attention(f, &c);
    add_experts(f, &c);
}
