#include "runtime/session/generate.h"

#include <string.h>

#include "runtime/session/reply_tokens.h"
#include "runtime/session/session_rope.h"
#include "runtime/text/format_text.h"

struct run {
    const struct generator *g;
    struct reply_tokens reply;
    struct token_scores scores; /* only used if scores are requested */
};

static uint64_t now(const struct run *run)
{
    return platform_ticks(&run->g->session->model->transformer.workers->platform->clock);
}

/* ---- tokens --------------------------------------------------------------------------------- */

static enum err make_room(struct run *run)
{
    enum err e;

    if (run->reply.sink->make_room == NULL) {
        return ERR_NO_SPACE;
    }
    e = run->reply.sink->make_room(run->reply.sink->context, &run->reply.result->first_new);
    /* Penalties look at the reply, which now begins earlier. */
    run->g->sampler->reply = run->reply.result->first_new;
    return e;
}

static enum err pick(struct run *run, uint32_t *id)
{
    struct session *s = run->g->session;

    reply_tokens_read_scores(&run->reply, &run->scores, s->logits);
    /* A constraint keeps the logits, because the sampler changes them. */
    reply_tokens_keep(&run->reply, s->logits);
    *id = speculative_pick(run->g->speculative, run->g->sampler);
    if (*id == SAMPLER_NO_TOKEN) {
        format_text(s->error_message, sizeof s->error_message,
                    "the model gave no usable logits: check it with `ingot verify`");
        return ERR_BAD_MODEL;
    }
    *id = reply_tokens_allow(&run->reply, *id, run->g->sampler, s->logits);
    return ERR_OK;
}

static uint32_t tokens_left(const struct run *run)
{
    if (run->reply.params->limit == 0) {
        return UINT32_MAX - run->reply.result->new_tokens;
    }
    return run->reply.params->limit - run->reply.result->new_tokens;
}

/* Count the stream's work for the reply's passes since `before`. */
static void count_stream(struct generate_result *r, const struct stream_stats *now,
                         const struct stream_stats *before)
{
    r->decode_bytes += now->bytes_streamed - before->bytes_streamed;
    r->decode_expert_stalls += now->expert_stalls - before->expert_stalls;
}

/* Pick a token by the logits, pass it on, and compute the next logits from it. *more: the reply
 * continues. */
static enum err step(struct run *run, bool *more)
{
    struct session *s = run->g->session;
    struct generate_result *r = run->reply.result;
    struct stream_stats before = s->model->stream.stats;
    bool guessed;
    uint32_t id;
    enum err e = pick(run, &id);

    *more = false;
    if (e != ERR_OK) {
        return e;
    }
    if (id == INGOT_NO_TOKEN) {
        return ERR_OK; /* the result says why */
    }
    if (reply_tokens_is_end(&run->reply, id)) {
        r->end = reply_tokens_ended(&run->reply);
        return ERR_OK;
    }
    /* Scores come before the text: a sink gets them with the token. */
    reply_tokens_say_scores(&run->reply, &run->scores, id, run->g->sampler);
    reply_tokens_take(&run->reply, id);
    guessed = session_put_next(s, id);
    if (reply_tokens_end_here(&run->reply, s->ids + s->n_ids - 1)) {
        return ERR_OK;
    }
    /* Stop only between two passes, so that the session stays consistent. */
    if (stop_is_asked(run->reply.params->stop)) {
        return ERR_ABORTED;
    }
    e = speculative_run(run->g->speculative, run->g->sampler, tokens_left(run),
                        run->reply.params->stop);
    if (e != ERR_OK) {
        return e;
    }
    /* A right guess needs no pass. */
    if (!guessed) {
        r->passes++;
    }
    count_stream(r, &s->model->stream.stats, &before);
    *more = true;
    return ERR_OK;
}

static enum err decode(struct run *run)
{
    const struct session *s = run->g->session;
    bool more = true;
    enum err e = ERR_OK;

    while (more && e == ERR_OK) {
        /* The context is full: the sink may drop turns. */
        if (s->n_ids == s->context) {
            e = make_room(run);
        }
        if (e == ERR_NO_SPACE) {
            run->reply.result->end = GENERATE_CONTEXT;
            return ERR_OK;
        }
        if (e == ERR_OK) {
            e = step(run, &more);
        }
    }
    return e;
}

/* ---- beams ---------------------------------------------------------------------------------- */

static bool beams_is_end(void *context, uint32_t id)
{
    const struct run *run = context;

    return reply_tokens_is_end(&run->reply, id);
}

/* Take tokens on which all beams agree. Return false if the reply ends here. */
static bool beams_settled(void *context, const uint32_t *ids, uint32_t n, uint32_t *taken)
{
    struct run *run = context;
    struct generate_result *r = run->reply.result;

    for (uint32_t i = 0; i < n; i++) {
        reply_tokens_take(&run->reply, ids[i]);
        *taken = i + 1;
        if (run->reply.text.stopped) {
            r->end = GENERATE_STOP;
            return false;
        }
        /* As in reply_tokens_end_here. */
        if (run->reply.params->limit == 0 && repetition_add(&run->reply.repetition, ids + i)) {
            r->end = GENERATE_REPETITION;
            return false;
        }
    }
    return true;
}

static enum err decode_beams(struct run *run)
{
    static const enum generate_end ends[] = {
        [BEAMS_ENDED] = GENERATE_ENDED,
        [BEAMS_LIMIT] = GENERATE_LIMIT,
        [BEAMS_CONTEXT] = GENERATE_CONTEXT,
    };
    struct session *s = run->g->session;
    struct generate_result *r = run->reply.result;
    struct beams_job job = { run,
                             beams_is_end,
                             beams_settled,
                             run->reply.params->limit,
                             run->reply.params->stop,
                             run->g->sampler };
    struct stream_stats before = s->model->stream.stats;
    struct beams_result found;
    enum err e = beams_search(run->g->beams, s, &job, &found);

    r->passes = found.passes;
    count_stream(r, &s->model->stream.stats, &before);
    if (e == ERR_OK && found.end != BEAMS_CUT) {
        r->end = ends[found.end];
    }
    return e;
}

static bool has_beams(const struct run *run)
{
    return run->g->beams != NULL && run->g->beams->n >= 2;
}

/* ---- the reply ------------------------------------------------------------------------------ */

static enum err compute_prompt(struct run *run)
{
    struct session *s = run->g->session;
    struct generate_result *r = run->reply.result;
    enum err e;

    /* If the prompt is longer than the limit of short factors, everything is computed again. */
    session_rope_settle(s);
    r->prompt_tokens = s->n_ids - s->n_cached;
    r->before = s->model->stream.stats;
    r->first_new = s->n_ids;
    run->g->sampler->reply = s->n_ids;
    r->start = now(run);
    r->speculates = run->g->speculative->on && !has_beams(run);
    run->g->speculative->stats = (struct speculative_stats){ 0 };
    /* /undo and wrong guesses cut the sequence back to this mark. */
    session_mark(s);
    e = session_run(s, run->reply.params->prompt_stop);
    /* The draft computes the same prompt. */
    if (e == ERR_OK) {
        speculative_follow(run->g->speculative, run->reply.params->stop);
    }
    return e;
}

enum err generate(const struct generator *g, const struct generate_params *params,
                  const struct generate_sink *sink, struct generate_result *r)
{
    struct run run = {
        .g = g, .reply = { .session = g->session, .params = params, .sink = sink, .result = r }
    };
    enum err e;

    memset(r, 0, sizeof *r);
    e = compute_prompt(&run);
    if (e != ERR_OK) {
        return e;
    }
    reply_tokens_begin(&run.reply);
    e = has_beams(&run) ? decode_beams(&run) : decode(&run);
    reply_tokens_end(&run.reply);
    r->guessed = g->speculative->stats.guessed;
    r->right = g->speculative->stats.right;
    return e;
}
