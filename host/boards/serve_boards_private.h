/* Shared parts of the pool (serve_boards.c) and the thread of a board (serve_board.c); nobody else includes it. */
#ifndef INGOT_HOST_SERVE_BOARDS_PRIVATE_H
#define INGOT_HOST_SERVE_BOARDS_PRIVATE_H

#include "host/line/serial_line.h"
#include "host/boards/serve_board_past.h"
#include "host/boards/serve_boards.h"

enum phase {
    AWAY,     /* the line is closed */
    ASKING,   /* whether a board is there */
    GREETING, /* protocol 2 is asked for */
    IDLE,
    AT_WORK,
};

/* A job in the queue or at a board. */
struct waiting {
    struct serve_job *job;
    struct board_past past;
    uint64_t since_ms;
    uint32_t choice; /* of the model, that was the latest when it came */
    unsigned tries;
    struct waiting *next;
};

struct board {
    const char *path;
    pthread_t thread;
    bool started;
    int wake; /* an eventfd: there may be something to do */
    struct serial_line line;
    enum phase phase;               /* written by its thread, with the pool's lock */
    struct board_past past;         /* likewise */
    uint64_t used;                  /* likewise: when it took its latest job, counted in jobs */
    struct serve_board_state state; /* likewise, but for `line` and `there` */
    char plan[SERVE_EVENT_BYTES], stats[SERVE_EVENT_BYTES],
        models[SERVE_EVENT_BYTES]; /* likewise: what it said of itself, of the models on its card */
    uint64_t told_ms;              /* likewise: when it was asked for that */
    uint64_t patient_ms;  /* likewise: until then it loads a model, and is not asked anything */
    bool curious;         /* with the lock: it is to be asked again */
    struct waiting *work; /* AT_WORK */
    uint64_t id;          /* of its request */
    uint32_t left;        /* answers that are to come */
    struct serve_error error;
    struct ingot_sampling defaults; /* its model's own, as its `ready` says */
    bool knows_said;                /* its messages may say which words are a person's */
    bool knows_penalties;           /* its requests may have penalties and biases */
    bool said_old;                  /* somebody was told that it does not know that */
    bool held;                      /* the latest reply was held to a grammar */
    bool stopped;                   /* Ctrl-C was sent */
    bool lost;                      /* it began anew, or is silent for too long */
    bool was_there, other; /* it has answered; it has another model, or none, which is said */
    bool starts;           /* what it said last is of a start, in which nobody should press a key */
    uint64_t asked_ms;
    uint64_t stayed_ms;  /* when a board that was told to talk to a program heard of us */
    unsigned n_mode;     /* how often it was; 0: it does so by itself */
    uint64_t load_id;    /* of the latest request to load a model */
    uint32_t load_tried; /* the choice of a model that it was told to load; 0: none */
    uint32_t line_limit;
    double context; /* tokens of it, as its `ready` says; NaN: it does not */
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
    char model[SERVE_MODEL_BYTES]; /* of all; "": no board has answered */
    uint32_t choice;               /* how often somebody chose it; 0: the first board did */
    bool closing;
};

extern struct serve_pool serve_pool;

bool serve_pool_is_closing(void);
void serve_pool_set_phase(struct board *b, enum phase phase);

/* Whether the board has another model than the others. The lock is held. */
bool serve_pool_differs(const struct board *b);

/* The first in the queue that is best done at this board, which is at work then. NULL: none. */
struct waiting *serve_pool_take(struct board *b);

/* No board's any more: it waits again, in front of the others. */
void serve_pool_put_back(struct waiting *w);

/* The job ends, and is the server's alone; w is gone. e: NULL, or why there is no reply. */
void serve_pool_end(struct waiting *w, const struct serve_error *e);
void serve_pool_end_with(struct waiting *w, int status, const char *text);

/* End jobs that nobody will do: all of them, or those that have waited too long with no board there. */
void serve_pool_end_hopeless(bool all);

/* On standard error, with the board's line. */
void serve_board_say(const struct board *b, const char *what);

/* Until then it is not asked whether it is there. */
void serve_board_be_patient(struct board *b, uint64_t until_ms);

struct board_event;

/* Whether the model of an event `ready` is everybody's; the first board decides. If it is not, the board may be told to load it. */
bool serve_board_has_model(struct board *b, const struct board_event *e);

/* A request as this board takes it: without what its version does not know, and with its model's defaults. */
void serve_board_suit(const struct board *b, struct serve_request *q);

/* A board that has nothing to do loads what was chosen meanwhile. */
void serve_board_load_chosen(struct board *b);

/* The thread of a board; context is the board. */
void *serve_board_work(void *context);

#endif
