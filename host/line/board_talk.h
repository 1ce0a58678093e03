/* A conversation of a command with a board (docs/SERIAL.md): one request at a time, each with a
 * wait for its end. */
#ifndef INGOT_HOST_BOARD_TALK_H
#define INGOT_HOST_BOARD_TALK_H

#include <stdbool.h>
#include <stddef.h>

#include "host/line/serial_line.h"
#include "host/boards/serve_board_wire.h"

struct board_talk {
    struct serial_line *line;
    const char *name; /* name of the other end, for messages */
    bool
        is_program; /* not a board: a program that speaks like one, and reports by itself that it is ready */
    bool needs_model;   /* it is ready only with a model */
    bool was_to_people; /* the board talked to people, and was switched to programs */
    unsigned n_mode;    /* how often it was switched */
    uint32_t
        silence_s; /* ... until nothing arrives for so long: then it talks to people again; 0: for good */
    const volatile int *stopped; /* not 0: the user wants waits to end; or NULL */
    /* Called for each event, in addition to what is noted here. */
    void (*take)(void *context, const struct board_event *event);
    void *context;
    uint64_t stayed_ms;             /* when board_talk_stay() said it */
    bool ready, done, left, failed; /* failed: an error has arrived since the last request */
};

/* Wait until the board is ready, and ask whether it is there. False: the error was printed. */
bool board_talk_greet(struct board_talk *t);

/* Send a request of one text, {"key":"text"}, and wait for its done. False: the error was printed;
 * t->failed tells if the request was refused. */
bool board_talk_ask(struct board_talk *t, const char *key, const char *text, size_t bytes);

/* The same for an unchanged line with its LF; NULL: wait for the line that was sent. */
bool board_talk_send(struct board_talk *t, const char *line);

/* The board talks to people again if it did so when it was found; its work is stopped. False: it
 * has not confirmed that within some seconds, and will do it by itself later. */
bool board_talk_leave(struct board_talk *t);

/* If nothing is sent for a while, the board is told now and then that the program is there. */
void board_talk_stay(struct board_talk *t);

/* Wait for *flag, or until a request is done. False: the error was printed. */
bool board_talk_wait(struct board_talk *t, const bool *flag);

#endif
