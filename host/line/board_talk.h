/* A conversation of a command with a board (docs/SERIAL.md): one request after the other, each waited for. */
#ifndef INGOT_HOST_BOARD_TALK_H
#define INGOT_HOST_BOARD_TALK_H

#include <stdbool.h>
#include <stddef.h>

#include "host/line/serial_line.h"
#include "host/boards/serve_board_wire.h"

struct board_talk {
    struct serial_line *line;
    const char *name; /* of the other end, for messages */
    bool
        is_program; /* no board: a program that speaks as one, and says by itself that it is ready */
    bool needs_model;   /* it is ready with a model only */
    bool was_to_people; /* the board talked to people, and was told to talk to a program */
    unsigned n_mode;    /* how often it was told so */
    uint32_t
        silence_s; /* ... until it hears nothing for so long: then it talks to people by itself; 0: for good */
    const volatile int *stopped; /* not 0: waits end, as the user wants; or NULL */
    /* Each event that comes, beside what is noted here. */
    void (*take)(void *context, const struct board_event *event);
    void *context;
    uint64_t stayed_ms;             /* when board_talk_stay() said it */
    bool ready, done, left, failed; /* failed: an error has come since the last request */
};

/* Until the board is ready: it is asked whether it is there. False: said why. */
bool board_talk_greet(struct board_talk *t);

/* Send a request of one text, {"key":"text"}, and wait for its done. False: said why; of a request that was refused t->failed
 * tells. */
bool board_talk_ask(struct board_talk *t, const char *key, const char *text, size_t bytes);

/* The same for a line as it is, with its LF; NULL: wait for what was sent. */
bool board_talk_send(struct board_talk *t, const char *line);

/* The board talks to people again, if it did when it was found; what it is at is stopped. False: it has not said so within some
 * seconds, and does it by itself later. */
bool board_talk_leave(struct board_talk *t);

/* Nothing is asked for a while: now and then the board is told that somebody is there. */
void board_talk_stay(struct board_talk *t);

/* Until *flag, or a request is done. False: said why. */
bool board_talk_wait(struct board_talk *t, const bool *flag);

#endif
