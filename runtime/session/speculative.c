#include "runtime/session/speculative.h"

#include <string.h>

#include "runtime/console/console.h"
#include "runtime/session/ngram.h"
#include "runtime/text/format_text.h"

/* Before anything is measured. A speculation that was asked for saves passes of a slow card, beside
 * which a guess costs little: see docs/EXPERIMENTS.md. */
#define FIRST_RATE 0.7f
#define FIRST_COST 0.1f
#define ASKED_COST 0.03125f

enum engine_guesses speculative_room(const struct options *o)
{
    if (o->spec == SPEC_OFF) {
        return ENGINE_NO_GUESSES;
    }
    return o->draft[0] != '\0' || o->spec == SPEC_NGRAM ? ENGINE_GUESSES
                                                        : ENGINE_GUESSES_IF_STREAMED;
}

struct engine_setup speculative_draft_setup(const struct engine_setup *target,
                                            const struct file *file)
{
    struct engine_setup setup = *target;

    setup.file = file;
    setup.weight_limit = 0;
    setup.kv_type = KV_F16; /* what is guessed need not be exact */
    setup.kv_card = false;
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
                "smaller model of the same family as draft=",
                draft->file->name, engine->file->name);
    return ERR_UNSUPPORTED;
}

void speculative_open(struct speculative *s, struct engine *engine, struct engine *draft,
                      const struct options *o)
{
    memset(s, 0, sizeof *s);
    s->engine = engine;
    s->draft = draft;
    s->on = engine_most_guesses(engine) != 0;
    s->timed = speculative_room(o) == ENGINE_GUESSES_IF_STREAMED;
    s->cost = s->timed ? FIRST_COST : ASKED_COST;
    for (uint32_t i = 0; i <= NGRAM_LONGEST; i++) {
        s->rate[i] = FIRST_RATE;
    }
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

/* What the last run tells of its source. One that is not used comes slowly back to what it began
 * with, so that it is tried again. */
static void learn_rate(struct speculative *s)
{
    float *rate = &s->rate[s->source];

    if (s->n_guessed == 0) {
        *rate += (FIRST_RATE - *rate) / 64;
    }
    for (uint32_t i = 0; i < s->n_guessed && i <= s->n_right; i++) {
        *rate += ((i < s->n_right ? 1.0f : 0.0f) - *rate) / 16;
    }
}

/* A round of n guesses took so long. */
static void learn_cost(struct speculative *s, uint32_t n, uint64_t ticks)
{
    float t = (float)ticks, more;

    if (n == 0) {
        s->plain_ticks += s->plain_ticks == 0 ? t : (t - s->plain_ticks) / 8;
    } else if (s->timed) {
        more = (t - s->plain_ticks) / ((float)n * s->plain_ticks);
        s->cost += ((more > 0 ? more : 0) - s->cost) / 8;
    }
}

/* The length with the most tokens for the time: 1 + a + a^2 ... + a^n of them in a pass that costs
 * 1 + n c. 0: guessing does not pay. */
static uint32_t best_length(const struct speculative *s, float a)
{
    float tokens = 1 + a, power = a, best = 1;
    uint32_t length = 0;

    if (s->timed && s->plain_ticks == 0) {
        return 0;
    }
    for (uint32_t n = SPECULATIVE_LEAST; n <= SPECULATIVE_MOST; n++) {
        power *= a;
        tokens += power;
        if (tokens > best * (1 + (float)n * s->cost)) {
            best = tokens / (1 + (float)n * s->cost);
            length = n;
        }
    }
    return length;
}

static uint32_t guess(struct speculative *s, struct sampler *sampler, uint32_t most,
                      struct waiting *w)
{
    struct engine *e = s->engine;
    uint32_t n = e->kv.length + 1;

    most = least(most, engine_most_guesses(e));
    most = least(most, e->kv.context - n);
    if (s->draft != NULL) {
        most = least(most, best_length(s, s->rate[0]));
        return most == 0 ? 0 : guess_by_draft(s, sampler, n, most, w);
    }
    s->source = ngram_guess(e->ids, n, most);
    return s->source == 0 ? 0 : least(most, best_length(s, s->rate[s->source]));
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
    uint64_t start;
    enum err error;

    if (e->n_ahead != 0) {
        engine_take_guess(e);
        s->n_right++;
        s->stats.right++;
        return ERR_OK;
    }
    if (!s->on) {
        return engine_append(e, e->ids + e->kv.length, 1, should_stop, context);
    }
    learn_rate(s);
    start = board.ticks();
    s->n_right = 0;
    s->n_guessed = guess(s, sampler, most - 1, &w);
    error = engine_append_guesses(e, s->n_guessed, should_stop, context);
    if (error != ERR_OK) {
        s->n_guessed = 0;
        return error;
    }
    learn_cost(s, s->n_guessed, board.ticks() - start);
    s->stats.guessed += s->n_guessed;
    return ERR_OK;
}
