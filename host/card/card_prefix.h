/* Computes the state of a system prompt for a card; the bits are the same as on every board. */
#ifndef INGOT_HOST_CARD_PREFIX_H
#define INGOT_HOST_CARD_PREFIX_H

#include <stdbool.h>
#include <stddef.h>

/* Make the boot argument system="...", quoted for options_parse(), in allocated memory; returns
 * NULL if out of memory. */
char *card_prefix_word(const char *system);

/* Compute the state with the .ingot file at `model` and write it to the new file `out`. words: the
 * boot arguments of the card; NULL: there are none. False: error_message says why. */
bool card_prefix_make(const char *model, const char *words, const char *system, const char *out,
                      char *error_message, size_t bytes);

/* Make a new file for the state in the folder of `out`, and return its path, which the caller
 * frees; temporary_remove() removes the file. NULL: error_message says why. */
char *card_prefix_file(const char *out, char *error_message, size_t bytes);

#endif
