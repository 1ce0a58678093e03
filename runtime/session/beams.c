#include "runtime/session/beams.h"

#include <assert.h>
#include <float.h>
#include <string.h>

#include "board/min_max.h"
#include "runtime/text/format_text.h"

enum {
    CANDIDATES_MOST = 2 * BEAMS_MOST, /* candidates of one beam */
    LEAST = 100,                      /* e^-100 adds nothing to 1 in f32 */
};

struct candidate {
    uint32_t parent, id;
    double score; /* sum of the logarithms of the tokens' probabilities, id included */
};

/* A beam. If sequence is NULL, the beam is the session's current sequence. */
struct beam {
    struct session_sequence *sequence;
    uint32_t id; /* the beam's next token, which is not in the session yet */
    double score;
};

struct search {
    struct session *s;
    const struct beams_job *job;
    struct beams_result *result;
    struct beam live[BEAMS_MOST];
    uint32_t n, n_live;
    struct session_sequence *free[BEAMS_MOST], *best; /* the best reply that has ended */
    uint32_t n_free;
    bool work_is_free;                      /* the current sequence is no longer a beam */
    uint32_t first, length, settled, ended; /* first is an index; the others are counts */
    uint32_t scored;                        /* tokens counted in the live beams' scores */
    double best_score;                      /* mean score of `best`, if any reply has ended */
    struct candidate list[BEAMS_MOST * CANDIDATES_MOST];
    uint32_t n_list;
};

/* ---- arithmetic ----------------------------------------------------------------------------- */

/* x = m 2^e with m in [sqrt(1/2), sqrt(2)): ln x = e ln 2 + 2 atanh((m - 1) / (m + 1)). */
double beams_log(double x)
{
    const double ln2_high = 0x1.62e42feep-1, ln2_low = 0x1.a39ef35793c76p-33;
    uint64_t bits;
    double m, z, z2, sum = 0;
    int e;

    memcpy(&bits, &x, sizeof bits);
    /* Split x into m and e by its bits. */
    e = (int)(bits >> 52) - 1023;
    bits = (bits & 0x000fffffffffffffu) | 0x3ff0000000000000u;
    memcpy(&m, &bits, sizeof m);
    /* Scale m to where the series converges fast: |z| is at most 0.172. */
    if (m > 0x1.6a09e667f3bcdp+0) {
        m *= 0.5;
        e++;
    }
    z = (m - 1) / (m + 1);
    z2 = z * z;
    /* atanh z = z + z^3/3 + z^5/5 + ..., the smallest terms first. */
    for (int i = 21; i >= 3; i -= 2) {
        sum = (sum + 1.0 / i) * z2;
    }
    /* ln 2 in two parts, so that e times the high part is exact. */
    return e * ln2_high + (e * ln2_low + 2 * (z + z * sum));
}

/* Return true if a comes before b: by the higher score, the older beam, the lower id. */
static bool before(const struct candidate *a, const struct candidate *b)
{
    if (a->score != b->score) {
        return a->score > b->score;
    }
    return a->parent != b->parent ? a->parent < b->parent : a->id < b->id;
}

/* Insert c among the first `most` of list (*n). */
static void insert(struct candidate *list, uint32_t *n, uint32_t most, const struct candidate *c)
{
    uint32_t at = *n;

    if (*n < most) {
        ++*n;
    } else if (!before(c, &list[--at])) {
        return;
    }
    for (; at > 0 && before(c, &list[at - 1]); at--) {
        list[at] = list[at - 1];
    }
    list[at] = *c;
}

/* NaN is ignored, and infinity counts as the largest finite number, as in sampling. */
static uint32_t likeliest(const struct search *b, uint32_t beam,
                          struct candidate own[CANDIDATES_MOST])
{
    const float *logits = b->s->logits;
    uint32_t vocab = b->s->model->image.header->params.vocab, n = 0;

    for (uint32_t i = 0; i < vocab; i++) {
        struct candidate c = { beam, i, logits[i] > FLT_MAX ? FLT_MAX : logits[i] };

        if (logits[i] >= -FLT_MAX) {
            insert(own, &n, 2 * b->n, &c);
        }
    }
    return n;
}

/* Return ln of the sum of e^(x - max) over all logits. The logits are destroyed. Logits far below
 * max, and NaN, add nothing. */
static double log_of_sum(struct search *b, float max)
{
    struct session *s = b->s;
    uint32_t vocab = s->model->image.header->params.vocab;
    float *logits = s->logits;

    for (uint32_t i = 0; i < vocab; i++) {
        if (!(logits[i] >= max - LEAST)) {
            logits[i] = max - LEAST;
        } else if (logits[i] > max) {
            logits[i] = max;
        }
    }
    s->logits = NULL;
    return beams_log((double)s->model->kernels->exp_sum_f32(logits, vocab, max));
}

/* Add the candidates that continue a beam, from its logits, to the list of all candidates. */
static enum err collect(struct search *b, uint32_t beam)
{
    struct candidate own[CANDIDATES_MOST];
    struct session *s = b->s;
    double log_sum;
    uint32_t n;
    float max;

    if (b->job->sampler != NULL) {
        sampler_adjust(b->job->sampler, s->logits, s->model->image.header->params.vocab, s->ids,
                       s->n_ids, s->scratch.memory);
    }
    /* Find the best candidates before log_of_sum overwrites the logits. */
    n = likeliest(b, beam, own);
    if (n == 0) {
        format_text(s->error_message, sizeof s->error_message,
                    "the model gave no usable logits: check it with `ingot verify`");
        return ERR_BAD_MODEL;
    }
    max = (float)own[0].score;
    log_sum = log_of_sum(b, max);
    /* ln p = logit - max - ln(sum of e^(logit - max)). */
    for (uint32_t i = 0; i < n; i++) {
        own[i].score = b->live[beam].score + (own[i].score - max) - log_sum;
        insert(b->list, &b->n_list, b->n * CANDIDATES_MOST, &own[i]);
    }
    return ERR_OK;
}

/* ---- sequences ------------------------------------------------------------------------------- */

static void bring(struct search *b, uint32_t beam)
{
    struct session_sequence *sequence = b->live[beam].sequence;

    if (sequence == NULL) {
        return;
    }
    /* The sequence that was current goes into the slot that this beam leaves. */
    session_sequence_swap(b->s, sequence);
    for (uint32_t i = 0; i < b->n_live; i++) {
        if (b->live[i].sequence == NULL) {
            b->live[i].sequence = sequence;
        }
    }
    /* The previous sequence was not a beam: its slot is free. */
    if (b->work_is_free) {
        b->free[b->n_free++] = sequence;
    }
    b->work_is_free = false;
    b->live[beam].sequence = NULL;
}

/* Candidate c ends the reply of its parent beam. Keep the reply if it is the best so far. */
static void end_one(struct search *b, const struct candidate *c)
{
    double score = c->score / (b->length + 1);

    /* Compare the mean over tokens, including the end: otherwise short replies would always win. */
    b->ended++;
    if (b->ended == 1 || score > b->best_score) {
        b->best_score = score;
        bring(b, c->parent);
        session_sequence_keep(b->s, b->best);
    }
}

/* Choose the next beams: the best candidates that continue a reply. Candidates that end a reply do
 * so only if they are among the best n. */
static uint32_t choose(struct search *b, struct candidate next[BEAMS_MOST])
{
    uint32_t n = 0;

    for (uint32_t i = 0; i < b->n_list && n < b->n; i++) {
        const struct candidate *c = &b->list[i];

        if (!b->job->is_end(b->job->context, c->id)) {
            next[n++] = *c;
        } else if (i < b->n) {
            end_one(b, c);
        }
    }
    return n;
}

/* Free the sequences of beams without children. If the current sequence is then no longer a beam,
 * make beam `goes_on` current. */
static void leave(struct search *b, const uint32_t children[BEAMS_MOST], uint32_t goes_on)
{
    for (uint32_t i = 0; i < b->n_live; i++) {
        if (children[i] == 0 && b->live[i].sequence != NULL) {
            b->free[b->n_free++] = b->live[i].sequence;
        } else if (children[i] == 0) {
            b->work_is_free = true;
            b->live[i].sequence = b->best; /* any value but NULL, because this beam is no longer
                                            * current */
        }
    }
    if (b->work_is_free) {
        bring(b, goes_on);
    }
}

/* Give sequences to the next beams: the last child of a beam continues in the beam's sequence, the
 * others in copies. */
static void follow(struct search *b, const struct candidate *next, uint32_t n)
{
    uint32_t children[BEAMS_MOST] = { 0 };
    struct beam live[BEAMS_MOST] = { { NULL, 0, 0 } };
    bool copied[BEAMS_MOST];

    /* Count the children: a beam without any gives its sequence back, before copies need it. */
    for (uint32_t i = 0; i < n; i++) {
        children[next[i].parent]++;
    }
    if (n != 0) {
        leave(b, children, next[0].parent);
    }
    for (uint32_t i = 0; i < n; i++) {
        /* All children except the last copy their parent, while the parent is unchanged. */
        live[i] = (struct beam){ NULL, next[i].id, next[i].score };
        copied[i] = --children[next[i].parent] != 0;
        if (copied[i]) {
            assert(b->n_free != 0);
            bring(b, next[i].parent);
            live[i].sequence = b->free[--b->n_free];
            session_sequence_keep(b->s, live[i].sequence);
        }
    }
    for (uint32_t i = 0; i < n; i++) {
        /* The last child takes over its parent's sequence. */
        if (!copied[i]) {
            live[i].sequence = b->live[next[i].parent].sequence;
        }
    }
    memcpy(b->live, live, sizeof live);
    b->n_live = n;
    b->scored = b->length + 1;
}

static const uint32_t *ids_of(const struct search *b, uint32_t beam)
{
    return b->live[beam].sequence == NULL ? b->s->ids : b->live[beam].sequence->ids;
}

/* Return how many new tokens all beams, and the best ended reply, have in common. */
static uint32_t in_common(const struct search *b)
{
    const uint32_t *ids = ids_of(b, 0) + b->first;
    uint32_t n = b->length;

    for (uint32_t i = 1; i < b->n_live; i++) {
        const uint32_t *other = ids_of(b, i) + b->first;

        for (uint32_t j = b->settled; j < n; j++) {
            if (other[j] != ids[j]) {
                n = j;
            }
        }
    }
    /* An ended reply may still win, so it also holds back text. */
    if (b->ended != 0) {
        n = min_u32(n, b->best->n_ids - b->first);
        for (uint32_t j = b->settled; j < n; j++) {
            if (b->best->ids[b->first + j] != ids[j]) {
                n = j;
            }
        }
    }
    return max_u32(n, b->settled);
}

/* ---- the search ----------------------------------------------------------------------------- */

/* Pass on the current sequence's tokens up to n. Return false if the reply ends with the tokens
 * that were taken. */
static bool settle(struct search *b, uint32_t n)
{
    const uint32_t *ids = b->s->ids + b->first + b->settled;
    uint32_t taken = n - b->settled;
    bool more = taken == 0 || b->job->settled == NULL ||
                b->job->settled(b->job->context, ids, taken, &taken);

    b->settled += taken;
    return more;
}

/* Give every beam its next token, and compute it unless it is the last one allowed. */
static enum err advance(struct search *b, bool last)
{
    enum err e = ERR_OK;

    b->n_list = 0;
    for (uint32_t i = 0; i < b->n_live && e == ERR_OK; i++) {
        bring(b, i);
        (void)session_put_next(b->s, b->live[i].id);
        if (!last) {
            e = session_run(b->s, b->job->stop);
            b->result->passes++;
        }
        if (!last && e == ERR_OK) {
            e = collect(b, i);
        }
    }
    b->length++;
    return e;
}

/* Return true if no beam can become better than the best ended reply. */
static bool is_over(const struct search *b)
{
    if (b->n_live == 0 || b->ended >= b->n) {
        return true;
    }
    return b->ended != 0 && b->live[0].score / b->scored <= b->best_score;
}

/* Make the best of all replies the current sequence. */
static void take_best(struct search *b)
{
    bool better = b->n_live != 0 && b->length != 0;

    /* At the limit, or if the context is full, a beam that continues competes with the best ended
     * reply. */
    if (better && b->ended != 0) {
        better = b->result->end != BEAMS_ENDED && b->live[0].score / b->scored > b->best_score;
    }
    if (better) {
        bring(b, 0);
    } else if (b->ended != 0) {
        session_sequence_swap(b->s, b->best);
        b->result->end = BEAMS_ENDED;
    }
}

static enum err run(struct search *b)
{
    const struct beams_job *job = b->job;
    enum err e = collect(b, 0);

    while (e == ERR_OK) {
        struct candidate next[BEAMS_MOST];
        uint32_t room = b->s->context - b->first - b->length;
        bool last;

        /* 1. The best candidates become the beams. */
        follow(b, next, choose(b, next));
        b->result->end = BEAMS_ENDED;
        if (is_over(b)) {
            return ERR_OK;
        }
        if (room == 0) {
            b->result->end = BEAMS_CONTEXT;
            return ERR_OK;
        }
        /* 2. Each beam computes its next token. */
        last = b->length + 1 == job->limit;
        e = advance(b, last);
        /* 3. Show the text that all beams agree on. */
        if (e == ERR_OK && !settle(b, in_common(b))) {
            b->result->end = BEAMS_CUT;
            return ERR_OK;
        }
        if (e == ERR_OK && last) {
            b->result->end = BEAMS_LIMIT;
            return ERR_OK;
        }
        if (e == ERR_OK && job->stop != NULL && stop_is_asked(job->stop)) {
            e = ERR_ABORTED;
        }
    }
    return e;
}

enum err beams_search(struct beams *b, struct session *s, const struct beams_job *job,
                      struct beams_result *r)
{
    struct search search = { .s = s, .job = job, .result = r, .n = b->n, .n_live = 1 };
    enum err e;

    assert(b->n >= 2 && b->n <= BEAMS_MOST && s->logits != NULL);
    *r = (struct beams_result){ BEAMS_ENDED, 0 };
    search.first = s->n_ids;
    /* The last sequence is for the best ended reply; the others are free. */
    search.best = &b->sequences[b->n - 1];
    while (search.n_free < b->n - 1) {
        search.free[search.n_free] = &b->sequences[search.n_free];
        search.n_free++;
    }
    e = run(&search);
    if (e == ERR_OK && r->end != BEAMS_CUT) {
        take_best(&search);
        if (!settle(&search, s->n_ids - search.first)) {
            r->end = BEAMS_CUT;
        }
    }
    /* After an error or a cut, only the shown tokens stay. */
    if (e != ERR_OK || r->end == BEAMS_CUT) {
        (void)session_cut(s, search.first + search.settled);
    }
    for (uint32_t i = 0; i < b->n; i++) {
        session_sequence_drop(s, &b->sequences[i]);
    }
    return e;
}
