/* Options of the Linux program that boards also have: one row for each row of options.def, where
 * each option's commands are named. */
#ifndef INGOT_HOST_HOST_FLAGS_H
#define INGOT_HOST_HOST_FLAGS_H

#include "host/args/command_line.h"
#include "runtime/options/options.h"

/* Bits of struct command's `flags`, and of a row's commands. */
enum {
    FOR_RUN = 1,
    FOR_CHAT = 2,
    FOR_BATCH = 4,
    FOR_SERVE = 8,
    FOR_BENCH = 16,
    FOR_PLAN = 32,
    FOR_PERPLEXITY = 64,
    FOR_LOGITS = 128,
    FOR_SELFTEST = 256,
    FOR_SERIAL = 512,
    FOR_MODELS = FOR_RUN | FOR_CHAT | FOR_BATCH | FOR_SERVE | FOR_BENCH | FOR_PLAN |
                 FOR_PERPLEXITY | FOR_LOGITS, /* all commands that load a model */
    FOR_SAMPLING = FOR_RUN | FOR_CHAT | FOR_BATCH | FOR_SERVE | FOR_SERIAL,
};

/* Headings of docs/OPTIONS.md. */
enum host_heading {
#define OPTION(...)
#define OPTION_HEADING(heading, text) HEADING_##heading,
#include "runtime/options/options.def"
    HEADINGS
};

/* Rows by option number; the row of an option without a flag has no name and no commands. Their
 * `set` is host_args_set_word. */
extern const struct command_option host_flags[OPTION_COUNT];

/* For a command's list: stands for the command's rows below a heading. */
extern const struct command_option host_flags_below[HEADINGS];
#define HOST_FLAGS(heading) &host_flags_below[HEADING_##heading]

/* Print the page of boot options, docs/OPTIONS.md: Markdown with a table for each heading. */
void host_flags_print_page(FILE *to);

#endif
