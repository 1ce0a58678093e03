/* A command's conversation with a board (docs/SERIAL.md): the command sends one request at a
 * time and waits for its end. */
#ifndef INGOT_HOST_BOARD_TALK_H
#define INGOT_HOST_BOARD_TALK_H

#include <stdbool.h>
#include <stddef.h>

#include "host/line/board_event.h"
#include "host/line/serial_line.h"

struct board_talk {
    struct serial_line *line;
    const char *name; /* name of the other end, for messages */
    bool
        is_program; /* the other end is not a board but a program that behaves like one, and says by
                       itself that it is ready */
    bool needs_model;   /* the board counts as ready only with a model */
    bool was_to_people; /* the board talked to people and was switched to programs */
    unsigned n_mode;    /* how often the board was switched to programs */
    uint32_t
        silence_s; /* after this time without a byte, the board talks to people again; 0: never */
    const volatile int *stopped; /* *stopped is not 0 once the user ends a wait; NULL: never */
    /* Called for each event, after this file has noted it. */
    void (*take)(void *context, const struct board_event *event);
    void *context;
    uint64_t stayed_ms;             /* when board_talk_stay() last sent a line */
    bool ready, done, left, failed; /* failed: the last request got an error */
};

/* Ask whether the board is there, and wait until it is ready. False after printing an error. */
bool board_talk_greet(struct board_talk *t);

/* Send a request of one text, {"key":"text"}, and wait for its event `done`. Returns false after
 * printing the error; t->failed: the request was refused. */
bool board_talk_ask(struct board_talk *t, const char *key, const char *text, size_t bytes);

/* As board_talk_ask, for a complete line with LF. NULL: the line was sent; only wait. */
bool board_talk_send(struct board_talk *t, const char *line);

/* Stop the board's work, and switch the board back to people if it talked to people before. Returns
 * false if the board does not confirm this within some seconds; it will then switch by itself. */
bool board_talk_leave(struct board_talk *t);

/* Call this while nothing is sent: it tells the board from time to time that the program is
 * there. */
void board_talk_stay(struct board_talk *t);

/* Wait until *flag is true, or until a request is done. Returns false after printing the
 * error. */
bool board_talk_wait(struct board_talk *t, const bool *flag);

#endif
