#include "runtime/session/generate.h"

#include <string.h>

#include "runtime/session/repetition.h"
#include "runtime/text/format_text.h"

struct run {
    const struct generator *g;
    const struct generate_params *params;
    const struct generate_sink *sink;
    struct generate_result *result;
    struct reply_text text;
    struct reply_text_out out;
    struct repetition repetition;
    uint32_t previous; /* token, INGOT_NO_TOKEN before the first */
};

static uint64_t now(const struct run *run)
{
    return platform_ticks(&run->g->session->model->transformer.workers->platform->clock);
}

/* ---- text ----------------------------------------------------------------------------------- */

/* The text that token id adds after `previous`. Of control tokens only marks of thoughts have
 * one. */
static const char *piece_of(const struct tokenizer *t, uint32_t id, uint32_t previous,
                            size_t *bytes)
{
    const char *text = tokenizer_piece(t, id, previous, bytes);

    if (*bytes == 0 && id < t->head->n_tokens &&
        reply_text_is_mark(tokenizer_text(t, id), tokenizer_text_bytes(t, id))) {
        text = tokenizer_text(t, id);
        *bytes = tokenizer_text_bytes(t, id);
    }
    return text;
}

static void begin_token(const struct run *run, uint32_t id)
{
    if (run->sink->token_begin != NULL) {
        run->sink->token_begin(run->sink->context, id);
    }
}

static void end_token(const struct run *run)
{
    if (run->sink->token_end != NULL) {
        run->sink->token_end(run->sink->context);
    }
}

static void hand_on(struct run *run, uint32_t id)
{
    size_t bytes;
    const char *text = piece_of(&run->g->session->model->tokenizer, id, run->previous, &bytes);

    begin_token(run, id);
    reply_text_put(&run->text, text, bytes);
    end_token(run);
    run->previous = id;
}

/* Hand on the text that was held back. */
static void end_text(struct run *run)
{
    bool holds = reply_text_holds(&run->text);

    if (holds) {
        begin_token(run, INGOT_NO_TOKEN);
    }
    reply_text_end(&run->text);
    if (holds) {
        end_token(run);
    }
}

/* ---- tokens --------------------------------------------------------------------------------- */

static bool is_end(const struct run *run, uint32_t id)
{
    for (uint32_t i = 0; i < run->params->n_end_ids; i++) {
        if (run->params->end_ids[i] == id) {
            return true;
        }
    }
    return id == run->g->session->model->tokenizer.head->bos;
}

static enum err make_room(struct run *run)
{
    if (run->sink->make_room == NULL) {
        return ERR_NO_SPACE;
    }
    return run->sink->make_room(run->sink->context, &run->result->first_new);
}

static enum err pick(struct run *run, uint32_t *id)
{
    struct session *s = run->g->session;
    const struct constraint *c = run->params->constraint;

    if (c != NULL) {
        c->mask(c->context, s->logits, s->model->image.header->params.vocab);
    }
    *id = speculative_pick(run->g->speculative, run->g->sampler);
    if (*id == SAMPLER_NO_TOKEN) {
        format_text(s->problem, sizeof s->problem,
                    "the model gave no usable logits: check it with `ingot verify`");
        return ERR_BAD_MODEL;
    }
    if (c != NULL) {
        c->accept(c->context, *id);
    }
    return ERR_OK;
}

/* Whether the reply ends with the token that was handed on and is in the session. */
static bool ends_here(struct run *run)
{
    const struct session *s = run->g->session;
    struct generate_result *r = run->result;

    if (run->text.stopped) {
        r->end = GENERATE_STOP;
        return true;
    }
    if (run->params->limit != 0) {
        r->end = GENERATE_LIMIT;
        return r->new_tokens == run->params->limit;
    }
    r->end = GENERATE_REPETITION;
    return repetition_add(&run->repetition, s->ids + s->n_ids - 1);
}

static uint32_t tokens_left(const struct run *run)
{
    if (run->params->limit == 0) {
        return UINT32_MAX - run->result->new_tokens;
    }
    return run->params->limit - run->result->new_tokens;
}

/* Pick a token by the logits, hand it on, and compute the next logits from it. *more: the reply
 * goes on. */
static enum err step(struct run *run, bool *more)
{
    struct session *s = run->g->session;
    struct generate_result *r = run->result;
    uint64_t before = s->model->stream.stats.bytes_streamed;
    bool guessed;
    uint32_t id;
    enum err e = pick(run, &id);

    *more = false;
    if (e != ERR_OK) {
        return e;
    }
    if (is_end(run, id)) {
        r->end = GENERATE_ENDED;
        return ERR_OK;
    }
    hand_on(run, id);
    r->new_tokens++;
    r->last = now(run);
    guessed = session_put_next(s, id);
    if (ends_here(run)) {
        return ERR_OK;
    }
    if (stop_is_asked(run->params->stop)) {
        return ERR_ABORTED;
    }
    e = speculative_run(run->g->speculative, run->g->sampler, tokens_left(run), run->params->stop);
    if (e != ERR_OK) {
        return e;
    }
    if (!guessed) {
        r->passes++;
    }
    r->decode_bytes += s->model->stream.stats.bytes_streamed - before;
    *more = true;
    return ERR_OK;
}

static enum err decode(struct run *run)
{
    const struct session *s = run->g->session;
    bool more = true;
    enum err e = ERR_OK;

    while (more && e == ERR_OK) {
        if (s->n_ids == s->context) {
            e = make_room(run);
        }
        if (e == ERR_NO_SPACE) {
            run->result->end = GENERATE_CONTEXT;
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
    return is_end(context, id);
}

/* Tokens that no beam can take back. False: the reply ends here. */
static bool beams_settled(void *context, const uint32_t *ids, uint32_t n, uint32_t *taken)
{
    struct run *run = context;
    struct generate_result *r = run->result;

    for (uint32_t i = 0; i < n; i++) {
        hand_on(run, ids[i]);
        r->new_tokens++;
        r->last = now(run);
        *taken = i + 1;
        if (run->text.stopped) {
            r->end = GENERATE_STOP;
            return false;
        }
        if (run->params->limit == 0 && repetition_add(&run->repetition, ids + i)) {
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
    struct generate_result *r = run->result;
    struct beams_job job = { run, beams_is_end, beams_settled, run->params->limit,
                             run->params->stop };
    uint64_t before = s->model->stream.stats.bytes_streamed;
    struct beams_result found;
    enum err e = beams_search(run->g->beams, s, &job, &found);

    r->passes = found.passes;
    r->decode_bytes = s->model->stream.stats.bytes_streamed - before;
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
    struct generate_result *r = run->result;
    enum err e;

    r->prompt_tokens = s->n_ids - s->n_cached;
    r->before = s->model->stream.stats;
    r->first_new = s->n_ids;
    r->start = now(run);
    r->speculates = run->g->speculative->on && !has_beams(run);
    run->g->speculative->stats = (struct speculative_stats){ 0 };
    session_mark(s);
    e = session_run(s, run->params->prompt_stop);
    if (e == ERR_OK) {
        run->previous = s->ids[s->n_ids - 1];
        speculative_follow(run->g->speculative, run->params->stop);
    }
    return e;
}

enum err generate(const struct generator *g, const struct generate_params *params,
                  const struct generate_sink *sink, struct generate_result *r)
{
    struct run run = { .g = g, .params = params, .sink = sink, .result = r };
    enum err e;

    memset(r, 0, sizeof *r);
    run.out = (struct reply_text_out){ sink->context, sink->text, sink->think };
    e = compute_prompt(&run);
    if (e != ERR_OK) {
        return e;
    }
    if (sink->begin != NULL) {
        sink->begin(sink->context);
    }
    reply_text_open(&run.text, &params->stops, params->inside_thoughts, &run.out);
    r->first = r->last = now(&run);
    e = has_beams(&run) ? decode_beams(&run) : decode(&run);
    end_text(&run);
    r->guessed = g->speculative->stats.guessed;
    r->right = g->speculative->stats.right;
    r->text_bytes = run.text.bytes;
    r->shown = run.text.shown;
    return e;
}

void generate_keep_shown(struct session *s, const struct generate_result *r)
{
    const struct tokenizer *t = &s->model->tokenizer;
    uint64_t bytes = r->text_bytes;
    struct tokenizer_part part = { "", 0, false };
    uint32_t at = s->n_ids, room, *next;
    size_t n = 0;

    while (bytes > r->shown) {
        uint32_t previous = INGOT_NO_TOKEN;
        size_t piece;

        at--;
        if (at != 0) {
            previous = s->ids[at - 1];
        }
        part.text = piece_of(t, s->ids[at], previous, &piece);
        bytes -= piece;
    }
    part.bytes = (size_t)(r->shown - bytes);
    (void)session_cut(s, at);
    next = session_room(s, &room);
    if (part.bytes != 0 && tokenizer_encode_parts(t, &part, 1, TOKENIZER_CONTINUE, next, room, &n,
                                                  s->scratch.memory, s->scratch.bytes) == ERR_OK) {
        (void)session_put(s, next, n); /* else it is the context's very end */
    }
}
