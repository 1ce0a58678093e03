/* The manual page and the shell's completion, from the table of commands. */
#ifndef INGOT_HOST_MANUAL_H
#define INGOT_HOST_MANUAL_H

#include <stdio.h>

/* Print ingot(1) in troff's man macros; the same table gives the same bytes. */
void manual_print_page(FILE *to);

/* Print the completion for bash, in the form of bash_completion.d: commands, options, and the words
 * or files that options take. */
void manual_print_completion(FILE *to);

#endif
