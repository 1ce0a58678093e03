/* Find the existing name that a mistyped word may mean. Boot options, settings, commands and
 * program options all use this rule.
 *
 *   struct nearest n;
 *   nearest_begin(&n, word, strlen(word));
 *   for each name: nearest_offer(&n, name);
 *   if (n.name != NULL) "did you mean n.name?" */
#ifndef INGOT_RUNTIME_NEAREST_H
#define INGOT_RUNTIME_NEAREST_H

#include <stddef.h>

enum { NEAREST_MOST_BYTES = 24 /* longest word or name; a longer one is never near */ };

struct nearest {
    const char *word;
    size_t bytes;
    const char *name; /* the best name so far; NULL: no name is near */
    unsigned score;   /* score of the best name; less is nearer */
};

/* Begin with a word of this many bytes; no NUL is needed. The word outlives n. */
void nearest_begin(struct nearest *n, const char *word, size_t bytes);

/* Offer a name, NUL-terminated, that outlives n. The name is near if one of the two begins with the
 * other, which has at least 3 bytes ("sys", "system"). The name is also near if the two differ by
 * at most two mistakes (one in short names): an extra, missing or wrong letter, or two swapped
 * letters. If names are equally near, the one closest to the word in length wins, then the first
 * one. Case is ignored, and - equals _. */
void nearest_offer(struct nearest *n, const char *name);

#endif
