/* The manual page and the shell's completion, from the table of commands. */
#ifndef INGOT_HOST_MANUAL_H
#define INGOT_HOST_MANUAL_H

#include <stdio.h>

/* ingot(1) in troff's man macros: the same bytes for the same table. */
void manual_print_page(FILE *to);

/* For bash, in the form of bash_completion.d: commands, options, and the words or files that
 * options take. */
void manual_print_completion(FILE *to);

#endif
