/* Requests of `ingot batch`, one line of JSON each. A field that a request omits comes from the
 * command's options. */
#ifndef INGOT_HOST_BATCH_FILE_H
#define INGOT_HOST_BATCH_FILE_H

#include <stdbool.h>
#include <stdint.h>

#include "host/app/host_text.h"
#include "runtime/options/options.h"

enum { BATCH_ERROR_MESSAGE_BYTES = 400 };

struct batch_request {
    char id[72];        /* the id as JSON; "": none was given */
    const char *prompt; /* (prompt_bytes) */
    size_t prompt_bytes;
    const char *system;  /* NUL-terminated; NULL: the model's own */
    const char *adapter; /* names of adapters; "": the adapters of the command */
    uint32_t think;      /* enum option_think */
    uint32_t n;          /* most new tokens; 0: until the model ends, or repeats itself */
    char stops[OPTIONS_STOPS][OPTIONS_STOP_BYTES];
    uint32_t n_stops;
    struct sampler_params sampler;
};

struct batch_file {
    struct text text; /* text to which the requests point */
    struct batch_request *list;
    uint32_t n;
    char error_message[BATCH_ERROR_MESSAGE_BYTES]; /* after an error: the line and what is
                                                      wrong in it */
};

/* Read the file at path ("-": standard input). Returns false after printing the error with its line
 * number. Zero *b before, and call batch_file_free in any case. */
bool batch_file_read(struct batch_file *b, const char *path, const struct options *defaults);

/* Parse the requests of b->text, which ends with a NUL; `name` is for error messages. False:
 * b->error_message says why. */
bool batch_file_parse(struct batch_file *b, const char *name, const struct options *defaults);

void batch_file_free(struct batch_file *b);

#endif
