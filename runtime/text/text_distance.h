/* How far a word is from another: for the word that was meant. */
#ifndef INGOT_RUNTIME_TEXT_DISTANCE_H
#define INGOT_RUNTIME_TEXT_DISTANCE_H

#include <stddef.h>

enum { TEXT_DISTANCE_MOST_BYTES = 16, TEXT_DISTANCE_FAR = 1000 };

/* Insertions, deletions and replacements that make b (n_b <= 16 bytes) of a (Levenshtein); case
 * does not count, nor - for _. TEXT_DISTANCE_FAR where a is 16 bytes or more. */
unsigned text_distance(const char *a, size_t n_a, const char *b, size_t n_b);

#endif
