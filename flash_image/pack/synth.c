/* Made-up models: real shapes, random weights, a vocabulary of made-up syllables. Such
 * models serve tests without downloads, and measurements in which the weights' values do not
 * matter. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "flash_image/pack/pack.h"
#include "flash_image/pack/synth_shapes.h"
#include "flash_image/quantize/synthetic_rows.h"
#include "flash_image/source/families.h"
#include "runtime/image/image.h"

enum { BYTE_TOKENS = 3, FIRST_TEXT = 259, TOKEN_BYTES = 16 };

/* ---- the vocabulary, in GGUF's layout -------------------------------------------------------- */

struct vocabulary {
    uint8_t *texts, *scores, *types;
    size_t bytes;
};

static void put_u32(uint8_t *p, uint32_t v)
{
    for (int i = 0; i < 4; i++) {
        p[i] = (uint8_t)(v >> 8 * i);
    }
}

/* Printable ASCII comes first, so that every English text has tokens; then words of syllables. */
static int token_text(uint32_t id, char text[TOKEN_BYTES])
{
    static const char *const names[BYTE_TOKENS] = { "<unk>", "<s>", "</s>" };
    static const char first[] = "bdfgklmnprstvz";
    static const char second[] = "aeiou";
    uint32_t n = id - FIRST_TEXT;
    int used = 0;

    if (id < BYTE_TOKENS) {
        return snprintf(text, TOKEN_BYTES, "%s", names[id]);
    }
    if (id < FIRST_TEXT) {
        return snprintf(text, TOKEN_BYTES, "<0x%02X>", (unsigned)(id - BYTE_TOKENS));
    }
    if (n == 0) {
        return snprintf(text, TOKEN_BYTES, "\xe2\x96\x81");
    }
    if (n < 95) {
        return snprintf(text, TOKEN_BYTES, "%c", (char)(' ' + n));
    }
    n -= 95;
    if (n % 2 != 0) {
        used = snprintf(text, TOKEN_BYTES, "\xe2\x96\x81");
    }
    for (n = n / 2 + 1; n != 0 && used < TOKEN_BYTES - 3; n /= 70) {
        text[used++] = first[n % 70 / 5];
        text[used++] = second[n % 5];
    }
    text[used] = '\0';
    return used;
}

static uint32_t token_type(uint32_t id)
{
    if (id == 0) {
        return INGOT_TOKEN_UNKNOWN;
    }
    if (id < BYTE_TOKENS) {
        return INGOT_TOKEN_CONTROL;
    }
    if (id < FIRST_TEXT) {
        return INGOT_TOKEN_BYTE;
    }
    return INGOT_TOKEN_NORMAL;
}

static bool make_vocabulary(struct source *s, struct vocabulary *v)
{
    uint32_t n = s->params.vocab;

    v->texts = calloc(n, 8 + TOKEN_BYTES);
    v->scores = calloc(n, 4);
    v->types = calloc(n, 4);
    if (v->texts == NULL || v->scores == NULL || v->types == NULL) {
        return false;
    }
    for (uint32_t id = 0; id < n; id++) {
        char text[TOKEN_BYTES];
        int bytes = token_text(id, text);
        float score = -(float)id;

        put_u32(v->texts + v->bytes, (uint32_t)bytes);
        memcpy(v->texts + v->bytes + 8, text, (size_t)bytes);
        v->bytes += 8 + (size_t)bytes;
        memcpy(v->scores + 4 * (size_t)id, &score, sizeof score);
        put_u32(v->types + 4 * (size_t)id, token_type(id));
    }
    s->vocab.layout = SOURCE_GGUF_VOCAB;
    s->vocab.n_tokens = n;
    s->vocab.texts = v->texts;
    s->vocab.scores = v->scores;
    s->vocab.types = v->types;
    s->vocab.bos = 1;
    s->vocab.eos = 2;
    s->vocab.unk = 0;
    s->vocab.eot = INGOT_NO_TOKEN;
    s->vocab.flags = INGOT_ADD_BOS | INGOT_ADD_SPACE_PREFIX;
    return true;
}

/* ---- the model ------------------------------------------------------------------------------- */

/* Change the family's layers to those of the shape. */
static void set_layers(struct source_params *p, const struct synth_layers *l)
{
    p->recurrent.conv_taps = l->conv_taps;
    p->recurrent.n_groups = l->n_groups;
    p->recurrent.inner_heads = l->inner_heads;
    p->recurrent.state_dim = l->state_dim;
    p->recurrent.inner_dim = l->inner_dim;
    p->experts.n = l->n_experts;
    p->experts.used = l->n_used;
    p->experts.hidden = l->expert_hidden;
    p->experts.scale = 1.0f;
    if (l->rope_dims != 0) {
        p->rope_dims = l->rope_dims;
    }
    for (uint32_t i = 0; i < p->n_layers; i++) {
        if (i < l->n_recurrent) {
            p->layers[i].mixer = (uint8_t)l->mixer;
            p->layers[i].n_kv_heads = 0;
        }
        if (l->n_experts != 0) {
            p->layers[i].ffn = INGOT_FFN_EXPERTS;
        }
    }
}

static enum err set_params(struct source *s, const struct synth_shape *shape)
{
    const struct family *f = family_find(shape->family);
    struct source_params *p = &s->params;

    p->dim = shape->dim;
    p->hidden = shape->hidden;
    p->n_layers = shape->n_layers;
    p->n_heads = shape->n_heads;
    p->n_kv_heads = shape->n_kv_heads;
    p->head_dim = shape->dim / shape->n_heads;
    if (shape->head_dim != 0) {
        p->head_dim = shape->head_dim;
    }
    p->vocab = shape->vocab;
    p->context = shape->context;
    p->tied = shape->tied;
    family_set_params(s, f, true);
    p->norm_eps = 1e-5f;
    if (shape->layers != NULL) {
        set_layers(p, shape->layers);
    }
    s->params_known = true;
    return family_set_window(s, f, shape->window, f->global_every);
}

/* Return the role's part of the seed. Four roles were added to the list later; they must not change
 * the older made-up models, from which tests expect certain replies. */
static uint32_t role_seed(enum ingot_role role)
{
    return (uint32_t)role - (role > INGOT_ATTN_Q_A_NORM ? 2 : 0) - (role > INGOT_ATTN_V_B ? 2 : 0);
}

static void set_tensor(struct source *s, enum ingot_role role, unsigned layer, uint32_t seed,
                       bool sparse)
{
    struct source_tensor *t = source_tensor(s, role, layer);

    /* A router of zeros would always choose the first experts. */
    t->data = synthetic_data(sparse && layer != INGOT_NO_LAYER && role != INGOT_ROUTER);
    t->type = SOURCE_SYNTH;
    t->group = (uint32_t)synthetic_mix(synthetic_mix((uint64_t)seed << 32 | role_seed(role)) +
                                       layer);
    source_role_shape(s, role, layer, &t->rows, &t->cols);
    if (role == INGOT_SSM_A) {
        t->add = -2.0f; /* values become about -1, so that a state fades */
    }
    if (role >= INGOT_EXPERT_GATE && role <= INGOT_EXPERT_DOWN_BIAS) {
        t->stack = s->params.experts.n;
    }
}

/* Give data to the slots of optional tensors, which makes them exist. */
static void set_gates(struct source *s, uint32_t seed)
{
    for (unsigned i = 0; i < s->params.n_layers; i++) {
        if (s->params.layers[i].mixer == INGOT_MIXER_ATTENTION) {
            set_tensor(s, INGOT_ATTN_GATE, i, seed, false);
        }
    }
}

static void set_tensors(struct source *s, uint32_t seed, bool sparse)
{
    for (struct source_slot at = source_first_slot; at.role < INGOT_N_ROLES;
         source_next_slot(&s->params, &at)) {
        if (source_has_role(s, at.role, at.layer)) {
            set_tensor(s, at.role, at.layer, seed, sparse);
        }
    }
}

enum err pack_synth(const struct pack_options *o, uint32_t seed, char *error_message,
                    size_t error_message_bytes)
{
    const struct synth_shape *shape = synth_shape_find(o->input, error_message,
                                                       error_message_bytes);
    struct vocabulary v = { 0 };
    struct source *s;
    enum err e = ERR_NO_SPACE;

    if (shape == NULL) {
        return ERR_NOT_FOUND;
    }
    s = calloc(1, sizeof *s);
    if (s != NULL) {
        s->path = o->input;
        s->name.data = (const uint8_t *)shape->name;
        s->name.bytes = strlen(shape->name);
        e = set_params(s, shape);
    }
    if (s == NULL || !make_vocabulary(s, &v)) {
        snprintf(error_message, error_message_bytes, "out of memory");
    } else if (e == ERR_OK) {
        if (shape->layers != NULL && shape->layers->gated) {
            set_gates(s, seed);
        }
        set_tensors(s, seed, shape->sparse);
        e = pack_source(s, o, error_message, error_message_bytes);
    }
    free(v.texts);
    free(v.scores);
    free(v.types);
    free(s);
    return e;
}
