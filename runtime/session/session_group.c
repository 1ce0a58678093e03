#include "runtime/session/session_group.h"

#include <string.h>

#include "board/min_max.h"
#include "runtime/session/session_private.h"
#include "runtime/session/session_rope.h"

static uint32_t pending(const struct session *s)
{
    return s->n_ids - s->n_cached;
}

/* Let n tokens of the sequence join the pass. */
static void join(struct session_group *g, struct session *s, uint32_t n, uint32_t *at)
{
    memcpy(g->tokens + *at, s->ids + s->n_cached, n * sizeof *s->ids);
    g->of_part[g->n_parts] = s;
    g->parts[g->n_parts++] = session_part(s, *at, n);
    *at += n;
    session_pass_begin(s, n);
}

/* Return how many of n pending tokens sequence i may have in the pass. */
static uint32_t limit(const struct session_group *g, uint32_t i, uint32_t n)
{
    const struct session *s = g->sessions[i];

    if (g->ends[i] > s->n_cached) {
        n = min_u32(n, g->ends[i] - s->n_cached);
    }
    if (g->step != 0) {
        n = min_u32(n, g->step - s->n_cached % g->step);
    }
    return session_pass_limit(s, n);
}

/* Fill the pass: sequences get equal shares of its tokens; later ones get what earlier ones
 * do not need. Returns how many tokens the pass has. */
static uint32_t fill(struct session_group *g)
{
    uint32_t room = 0, waiting = 0, at = 0;

    g->n_parts = 0;
    for (uint32_t i = 0; i < g->n; i++) {
        struct session *s = g->sessions[i];

        session_forget_guesses(s);
        session_rope_settle(s);
        session_prefix_settle(s);
        s->logits = NULL;
        waiting += pending(s) != 0;
        room = min_u32(s->model->plan.chunk, GROUP_TOKENS);
    }
    for (uint32_t i = 0; i < g->n; i++) {
        struct session *s = g->sessions[i];

        if (pending(s) != 0) {
            uint32_t share = (room - at) / waiting--;

            join(g, s, limit(g, i, min_u32(pending(s), share)), &at);
        }
    }
    return at;
}

static bool is_last(const struct session_group *g, uint32_t part)
{
    return pending(g->of_part[part]) == g->parts[part].n;
}

/* Only the result of a sequence's last token is needed, if this token is in the pass. */
static void skip(struct session_group *g)
{
    for (uint32_t i = 0; i < g->n_parts; i++) {
        g->parts[i].skip = g->parts[i].n - is_last(g, i);
    }
}

static bool wants_head(const struct session_group *g)
{
    bool wants = false;

    for (uint32_t i = 0; i < g->n_parts; i++) {
        wants = wants || is_last(g, i);
    }
    return wants;
}

/* Compute the logits of the sequences whose last token is in the pass. */
static enum err run_head(struct session_group *g, struct transformer *t)
{
    uint32_t tokens[GROUP_MOST], parts[GROUP_MOST], n = 0;
    float *logits = NULL;
    enum err e;

    for (uint32_t i = 0; i < g->n_parts; i++) {
        if (is_last(g, i)) {
            parts[n] = i;
            tokens[n++] = g->parts[i].first + g->parts[i].n - 1;
        }
    }
    if (n == 0) {
        return ERR_OK;
    }
    e = transformer_logits_at(t, tokens, n, &logits);
    for (uint32_t i = 0; i < n && e == ERR_OK; i++) {
        g->of_part[parts[i]]->logits = logits + i * t->act.logits_stride;
    }
    return e;
}

static enum err failed(struct session_group *g, enum err e)
{
    for (uint32_t i = 0; i < g->n_parts; i++) {
        (void)session_pass_failed(g->of_part[i], e);
    }
    return e;
}

static void count(struct session_group *g)
{
    for (uint32_t i = 0; i < g->n_parts; i++) {
        struct session *s = g->of_part[i];

        s->n_cached += g->parts[i].n;
        session_prefix_reached(s);
        if (s->logits != NULL) {
            session_hash_logits(s);
        }
    }
    g->n_passes++;
}

enum err session_group_pass(struct session_group *g, const struct stop *stop)
{
    struct transformer_pass pass = { .tokens = g->tokens, .parts = g->parts, .n = fill(g) };
    struct model *m;
    enum err e;

    if (pass.n == 0) {
        return ERR_BAD_ARGUMENT;
    }
    m = g->of_part[0]->model;
    pass.n_parts = g->n_parts;
    pass.want_head = wants_head(g);
    skip(g);
    model_lend_core(m, pass.n);
    e = transformer_pass(&m->transformer, &pass, stop);
    if (e == ERR_OK) {
        e = run_head(g, &m->transformer);
    }
    if (e != ERR_OK) {
        return failed(g, e);
    }
    count(g);
    g->n_tokens += pass.n;
    return ERR_OK;
}
