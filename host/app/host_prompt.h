/* The text that a command is given: -p TEXT, -f FILE, or standard input. */
#ifndef INGOT_HOST_HOST_PROMPT_H
#define INGOT_HOST_HOST_PROMPT_H

#include <stdbool.h>

#include "host/args/host_args.h"
#include "host/app/host_text.h"

/* Fill *t, which was zero, with args->prompt, with the file at args->file, or with standard input ("-"
 * for either, or neither is given). False: said on standard error, *status is what to exit with: two
 * of them, a terminal where a text should come from, a file that cannot be read. */
bool host_prompt_read(struct text *t, const struct command *c, const struct host_args *args,
                      int *status);

/* For a prompt: the line's end that editors and echo put behind a text is none of it. */
void host_prompt_cut_newline(struct text *t);

/* Whether the text was read from somewhere and not from the command line. */
bool host_prompt_is_read(const struct host_args *args);

#endif
