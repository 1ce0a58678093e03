#include "host/serve/serve_asked.h"

#include <stdlib.h>
#include <string.h>

#include "host/api/serve_worker.h"

struct serve_asked {
    struct serve_task task;
    struct serve_backend *backend;
    struct api_answer answer;
    struct api_text body;
    struct api_defaults defaults; /* when it came */
    struct serve_choices choices;
    struct api_error error;
};

static void read_body(struct serve_task *t)
{
    struct serve_asked *a = (struct serve_asked *)t;

    (void)serve_choices_ask(&a->choices, a->backend, &a->answer, &a->body, &a->defaults, &a->error);
}

static void drop(struct serve_task *t)
{
    struct serve_asked *a = (struct serve_asked *)t;

    serve_choices_leave(&a->choices, a->backend);
    serve_text_free(&a->body);
    free(a);
}

struct serve_asked *serve_asked_begin(struct serve_backend *b, const struct api_answer *as,
                                      struct api_text *body, const struct api_defaults *d)
{
    struct serve_asked *a = calloc(1, sizeof *a);

    if (a == NULL) {
        return NULL;
    }
    a->task = (struct serve_task){ .run = read_body, .drop = drop };
    a->backend = b;
    a->answer = *as;
    a->defaults = *d;
    a->body = *body;
    memset(body, 0, sizeof *body);
    serve_worker_put(&a->task);
    return a;
}

bool serve_asked_take(struct serve_asked *a, struct serve_choices *choices, struct api_error *e)
{
    if (!serve_worker_take(&a->task)) {
        return false;
    }
    *choices = a->choices;
    *e = a->error;
    memset(&a->choices, 0, sizeof a->choices);
    drop(&a->task);
    return true;
}

bool serve_asked_leave(struct serve_asked *a)
{
    return serve_worker_leave(&a->task);
}
