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
    uint32_t wait_s;                            /* time to wait for any byte of the board */
    char settings[SERIAL_SETTINGS_BYTES];       /* one request with all settings, and LF; "":
                                                   none */
    bool quiet;
};

/* Nothing given. */
void serial_args_init(struct serial_args *a);

/* The rows of the options for these arguments; ends with NULL. */
extern const struct command_option *const serial_options[];

/* For an option's `set`: adds a setting as a field of a request to the board, which checks the
 * numbers. */
enum option_result serial_args_add_setting(void *arguments, const struct command_option *o,
                                           const char *value);

/* Call it after the options: closes the request, if there is one. */
void serial_args_end_settings(struct serial_args *a);

#endif
