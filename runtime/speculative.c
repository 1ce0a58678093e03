#include "runtime/speculative.h"

#include <string.h>

#include "runtime/console.h"
#include "runtime/format_text.h"
#include "runtime/ngram.h"

enum engine_guesses speculative_room(const struct options *o)
{
    if (o->spec == SPEC_OFF) {
        return ENGINE_NO_GUESSES;
    }
    return o->draft[0] != '\0' || o->spec == SPEC_NGRAM ? ENGINE_GUESSES : ENGINE_NO_GUESSES;
}

struct engine_setup speculative_draft_setup(const struct engine_setup *target,
                                            const struct file *file)
{
    struct engine_setup setup = *target;

    setup.file = file;
    setup.weight_limit = 0;
    setup.kv_type = KV_F16; /* what is guessed need not be exact */
    setup.guesses = ENGINE_NO_GUESSES;
    setup.draft = true;
    return setup;
}

void speculative_leave(struct engine_setup *target, const struct engine *draft)
{
    size_t taken = (size_t)(draft->arena.base - (uint8_t *)target->ram.base) + engine_bytes(draft);

    target->ram.base = draft->arena.base + engine_bytes(draft);
    target->ram.bytes -= taken;
}

static bool same_tokens(const struct tokenizer *a, const struct tokenizer *b)
{
    for (uint32_t id = 0; id < a->head->n_tokens; id++) {
        size_t bytes = tokenizer_text_bytes(a, id);

        if (bytes != tokenizer_text_bytes(b, id) ||
            memcmp(tokenizer_text(a, id), tokenizer_text(b, id), bytes) != 0) {
            return false;
        }
    }
    return true;
}

enum err speculative_check(struct engine *draft, const struct engine *engine)
{
    const struct tokenizer *a = &draft->tokenizer, *b = &engine->tokenizer;

    if (draft->image.header->params.vocab == engine->image.header->params.vocab &&
        a->head->n_tokens == b->head->n_tokens && same_tokens(a, b)) {
        return ERR_OK;
    }
    format_text(draft->problem, sizeof draft->problem,
                "%.100s: not the vocabulary of %.100s, so it cannot guess its tokens: choose a "
                "smaller model of the same family as draft=", draft->file->name,
                engine->file->name);
    return ERR_UNSUPPORTED;
}

void speculative_open(struct speculative *s, struct engine *engine, struct engine *draft)
{
    memset(s, 0, sizeof *s);
    s->engine = engine;
    s->draft = draft;
    s->on = engine_most_guesses(engine) != 0;
    s->length = SPECULATIVE_LEAST;
    if (draft != NULL) {
        draft->hashes = false;
    }
}

/* ---- the draft's cache --------------------------------------------------------------------- */

struct waiting {
    struct speculative *s;
    bool (*should_stop)(void *);
    void *context;
};

/* Between two of the draft's layers: the model's own layers are on their way. */
static bool keep_card_busy(void *context)
{
    struct waiting *w = context;

    stream_poll(&w->s->engine->stream);
    return w->should_stop != NULL && w->should_stop(w->context);
}

/* The draft's cache holds the first n of the model's ids, n >= 1, and its logits are those after
 * the last of them. What it has in common with them stays. */
static enum err follow(struct speculative *s, uint32_t n, struct waiting *w)
{
    const uint32_t *ids = s->engine->ids;
    struct engine *d = s->draft;
    uint32_t common = 0;

    while (common < d->kv.length && common < n - 1 && d->ids[common] == ids[common]) {
        common++;
    }
    d->kv.length = common;
    return engine_append(d, ids + common, n - common, keep_card_busy, w);
}

void speculative_follow(struct speculative *s, bool (*should_stop)(void *), void *context)
{
    struct waiting w = { s, should_stop, context };

    if (s->draft != NULL) {
        (void)follow(s, s->engine->kv.length, &w);
    }
}

/* ---- guessing ------------------------------------------------------------------------------- */

/* Up to `most` ids behind the engine's ids[0 .. n). An error of the draft is the end of its guesses
 * and nothing else. */
static uint32_t guess_by_draft(struct speculative *s, struct sampler *sampler, uint32_t n,
                               uint32_t most, struct waiting *w)
{
    struct engine *e = s->engine, *d = s->draft;
    enum err error = follow(s, n, w);
    uint32_t i = 0;

    while (error == ERR_OK) {
        uint32_t id = sampler_guess(sampler, d->logits, d->image.header->params.vocab, e->ids,
                                    n + i, d->kernels, e->scratch, &s->guesses[i]);

        if (id == SAMPLER_NO_TOKEN) {
            break;
        }
        e->ids[n + i++] = id;
        if (i == most) {
            break;
        }
        error = engine_append(d, &id, 1, keep_card_busy, w);
    }
    return i;
}

static uint32_t least(uint32_t a, uint32_t b)
{
    return a < b ? a : b;
}

/* A run that came true whole may be longer next time, one that failed ends a little behind where
 * this one did. By counts alone, so that equal seeds give equal texts. */
static void adapt_length(struct speculative *s)
{
    if (s->n_guessed == 0) {
        return;
    }
    if (s->n_right == s->n_guessed) {
        s->length = least(s->length + 2, SPECULATIVE_MOST);
    } else if (s->length > SPECULATIVE_LEAST) {
        s->length--;
    }
}

static uint32_t guess(struct speculative *s, struct sampler *sampler, uint32_t most,
                      struct waiting *w)
{
    struct engine *e = s->engine;
    uint32_t n = e->kv.length + 1;

    adapt_length(s);
    most = least(most, s->length);
    most = least(most, engine_most_guesses(e));
    most = least(most, e->kv.context - n);
    if (most == 0) {
        return 0;
    }
    return s->draft != NULL ? guess_by_draft(s, sampler, n, most, w)
                            : ngram_guess(e->ids, n, SPECULATIVE_GRAM, most);
}

uint32_t speculative_pick(struct speculative *s, struct sampler *sampler)
{
    struct engine *e = s->engine;
    uint32_t vocab = e->image.header->params.vocab;

    if (s->draft == NULL || e->n_ahead == 0) {
        return sampler_pick(sampler, e->logits, vocab, e->ids, e->kv.length, e->kernels,
                            e->scratch);
    }
    return sampler_judge(sampler, e->logits, vocab, e->ids, e->kv.length, e->kernels, e->scratch,
                         &s->guesses[s->n_guessed - e->n_ahead], e->ids[e->kv.length]);
}

enum err speculative_append(struct speculative *s, struct sampler *sampler, uint32_t most,
                            bool (*should_stop)(void *), void *context)
{
    struct engine *e = s->engine;
    struct waiting w = { s, should_stop, context };
    enum err error;

    if (e->n_ahead != 0) {
        engine_take_guess(e);
        s->n_right++;
        s->figures.right++;
        return ERR_OK;
    }
    s->n_guessed = s->on ? guess(s, sampler, most - 1, &w) : 0;
    s->n_right = 0;
    if (s->n_guessed == 0) {
        return engine_append(e, e->ids + e->kv.length, 1, should_stop, context);
    }
    error = engine_append_guesses(e, s->n_guessed, should_stop, context);
    s->figures.guessed += error == ERR_OK ? s->n_guessed : 0;
    return error;
}
