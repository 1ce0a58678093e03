/* Runs jobs on a model of this computer: jobs wait, get slots, and end. */
#include "host/serve/serve_model.h"

#include <stdlib.h>
#include <string.h>

#include "board/host/host_board.h"
#include "board/min_max.h"
#include "host/api/serve_prompt.h"
#include "host/serve/serve_queue.h"
#include "host/api/serve_scores.h"
#include "host/serve/serve_told.h"
#include "runtime/features/adapters/app_adapters.h"
#include "runtime/features/grammar/grammar_constraint.h"
#include "runtime/session/replies.h"

/* A sequence and its current job. */
struct slot {
    struct session *session;
    struct serve_job *job; /* NULL: it is free */
    struct generate_params params;
    struct generate_sink sink;
    struct grammar_constraint constraint;
    struct json_biases biases;
    bool thinks; /* the sequence is writing thoughts */
};

/* A prompt as tokens. */
struct prompt {
    uint32_t *ids; /* (context) */
    size_t n;
};

static struct serve_model {
    struct app *app;
    struct serve_wake wake;
    pthread_t thread;
    struct replies replies;
    struct slot slots[GROUP_MOST];
    void *constraints; /* memory of all slots' constraints */
    struct prompt prompt;
    struct api_encoder encoder;
    struct kept kept;
    struct stop stop;
    pthread_mutex_t lock; /* protects all members below */
    pthread_cond_t more;
    struct serve_queue queue;
    struct serve_stats stats;
    struct serve_told told;
    bool closing;
} serve_model;

static struct model *model_of(struct serve_model *m)
{
    return &m->app->target.model;
}

/* ---- the reply ------------------------------------------------------------------------------- */

static void take_text(void *context, const char *text, size_t bytes)
{
    struct slot *p = context;

    pthread_mutex_lock(&p->job->lock);
    (void)serve_text_add(p->thinks ? &p->job->of.thoughts : &p->job->of.text, text, bytes);
    pthread_mutex_unlock(&p->job->lock);
}

static void take_think(void *context, bool begins)
{
    ((struct slot *)context)->thinks = begins;
}

/* Takes scores of tokens; thoughts have none, because they are not part of the answer. */
static void take_scores(void *context, const struct token_scores *scores)
{
    struct slot *p = context;

    pthread_mutex_lock(&p->job->lock);
    if (!p->thinks) {
        serve_scores_take(&p->job->of.scores, p->session, scores);
    }
    pthread_mutex_unlock(&p->job->lock);
}

/* Ends a job; after that, only the server holds the job. */
static void end_job(struct serve_model *m, struct serve_job *j, const struct api_error *e)
{
    pthread_mutex_lock(&j->lock);
    if (e != NULL) {
        j->of.error = *e;
    } else if (serve_job_failed(j)) {
        (void)api_refuse(&j->of.error, 500, NULL, NULL, "out of memory");
    }
    j->of.done = true;
    pthread_mutex_lock(&m->lock);
    m->stats.requests++;
    m->stats.failed += j->of.error.status != 0;
    m->stats.cancelled += j->cancelled;
    m->stats.reply_tokens += j->of.reply_tokens;
    pthread_mutex_unlock(&m->lock);
    pthread_mutex_unlock(&j->lock);
    serve_job_release(j);
    m->wake.call(m->wake.context);
}

static uint32_t same_tokens(const struct session *s, const struct prompt *p)
{
    uint32_t n = 0;

    while (n < s->n_ids && n < p->n && s->ids[n] == p->ids[n]) {
        n++;
    }
    return n;
}

/* Returns the free slot that already has most of the prompt. At least one slot must be free. */
static uint32_t best_slot(struct serve_model *m)
{
    uint32_t best = GROUP_MOST, most = 0;

    for (uint32_t i = 0; i < m->replies.n; i++) {
        bool is_free = m->slots[i].job == NULL;
        uint32_t same = is_free ? same_tokens(m->slots[i].session, &m->prompt) : 0;

        if (is_free && (best == GROUP_MOST || same > most)) {
            best = i;
            most = same;
        }
    }
    return best;
}

static void set_params(struct serve_model *m, struct slot *p)
{
    p->thinks = false;
    p->sink = (struct generate_sink){
        .context = p, .text = take_text, .think = take_think, .scores = take_scores
    };
    p->params = api_tokens_params(&p->job->of.request, model_of(m)->image.chat);
}

static bool use_grammar(struct slot *p, struct api_error *e)
{
    const struct api_request *q = &p->job->of.request;
    const char *error_message = "";

    if (q->grammar == NULL) {
        return true;
    }
    memcpy(grammar_constraint_memory(&p->constraint), q->grammar, q->grammar_bytes);
    if (grammar_constraint_use(&p->constraint, q->grammar_bytes, &error_message) != ERR_OK) {
        return api_refuse(e, 400, "grammar", NULL, "%s", error_message);
    }
    p->params.constraint = &p->constraint.base;
    return true;
}

/* Computes a vector between passes of the replies, in a free slot. */
static bool embed_text(struct serve_model *m, struct serve_job *j, const struct api_turn *input,
                       struct api_error *e)
{
    struct session *s = m->slots[best_slot(m)].session;
    size_t bytes = model_of(m)->image.header->params.dim * sizeof(float);
    const float *mean;
    uint32_t room;
    enum err error;

    if (!api_tokens_encode_text(&m->encoder, input, m->prompt.ids, &m->prompt.n, e)) {
        return false;
    }
    if (m->prompt.n > s->context - s->n_ids) {
        session_clear(s);
    }
    session_forget_guesses(s);
    memcpy(session_room(s, &room), m->prompt.ids, m->prompt.n * sizeof *m->prompt.ids);
    error = session_embed(s, (uint32_t)m->prompt.n, &m->stop, &mean);
    if (error != ERR_OK) {
        return api_refuse(e, error == ERR_ABORTED ? 503 : 500, NULL, NULL, "%s",
                          error == ERR_ABORTED ? "the server is shutting down" : s->error_message);
    }
    pthread_mutex_lock(&j->lock);
    (void)serve_text_add(&j->of.vectors, (const char *)mean, bytes);
    j->of.prompt_tokens += (uint32_t)m->prompt.n;
    pthread_mutex_unlock(&j->lock);
    return true;
}

static void embed(struct serve_model *m, struct serve_job *j)
{
    struct api_error e = { .status = 0 };
    bool good = true;

    m->prompt.n = 0; /* any slot will do */
    for (uint32_t i = 0; i < j->of.request.n_turns && good; i++) {
        good = embed_text(m, j, &j->of.request.turns[i], &e);
    }
    pthread_mutex_lock(&m->lock);
    m->stats.prompt_tokens += j->of.prompt_tokens;
    pthread_mutex_unlock(&m->lock);
    end_job(m, j, good ? NULL : &e);
}

static void begin(struct serve_model *m, struct serve_job *j)
{
    struct api_error e = { .status = 0 };
    uint32_t i, same;
    struct sampler_params sampler = j->of.request.sampler;
    struct slot *p;

    if (!api_tokens_encode(&m->encoder, &j->of.request, m->prompt.ids, &m->prompt.n, &e)) {
        end_job(m, j, &e);
        return;
    }
    i = best_slot(m);
    p = &m->slots[i];
    p->job = j;
    set_params(m, p);
    if (!use_grammar(p, &e) ||
        !serve_prompt_biases(p->session, &p->job->of.request, &p->biases, &sampler, &e)) {
        p->job = NULL;
        end_job(m, j, &e);
        return;
    }
    same = same_tokens(p->session, &m->prompt);
    same = min_u32(same, (uint32_t)m->prompt.n - 1); /* at least one token must be computed */
    (void)session_cut(p->session, same);
    (void)session_put(p->session, m->prompt.ids + same, m->prompt.n - same); /* there is room */
    same = kept_take(&m->kept, p->session);
    if (!j->of.request.seeded) {
        sampler.seed = board.ticks();
    }
    pthread_mutex_lock(&j->lock);
    j->of.prompt_tokens = (uint32_t)m->prompt.n;
    j->of.cached_tokens = same;
    pthread_mutex_unlock(&j->lock);
    pthread_mutex_lock(&m->lock);
    m->stats.prompt_tokens += m->prompt.n;
    m->stats.cached_tokens += same;
    pthread_mutex_unlock(&m->lock);
    replies_begin(&m->replies, i, &p->params, &sampler, &p->sink);
}

/* ---- all slots ------------------------------------------------------------------------------- */

static void finish(struct serve_model *m, uint32_t i, const struct api_error *e)
{
    struct slot *p = &m->slots[i];
    struct serve_job *j = p->job;
    const struct generate_result *r = &m->replies.slots[i].result;
    struct api_figures figures;

    serve_told_figures(&m->told, p->session, r, &figures);
    pthread_mutex_lock(&j->lock);
    api_job_take_result(&j->of, r);
    j->of.figures = figures;
    pthread_mutex_unlock(&j->lock);
    p->job = NULL;
    end_job(m, j, e);
    pthread_mutex_lock(&m->lock);
    serve_told_news(&m->told, &m->stats, p->session, e == NULL ? &figures : NULL);
    pthread_mutex_unlock(&m->lock);
}

static void leave_cancelled(struct serve_model *m)
{
    for (uint32_t i = 0; i < m->replies.n; i++) {
        if (m->slots[i].job != NULL && serve_job_is_cancelled(m->slots[i].job)) {
            replies_leave(&m->replies, i);
            finish(m, i, NULL);
        }
    }
}

/* Ends all replies with an error, because it is unknown in which of them the pass failed. */
static void fail_all(struct serve_model *m, const char *why)
{
    struct api_error e = { .status = 0 };

    (void)api_refuse(&e, 500, NULL, NULL, "%s", why);
    for (uint32_t i = 0; i < m->replies.n; i++) {
        if (m->slots[i].job != NULL) {
            replies_leave(&m->replies, i);
            session_clear(m->slots[i].session);
            finish(m, i, &e);
        }
    }
}

static void run_pass(struct serve_model *m)
{
    enum err e = replies_pass(&m->replies, &m->stop);

    if (e != ERR_OK) {
        fail_all(m, e == ERR_ABORTED ? "the server is shutting down" : m->replies.error_message);
        return;
    }
    for (uint32_t i = 0; i < m->replies.n; i++) {
        if (m->slots[i].job != NULL) {
            kept_follow(&m->kept, m->slots[i].session, m->slots[i].job->of.prompt_tokens);
        }
        if (m->slots[i].job != NULL && !m->replies.slots[i].busy) {
            struct api_error slow = { .status = 0 };

            if (m->slots[i].params.constraint != NULL && m->slots[i].constraint.spent) {
                (void)api_refuse(
                    &slow, 400, "grammar", NULL,
                    "the grammar takes more than the limit of %d million steps for a token",
                    GRAMMAR_STEPS / 1000000);
            }
            finish(m, i, slow.status != 0 ? &slow : NULL);
        }
    }
    m->wake.call(m->wake.context);
}

/* Returns the next job for a free slot; NULL: there is none. Writes prompts to the file while no
 * job waits or runs. *closing: the server ends. */
static struct serve_job *take(struct serve_model *m, bool *closing)
{
    uint32_t busy = replies_busy(&m->replies);
    struct serve_job *j = NULL;

    pthread_mutex_lock(&m->lock);
    m->stats.running = busy;
    m->stats.passes = m->replies.group.n_passes;
    while (!m->closing && m->queue.n == 0 && busy == 0) {
        bool wrote;

        pthread_mutex_unlock(&m->lock);
        wrote = kept_write(&m->kept);
        pthread_mutex_lock(&m->lock);
        if (!wrote && !m->closing && m->queue.n == 0) {
            pthread_cond_wait(&m->more, &m->lock);
        }
    }
    if (busy < m->replies.n || m->closing) {
        j = serve_queue_take(&m->queue);
    }
    *closing = m->closing;
    pthread_mutex_unlock(&m->lock);
    return j;
}

static void *work(void *context)
{
    struct serve_model *m = context;
    bool closing = false;

    while (!closing) {
        struct serve_job *j = take(m, &closing);

        if (j != NULL && !closing && !serve_job_is_cancelled(j)) {
            (j->of.request.kind == API_EMBED ? embed : begin)(m, j);
        } else if (j != NULL) {
            struct api_error e = { .status = 0 };

            (void)api_refuse(&e, 503, NULL, NULL, "the server is shutting down");
            end_job(m, j, closing ? &e : NULL);
        } else if (!closing) {
            leave_cancelled(m);
            if (replies_busy(&m->replies) != 0) {
                run_pass(m);
            }
        }
        closing = closing && j == NULL;
    }
    fail_all(m, "the server is shutting down");
    return NULL;
}

/* ---- from the server's thread ---------------------------------------------------------------- */

static bool submit(void *context, struct serve_job *j)
{
    struct serve_model *m = context;
    bool room;

    serve_job_hold(j);
    pthread_mutex_lock(&m->lock);
    room = serve_queue_put(&m->queue, j);
    pthread_cond_signal(&m->more);
    pthread_mutex_unlock(&m->lock);
    if (!room) {
        serve_job_release(j);
    }
    return room;
}

/* Cancels a job: a waiting one makes room at once; a running one ends with the next pass. */
static void cancel(void *context, struct serve_job *j)
{
    struct serve_model *m = context;
    bool waited;

    serve_job_cancel(j);
    pthread_mutex_lock(&m->lock);
    waited = serve_queue_take_out(&m->queue, j);
    pthread_mutex_unlock(&m->lock);
    if (waited) {
        end_job(m, j, NULL);
    }
}

static void stats(void *context, struct serve_stats *s)
{
    struct serve_model *m = context;

    pthread_mutex_lock(&m->lock);
    *s = m->stats;
    s->waiting = m->queue.n;
    pthread_mutex_unlock(&m->lock);
}

static bool look(void *context, uint32_t i, struct serve_look *l)
{
    struct serve_model *m = context;

    pthread_mutex_lock(&m->lock);
    *l = m->told.look;
    pthread_mutex_unlock(&m->lock);
    return i == 0;
}

static bool is_closing(void *context)
{
    struct serve_model *m = context;
    bool closing;

    pthread_mutex_lock(&m->lock);
    closing = m->closing;
    pthread_mutex_unlock(&m->lock);
    return closing;
}

/* Opens the slots. All requests share the adapters of the command line. */
static bool open_slots(struct serve_model *m)
{
    const char *adapters[] = { m->app->setup.options->load.adapter };
    uint32_t vocab = model_of(m)->image.header->params.vocab;
    size_t bytes = (grammar_constraint_bytes(vocab) + 63) & ~(size_t)63;

    m->replies.n = model_of(m)->plan.sequences;
    m->replies.group.step = kept_step(&m->kept);
    if (app_use_adapter_sets(m->app, adapters, 1) != ERR_OK) {
        fprintf(stderr, "ingot: %s\n", m->app->error_message);
        return false;
    }
    m->constraints = aligned_alloc(64, bytes * m->replies.n);
    m->prompt.ids = malloc(app_sequence(m->app, 0)->context * sizeof *m->prompt.ids);
    if (m->constraints == NULL || m->prompt.ids == NULL) {
        fprintf(stderr, "ingot: out of memory\n");
        return false;
    }
    m->encoder = serve_prompt_encoder(model_of(m), app_sequence(m->app, 0)->context);
    for (uint32_t i = 0; i < m->replies.n; i++) {
        m->slots[i].session = m->replies.slots[i].session = app_sequence(m->app, i);
        m->slots[i].session->lora = adapters_of_set(&adapters_of(&m->app->chat)->adapters, 0);
        grammar_constraint_open(&m->slots[i].constraint, (uint8_t *)m->constraints + i * bytes,
                                &model_of(m)->tokenizer, vocab);
    }
    return true;
}

bool serve_model_open(struct serve_backend *b, struct app *app, struct serve_wake wake,
                      const struct serve_kept_setup *kept)
{
    struct serve_model *m = &serve_model;

    m->app = app;
    m->wake = wake;
    m->stop = (struct stop){ is_closing, m };
    pthread_mutex_init(&m->lock, NULL);
    pthread_cond_init(&m->more, NULL);
    *b = (struct serve_backend){ m, submit, cancel, stats, look, NULL };
    if (!serve_kept_open(&m->kept, kept, app) || !open_slots(m)) {
        return false;
    }
    serve_told_open(&m->told, app);
    if (pthread_create(&m->thread, NULL, work, m) != 0) {
        fprintf(stderr, "ingot: no thread could be started\n");
        return false;
    }
    return true;
}

void serve_model_close(struct serve_backend *b)
{
    struct serve_model *m = b->context;

    pthread_mutex_lock(&m->lock);
    m->closing = true;
    pthread_cond_signal(&m->more);
    pthread_mutex_unlock(&m->lock);
    pthread_join(m->thread, NULL);
    serve_kept_close(&m->kept);
    free(m->constraints);
    free(m->prompt.ids);
}
