#include "host/serve_choices.h"

#include <string.h>

/* ---- asked ----------------------------------------------------------------------------------- */

/* One more job; those after the first have seeds of their own. */
static bool add_job(struct serve_choices *c, const struct serve_backend *b,
                    const struct serve_text *body, const struct serve_defaults *d,
                    struct serve_error *e)
{
    struct serve_job *j = serve_job_new();

    if (j == NULL) {
        return serve_refuse(e, 500, NULL, NULL, "out of memory");
    }
    if (!serve_request_read(&j->request, c->answer.kind, serve_text_shown(body), body->n, d, e)) {
        serve_job_release(j);
        return false;
    }
    j->request.sampler.seed += c->n;
    if (!b->submit(b->context, j)) {
        serve_job_release(j);
        return serve_refuse(e, 429, NULL, "queue_full", "too many requests wait");
    }
    c->jobs[c->n++] = j;
    return true;
}

bool serve_choices_ask(struct serve_choices *c, const struct serve_backend *b,
                       const struct serve_answer *answer, const struct serve_text *body,
                       const struct serve_defaults *d, struct serve_error *e)
{
    bool good;

    c->answer = *answer;
    good = add_job(c, b, body, d, e);
    while (good && c->n < c->jobs[0]->request.n_choices) {
        good = add_job(c, b, body, d, e);
    }
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
    }
    memset(c, 0, sizeof *c);
}

/* ---- said ------------------------------------------------------------------------------------ */

bool serve_choices_begun(const struct serve_choices *c, struct serve_error *e)
{
    uint32_t n_done = 0;
    bool some = false;

    for (uint32_t i = 0; i < c->n; i++) {
        struct serve_job *j = c->jobs[i];

        pthread_mutex_lock(&j->lock);
        n_done += j->done;
        some = some || j->text.n + j->thoughts.n != 0;
        if (j->done && j->error.status != 0) {
            *e = j->error;
        }
        pthread_mutex_unlock(&j->lock);
    }
    return n_done == c->n || e->status != 0 || (c->streams && some);
}

static void say_events(struct serve_choices *c, struct serve_text *out)
{
    uint32_t n_ended = 0;
    bool failed = false;

    for (uint32_t i = 0; i < c->n && !failed; i++) {
        struct serve_job *j = c->jobs[i];

        pthread_mutex_lock(&j->lock);
        serve_answer_events(out, &c->answer, j, &c->at[i]);
        failed = j->done && j->error.status != 0;
        pthread_mutex_unlock(&j->lock);
        n_ended += c->at[i].ended;
    }
    c->ended = n_ended == c->n || failed;
    if (c->ended) { /* one that failed ends them all */
        serve_answer_end(out, &c->answer, c->jobs, failed ? 0 : c->n);
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
    serve_answer_whole(out, &c->answer, c->jobs, c->n);
}
