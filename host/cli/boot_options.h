/* The page of boot options, docs/OPTIONS.md, from the rules that read them. */
#ifndef INGOT_HOST_BOOT_OPTIONS_H
#define INGOT_HOST_BOOT_OPTIONS_H

#include <stdio.h>

/* Markdown: a table for each group with name, what it does, and the values that it takes. Every option stands in it. */
void boot_options_print(FILE *to);

#endif
