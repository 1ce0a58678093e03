#include "host/api/serve_choices.h"

#include <string.h>

#include "host/api/serve_dialect.h"
#include "runtime/api/api_vectors.h"

/* ---- the request ----------------------------------------------------------------------------- */

/* A reply that is made again must differ, even if the likeliest token is always taken. */
#define AGAIN_TEMPERATURE 0.7f

enum { TRIES_MOST = 4 };

static bool submit(struct serve_choices *c, struct serve_job *j, uint32_t i, struct api_error *e)
{
    if (!c->backend->submit(c->backend->context, j)) {
        serve_job_release(j);
        return api_refuse(e, 429, NULL, "queue_full", "too many requests wait");
    }
    c->jobs[i] = j;
    return true;
}

/* Makes the job for reply i. Every n consecutive replies belong to one prompt; all except the first
 * have different seeds. */
static bool add_job(struct serve_choices *c, const struct api_request *q, struct api_error *e)
{
    struct serve_job *j = serve_job_new();
    uint32_t n = q->n_choices != 0 ? q->n_choices : 1;

    if (j == NULL) {
        return api_refuse(e, 500, NULL, NULL, "out of memory");
    }
    serve_request_copy(&j->of.request, q);
    j->of.request.sampler.seed += c->n;
    j->of.request.prompt = c->n / n;
    if (!submit(c, j, c->n, e)) {
        return false;
    }
    c->n++;
    return true;
}

static bool add_jobs(struct serve_choices *c, const struct api_request *q, struct api_error *e)
{
    uint32_t n = q->n_choices != 0 ? q->n_choices : 1;

    n *= q->kind == API_CONTINUE ? q->n_turns : 1;
    if (n > API_REPLIES_MOST) {
        return api_refuse(e, 400, "n", NULL,
                          "n for each prompt makes %u replies, but a request may have at most %d",
                          (unsigned)n, API_REPLIES_MOST);
    }
    while (c->n < n) {
        if (!add_job(c, q, e)) {
            return false;
        }
    }
    return true;
}

/* Adds an empty reply, which is already done, because there is nothing to reply to. */
static bool add_empty_job(struct serve_choices *c, struct api_request *q, struct api_error *e)
{
    struct serve_job *j = serve_job_new();

    if (j == NULL) {
        return api_refuse(e, 500, NULL, NULL, "out of memory");
    }
    j->of.request = *q;
    memset(q, 0, sizeof *q);
    j->of.done = true;
    j->of.end = GENERATE_ENDED;
    c->jobs[c->n++] = j;
    return true;
}

bool serve_choices_ask(struct serve_choices *c, const struct serve_backend *b,
                       const struct api_answer *answer, const struct api_text *body,
                       const struct api_defaults *d, struct api_error *e)
{
    struct api_request q = { .n_turns = 0 };
    bool good;

    c->answer = *answer;
    c->backend = b;
    good = serve_dialect_read(&q, &c->answer, &c->echo, api_text_shown(body), body->n, d, e) &&
           (c->answer.loads ? add_empty_job(c, &q, e) : add_jobs(c, &q, e));
    serve_request_free(&q);
    if (!good) {
        serve_choices_leave(c, b);
        return false;
    }
    c->streams = c->jobs[0]->of.request.stream;
    for (uint32_t i = 0; i < c->n; i++) {
        c->at[i].index = i;
    }
    return true;
}

void serve_choices_leave(struct serve_choices *c, const struct serve_backend *b)
{
    for (uint32_t i = 0; i < c->n; i++) {
        b->cancel(b->context, c->jobs[i]);
        serve_job_release(c->jobs[i]);
        if (c->checks[i] != NULL) {
            serve_check_leave(c->checks[i]);
        }
    }
    if (c->whole != NULL) {
        serve_whole_leave(c->whole);
    }
    serve_text_free(&c->echo);
    memset(c, 0, sizeof *c);
}

/* ---- the answer ------------------------------------------------------------------------------ */

/* Replaces the job by another try, which must differ even if the likeliest token is always
 * taken. */
static bool ask_again(struct serve_choices *c, uint32_t i, struct api_error *e)
{
    struct serve_job *j = serve_job_new(), *old = c->jobs[i];

    if (j == NULL) {
        return api_refuse(e, 500, NULL, NULL, "out of memory");
    }
    serve_request_copy(&j->of.request, &old->of.request);
    j->of.request.sampler.seed += API_REPLIES_MOST;
    if (j->of.request.sampler.temp < AGAIN_TEMPERATURE) {
        j->of.request.sampler.temp = AGAIN_TEMPERATURE;
    }
    j->of.request.chosen |= INGOT_SAMPLES_TEMP; /* a board's model may recommend a lower
                                                   temperature */
    j->of.spent_tokens = old->of.spent_tokens + old->of.reply_tokens;
    if (!submit(c, j, i, e)) {
        return false;
    }
    serve_job_release(old);
    return true;
}

/* True if the grammar of a reply did not enforce all keywords of its schemas. */
static bool needs_check(const struct serve_job *j)
{
    return j->of.request.n_checked != 0 && j->of.error.status == 0;
}

/* Takes the result of the check of reply i. Returns false if the check is not finished. */
static bool take_check(struct serve_choices *c, uint32_t i, bool *good,
                       char error_message[SERVE_ERROR_MESSAGE_BYTES])
{
    struct serve_job *j = c->jobs[i];

    if (c->checks[i] == NULL) {
        c->checks[i] = serve_check_begin(j);
        if (c->checks[i] == NULL) {
            (void)api_refuse(&j->of.error, 500, NULL, NULL, "out of memory");
            *good = true;
            return true;
        }
    }
    if (!serve_check_take(c->checks[i], good, error_message)) {
        return false;
    }
    c->checks[i] = NULL;
    return true;
}

/* Checks reply i, which is done, and makes it again if the check refuses the reply. *e is set if
 * there was no room for another try. */
static void check_job(struct serve_choices *c, uint32_t i, struct api_error *e)
{
    struct serve_job *j = c->jobs[i];
    char error_message[SERVE_ERROR_MESSAGE_BYTES];
    bool good = true;

    if (c->checked[i] || (needs_check(j) && !take_check(c, i, &good, error_message))) {
        return;
    }
    if (!good && ++c->tries[i] < TRIES_MOST) {
        (void)ask_again(c, i, e);
        return;
    }
    if (!good) {
        (void)api_refuse(&j->of.error, 500, NULL, "schema_not_satisfied",
                         "no reply satisfied the schema in %d tries: %s", TRIES_MOST,
                         error_message);
    }
    c->checked[i] = true;
}

/* Sets the job's error if the request asks for more dimensions than the vectors have. */
static void check_dimensions(struct serve_job *j)
{
    size_t width = j->of.vectors.n / sizeof(float) /
                   (j->of.request.n_turns != 0 ? j->of.request.n_turns : 1);

    if (j->of.error.status == 0 && j->of.vectors.n != 0) {
        (void)api_vectors_check(&j->of.request, width, &j->of.error);
    }
}

/* Checks finished jobs; only the server's thread changes them. */
static void check_done(struct serve_choices *c, struct api_error *e)
{
    for (uint32_t i = 0; i < c->n; i++) {
        struct serve_job *j = c->jobs[i];
        bool done;

        pthread_mutex_lock(&j->lock);
        done = j->of.done;
        pthread_mutex_unlock(&j->lock);
        if (done && j->of.request.kind == API_EMBED) {
            check_dimensions(j);
        }
        if (done) {
            check_job(c, i, e);
        }
    }
}

/* True if the answer is written, or if it must be written in this thread because there is no memory
 * for a task. Call when all jobs are done. */
static bool is_written(struct serve_choices *c)
{
    if (c->whole == NULL) {
        c->whole = serve_whole_begin(&c->answer, &c->echo, c->jobs, c->n);
    }
    return c->whole == NULL || serve_whole_take(c->whole);
}

bool serve_choices_begun(struct serve_choices *c, struct api_error *e)
{
    uint32_t n_done = 0;
    bool some = false;

    check_done(c, e);
    for (uint32_t i = 0; i < c->n; i++) {
        struct serve_job *j = c->jobs[i];

        pthread_mutex_lock(&j->lock);
        n_done += c->checked[i];
        some = some || (j->of.request.n_checked == 0 && j->of.text.n + j->of.thoughts.n != 0);
        if (c->checked[i] && j->of.error.status != 0) {
            *e = j->of.error;
        }
        pthread_mutex_unlock(&j->lock);
    }
    if (n_done == c->n && e->status == 0 && !c->streams) {
        return is_written(c);
    }
    return n_done == c->n || e->status != 0 || (c->streams && some);
}

static void say_events(struct serve_choices *c, struct api_text *out)
{
    const struct serve_writer *w = serve_writer_of(c->answer.dialect);
    const struct api_job *jobs[API_REPLIES_MOST];
    struct api_error e = { .status = 0 };
    uint32_t n_ended = 0;
    bool failed = false;

    check_done(c, &e);
    if (e.status != 0) { /* there was no room for another try */
        pthread_mutex_lock(&c->jobs[0]->lock);
        c->jobs[0]->of.error = e;
        pthread_mutex_unlock(&c->jobs[0]->lock);
    }

    for (uint32_t i = 0; i < c->n && !failed; i++) {
        struct serve_job *j = c->jobs[i];

        pthread_mutex_lock(&j->lock);
        if (j->of.request.n_checked == 0 || c->checked[i]) {
            const struct api_stream s = { out, &c->answer, &j->of, &c->at[i], NULL };

            api_stream_walk(&s, w->say);
        }
        failed = j->of.done && j->of.error.status != 0;
        pthread_mutex_unlock(&j->lock);
        n_ended += c->at[i].ended;
    }
    c->ended = n_ended == c->n || failed;
    if (c->ended && w->end != NULL) { /* one failed reply ends all replies */
        serve_job_list(jobs, c->jobs, c->n);
        w->end(out, &c->answer, jobs, failed ? 0 : c->n);
    }
}

void serve_choices_say(struct serve_choices *c, struct api_text *out)
{
    const struct api_job *jobs[API_REPLIES_MOST];

    if (c->ended) {
        return;
    }
    if (c->streams) {
        say_events(c, out);
        return;
    }
    c->ended = true;
    if (c->whole != NULL) {
        serve_whole_say(c->whole, out);
        c->whole = NULL;
    } else {
        serve_job_list(jobs, c->jobs, c->n);
        serve_writer_of(c->answer.dialect)->whole(out, &c->answer, jobs, c->n);
    }
}
