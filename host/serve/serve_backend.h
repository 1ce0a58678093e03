/* The backend that answers the requests of `ingot serve`: a model on this computer, or boards. The
 * server's thread submits jobs and reads their output; the backend's thread fills them. */
#ifndef INGOT_HOST_SERVE_BACKEND_H
#define INGOT_HOST_SERVE_BACKEND_H

#include <pthread.h>

#include "host/serve/serve_figures.h"
#include "host/api/serve_request.h"
#include "runtime/api/api_job.h"

enum {
    SERVE_WAITING_MOST = 128, /* jobs that wait, in addition to those that run */
    SERVE_BOARDS_MOST = 32,
    SERVE_MACHINE_BYTES = 40, /* of a board's kind */
    SERVE_EVENT_BYTES = 2048, /* longest description of a board, with its NUL */
};

/* A job that the server and the backend hold once each. */
struct serve_job {
    struct api_job of;      /* its request is constant once submitted */
    struct serve_job *next; /* the backend's */
    pthread_mutex_t lock;   /* guards `of` except its request, and all below */
    unsigned holders;
    bool cancelled; /* its caller has left */
};

/* Makes a job that only the caller holds. NULL: no memory. */
struct serve_job *serve_job_new(void);
void serve_job_hold(struct serve_job *j);
void serve_job_release(struct serve_job *j);
/* Their replies (n), for a writer. */
void serve_job_list(const struct api_job *list[API_REPLIES_MOST], struct serve_job *const *jobs,
                    uint32_t n);

/* Whether a text of its reply had no memory. */
bool serve_job_failed(const struct serve_job *j);
/* Nobody waits for it. */
void serve_job_cancel(struct serve_job *j);
bool serve_job_is_cancelled(struct serve_job *j);

/* Facts about a board, or about the model on this computer. The texts are in its own words. */
struct serve_board_state {
    const char *line;                  /* the name on the command line; NULL: this computer */
    char machine[SERVE_MACHINE_BYTES]; /* "": it has not answered yet */
    char model[API_MODEL_BYTES];       /* "": none */
    bool there;                        /* it takes requests */
    uint64_t replies;
    struct api_figures figures; /* of its latest reply */
};

/* All of these facts and the events `plan` and `stats` of its line (docs/SERIAL.md), as JSON. "":
 * there are none yet. */
struct serve_look {
    struct serve_board_state board;
    char plan[SERVE_EVENT_BYTES], stats[SERVE_EVENT_BYTES];
    char models
        [SERVE_EVENT_BYTES]; /* on its card, as a list of objects with name and bytes; "": unknown */
};

struct serve_stats {
    uint64_t requests, failed,
        cancelled; /* requests that ended; and of those, the ones that failed or were left by their caller */
    uint64_t prompt_tokens, cached_tokens, reply_tokens, passes;
    uint32_t running, waiting;
    uint32_t boards, boards_there;                     /* both 0: the model is on this computer */
    struct serve_board_state board[SERVE_BOARDS_MOST]; /* (boards) */
};

struct serve_backend {
    void *context;
    /* Takes a job and holds it. False: too many wait. */
    bool (*submit)(void *context, struct serve_job *j);
    /* Its caller is gone: the job ends soon, and another gets its place. */
    void (*cancel)(void *context, struct serve_job *j);
    void (*stats)(void *context, struct serve_stats *s);
    /* Describes board i; 0 is also the model on this computer. False: there is no such board. */
    bool (*look)(void *context, uint32_t i, struct serve_look *l);
    /* Makes every board load the model of that name, which one of them listed. Jobs that wait end
     * with an error. NULL: a model on this computer, which cannot change. */
    void (*load)(void *context, const char *model);
};

/* Called from the backend's thread when a job has more text. */
struct serve_wake {
    void *context;
    void (*call)(void *context);
};

#endif
