#include "host/api/serve_choices.h"

#include <string.h>

#include "host/api/serve_dialect.h"

/* ---- asked ----------------------------------------------------------------------------------- */

/* A reply that is made again must differ, even if the likeliest token is always taken. */
#define AGAIN_TEMPERATURE 0.7f

enum { TRIES_MOST = 4 };

static bool submit(struct serve_choices *c, struct serve_job *j, uint32_t i, struct serve_error *e)
{
    if (!c->backend->submit(c->backend->context, j)) {
        serve_job_release(j);
        return serve_refuse(e, 429, NULL, "queue_full", "too many requests wait");
    }
    c->jobs[i] = j;
    return true;
}

/* Makes reply i of the request. Each n replies belong to one prompt, and those after the first have
 * seeds of their own. */
static bool add_job(struct serve_choices *c, const struct serve_request *q, struct serve_error *e)
{
    struct serve_job *j = serve_job_new();
    uint32_t n = q->n_choices != 0 ? q->n_choices : 1;

    if (j == NULL || !serve_request_copy(&j->request, q)) {
        if (j != NULL) {
            serve_job_release(j);
        }
        return serve_refuse(e, 500, NULL, NULL, "out of memory");
    }
    j->request.sampler.seed += c->n;
    j->request.prompt = c->n / n;
    if (!submit(c, j, c->n, e)) {
        return false;
    }
    c->n++;
    return true;
}

static bool add_jobs(struct serve_choices *c, const struct serve_request *q, struct serve_error *e)
{
    uint32_t n = q->n_choices != 0 ? q->n_choices : 1;

    n *= q->kind == SERVE_CONTINUE ? q->n_turns : 1;
    if (n > SERVE_REPLIES_MOST) {
        return serve_refuse(e, 400, "n", NULL,
                            "n replies to each prompt make %u, but a request may have %d",
                            (unsigned)n, SERVE_REPLIES_MOST);
    }
    while (c->n < n) {
        if (!add_job(c, q, e)) {
            return false;
        }
    }
    return true;
}

/* There is nothing to reply to, so the empty reply is done at once. */
static bool add_empty_job(struct serve_choices *c, struct serve_request *q, struct serve_error *e)
{
    struct serve_job *j = serve_job_new();

    if (j == NULL) {
        return serve_refuse(e, 500, NULL, NULL, "out of memory");
    }
    j->request = *q;
    memset(q, 0, sizeof *q);
    j->done = true;
    j->end = GENERATE_ENDED;
    c->jobs[c->n++] = j;
    return true;
}

bool serve_choices_ask(struct serve_choices *c, const struct serve_backend *b,
                       const struct serve_answer *answer, const struct serve_text *body,
                       const struct serve_defaults *d, struct serve_error *e)
{
    struct serve_request q = { .n_turns = 0 };
    bool good;

    c->answer = *answer;
    c->backend = b;
    good = serve_dialect_read(&q, &c->answer, &c->echo, serve_text_shown(body), body->n, d, e) &&
           (c->answer.loads ? add_empty_job(c, &q, e) : add_jobs(c, &q, e));
    serve_request_free(&q);
    if (!good) {
        serve_choices_leave(c, b);
        return false;
    }
    c->streams = c->jobs[0]->request.stream;
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

/* ---- said ------------------------------------------------------------------------------------ */

/* Gives the job's place to another try, which must not begin where the likeliest token led. */
static bool ask_again(struct serve_choices *c, uint32_t i, struct serve_error *e)
{
    struct serve_job *j = serve_job_new(), *old = c->jobs[i];

    if (j == NULL || !serve_request_copy(&j->request, &old->request)) {
        if (j != NULL) {
            serve_job_release(j);
        }
        return serve_refuse(e, 500, NULL, NULL, "out of memory");
    }
    j->request.sampler.seed += SERVE_REPLIES_MOST;
    if (j->request.sampler.temp < AGAIN_TEMPERATURE) {
        j->request.sampler.temp = AGAIN_TEMPERATURE;
    }
    j->request.chosen |= INGOT_SAMPLES_TEMP; /* a board's model may have a lower one */
    j->spent_tokens = old->spent_tokens + old->reply_tokens;
    if (!submit(c, j, i, e)) {
        return false;
    }
    serve_job_release(old);
    return true;
}

/* Whether the grammar of a reply does not hold all of its schemas, however the reply has ended. */
static bool needs_check(const struct serve_job *j)
{
    return j->request.n_checked != 0 && j->error.status == 0;
}

/* Takes the result of the check of reply i. False: the check goes on. */
static bool take_check(struct serve_choices *c, uint32_t i, bool *good,
                       char error_message[SERVE_ERROR_MESSAGE_BYTES])
{
    struct serve_job *j = c->jobs[i];

    if (c->checks[i] == NULL) {
        c->checks[i] = serve_check_begin(j);
        if (c->checks[i] == NULL) {
            (void)serve_refuse(&j->error, 500, NULL, NULL, "out of memory");
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

/* Reply i is done: checks it, and makes it again if it is refused. *e: another try found no
 * place. */
static void check_job(struct serve_choices *c, uint32_t i, struct serve_error *e)
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
        (void)serve_refuse(&j->error, 500, NULL, "schema_not_satisfied",
                           "no reply satisfied the schema in %d tries: %s", TRIES_MOST,
                           error_message);
    }
    c->checked[i] = true;
}

/* Cuts vectors to the wanted dimensions, if they have so many. */
static void check_dimensions(struct serve_job *j)
{
    size_t width = j->vectors.n / sizeof(float) /
                   (j->request.n_turns != 0 ? j->request.n_turns : 1);

    if (j->request.dimensions > width && j->error.status == 0 && j->vectors.n != 0) {
        (void)serve_refuse(&j->error, 400, "dimensions", NULL,
                           "dimensions is %u: the model's embeddings have %zu",
                           (unsigned)j->request.dimensions, width);
    }
}

/* Only the server's thread changes a finished job. */
static void check_done(struct serve_choices *c, struct serve_error *e)
{
    for (uint32_t i = 0; i < c->n; i++) {
        struct serve_job *j = c->jobs[i];
        bool done;

        pthread_mutex_lock(&j->lock);
        done = j->done;
        pthread_mutex_unlock(&j->lock);
        if (done && j->request.kind == SERVE_EMBED) {
            check_dimensions(j);
        }
        if (done) {
            check_job(c, i, e);
        }
    }
}

/* All jobs are done. Returns whether their answer is written, or has to be written here because
 * there is no memory for a task. */
static bool is_written(struct serve_choices *c)
{
    if (c->whole == NULL) {
        c->whole = serve_whole_begin(&c->answer, &c->echo, c->jobs, c->n);
    }
    return c->whole == NULL || serve_whole_take(c->whole);
}

bool serve_choices_begun(struct serve_choices *c, struct serve_error *e)
{
    uint32_t n_done = 0;
    bool some = false;

    check_done(c, e);
    for (uint32_t i = 0; i < c->n; i++) {
        struct serve_job *j = c->jobs[i];

        pthread_mutex_lock(&j->lock);
        n_done += c->checked[i];
        some = some || (j->request.n_checked == 0 && j->text.n + j->thoughts.n != 0);
        if (c->checked[i] && j->error.status != 0) {
            *e = j->error;
        }
        pthread_mutex_unlock(&j->lock);
    }
    if (n_done == c->n && e->status == 0 && !c->streams) {
        return is_written(c);
    }
    return n_done == c->n || e->status != 0 || (c->streams && some);
}

static void say_events(struct serve_choices *c, struct serve_text *out)
{
    const struct serve_writer *w = serve_writer_of(c->answer.dialect);
    struct serve_error e = { .status = 0 };
    uint32_t n_ended = 0;
    bool failed = false;

    check_done(c, &e);
    if (e.status != 0) { /* another try found no place */
        pthread_mutex_lock(&c->jobs[0]->lock);
        c->jobs[0]->error = e;
        pthread_mutex_unlock(&c->jobs[0]->lock);
    }

    for (uint32_t i = 0; i < c->n && !failed; i++) {
        struct serve_job *j = c->jobs[i];

        pthread_mutex_lock(&j->lock);
        if (j->request.n_checked == 0 || c->checked[i]) {
            const struct serve_stream s = { out, &c->answer, j, &c->at[i], NULL };

            serve_stream_walk(&s, w->say);
        }
        failed = j->done && j->error.status != 0;
        pthread_mutex_unlock(&j->lock);
        n_ended += c->at[i].ended;
    }
    c->ended = n_ended == c->n || failed;
    if (c->ended && w->end != NULL) { /* one failed job ends them all */
        w->end(out, &c->answer, c->jobs, failed ? 0 : c->n);
    }
}

void serve_choices_say(struct serve_choices *c, struct serve_text *out)
{
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
        serve_writer_of(c->answer.dialect)->whole(out, &c->answer, c->jobs, c->n);
    }
}
