#include "host/api/serve_check.h"

#include <stdlib.h>
#include <string.h>

#include "host/api/serve_hold.h"
#include "host/api/serve_worker.h"

struct serve_check {
    struct serve_task task;
    struct serve_job *job;
    bool good;
    char error_message[SERVE_ERROR_MESSAGE_BYTES];
};

/* Checks a reply. No lock is needed, because nobody changes the request and the text of a finished
 * job. */
static void check_reply(struct serve_task *t)
{
    struct serve_check *k = (struct serve_check *)t;

    bool cut = k->job->of.end != GENERATE_ENDED && k->job->of.end != GENERATE_STOP;

    k->good = serve_check_reply(&k->job->of.request, &k->job->of.text, cut, k->error_message,
                                sizeof k->error_message);
}

static void drop(struct serve_task *t)
{
    struct serve_check *k = (struct serve_check *)t;

    serve_job_release(k->job);
    free(k);
}

struct serve_check *serve_check_begin(struct serve_job *j)
{
    struct serve_check *k = calloc(1, sizeof *k);

    if (k == NULL) {
        return NULL;
    }
    k->task = (struct serve_task){ .run = check_reply, .drop = drop };
    k->job = j;
    serve_job_hold(j);
    serve_worker_put(&k->task);
    return k;
}

bool serve_check_take(struct serve_check *k, bool *good,
                      char error_message[SERVE_ERROR_MESSAGE_BYTES])
{
    if (!serve_worker_take(&k->task)) {
        return false;
    }
    *good = k->good;
    memcpy(error_message, k->error_message, sizeof k->error_message);
    drop(&k->task);
    return true;
}

void serve_check_leave(struct serve_check *k)
{
    (void)serve_worker_leave(&k->task);
}
