/* The text for a command: -p TEXT, -f FILE, or standard input. */
#ifndef INGOT_HOST_HOST_PROMPT_H
#define INGOT_HOST_HOST_PROMPT_H

#include <stdbool.h>

#include "host/args/host_args.h"
#include "host/app/host_text.h"

/* Fill *t, which must be zero, with args->prompt or the file at args->file, or with standard input
 * if one of these is "-" or neither is given. Returns false after printing an error;
 * then *status is the exit status. Errors: args->prompt and args->file are both given, standard
 * input is a terminal, or a file cannot be read. */
bool host_prompt_read(struct text *t, const struct command *c, const struct host_args *args,
                      int *status);

/* Drop the line end that editors and echo append to a prompt. */
void host_prompt_cut_newline(struct text *t);

/* True if the text was read from a file or standard input, not from the command line. */
bool host_prompt_is_read(const struct host_args *args);

#endif
