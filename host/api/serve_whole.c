#include "host/api/serve_whole.h"

#include <stdlib.h>
#include <string.h>

#include "host/api/serve_dialect.h"
#include "host/api/serve_worker.h"

struct serve_whole {
    struct serve_task task;
    struct api_answer answer;
    struct api_text echo, text;
    uint32_t n;
    struct serve_job *jobs[API_REPLIES_MOST];
    bool written; /* a worker has taken the task */
};

/* Writes the answer in a worker. No lock is needed, because nobody changes finished jobs. */
static void write_answer(struct serve_task *t)
{
    struct serve_whole *w = (struct serve_whole *)t;

    const struct api_job *jobs[API_REPLIES_MOST];

    serve_job_list(jobs, w->jobs, w->n);
    serve_writer_of(w->answer.dialect)->whole(&w->text, &w->answer, jobs, w->n);
}

static void drop(struct serve_task *t)
{
    struct serve_whole *w = (struct serve_whole *)t;

    for (uint32_t i = 0; i < w->n; i++) {
        serve_job_release(w->jobs[i]);
    }
    serve_text_free(&w->echo);
    serve_text_free(&w->text);
    free(w);
}

struct serve_whole *serve_whole_begin(const struct api_answer *a, struct api_text *echo,
                                      struct serve_job *const *jobs, uint32_t n)
{
    struct serve_whole *w = calloc(1, sizeof *w);

    if (w == NULL) {
        return NULL;
    }
    w->task = (struct serve_task){ .run = write_answer, .drop = drop };
    w->answer = *a;
    w->echo = *echo; /* answer.echo still points to the bytes */
    memset(echo, 0, sizeof *echo);
    w->n = n;
    for (uint32_t i = 0; i < n; i++) {
        w->jobs[i] = jobs[i];
        serve_job_hold(jobs[i]);
    }
    serve_worker_put(&w->task);
    return w;
}

bool serve_whole_take(struct serve_whole *w)
{
    w->written = w->written || serve_worker_take(&w->task);
    return w->written;
}

void serve_whole_say(struct serve_whole *w, struct api_text *out)
{
    *out = w->text;
    memset(&w->text, 0, sizeof w->text);
    drop(&w->task);
}

void serve_whole_leave(struct serve_whole *w)
{
    if (w->written) {
        drop(&w->task);
    } else {
        (void)serve_worker_leave(&w->task);
    }
}
