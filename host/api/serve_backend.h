/* The backend that answers the requests of `ingot serve`: a model on this computer, or boards.
 * The server's thread submits jobs and reads their output; the backend's thread writes the
 * output. */
#ifndef INGOT_HOST_SERVE_BACKEND_H
#define INGOT_HOST_SERVE_BACKEND_H

#include <pthread.h>

#include "host/api/serve_figures.h"
#include "host/api/serve_request.h"
#include "runtime/api/api_job.h"

enum {
    SERVE_WAITING_MOST = 128, /* waiting jobs, in addition to running ones */
    SERVE_BOARDS_MOST = 32,
    SERVE_MACHINE_BYTES = 40, /* longest name of a kind of board, with its NUL */
    SERVE_EVENT_BYTES = 2048, /* longest description of a board, with its NUL */
};

/* A job; the server and the backend each hold it. */
struct serve_job {
    struct api_job of;      /* the request does not change after submission */
    struct serve_job *next; /* used by the backend */
    pthread_mutex_t lock;   /* protects `of` except its request, and all members below */
    unsigned holders;
    bool cancelled; /* its caller has left */
};

/* Makes a job that only the caller holds. NULL: no memory. */
struct serve_job *serve_job_new(void);
void serve_job_hold(struct serve_job *j);
void serve_job_release(struct serve_job *j);
/* Lists the replies of n jobs, for a writer. */
void serve_job_list(const struct api_job *list[API_REPLIES_MOST], struct serve_job *const *jobs,
                    uint32_t n);

/* True if there was no memory for a text of the reply. */
bool serve_job_failed(const struct serve_job *j);
/* Notes that nobody waits for the job any more. */
void serve_job_cancel(struct serve_job *j);
bool serve_job_is_cancelled(struct serve_job *j);

/* Facts that a board, or the model on this computer, reports about itself. */
struct serve_board_state {
    const char *line;                  /* name of its line, as typed; NULL: this computer */
    char machine[SERVE_MACHINE_BYTES]; /* kind of machine; "": the board has not answered yet */
    char model[API_MODEL_BYTES];       /* "": none */
    bool there;                        /* it takes requests */
    uint64_t replies;
    struct api_figures figures; /* of its latest reply */
};

/* A board's facts, and, as JSON, the events `plan` and `stats` of its line (docs/SERIAL.md); "":
 * there are none yet. */
struct serve_look {
    struct serve_board_state board;
    char plan[SERVE_EVENT_BYTES], stats[SERVE_EVENT_BYTES];
    char models
        [SERVE_EVENT_BYTES]; /* models on its card, as a list of objects with name and bytes; "":
                                unknown */
};

struct serve_stats {
    uint64_t requests, failed,
        cancelled; /* requests that ended; and how many of them failed or were cancelled */
    uint64_t prompt_tokens, cached_tokens, reply_tokens, passes;
    uint32_t running, waiting;
    uint32_t boards, boards_there;                     /* number of boards, and how many are
                                                          present; both 0: model on this computer */
    struct serve_board_state board[SERVE_BOARDS_MOST]; /* (boards) */
};

struct serve_backend {
    void *context;
    /* Takes a job and holds it. Returns false if too many jobs wait. */
    bool (*submit)(void *context, struct serve_job *j);
    /* Ends a job soon, because its caller is gone and other jobs need its place. */
    void (*cancel)(void *context, struct serve_job *j);
    void (*stats)(void *context, struct serve_stats *s);
    /* Describes board i; 0 is also the model on this computer. False if there is no such board. */
    bool (*look)(void *context, uint32_t i, struct serve_look *l);
    /* Makes every board load the model of this name, which is in the list of one of the boards.
     * Waiting jobs end with an error. NULL: the backend is this computer, whose model cannot
     * change. */
    void (*load)(void *context, const char *model);
};

/* The backend's thread calls this when a job has more text. */
struct serve_wake {
    void *context;
    void (*call)(void *context);
};

#endif
