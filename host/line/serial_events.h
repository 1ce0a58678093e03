/* Shows and stores events of a board in mode=json (docs/SERIAL.md), for `ingot serial`. */
#ifndef INGOT_HOST_SERIAL_EVENTS_H
#define INGOT_HOST_SERIAL_EVENTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "flash_image/output/output_file.h"

enum serial_kind {
    SERIAL_NOT_JSON, /* not an event: a line of firmware, or of a board that talks to people */
    SERIAL_OTHER,    /* an event that is only shown */
    SERIAL_RESTART,  /* like SERIAL_OTHER, but the first event after the board's clock restarted */
    SERIAL_READY,
    SERIAL_TOKEN,
    SERIAL_ERROR,
    SERIAL_DONE,
};

enum { SERIAL_NAME_BYTES = 128 };

struct serial_events {
    bool quiet;              /* show no log, no progress and no figures */
    FILE *csv;               /* one row per reply; NULL: none */
    struct output_file file; /* of csv */
    bool in_line;            /* a reply has begun, and no newline has ended its line */
    int progress_width;      /* bytes of the progress line on the terminal; 0: there is none */
    uint64_t ms;             /* the board's clock in the latest log line */
    unsigned errors;         /* number of errors since the caller set this to 0 */
    char board[SERIAL_NAME_BYTES], model[SERIAL_NAME_BYTES]; /* of the latest `ready` */
};

/* Open path to append rows; an empty file gets the header. False after printing an error. */
bool serial_csv_open(struct serial_events *e, const char *path);

/* Close the CSV file; does nothing if none is open. Returns false after printing an error if a
 * row could not be written; earlier rows remain. */
bool serial_csv_close(struct serial_events *e);

/* Show a line: replies and texts on standard output, the rest on standard error. The line is
 * overwritten. */
enum serial_kind serial_events_take(struct serial_events *e, char *line, size_t bytes);

/* Write the request {"key":"text"}, an LF and a NUL to out. Bytes that are not UTF-8 become U+FFFD.
 * Returns the request's length; 0: more than `most` bytes. */
size_t serial_request(char *out, size_t most, const char *key, const char *text, size_t bytes);

#endif
