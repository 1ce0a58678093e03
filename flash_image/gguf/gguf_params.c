/* A model's parameters from a GGUF file, and from its family if the file has none. */
#include <math.h>

#include "flash_image/gguf/gguf_private.h"
#include "runtime/image/image.h"

static uint32_t size_or(const struct gguf *g, enum gguf_number which, uint64_t otherwise)
{
    return gguf_narrow(gguf_number_or(g, which, otherwise));
}

static bool is_assistant(const struct gguf *g)
{
    return family_has(g->family, FAMILY_ASSISTANT);
}

static enum gguf_real eps_of(const struct gguf *g)
{
    if ((g->family->features & SOURCE_LAYER_NORM) != 0) {
        return R_LAYER_EPS;
    }
    return R_RMS_EPS;
}

static enum err check_needed(struct gguf *g)
{
    static const enum gguf_number needed[] = { N_CONTEXT, N_DIM, N_LAYERS, N_HEADS, N_HIDDEN };

    for (size_t i = 0; i < sizeof needed / sizeof needed[0]; i++) {
        if (!g->has_number[needed[i]] &&
            (needed[i] != N_HIDDEN || !g->has_number[N_EXPERT_HIDDEN])) {
            return source_refuse(g->s, ERR_BAD_MODEL, "%.*s%s is missing",
                                 GGUF_SHOW_KEY(g, gguf_number_name(needed[i])));
        }
    }
    if (!g->has_real[eps_of(g)]) {
        return source_refuse(g->s, ERR_BAD_MODEL, "%.*s%s is missing",
                             GGUF_SHOW_KEY(g, gguf_real_name(eps_of(g))));
    }
    if (g->number[N_HEADS] == 0 ||
        (!g->has_number[N_KEY_LENGTH] && g->number[N_DIM] % g->number[N_HEADS] != 0)) {
        return source_refuse(g->s, ERR_BAD_MODEL,
                             "%.*s%s is %llu, which does not divide the width %llu",
                             GGUF_SHOW_KEY(g, gguf_number_name(N_HEADS)),
                             (unsigned long long)g->number[N_HEADS],
                             (unsigned long long)g->number[N_DIM]);
    }
    if (g->has_number[N_CAUSAL] && g->number[N_CAUSAL] == 0) {
        return source_refuse(g->s, ERR_UNSUPPORTED,
                             "%.*s%s is false: the model does not generate text, so it cannot be "
                             "packed",
                             GGUF_SHOW_KEY(g, gguf_number_name(N_CAUSAL)));
    }
    return ERR_OK;
}

static void read_sizes(struct gguf *g)
{
    struct source_params *p = &g->s->params;
    uint64_t heads = g->number[N_HEADS];

    *p = (struct source_params){
        .dim = gguf_narrow(g->number[N_DIM]),
        .hidden = gguf_narrow(g->number[N_HIDDEN]),
        .n_layers = g->s->wants_mtp ? 1 : g->n_blocks - g->n_left_out,
        .mtp = g->s->wants_mtp || is_assistant(g),
        .tied = g->s->wants_mtp,
        .target_dim = size_or(g, N_TARGET_DIM, 0),
        .n_heads = gguf_narrow(heads),
        .n_kv_heads = size_or(g, N_KV_HEADS, heads),
        .head_dim = size_or(g, N_KEY_LENGTH, g->number[N_DIM] / heads),
        .vocab = g->s->vocab.n_tokens,
        .context = gguf_narrow(g->number[N_CONTEXT]),
        .head_dim_local = size_or(g, N_KEY_LENGTH_LOCAL, 0),
        .rope_dims_local = size_or(g, N_ROPE_DIMS_LOCAL, gguf_number_or(g, N_KEY_LENGTH_LOCAL, 0)),
        .per_layer_dim = size_or(g, N_PER_LAYER, 0),
    };
}

/* Find the MTP head, which must be the only block of the file that guesses tokens. */
static enum err find_mtp(struct gguf *g, uint64_t more)
{
    if (g->family->mixer != INGOT_MIXER_DELTA) {
        return source_refuse(g->s, ERR_UNSUPPORTED,
                             "MTP heads of the architecture '%.*s' are not supported: leave out "
                             "--mtp",
                             SOURCE_SHOW(g->architecture));
    }
    if (more != 1) {
        return source_refuse(g->s, ERR_UNSUPPORTED,
                             "%.*s%s is %llu, but only an MTP head of 1 block can be packed: "
                             "take a file of the model with its head, or leave out --mtp",
                             GGUF_SHOW_KEY(g, gguf_number_name(N_MORE_PREDICTED)),
                             (unsigned long long)more);
    }
    g->first_block = g->n_blocks - 1;
    return ERR_OK;
}

/* Check that an assistant's blocks all guess tokens, and that its model's width is known. */
static enum err check_assistant(struct gguf *g)
{
    static const enum gguf_number counts[] = { N_MORE_PREDICTED, N_SHARED_KV };

    if (gguf_number_or(g, N_TARGET_DIM, 0) == 0) {
        return source_refuse(g->s, ERR_BAD_MODEL,
                             "%.*s%s is missing: it is the width of the model "
                             "whose tokens the assistant guesses",
                             GGUF_SHOW_KEY(g, gguf_number_name(N_TARGET_DIM)));
    }
    for (size_t i = 0; i < sizeof counts / sizeof counts[0]; i++) {
        uint64_t n = gguf_number_or(g, counts[i], 0);

        if (n != 0 && n != g->n_blocks) {
            return source_refuse(g->s, ERR_UNSUPPORTED,
                                 "%.*s%s is %llu, but it has to be the number of blocks, %u",
                                 GGUF_SHOW_KEY(g, gguf_number_name(counts[i])),
                                 (unsigned long long)n, g->n_blocks);
        }
    }
    return ERR_OK;
}

/* Count the layers. The last blocks of a file may guess further tokens; these are not part of the
 * model. */
static enum err count_layers(struct gguf *g)
{
    uint64_t more = gguf_number_or(g, N_MORE_PREDICTED, 0);

    g->n_blocks = gguf_narrow(g->number[N_LAYERS]);
    if (is_assistant(g)) {
        return g->s->wants_mtp ? find_mtp(g, more) : check_assistant(g);
    }
    if (more == 0 && !g->s->wants_mtp) {
        return ERR_OK;
    }
    if (more >= g->n_blocks) {
        return source_refuse(g->s, ERR_BAD_MODEL, "%.*s%s is %llu, of %u blocks",
                             GGUF_SHOW_KEY(g, gguf_number_name(N_MORE_PREDICTED)),
                             (unsigned long long)more, g->n_blocks);
    }
    if (g->s->wants_mtp) {
        return find_mtp(g, more);
    }
    source_note(g->s,
                "the last %u of its %u blocks guess further tokens and are left out (`ingot pack "
                "--mtp` makes a draft of them)",
                (unsigned)more, g->n_blocks);
    g->n_left_out = (uint32_t)more;
    return ERR_OK;
}

/* True for values that mean nothing in the family's files: the converter writes the sizes of Mamba2
 * even for a Granite 4 without Mamba2, which it names "granite" or "granitemoe". */
static bool is_leftover(const struct gguf *g, unsigned number)
{
    enum ingot_family family = g->family->family;

    return (family == INGOT_GRANITE || family == INGOT_GRANITE_MOE) && number <= N_INNER_DIM;
}

/* Check values that only some families have. */
static enum err check_family(struct gguf *g)
{
    static const struct {
        enum gguf_number first, last;
        enum family_trait trait;
    } rules[] = {
        { N_KEY_LENGTH_LOCAL, N_ROPE_DIMS_LOCAL, FAMILY_TWO_WIDTHS },
        { N_SHARED_KV, N_SHARED_KV, FAMILY_SHARED_KV },
        { N_PER_LAYER, N_PER_LAYER, FAMILY_PER_LAYER },
        { N_TARGET_DIM, N_TARGET_DIM, FAMILY_ASSISTANT },
        { N_KV_RANK, N_VALUE_LENGTH_LATENT, FAMILY_LATENT },
    };

    for (unsigned n = N_CONV_TAPS; n <= N_VALUE_LENGTH_LATENT; n++) {
        bool has = g->family->mixer != INGOT_MIXER_NONE && n <= N_ATTENTION_EVERY;

        for (size_t i = 0; i < sizeof rules / sizeof rules[0]; i++) {
            has = has || (n >= rules[i].first && n <= rules[i].last &&
                          family_has(g->family, rules[i].trait));
        }
        if (!has && !is_leftover(g, n) && g->number[n] != 0) {
            return source_refuse(g->s, ERR_UNSUPPORTED,
                                 "the model sets %.*s%s, which its family does not have",
                                 GGUF_SHOW_KEY(g, gguf_number_name((enum gguf_number)n)));
        }
    }
    if (gguf_real_or(g, R_YARN_LOG, 0.0) != 0.0 && !family_has(g->family, FAMILY_LATENT)) {
        return source_refuse(g->s, ERR_UNSUPPORTED,
                             "the model sets %.*s%s, which its family does not have",
                             GGUF_SHOW_KEY(g, gguf_real_name(R_YARN_LOG)));
    }
    return ERR_OK;
}

/* Read the widths of latent keys. In files that separate the matrices of the heads, the widths of
 * queries and values have names of their own, because the usual names mean the cache's widths. */
static enum err read_latent(struct gguf *g)
{
    static const enum gguf_number needed[] = { N_KV_RANK, N_ROPE_DIMS, N_KEY_LENGTH,
                                               N_VALUE_LENGTH };
    bool apart = gguf_number_or(g, N_KEY_LENGTH_LATENT, 0) != 0;
    struct source_params *p = &g->s->params;

    if (!family_has(g->family, FAMILY_LATENT)) {
        return ERR_OK;
    }
    for (size_t i = 0; i < sizeof needed / sizeof needed[0]; i++) {
        if (gguf_number_or(g, needed[i], 0) == 0) {
            return source_refuse(g->s, ERR_BAD_MODEL, "%.*s%s is missing",
                                 GGUF_SHOW_KEY(g, gguf_number_name(needed[i])));
        }
    }
    p->latent.kv_rank = size_or(g, N_KV_RANK, 0);
    p->latent.q_rank = size_or(g, N_Q_RANK, 0);
    p->latent.query_dim = size_or(g, apart ? N_KEY_LENGTH_LATENT : N_KEY_LENGTH, 0);
    p->latent.value_dim = size_or(g, apart ? N_VALUE_LENGTH_LATENT : N_VALUE_LENGTH, 0);
    source_latent_params(p, size_or(g, N_ROPE_DIMS, 0));
    return ERR_OK;
}

/* Check that values are as wide as keys. */
static enum err check_widths(struct gguf *g)
{
    const struct source_params *p = &g->s->params;
    const struct {
        enum gguf_number number;
        uint32_t keys;
    } widths[] = {
        { N_VALUE_LENGTH, p->head_dim },
        { N_VALUE_LENGTH_LOCAL, p->head_dim_local },
    };

    for (size_t i = 0; i < sizeof widths / sizeof widths[0]; i++) {
        enum gguf_number n = widths[i].number;

        if (g->has_number[n] && g->number[n] != widths[i].keys && p->latent.kv_rank == 0) {
            return source_refuse(g->s, ERR_UNSUPPORTED,
                                 "%.*s%s is %llu: values of another width than "
                                 "keys are not supported",
                                 GGUF_SHOW_KEY(g, gguf_number_name(n)),
                                 (unsigned long long)g->number[n]);
        }
    }
    if (p->rope_dims_local > p->rope_dims) {
        return source_refuse(g->s, ERR_UNSUPPORTED,
                             "%.*s%s is %u, but must not exceed the %u of global layers",
                             GGUF_SHOW_KEY(g, gguf_number_name(N_ROPE_DIMS_LOCAL)),
                             p->rope_dims_local, p->rope_dims);
    }
    return ERR_OK;
}

/* True for two models of Gemma that scale scores by dim / n_heads instead of a head's width; their
 * files do not say so. */
static bool scales_by_width(const struct source_params *p)
{
    return (p->family == INGOT_GEMMA2 && p->n_layers == 46) ||
           (p->family == INGOT_GEMMA3 && p->n_layers == 62);
}

/* Set the multipliers that files of MiniCPM may lack, and older files always lack. */
static void set_usual_multipliers(struct source_params *p)
{
    if (p->family == INGOT_MINICPM) {
        p->embedding_scale = 12.0f;
        p->residual_scale = 1.4f / sqrtf((float)p->n_layers);
        p->logits_scale = 256.0f / (float)p->dim;
    }
}

/* Read the multipliers; 0 stands for the usual value. */
static enum err read_multipliers(struct gguf *g)
{
    struct source_params *p = &g->s->params;
    bool has = family_has(g->family, FAMILY_MULTIPLIERS);

    set_usual_multipliers(p);
    for (unsigned r = R_EMBEDDING_SCALE; r <= R_LOGITS_SCALE; r++) {
        double scale = g->real[r];

        if (scale == 0.0) {
            continue;
        }
        if (!has && scale != 1.0) {
            return source_refuse(g->s, ERR_UNSUPPORTED,
                                 "the model sets %.*s%s, which its family does not have",
                                 GGUF_SHOW_KEY(g, gguf_real_name((enum gguf_real)r)));
        }
        if (r == R_EMBEDDING_SCALE) {
            p->embedding_scale = has ? (float)scale : p->embedding_scale;
        } else if (r == R_RESIDUAL_SCALE) {
            p->residual_scale = (float)scale;
        } else {
            p->logits_scale = (float)(1.0 / scale); /* the file's scale divides */
        }
    }
    return ERR_OK;
}

/* The cap if the file gives none: Gemma 2 has caps that its first files do not mention. */
static double usual_cap(const struct source_params *p, double cap)
{
    return p->family == INGOT_GEMMA2 ? cap : 0.0;
}

static void read_scales(struct gguf *g)
{
    struct source_params *p = &g->s->params;

    p->norm_eps = (float)g->real[eps_of(g)];
    p->rope_base = (float)gguf_real_or(g, R_ROPE_BASE, (double)p->rope_base);
    p->rope_dims = size_or(g, N_ROPE_DIMS, p->head_dim);
    if (scales_by_width(p)) {
        p->attn_scale = 1.0f / sqrtf((float)(p->dim / p->n_heads));
    }
    if (gguf_real_or(g, R_ATTN_SCALE, 0.0) != 0.0) {
        p->attn_scale = (float)g->real[R_ATTN_SCALE];
    }
    p->attn_softcap = (float)gguf_real_or(g, R_ATTN_SOFTCAP, usual_cap(p, 50.0));
    p->final_softcap = (float)gguf_real_or(g, R_FINAL_SOFTCAP, usual_cap(p, 30.0));
    if (is_assistant(g)) {
        p->final_softcap = 0.0f; /* an assistant's file repeats the model's cap, which other
                                    programs ignore */
    }
}

/* Choose between families that share a name in GGUF. */
static void choose_family(struct gguf *g)
{
    if (g->family->family != INGOT_LLAMA) {
        return;
    }
    if (gguf_number_or(g, N_EXPERTS, 0) != 0) {
        g->family = family_find(INGOT_MIXTRAL);
    } else if (g->number[N_WINDOW] != 0) {
        g->family = family_find(INGOT_MISTRAL);
    }
}

/* If a value or a size shows that the model differs from its family, adapt the family's
 * features. */
static void adapt_family(struct gguf *g)
{
    struct source_params *p = &g->s->params;

    if (family_has(g->family, FAMILY_MAY_ROPE) && gguf_number_or(g, N_MAY_ROPE, 1) == 0) {
        p->rope = SOURCE_ROPE_NONE;
    }
    if (p->family == INGOT_BITNET && source_text_is(g->architecture, "bitnet") &&
        p->n_kv_heads == p->n_heads) {
        p->features &= ~(uint32_t)SOURCE_RELU2; /* the first models, without grouped heads */
    }
}

static enum err read_all(struct gguf *g)
{
    enum err e;

    family_set_params(g->s, g->family, true);
    adapt_family(g);
    e = read_latent(g);
    if (e != ERR_OK) {
        return e;
    }
    read_scales(g);
    e = read_multipliers(g);
    if (e == ERR_OK) {
        e = check_widths(g);
    }
    if (e == ERR_OK) {
        e = gguf_read_windows(g);
    }
    if (e == ERR_OK) {
        e = gguf_read_layers(g);
    }
    if (e != ERR_OK) {
        return e;
    }
    gguf_read_recurrent(g);
    return gguf_read_experts(g);
}

enum err gguf_read_params(struct gguf *g)
{
    enum err e = check_needed(g);

    if (e == ERR_OK) {
        e = count_layers(g);
    }
    if (e != ERR_OK) {
        return e;
    }
    choose_family(g);
    e = check_family(g);
    if (e != ERR_OK) {
        return e;
    }
    read_sizes(g);
    e = read_all(g);
    if (e == ERR_OK) {
        e = source_check_params(g->s);
    }
    g->s->params_known = e == ERR_OK;
    return e;
}

/* Find biases that only some models of a family have. Models of Qwen2, StarCoder2 and gpt-oss have
 * them, but llama.cpp also reads files of these families without biases of q, k and v. */
static void find_biases(struct source *s)
{
    struct source_params *p = &s->params;
    bool has = source_tensor(s, INGOT_ATTN_Q_BIAS, 0)->data != NULL;

    if (!has &&
        (p->family == INGOT_QWEN2 || p->family == INGOT_STARCODER2 || p->family == INGOT_GPT_OSS)) {
        p->features &= ~(uint32_t)SOURCE_QKV_BIAS;
    }
    if (p->family != INGOT_LLAMA && p->family != INGOT_MISTRAL) {
        return;
    }
    if (has) {
        p->features |= SOURCE_QKV_BIAS;
    }
    if (source_tensor(s, INGOT_ATTN_OUT_BIAS, 0)->data != NULL) {
        p->features |= SOURCE_OUT_BIAS;
    }
}

/* Find layers that use their own keys as values, too: such layers have no matrix for values. */
static void find_values(struct source *s)
{
    for (unsigned i = 0; i < s->params.n_layers; i++) {
        struct source_layer_params *l = &s->params.layers[i];

        l->v_is_k = l->mixer == INGOT_MIXER_ATTENTION && l->kv_layer == i &&
                    source_tensor(s, INGOT_ATTN_V, i)->data == NULL &&
                    source_tensor(s, INGOT_ATTN_K, i)->data != NULL;
    }
}

enum err gguf_finish_params(struct gguf *g)
{
    enum err e;

    find_biases(g->s);
    if (family_has(g->family, FAMILY_TWO_WIDTHS)) {
        find_values(g->s);
    }
    e = gguf_read_rope(g);
    if (e != ERR_OK) {
        return e;
    }
    return source_check_params(g->s);
}
