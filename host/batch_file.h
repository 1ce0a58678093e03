/* Requests of `ingot batch`, a line of JSON each: what they ask for, with the command's options where they
 * do not say. */
#ifndef INGOT_HOST_BATCH_FILE_H
#define INGOT_HOST_BATCH_FILE_H

#include <stdbool.h>
#include <stdint.h>

#include "host/host_text.h"
#include "runtime/options/options.h"

struct batch_request {
    char id[72];        /* as JSON has it; "": none was given */
    const char *prompt; /* (prompt_bytes) */
    size_t prompt_bytes;
    const char *adapter; /* "": those of the command */
    uint32_t n;          /* new tokens at most; 0: until the model ends */
    struct sampler_params sampler;
};

struct batch_file {
    struct text text; /* which the requests point into */
    struct batch_request *list;
    uint32_t n;
};

/* Read path ("-": standard input). False: said on standard error with the line's number. batch_file_free
 * in any case; *b was zero. */
bool batch_file_read(struct batch_file *b, const char *path, const struct options *defaults);
void batch_file_free(struct batch_file *b);

#endif
