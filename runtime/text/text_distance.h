/* How far a word is from another, to suggest the right one. */
#ifndef INGOT_RUNTIME_TEXT_DISTANCE_H
#define INGOT_RUNTIME_TEXT_DISTANCE_H

#include <stddef.h>

enum { TEXT_DISTANCE_MOST_BYTES = 16, TEXT_DISTANCE_FAR = 1000 };

/* The number of insertions, deletions and replacements that turn a into b (n_b <= 16 bytes;
 * Levenshtein). Case does not count, nor does - for _. TEXT_DISTANCE_FAR where a is 16 bytes or
 * more. */
unsigned text_distance(const char *a, size_t n_a, const char *b, size_t n_b);

#endif
