/* The name that a mistyped word may have meant, among those there are: boot options, settings, commands
 * and options all suggest by this one rule.
 *
 *   struct nearest n;
 *   nearest_begin(&n, word, strlen(word));
 *   for each name: nearest_offer(&n, name);
 *   if (n.name != NULL) "did you mean n.name?" */
#ifndef INGOT_RUNTIME_NEAREST_H
#define INGOT_RUNTIME_NEAREST_H

#include <stddef.h>

enum { NEAREST_MOST_BYTES = 24 /* longest word or name: longer ones are near nothing */ };

struct nearest {
    const char *word;
    size_t bytes;
    const char *name; /* the best that was offered; NULL: none is near */
    unsigned score;   /* its score; less is nearer */
};

/* word has bytes, and need not end there. It outlives n. */
void nearest_begin(struct nearest *n, const char *word, size_t bytes);

/* One more name, NUL-terminated, that outlives n. It is near where one of the two, of 3 bytes or more,
 * begins the other (temperature, sys), or where at most two mistakes lie between them, and one in short
 * names: a letter too many, one missing, a wrong one, or two that changed places. Among names that
 * are equally near, the one closer to the word's length wins, then the first. Case does not count, nor does
 * - for _. */
void nearest_offer(struct nearest *n, const char *name);

#endif
