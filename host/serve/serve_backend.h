/* The backend that answers the requests of `ingot serve`: a model on this computer, or boards. The
 * server's thread submits jobs and reads what they have; the backend's thread fills them. */
#ifndef INGOT_HOST_SERVE_BACKEND_H
#define INGOT_HOST_SERVE_BACKEND_H

#include <pthread.h>

#include "host/serve/serve_figures.h"
#include "host/api/serve_request.h"
#include "runtime/session/generate.h"

enum {
    SERVE_WAITING_MOST = 128, /* jobs in a queue, beside those at work */
    SERVE_BOARDS_MOST = 32,
    SERVE_MACHINE_BYTES = 40, /* of a board's kind */
    SERVE_EVENT_BYTES = 2048, /* of what a board says of itself, with its NUL */
};

/* A request and what came of it so far. The server and the backend hold it once each. */
struct serve_job {
    struct serve_request request; /* constant once submitted */
    struct serve_job *next;       /* the backend's */
    pthread_mutex_t lock;         /* of all below */
    unsigned holders;
    bool cancelled; /* nobody waits for it any more */
    bool done;
    struct serve_error error;         /* once done: why there is no reply, or no more of it */
    enum generate_end end;            /* once done without an error */
    struct serve_text text, thoughts; /* whole characters */
    struct serve_text scores;         /* of serve_scores.h, where they are wanted */
    struct serve_text vectors;        /* SERVE_EMBED: (n_turns, dim) f32 */
    uint32_t prompt_tokens, cached_tokens, reply_tokens;
    uint32_t spent_tokens;        /* of replies before it that were refused and made again */
    struct serve_figures figures; /* once done without an error */
    const char *line;             /* constant, of the board that answered; NULL: this computer */
};

/* Held by the caller alone; NULL: no memory. */
struct serve_job *serve_job_new(void);
void serve_job_hold(struct serve_job *j);
void serve_job_release(struct serve_job *j);
/* Nobody waits for it. */
void serve_job_cancel(struct serve_job *j);
bool serve_job_is_cancelled(struct serve_job *j);

/* Facts about a board, or of the model on this computer; the texts are its own words. */
struct serve_board_state {
    const char *line;                  /* as the command line names it; NULL: this computer */
    char machine[SERVE_MACHINE_BYTES]; /* "": it has not answered */
    char model[SERVE_MODEL_BYTES];     /* "": none */
    bool there;                        /* it takes requests */
    uint64_t replies;
    struct serve_figures figures; /* of its latest reply */
};

/* All of that, with the events `plan` and `stats` of its line (docs/SERIAL.md) as JSON; "": it has said none. */
struct serve_look {
    struct serve_board_state board;
    char plan[SERVE_EVENT_BYTES], stats[SERVE_EVENT_BYTES];
    char models
        [SERVE_EVENT_BYTES]; /* on its card: a list of objects with name and bytes; "": unknown */
};

struct serve_stats {
    uint64_t requests, failed,
        cancelled; /* that ended, of them with an error, or left by their caller */
    uint64_t prompt_tokens, cached_tokens, reply_tokens, passes;
    uint32_t running, waiting;
    uint32_t boards, boards_there;                     /* 0, 0: the model is on this computer */
    struct serve_board_state board[SERVE_BOARDS_MOST]; /* (boards) */
};

struct serve_backend {
    void *context;
    /* Take a job; it holds it. False: too many wait. */
    bool (*submit)(void *context, struct serve_job *j);
    /* Its caller is gone: it ends soon, and its place is another's. */
    void (*cancel)(void *context, struct serve_job *j);
    void (*stats)(void *context, struct serve_stats *s);
    /* Board i, or as 0 the model on this computer. False: there is none of that number. */
    bool (*look)(void *context, uint32_t i, struct serve_look *l);
    /* Every board is to have the model, by a name that one of them said; what waits ends with an error. NULL: a model on this
     * computer, which stays. */
    void (*load)(void *context, const char *model);
};

/* Called from the backend's thread when a job has more. */
struct serve_wake {
    void *context;
    void (*call)(void *context);
};

#endif
