#include "runtime/session/reply_tokens.h"

#include <assert.h>
#include <string.h>

#include "board/min_max.h"

static uint64_t now(const struct reply_tokens *r)
{
    return platform_ticks(&r->session->model->transformer.workers->platform->clock);
}

/* Return the text that token id adds after `previous`. Control tokens add no text, except marks of
 * thoughts. */
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

static void begin_token(const struct reply_tokens *r, uint32_t id)
{
    if (r->sink->token_begin != NULL) {
        r->sink->token_begin(r->sink->context, id);
    }
}

static void end_token(const struct reply_tokens *r)
{
    if (r->sink->token_end != NULL) {
        r->sink->token_end(r->sink->context);
    }
}

void reply_tokens_begin(struct reply_tokens *r)
{
    const struct session *s = r->session;

    /* A piece's text depends on the token before it, which decides about a space. */
    r->previous = s->ids[s->n_ids - 1];
    if (r->sink->begin != NULL) {
        r->sink->begin(r->sink->context);
    }
    r->out = (struct reply_text_out){ r->sink->context, r->sink->text, r->sink->think };
    memset(&r->repetition, 0, sizeof r->repetition);
    reply_text_open(&r->text, &r->params->stops, r->params->inside_thoughts, &r->out);
    /* Tell the constraint which tokens end a reply. */
    if (r->params->constraint != NULL) {
        r->params->constraint->kind->begin(r->params->constraint, r->params->end_ids,
                                           r->params->n_end_ids);
    }
    r->result->first = r->result->last = now(r);
}

bool reply_tokens_is_end(const struct reply_tokens *r, uint32_t id)
{
    if (r->params->whole) {
        return false;
    }
    for (uint32_t i = 0; i < r->params->n_end_ids; i++) {
        if (r->params->end_ids[i] == id) {
            return true;
        }
    }
    return id == r->session->model->tokenizer.head->bos;
}

/* Return the constraint on the reply at present, or NULL. Thoughts are not constrained. */
static struct constraint *constraint_of(const struct reply_tokens *r)
{
    return r->text.part == REPLY_THOUGHTS ? NULL : r->params->constraint;
}

void reply_tokens_keep(struct reply_tokens *r, const float *logits)
{
    struct constraint *c = r->params->constraint;

    if (c != NULL) {
        c->kind->keep(c, logits);
    }
}

static_assert(SAMPLER_NO_TOKEN == INGOT_NO_TOKEN, "a pick is a token or none");

/* A sink that makes room lets a reply continue beyond the context. */
static uint32_t tokens_left(const struct reply_tokens *r)
{
    const struct generate_params *p = r->params;
    uint32_t left = p->limit == 0 ? UINT32_MAX : p->limit - r->result->new_tokens;

    return r->sink->make_room != NULL ? left
                                      : min_u32(left, r->session->context - r->session->n_ids);
}

static uint32_t pick_again(const struct reply_tokens *r, struct sampler *sampler, float *logits)
{
    const struct session *s = r->session;

    return sampler_pick(sampler, logits, s->model->image.header->params.vocab, s->ids, s->n_ids,
                        s->model->kernels, s->scratch.memory);
}

static void ban(float *logits, uint32_t vocab, uint32_t id)
{
    if (id < vocab) {
        logits[id] = -__builtin_inff();
    }
}

/* The model ends the reply in its thoughts, but the constrained answer is still to come: pick
 * another token. */
static uint32_t go_on_thinking(struct reply_tokens *r, struct sampler *sampler, float *logits)
{
    const struct generate_params *p = r->params;
    const struct model *m = r->session->model;
    uint32_t vocab = m->image.header->params.vocab, id;

    memcpy(logits, p->constraint->logits, vocab * sizeof *logits);
    for (uint32_t i = 0; i < p->n_end_ids; i++) {
        ban(logits, vocab, p->end_ids[i]);
    }
    ban(logits, vocab, m->tokenizer.head->bos);
    id = pick_again(r, sampler, logits);
    if (id == INGOT_NO_TOKEN) {
        r->result->end = GENERATE_NO_WAY_ON;
    }
    return id;
}

uint32_t reply_tokens_allow(struct reply_tokens *r, uint32_t id, struct sampler *sampler,
                            float *logits)
{
    struct constraint *c = r->params->constraint;
    uint32_t only, n;

    if (c == NULL) {
        return id;
    }
    if (r->text.part == REPLY_THOUGHTS) {
        return reply_tokens_is_end(r, id) && !c->kind->may_end(c)
                   ? go_on_thinking(r, sampler, logits)
                   : id;
    }
    c->kind->limit(c, tokens_left(r));
    /* The picked token is allowed, which is the usual case. */
    if (c->kind->takes(c, id)) {
        return id;
    }
    r->result->refused++;
    n = c->kind->mask(c, logits, &only);
    id = n == 0 ? INGOT_NO_TOKEN : only;
    /* Pick again among the allowed tokens. */
    if (n > 1) {
        id = pick_again(r, sampler, logits);
    }
    /* The sampler found no token that the constraint allows. */
    if (id == INGOT_NO_TOKEN || !c->kind->takes(c, id)) {
        r->result->end = GENERATE_NO_WAY_ON;
        return INGOT_NO_TOKEN;
    }
    return id;
}

void reply_tokens_read_scores(const struct reply_tokens *r, struct token_scores *s,
                              const float *logits)
{
    const struct model *m = r->session->model;

    if (r->params->wants_scores) {
        token_scores_read(s, r->params->n_likeliest, logits, m->image.header->params.vocab,
                          m->kernels);
    }
}

/* Return the logit that id had before sampling. */
static float logit_of(const struct reply_tokens *r, uint32_t id, const struct sampler *sampler)
{
    const struct constraint *c = r->params->constraint;
    const struct session *s = r->session;

    return c != NULL ? c->logits[id] : sampler_logit(sampler, id, s->ids, s->n_ids);
}

void reply_tokens_say_scores(const struct reply_tokens *r, struct token_scores *s, uint32_t id,
                             const struct sampler *sampler)
{
    if (r->params->wants_scores && r->sink->scores != NULL) {
        token_scores_take(s, id, logit_of(r, id, sampler));
        r->sink->scores(r->sink->context, s);
    }
}

void reply_tokens_take(struct reply_tokens *r, uint32_t id)
{
    size_t bytes;
    const char *text = piece_of(&r->session->model->tokenizer, id, r->previous, &bytes);

    begin_token(r, id);
    reply_text_put(&r->text, text, bytes);
    end_token(r);
    r->previous = id;
    r->result->new_tokens++;
    r->result->last = now(r);
}

enum generate_end reply_tokens_ended(const struct reply_tokens *r)
{
    const struct constraint *c = constraint_of(r);

    if (c == NULL || !c->led) {
        return GENERATE_ENDED;
    }
    if (c->closes) {
        return GENERATE_REPETITION;
    }
    return r->params->limit != 0 ? GENERATE_LIMIT : GENERATE_CONTEXT;
}

/* End the reply, or continue to the end of a constrained text. */
static bool end_repetition(struct reply_tokens *r)
{
    struct constraint *c = constraint_of(r);

    return c == NULL || !c->kind->close(c);
}

bool reply_tokens_end_here(struct reply_tokens *r, const uint32_t *latest)
{
    struct generate_result *result = r->result;
    struct constraint *c = constraint_of(r);

    if (r->text.stopped) {
        result->end = GENERATE_STOP;
        return true;
    }
    if (c != NULL && c->kind->is_complete(c)) {
        result->end = reply_tokens_ended(r);
        return true;
    }
    /* A reply with a limit may repeat itself. */
    if (r->params->limit != 0) {
        result->end = GENERATE_LIMIT;
        return result->new_tokens == r->params->limit;
    }
    result->end = GENERATE_REPETITION;
    if (c != NULL && c->closes) {
        return c->kind->may_end(c);
    }
    return repetition_add(&r->repetition, latest) && end_repetition(r);
}

void reply_tokens_end(struct reply_tokens *r)
{
    bool holds = reply_text_holds(&r->text);

    /* Text that was held back belongs to no single token. */
    if (holds) {
        begin_token(r, INGOT_NO_TOKEN);
    }
    reply_text_end(&r->text);
    if (holds) {
        end_token(r);
    }
    r->result->text_bytes = r->text.bytes;
    r->result->shown = r->text.shown;
    r->result->stop = r->text.which;
}

void generate_keep_shown(struct session *s, const struct generate_result *r)
{
    const struct tokenizer *t = &s->model->tokenizer;
    uint64_t bytes = r->text_bytes;
    struct tokenizer_part part = { "", 0, false };
    uint32_t at = s->n_ids, room, *next;
    size_t n = 0;

    /* Go back to the token in which the shown text ends. */
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
    /* Encode the shown part of this token again. */
    next = session_room(s, &room);
    if (part.bytes != 0 && tokenizer_encode_parts(t, &part, 1, TOKENIZER_CONTINUE, next, room, &n,
                                                  s->scratch.memory, s->scratch.bytes) == ERR_OK) {
        (void)session_put(s, next, n); /* if the tokens do not fit, the context is full anyway */
    }
}
