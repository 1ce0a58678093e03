#include "runtime/compute/kv_tiers.h"
#include "runtime/session/speculative.h"

#include <string.h>

#include "board/min_max.h"
#include "runtime/session/ngram.h"
#include "runtime/session/session_rope.h"
#include "runtime/session/speculative_mtp.h"
#include "runtime/text/format_text.h"

/* Rates that are assumed before any are measured. A user requests guesses to save passes over a
 * slow card. Compared with such a pass a guess costs little
 * (docs/experiments/guessing-ahead.md). */
#define FIRST_RATE 0.7f
#define FIRST_COST 0.1f
#define ASKED_COST 0.03125f

/* Number of timed guesses before a verdict. If guesses did not save time, the next tokens are not
 * guessed. */
enum {
    TRIAL_GUESSES = 16,
    TRIAL_LEAST_RIGHT = 4 /* at least one guess in this many must be right */,
    REST_FIRST = 256,
    REST_MOST = 1 << 16
};

enum model_guesses speculative_room(const struct speculative_params *p)
{
    if (p->mode == SPECULATIVE_OFF) {
        return MODEL_NO_GUESSES;
    }
    if (p->has_draft || p->mode == SPECULATIVE_NGRAM) {
        return MODEL_GUESSES;
    }
    return MODEL_GUESSES_IF_STREAMED;
}

struct model_setup speculative_draft_setup(const struct model_setup *target,
                                           const struct file *file)
{
    struct model_setup setup = *target;

    setup.file = file;
    setup.limits.weights = 0;
    setup.limits.kv = kv_both(KV_F16); /* exact enough for guesses */
    setup.limits.kv_card = false;
    setup.guesses = MODEL_NO_GUESSES;
    setup.sequences = 1;
    setup.spare_sequences = 0;
    setup.learn_bytes = NULL;
    setup.sequence_bytes = session_draft_bytes;
    setup.draft = true;
    return setup;
}

void speculative_leave(struct model_setup *target, const struct model *draft)
{
    size_t taken = (size_t)(draft->arena.base - (uint8_t *)target->ram.base) + model_bytes(draft);

    target->ram.base = draft->arena.base + model_bytes(draft);
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

enum err speculative_check(struct model *draft, const struct model *model)
{
    const struct tokenizer *a = &draft->tokenizer, *b = &model->tokenizer;

    if (draft->image.header->params.vocab == model->image.header->params.vocab &&
        a->head->n_tokens == b->head->n_tokens && same_tokens(a, b)) {
        return speculative_mtp_check(draft, model);
    }
    format_text(draft->error_message, sizeof draft->error_message,
                "%.100s: its vocabulary differs from that of %.100s, so it cannot guess its "
                "tokens: choose a smaller model of the same family as draft=",
                draft->file->name, model->file->name);
    return ERR_UNSUPPORTED;
}

void speculative_open(struct speculative *s, struct session *session, struct session *draft,
                      const struct speculative_params *p)
{
    memset(s, 0, sizeof *s);
    s->session = session;
    s->draft = draft;
    s->on = model_most_guesses(session->model) != 0;
    s->timed = speculative_room(p) == MODEL_GUESSES_IF_STREAMED;
    s->trial.next_rest = REST_FIRST;
    for (uint32_t n = 0; n <= SPECULATIVE_MOST; n++) {
        s->cost[n] = -1;
    }
    for (uint32_t i = 0; i <= NGRAM_LONGEST; i++) {
        s->rate[i] = FIRST_RATE;
    }
    if (draft != NULL) {
        draft->hash.on = false;
    }
    if (draft != NULL && draft->model->image.header->params.mtp != 0) {
        s->timed = p->mode == SPECULATIVE_AUTO; /* an MTP head's guesses never change the text */
        speculative_mtp_open(s);
    }
}

/* ---- the draft's sequence ------------------------------------------------------------------- */

struct waiting {
    struct speculative *s;
    const struct stop *stop;
};

/* Called between two of the draft's layers: keeps the model's own layers arriving. */
static bool keep_card_busy(void *context)
{
    struct waiting *w = context;

    stream_poll(&w->s->session->model->stream);
    return stop_is_asked(w->stop);
}

/* Make the draft's sequence equal to the session's first n ids, n >= 1, with the logits after the
 * last id. The common part stays. */
static enum err follow(struct speculative *s, uint32_t n, struct waiting *w)
{
    const uint32_t *ids = s->session->ids;
    struct session *d = s->draft;
    struct stop stop = { keep_card_busy, w };
    uint32_t common = 0;

    if (s->mtp.on) {
        return speculative_mtp_follow(s, n, &stop);
    }
    /* If all ids are equal, compute the last token again, because its logits are needed. */
    while (common < d->n_ids && common < n - 1 && d->ids[common] == ids[common]) {
        common++;
    }
    (void)session_cut(d, common);
    return session_append(d, ids + common, n - common, &stop);
}

void speculative_follow(struct speculative *s, const struct stop *stop)
{
    struct waiting w = { s, stop };

    if (s->draft != NULL && !s->mtp.on) {
        (void)follow(s, s->session->n_ids, &w);
    }
}

/* ---- guessing ------------------------------------------------------------------------------- */

/* Draw the draft's next token. An MTP head uses no random number, so that the text is that of
 * plain decoding at any temperature. */
static uint32_t draw(struct speculative *s, struct sampler *sampler, uint32_t n,
                     struct sampler_guess *guess)
{
    const struct session *target = s->session, *d = s->draft;
    struct sampler greedy = *sampler;

    greedy.params.temp = 0;
    return sampler_guess(s->mtp.on ? &greedy : sampler, d->logits,
                         d->model->image.header->params.vocab, target->ids, n, d->model->kernels,
                         target->scratch.memory, guess);
}

/* Guess up to `most` ids after the session's first n ids. An error of the draft only ends its
 * guesses. */
static uint32_t guess_by_draft(struct speculative *s, struct sampler *sampler, uint32_t n,
                               uint32_t most, struct waiting *w)
{
    struct session *target = s->session, *d = s->draft;
    struct stop stop = { keep_card_busy, w };
    enum err e = follow(s, n, w);
    uint32_t i = 0;

    if (most == 0) {
        return 0;
    }
    session_mark(d); /* wrong guesses are taken back, and some states can only go back to a mark */
    while (e == ERR_OK) {
        uint32_t id = draw(s, sampler, n + i, &s->guesses[i]);

        /* The draft is not sure enough. */
        if (id == SAMPLER_NO_TOKEN) {
            break;
        }
        target->ids[n + i++] = id;
        if (i == most) {
            break;
        }
        /* The draft continues from its own guess. */
        if (s->mtp.on) {
            speculative_mtp_continue(s);
        }
        e = session_append(d, &id, 1, &stop);
    }
    return i;
}

/* Learn from the last run how reliable the source of its guesses is. The rate of an unused source
 * slowly returns to its start, so that it is tried again. */
static void learn_rate(struct speculative *s)
{
    float *rate = &s->rate[s->source];

    if (s->n_guessed == 0) {
        *rate += (FIRST_RATE - *rate) / 64;
    }
    /* Learn from each guess up to the first wrong one; nothing is known about later guesses. */
    for (uint32_t i = 0; i < s->n_guessed && i <= s->n_right; i++) {
        *rate += ((i < s->n_right ? 1.0f : 0.0f) - *rate) / 16;
    }
}

/* Return the cost of n guesses, in passes over one token. A guess has a fixed cost if the user
 * asked for guesses; otherwise the cost is in proportion to the nearest measured number. */
static float cost_of(const struct speculative *s, uint32_t n)
{
    if (!s->timed) {
        return (float)n * ASKED_COST;
    }
    /* Take the nearest number of guesses that was timed, in proportion. */
    for (uint32_t away = 0; away < SPECULATIVE_MOST; away++) {
        if (n > away && s->cost[n - away] >= 0) {
            return s->cost[n - away] * (float)n / (float)(n - away);
        }
        if (n + away <= SPECULATIVE_MOST && s->cost[n + away] >= 0) {
            return s->cost[n + away] * (float)n / (float)(n + away);
        }
    }
    return (float)n * FIRST_COST;
}

/* Slowly forget a high cost while there are no guesses, because the next try may be cheaper. */
static void forget_costs(struct speculative *s)
{
    for (uint32_t n = 1; n <= SPECULATIVE_MOST; n++) {
        if (s->cost[n] >= 0) {
            s->cost[n] += ((float)n * FIRST_COST - s->cost[n]) / 256;
        }
    }
}

void speculative_learn_cost(struct speculative *s, uint32_t n, uint64_t ticks)
{
    float t = (float)ticks, more, before;

    /* A pass without guesses is the unit of costs. */
    if (n == 0) {
        s->plain_ticks += s->plain_ticks == 0 ? t : (t - s->plain_ticks) / 8;
        forget_costs(s);
    } else if (s->timed) {
        more = (t - s->plain_ticks) / s->plain_ticks;
        before = cost_of(s, n);
        s->last_cost = more > 0 ? more : 0;
        s->cost[n] = before + ((more > 0 ? more : 0) - before) / (s->cost[n] < 0 ? 2 : 8);
    }
}

/* Return the number of guesses with the most tokens per time: with a = rate, 1 + a + a^2 ... + a^n
 * tokens in a pass that costs 1 + cost_of(n). Return 0 if guesses do not save time. */
uint32_t speculative_length(const struct speculative *s, float rate)
{
    float tokens = 1, power = 1, best = 1;
    uint32_t length = 0;

    /* There is no plain pass to compare with yet. */
    if (s->timed && s->plain_ticks == 0) {
        return 0;
    }
    for (uint32_t n = 1; n <= SPECULATIVE_MOST; n++) {
        power *= rate;
        tokens += power;
        if ((s->timed || n >= SPECULATIVE_LEAST) && tokens > best * (1 + cost_of(s, n))) {
            best = tokens / (1 + cost_of(s, n));
            length = n;
        }
    }
    return length;
}

/* Guess tokens after the session's last one, which is not computed yet. */
static uint32_t guess(struct speculative *s, struct sampler *sampler, uint32_t most,
                      struct waiting *w)
{
    struct session *target = s->session;
    uint32_t n = target->n_ids;

    /* Stay within the memory, the context, the factors of RoPE and the tier. */
    most = min_u32(most, model_most_guesses(target->model));
    most = min_u32(most, target->context - n);
    most = session_rope_limit(target, most);
    most = kv_tiers_limit(&target->kv, n - 1, most + 1) - 1; /* guesses are in the pass of the last
                                                              * token */
    if (s->draft != NULL) {
        most = min_u32(most, speculative_length(s, s->rate[0]));
        /* An MTP head has to see every pass, even a pass without guesses. */
        return most == 0 && target->follower == NULL ? 0 : guess_by_draft(s, sampler, n, most, w);
    }
    s->source = ngram_guess(target->ids, n, most);
    return s->source == 0 ? 0 : min_u32(most, speculative_length(s, s->rate[s->source]));
}

uint32_t speculative_pick(struct speculative *s, struct sampler *sampler)
{
    struct session *t = s->session;
    const struct model *m = t->model;
    uint32_t vocab = m->image.header->params.vocab;

    if (s->draft == NULL || s->mtp.on || t->n_ahead == 0) {
        return sampler_pick(sampler, t->logits, vocab, t->ids, t->n_ids, m->kernels,
                            t->scratch.memory);
    }
    return sampler_judge(sampler, t->logits, vocab, t->ids, t->n_ids, m->kernels, t->scratch.memory,
                         &s->guesses[s->n_guessed - t->n_ahead], t->ids[t->n_ids]);
}

/* Count the last run; after enough guesses, decide whether guessing continues or rests. A right
 * guess saves a pass. */
static void judge_trial(struct speculative *s)
{
    if (!s->timed || s->n_guessed == 0) {
        return;
    }
    s->trial.guessed += s->n_guessed;
    s->trial.right += s->n_right;
    s->trial.cost += s->last_cost;
    if (s->trial.guessed < TRIAL_GUESSES) {
        return;
    }
    /* Too few guesses were right, or they cost more than the passes that they saved. */
    if (s->trial.right * TRIAL_LEAST_RIGHT < s->trial.guessed ||
        (float)s->trial.right < s->trial.cost) {
        s->trial.rest = s->trial.next_rest;
        s->trial.next_rest = min_u32(2 * s->trial.next_rest, REST_MOST);
    }
    s->trial.guessed = s->trial.right = 0;
    s->trial.cost = 0;
}

static bool rests(struct speculative *s)
{
    if (s->trial.rest == 0) {
        return false;
    }
    s->trial.rest--;
    return true;
}

static uint64_t now(const struct speculative *s)
{
    return platform_ticks(&s->session->model->transformer.workers->platform->clock);
}

static enum err run_ahead(struct speculative *s, struct sampler *sampler, uint32_t most,
                          const struct stop *stop)
{
    struct waiting w = { s, stop };
    uint64_t start = now(s);
    enum err e;

    /* The last run's result decides how many tokens are guessed now. */
    learn_rate(s);
    judge_trial(s);
    s->n_right = 0;
    s->n_guessed = rests(s) ? 0 : guess(s, sampler, most - 1, &w);
    if (s->n_guessed == 0) {
        start = now(s); /* time only the plain pass, not an MTP head that follows it */
    }
    e = session_run_guesses(s->session, s->n_guessed, stop);
    if (e != ERR_OK) {
        s->n_guessed = 0;
        return e;
    }
    speculative_learn_cost(s, s->n_guessed, now(s) - start);
    s->stats.guessed += s->n_guessed;
    return ERR_OK;
}

enum err speculative_run(struct speculative *s, struct sampler *sampler, uint32_t most,
                         const struct stop *stop)
{
    /* The token is a right guess, which needs no pass. */
    if (s->session->n_ahead != 0) {
        session_take_guess(s->session);
        s->n_right++;
        s->stats.right++;
        return ERR_OK;
    }
    if (!s->on) {
        return session_run(s->session, stop);
    }
    return run_ahead(s, sampler, most, stop);
}
