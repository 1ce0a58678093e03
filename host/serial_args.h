/* The command line of `ingot serial`. */
#ifndef INGOT_HOST_SERIAL_ARGS_H
#define INGOT_HOST_SERIAL_ARGS_H

#include <stdbool.h>
#include <stdint.h>

enum { SERIAL_SETTINGS_BYTES = 1024 };

struct serial_args {
    const char *device, *csv, *prompt, *system; /* NULL: not given, device excepted */
    uint32_t baud;                              /* 0: the usual rate */
    uint32_t wait_s;                            /* for a sign of the board */
    char settings[SERIAL_SETTINGS_BYTES];       /* one request with all of them and LF; "": none */
    bool quiet, help;
};

/* Read argv[1..]. False: a sentence was said on standard error. */
bool serial_args_parse(struct serial_args *a, int argc, char **argv);

void serial_args_help(void);

#endif
