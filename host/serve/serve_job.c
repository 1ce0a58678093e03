#include <stdlib.h>

#include "host/api/serve_backend.h"

struct serve_job *serve_job_new(void)
{
    struct serve_job *j = calloc(1, sizeof *j);

    if (j != NULL) {
        pthread_mutex_init(&j->lock, NULL);
        j->holders = 1;
        api_figures_clear(&j->of.figures);
    }
    return j;
}

void serve_job_list(const struct api_job *list[API_REPLIES_MOST], struct serve_job *const *jobs,
                    uint32_t n)
{
    for (uint32_t i = 0; i < n; i++) {
        list[i] = &jobs[i]->of;
    }
}

void serve_job_hold(struct serve_job *j)
{
    pthread_mutex_lock(&j->lock);
    j->holders++;
    pthread_mutex_unlock(&j->lock);
}

void serve_job_release(struct serve_job *j)
{
    unsigned left;

    pthread_mutex_lock(&j->lock);
    left = --j->holders;
    pthread_mutex_unlock(&j->lock);
    if (left != 0) {
        return;
    }
    pthread_mutex_destroy(&j->lock);
    serve_request_free(&j->of.request);
    serve_text_free(&j->of.text);
    serve_text_free(&j->of.thoughts);
    serve_text_free(&j->of.scores);
    serve_text_free(&j->of.vectors);
    free(j);
}

bool serve_job_failed(const struct serve_job *j)
{
    return j->of.text.failed || j->of.thoughts.failed || j->of.scores.failed ||
           j->of.vectors.failed;
}

void serve_job_cancel(struct serve_job *j)
{
    pthread_mutex_lock(&j->lock);
    j->cancelled = true;
    pthread_mutex_unlock(&j->lock);
}

bool serve_job_is_cancelled(struct serve_job *j)
{
    bool cancelled;

    pthread_mutex_lock(&j->lock);
    cancelled = j->cancelled;
    pthread_mutex_unlock(&j->lock);
    return cancelled;
}
