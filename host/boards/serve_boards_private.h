/* Shared only by the pool (serve_boards.c) and the thread of a board (serve_board.c). */
#ifndef INGOT_HOST_SERVE_BOARDS_PRIVATE_H
#define INGOT_HOST_SERVE_BOARDS_PRIVATE_H

#include "host/line/serial_line.h"
#include "host/boards/serve_board_past.h"
#include "host/boards/serve_boards.h"

enum phase {
    AWAY,     /* the line is closed */
    ASKING,   /* asking whether a board is there */
    GREETING, /* asked for protocol 2 */
    IDLE,
    AT_WORK,
};

/* A job in the queue or at a board. */
struct waiting {
    struct serve_job *job;
    struct board_past past;
    uint64_t since_ms;
    uint32_t choice; /* number of the model choice when the job arrived */
    unsigned tries;
    struct waiting *next;
};

struct board {
    const char *path;
    pthread_t thread;
    bool started;
    int wake; /* an eventfd: wakes the thread */
    struct serial_line line;
    enum phase phase;               /* written only by its thread, with the pool's lock */
    struct board_past past;         /* likewise */
    uint64_t used;                  /* likewise: the job count when it took its latest job */
    struct serve_board_state state; /* likewise, except `line` and `there` */
    char plan[SERVE_EVENT_BYTES], stats[SERVE_EVENT_BYTES],
        models
            [SERVE_EVENT_BYTES]; /* likewise: its reports about itself and the models on its card */
    uint64_t told_ms;            /* likewise: when it was asked for reports */
    uint64_t patient_ms;  /* likewise: until then it loads a model and is not asked anything */
    bool curious;         /* with the lock: ask it for reports again */
    struct waiting *work; /* AT_WORK */
    uint64_t id;          /* of its request */
    uint32_t left;        /* answers that are expected */
    struct api_error error;
    struct ingot_sampling defaults; /* its model's own defaults, from its `ready` */
    bool knows_said;                /* its messages may mark which words are a person's */
    bool knows_penalties;           /* its requests may have penalties and biases */
    bool said_old;                  /* the user was told that the board is too old for that */
    bool held;                      /* a grammar is set on the board, from the latest reply */
    bool stopped;                   /* Ctrl-C was sent */
    bool lost;                      /* it restarted, or has been silent for too long */
    bool was_there, other; /* it has answered; the user was told that it has another model, or
                              none */
    bool starts; /* its last line came from a start, during which nothing should be sent */
    uint64_t asked_ms;
    uint64_t stayed_ms;  /* when a board that was switched to a program last heard from us */
    unsigned n_mode;     /* how often it was switched to programs; 0: never */
    uint64_t load_id;    /* id of the latest request to load a model */
    uint32_t load_tried; /* number of the choice that it was told to load; 0: none */
    uint32_t line_limit;
    double context; /* its context in tokens, from its `ready`; NaN: unknown */
};

/* For the process. */
struct serve_pool {
    struct board boards[SERVE_BOARDS_MOST];
    uint32_t n, baud;
    struct serve_wake wake;
    uint64_t next_id;
    pthread_mutex_t lock; /* of all below */
    struct waiting *first;
    uint64_t n_taken;
    struct serve_stats stats;
    char model[API_MODEL_BYTES]; /* model of all boards; "": no board has answered */
    uint32_t choice;             /* number of the current choice; 0: the first board's model */
    bool closing;
};

extern struct serve_pool serve_pool;

bool serve_pool_is_closing(void);
void serve_pool_set_phase(struct board *b, enum phase phase);

/* True if the board has another model than the others. The lock is held. */
bool serve_pool_differs(const struct board *b);

/* Take the first job in the queue that this board should do, and mark it as running. NULL: there is
 * none. */
struct waiting *serve_pool_take(struct board *b);

/* Put back a job that has lost its board: it waits again, before the others. */
void serve_pool_put_back(struct waiting *w);

/* End a job, which then belongs only to the server; frees w. e: NULL, or the reason why there is no
 * reply. */
void serve_pool_end(struct waiting *w, const struct api_error *e);
void serve_pool_end_with(struct waiting *w, int status, const char *text);

/* End jobs that no board will do: all, or those that have waited too long while there is no
 * board. */
void serve_pool_end_hopeless(bool all);

/* Print a message about a board, with its line, to standard error. */
void serve_board_say(const struct board *b, const char *what);

/* Do not ask the board whether it is there until this time. */
void serve_board_be_patient(struct board *b, uint64_t until_ms);

struct board_event;

/* True if the model of an event `ready` is that of all boards, which the first board decides. If it
 * is another, the board may be told to load theirs. */
bool serve_board_has_model(struct board *b, const struct board_event *e);

/* Adapt a request to this board: remove fields that its version does not know, and set its model's
 * defaults. */
void serve_board_suit(const struct board *b, struct api_request *q);

/* Let an idle board load the model that was chosen meanwhile. */
void serve_board_load_chosen(struct board *b);

/* The thread of a board; context is the board. */
void *serve_board_work(void *context);

#endif
