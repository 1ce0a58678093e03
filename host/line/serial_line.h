/* A serial device, or a socket in its place, as lines in and bytes out: for `ingot serial` and `ingot serve`. */
#ifndef INGOT_HOST_SERIAL_LINE_H
#define INGOT_HOST_SERIAL_LINE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { SERIAL_LINE_BYTES = 65536, SERIAL_QUEUE_BYTES = 65536, SERIAL_ERROR_MESSAGE_BYTES = 400 };

struct serial_line {
    const char *path;
    int fd;
    char in[SERIAL_LINE_BYTES]; /* the line that arrives, with a NUL; too long: its beginning */
    size_t n_in;
    char out[SERIAL_QUEUE_BYTES]; /* not sent yet */
    size_t n_out;
    bool raw;          /* what arrives is taken as it comes, without XON and XOFF, in no lines */
    bool paused;       /* by XOFF, where no terminal driver obeys it: a socket */
    int watched;       /* beside the line: a file descriptor, standard input when it was opened */
    uint64_t heard_ms; /* when the latest byte arrived, on serial_millis()'s clock */
    char error_message[SERIAL_ERROR_MESSAGE_BYTES]; /* why something failed, with the cure */
};

/* 8N1, raw, XON/XOFF in both directions, for this process alone. baud 0: 115200. path may be a socket, too:
 * unix:PATH, tcp:HOST:PORT. False: s->error_message. */
bool serial_open(struct serial_line *s, const char *path, uint32_t baud);

/* Give bytes to the device as it takes them. False: more than the queue holds. */
bool serial_send(struct serial_line *s, const char *bytes, size_t n);

/* Ask whether a board is there. It answers when it has nothing else to do, by `ready` or, where it talks to people, by a new
 * prompt; what it does meanwhile, such as loading, goes on. After SERIAL_DEAF_MS without a byte the question is a Ctrl-C, which
 * ends that: a board says more often than that how far it is. */
enum { SERIAL_DEAF_MS = 10000 };
void serial_ask(struct serial_line *s);

/* A board that talks to people is told to talk to a program by this line, which goes to out (at least 32 bytes); returns its
 * length. It does until it hears nothing for silence_s (0: for good); a program that has nothing to ask for sends an empty
 * line every SERIAL_STAY_MS. tried: how often it was told before: an older board knows no limit. */
enum { SERIAL_SILENCE_S = 60, SERIAL_STAY_MS = 15000 };
size_t serial_mode_line(char *out, uint32_t silence_s, unsigned tried);

/* Send and receive for up to timeout_ms, or until s->watched has something where typed is not NULL
 * (*typed then). take gets each whole line, without CR and LF, which it may overwrite. False: the
 * device is gone: s->error_message. */
bool serial_step(struct serial_line *s, int timeout_ms, bool *typed,
                 void (*take)(void *context, char *line, size_t bytes), void *context);

/* Another rate from the next byte on, once all that is to be sent has left. False: s->error_message. A socket has none. */
bool serial_set_baud(struct serial_line *s, uint32_t baud);

uint64_t serial_millis(void);

#endif
