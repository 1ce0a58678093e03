/* A command's conversation with a board (docs/SERIAL.md): it sends one request at a time and waits
 * for its end. */
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
        is_program; /* the other end is not a board but a program that behaves like one, and reports by
                       itself that it is ready */
    bool needs_model;   /* the board counts as ready only with a model */
    bool was_to_people; /* the board talked to people and was switched to programs */
    unsigned n_mode;    /* how often the board was switched to programs */
    uint32_t
        silence_s; /* after this time without a byte, the board talks to people again; 0: never */
    const volatile int *stopped; /* not 0: the user wants to end waits; may be NULL */
    /* Called for each event, after it was noted here. */
    void (*take)(void *context, const struct board_event *event);
    void *context;
    uint64_t stayed_ms;             /* when board_talk_stay() said it */
    bool ready, done, left, failed; /* failed: an error has arrived since the last request */
};

/* Ask whether the board is there, and wait until it is ready. False after printing an error. */
bool board_talk_greet(struct board_talk *t);

/* Send a request of one text, {"key":"text"}, and wait for its done. Returns false after printing
 * the error; t->failed tells if the request was refused. */
bool board_talk_ask(struct board_talk *t, const char *key, const char *text, size_t bytes);

/* The same for a complete line with its LF; if it is NULL, only wait: the line was already sent. */
bool board_talk_send(struct board_talk *t, const char *line);

/* Stop the board's work, and let it talk to people again if it did at first. Returns false if
 * the board has not confirmed that within some seconds; it will do so by itself later. */
bool board_talk_leave(struct board_talk *t);

/* Call this while nothing is sent: it tells the board from time to time that the program is
 * there. */
void board_talk_stay(struct board_talk *t);

/* Wait for *flag, or until a request is done. Returns false after printing the error. */
bool board_talk_wait(struct board_talk *t, const bool *flag);

#endif
