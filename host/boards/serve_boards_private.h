/* Shared only by the pool (serve_boards.c) and the thread of a board (serve_board.c). */
#ifndef INGOT_HOST_SERVE_BOARDS_PRIVATE_H
#define INGOT_HOST_SERVE_BOARDS_PRIVATE_H

#include "host/line/serial_line.h"
#include "host/boards/serve_board_past.h"
#include "host/boards/serve_boards.h"

enum phase {
    AWAY,     /* the line is closed */
    ASKING,   /* the thread asks whether a board is there */
    GREETING, /* the thread has asked for protocol 2 */
    IDLE,
    AT_WORK,
};

/* A job in the queue or at a board. */
struct waiting {
    struct serve_job *job;
    struct board_past past;
    uint64_t since_ms;
    uint32_t choice; /* number of the chosen model when the job arrived */
    unsigned tries;
    struct waiting *next;
};

struct board {
    const char *path;
    pthread_t thread;
    bool started;
    int wake; /* an eventfd: wakes the thread */
    struct serial_line line;
    enum phase phase;               /* written only by the board's thread, with the pool's lock */
    struct board_past past;         /* as `phase` */
    uint64_t used;                  /* as `phase`: the job count when the board took its latest
                                       job */
    struct serve_board_state state; /* as `phase`, except `line` and `there` */
    char plan[SERVE_EVENT_BYTES], stats[SERVE_EVENT_BYTES],
        models
            [SERVE_EVENT_BYTES]; /* as `phase`: the board's report on itself and its card's models */
    uint64_t told_ms;            /* as `phase`: when the board was asked for reports */
    uint64_t patient_ms;  /* as `phase`: until then the board loads a model and is asked nothing */
    bool curious;         /* with the pool's lock: ask the board for reports again */
    struct waiting *work; /* AT_WORK */
    uint64_t id;          /* id of the request */
    uint32_t left;        /* number of answers that the board still has to give */
    struct api_error error;
    struct ingot_sampling defaults; /* sampling defaults of the board's model, from `ready` */
    bool knows_said;                /* messages to the board may mark a person's words */
    bool knows_penalties;           /* requests to the board may have penalties and biases */
    bool said_old;                  /* the user was told that the board does not know `said` */
    bool held;                      /* a grammar is set on the board, from the latest reply */
    bool stopped;                   /* Ctrl-C was sent */
    bool lost;                      /* the board restarted, or was silent for too long */
    bool was_there, other; /* the board has answered; the user was told that it has another model,
                              or none */
    bool starts; /* the board's last line came from a start, during which nothing should be sent */
    uint64_t asked_ms;
    uint64_t stayed_ms;  /* when a board in the mode for programs last got a byte */
    unsigned n_mode;     /* how often the board was switched to programs; 0: never */
    uint64_t load_id;    /* id of the latest request to load a model */
    uint32_t load_tried; /* number of the chosen model that the board was told to load; 0: none */
    uint32_t line_limit;
    double context; /* the board's context in tokens, from `ready`; NaN: unknown */
};

/* One per process. */
struct serve_pool {
    struct board boards[SERVE_BOARDS_MOST];
    uint32_t n, baud;
    struct serve_wake wake;
    uint64_t next_id;
    pthread_mutex_t lock; /* protects all members below */
    struct waiting *first;
    uint64_t n_taken;
    struct serve_stats stats;
    char model[API_MODEL_BYTES]; /* model that all boards should have; "": no board has answered */
    uint32_t choice;             /* number of the chosen model; 0: the first board's model */
    bool closing;
};

extern struct serve_pool serve_pool;

bool serve_pool_is_closing(void);
void serve_pool_set_phase(struct board *b, enum phase phase);

/* True if the board's model is not that of the pool. The lock is held. */
bool serve_pool_differs(const struct board *b);

/* Take the first job in the queue that this board should do, and mark it as running. NULL: there is
 * none. */
struct waiting *serve_pool_take(struct board *b);

/* Put back a job that has lost its board: the job waits again, before the others. */
void serve_pool_put_back(struct waiting *w);

/* End a job, which then belongs only to the server; frees w. e: NULL, or the reason why there is no
 * reply. */
void serve_pool_end(struct waiting *w, const struct api_error *e);
void serve_pool_end_with(struct waiting *w, int status, const char *text);

/* End jobs that no board will do: all, or those that have waited too long while there was no
 * board. */
void serve_pool_end_hopeless(bool all);

/* Print a message about a board, with its line, to standard error. */
void serve_board_say(const struct board *b, const char *what);

/* Until this time, do not ask the board whether it is there. */
void serve_board_be_patient(struct board *b, uint64_t until_ms);

struct board_event;

/* True if the event `ready` names the model that all boards should have, which is that of the first
 * board. A board with another model may be told to load the first board's model. */
bool serve_board_has_model(struct board *b, const struct board_event *e);

/* Adapt a request to this board: remove fields that its version does not know, and set its model's
 * defaults. */
void serve_board_suit(const struct board *b, struct api_request *q);

/* Let an idle board load the model that was chosen meanwhile. */
void serve_board_load_chosen(struct board *b);

/* The thread of a board; context is the board. */
void *serve_board_work(void *context);

#endif
