/* A serial device, or a socket in its place, from which lines are read and to which bytes are sent;
 * for `ingot serial` and `ingot serve`. */
#ifndef INGOT_HOST_SERIAL_LINE_H
#define INGOT_HOST_SERIAL_LINE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { SERIAL_LINE_BYTES = 65536, SERIAL_QUEUE_BYTES = 65536, SERIAL_ERROR_MESSAGE_BYTES = 400 };

struct serial_line {
    const char *path;
    int fd;
    char in
        [SERIAL_LINE_BYTES]; /* the arriving line, with a NUL; if it is too long, only its start */
    size_t n_in;
    char out[SERIAL_QUEUE_BYTES]; /* not sent yet */
    size_t n_out;
    bool raw;    /* bytes are received unchanged: no lines, no XON and XOFF */
    bool paused; /* XOFF has paused a socket, which has no terminal driver */
    int watched; /* file descriptor that is watched together with the line; after opening, standard
                    input */
    uint64_t heard_ms; /* when the latest byte arrived, on serial_millis()'s clock */
    char error_message[SERIAL_ERROR_MESSAGE_BYTES]; /* reason of a failure, with advice */
};

/* Open the line with 8N1, raw, with XON/XOFF in both directions, for this process only. baud 0:
 * 115200. path may also be a socket: unix:PATH, tcp:HOST:PORT. False: s->error_message says why. */
bool serial_open(struct serial_line *s, const char *path, uint32_t baud);

/* Queue bytes for the device. Returns false if the queue has no room for them. */
bool serial_send(struct serial_line *s, const char *bytes, size_t n);

/* Ask whether a board is there. An idle board answers with `ready` or, if it talks to people, with
 * a new prompt. Running work, such as loading, continues. After SERIAL_DEAF_MS without a byte, send
 * a Ctrl-C instead, which ends running work: work that reports its progress would have sent a
 * byte. */
enum { SERIAL_DEAF_MS = 10000 };
void serial_ask(struct serial_line *s);

/* Write to out (at least 32 bytes) the line that makes a board talk to a program instead of a
 * person; returns its length. The board does so until nothing arrives for silence_s seconds (0:
 * forever), so a program that has no request sends an empty line every SERIAL_STAY_MS. tried:
 * number of earlier attempts; every second attempt leaves out silence_s, which an older board does
 * not know. */
enum { SERIAL_SILENCE_S = 60, SERIAL_STAY_MS = 15000 };
size_t serial_mode_line(char *out, uint32_t silence_s, unsigned tried);

/* Send and receive for up to timeout_ms. If typed is not NULL, return earlier when s->watched is
 * readable, and set *typed. `take` gets each whole line, without CR and LF, and may overwrite it.
 * Returns false if the device is gone; s->error_message says more, without the path. */
bool serial_step(struct serial_line *s, int timeout_ms, bool *typed,
                 void (*take)(void *context, char *line, size_t bytes), void *context);

/* Change the rate, after everything queued has been sent. False: s->error_message says why. A
 * socket has no rate. */
bool serial_set_baud(struct serial_line *s, uint32_t baud);

uint64_t serial_millis(void);

#endif
