#include "runtime/session/replies.h"

#include <assert.h>
#include <string.h>

#include "runtime/session/session_block.h"
#include "runtime/session/session_rope.h"

static uint64_t now(const struct session *s)
{
    return platform_ticks(&s->model->transformer.workers->platform->clock);
}

/* Return the position at which a sequence with a pending prompt is marked, so that another sequence
 * can continue from there. */
static uint32_t mark_of(const struct session *s)
{
    if (s->n_ids - s->n_cached <= REPLIES_TAIL || !session_block_has_marks(s)) {
        return 0;
    }
    return s->n_ids - REPLIES_TAIL;
}

void replies_begin(struct replies *r, uint32_t slot, const struct generate_params *params,
                   const struct sampler_params *sampler, const struct generate_sink *sink)
{
    struct reply_slot *p = &r->slots[slot];
    struct session *s = p->session;

    session_rope_settle(s);
    assert(!p->busy && s->n_ids > s->n_cached);
    p->busy = true;
    p->begun = false;
    p->result = (struct generate_result){ .first_new = s->n_ids,
                                          .prompt_tokens = s->n_ids - s->n_cached,
                                          .start = now(s),
                                          .before = s->model->stream.stats };
    p->tokens =
        (struct reply_tokens){ .session = s, .params = params, .sink = sink, .result = &p->result };
    sampler_init(&p->sampler, sampler);
    p->sampler.reply = s->n_ids;
    session_mark(s);
    p->mark = mark_of(s);
}

static void end(struct reply_slot *p, enum generate_end why)
{
    p->result.end = why;
    if (p->begun) {
        reply_tokens_end(&p->tokens);
    }
    p->busy = false;
}

void replies_leave(struct replies *r, uint32_t slot)
{
    if (r->slots[slot].busy) {
        end(&r->slots[slot], GENERATE_LIMIT);
    }
}

uint32_t replies_busy(const struct replies *r)
{
    uint32_t n = 0;

    for (uint32_t i = 0; i < r->n; i++) {
        n += r->slots[i].busy;
    }
    return n;
}

static uint32_t pick(struct reply_slot *p, struct token_scores *scores)
{
    struct session *s = p->session;
    uint32_t vocab = s->model->image.header->params.vocab;

    reply_tokens_read_scores(&p->tokens, scores, s->logits);
    reply_tokens_keep(&p->tokens, s->logits);
    return sampler_pick(&p->sampler, s->logits, vocab, s->ids, s->n_ids, s->model->kernels,
                        s->scratch.memory);
}

/* Take one more token of a reply whose logits are known. Return false if the logits are not
 * numbers. */
static bool go_on(struct reply_slot *p)
{
    struct session *s = p->session;
    struct token_scores scores;
    uint32_t id;

    if (!p->begun) {
        p->begun = true;
        reply_tokens_begin(&p->tokens);
    } else {
        p->result.passes++;
    }
    if (s->n_ids == s->context) {
        end(p, GENERATE_CONTEXT);
        return true;
    }
    id = pick(p, &scores);
    if (id == SAMPLER_NO_TOKEN) {
        return false;
    }
    id = reply_tokens_allow(&p->tokens, id, &p->sampler, s->logits);
    if (id == INGOT_NO_TOKEN) {
        end(p, p->result.end);
        return true;
    }
    if (reply_tokens_is_end(&p->tokens, id)) {
        end(p, reply_tokens_ended(&p->tokens));
        return true;
    }
    reply_tokens_say_scores(&p->tokens, &scores, id, &p->sampler);
    reply_tokens_take(&p->tokens, id);
    (void)session_put(s, &id, 1); /* there was room */
    if (reply_tokens_end_here(&p->tokens, s->ids + s->n_ids - 1)) {
        end(p, p->result.end);
    }
    return true;
}

static bool is_in_pass(const struct reply_slot *p)
{
    return p->busy && !p->waits;
}

enum err replies_pass(struct replies *r, const struct stop *stop)
{
    enum err e;

    r->group.n = 0;
    for (uint32_t i = 0; i < r->n; i++) {
        if (is_in_pass(&r->slots[i])) {
            r->group.ends[r->group.n] = r->slots[i].mark;
            r->group.sessions[r->group.n++] = r->slots[i].session;
        }
    }
    assert(r->group.n != 0);
    e = session_group_pass(&r->group, stop);
    if (e != ERR_OK) {
        r->error_message = r->group.sessions[0]->error_message;
        return e;
    }
    for (uint32_t i = 0; i < r->n; i++) {
        struct reply_slot *p = &r->slots[i];

        if (!is_in_pass(p)) {
            continue;
        }
        if (p->mark != 0 && p->session->n_cached == p->mark) {
            session_mark(p->session);
        }
        if (p->session->logits != NULL && !go_on(p)) {
            r->error_message = "the model gave no usable logits: check it with `ingot verify`";
            return ERR_BAD_MODEL;
        }
    }
    return ERR_OK;
}
