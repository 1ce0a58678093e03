/* The command line of `ingot serial`. */
#ifndef INGOT_HOST_SERIAL_ARGS_H
#define INGOT_HOST_SERIAL_ARGS_H

#include <stdbool.h>
#include <stdint.h>

#include "host/args/command_line.h"

enum { SERIAL_SETTINGS_BYTES = 1024 };

struct serial_args {
    const char *device, *csv, *prompt, *system; /* NULL: not given; device is always given */
    uint32_t baud;                              /* 0: the usual rate */
    uint32_t wait_s;                            /* how long to wait for a byte from the board */
    char settings[SERIAL_SETTINGS_BYTES];       /* a request with all settings, and LF; "":
                                                   none */
    bool quiet;
};

/* Sets the defaults of the arguments. */
void serial_args_init(struct serial_args *a);

/* The options that set these arguments; ends with NULL. */
extern const struct command_option *const serial_options[];

/* A function for `set`: adds a number as a field of a request to the board, which checks the
 * number. */
enum option_result serial_args_add_setting(void *arguments, const struct command_option *o,
                                           const char *value);

/* Closes the request, if there is one; call this after all options have been read. */
void serial_args_end_settings(struct serial_args *a);

#endif
