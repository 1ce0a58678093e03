#include "runtime/text/nearest.h"

#include <stdbool.h>
#include <string.h>

#include "board/min_max.h"

enum { MOST_MISTAKES = 2, LEAST_BEGINNING = 3 };

static char lower(char c)
{
    if (c >= 'A' && c <= 'Z') {
        return (char)(c - 'A' + 'a');
    }
    if (c == '-') {
        return '_';
    }
    return c;
}

static bool equal(const char *a, const char *b, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        if (lower(a[i]) != lower(b[i])) {
            return false;
        }
    }
    return true;
}

/* Return true if the two letters up to a and the two up to b are the same, but swapped. */
static bool swapped(const char *a, const char *b)
{
    return lower(a[0]) == lower(b[-1]) && lower(a[-1]) == lower(b[0]);
}

/* Return the least number of insertions, deletions, replacements and swaps of neighbours that turn
 * a into b (optimal string alignment). Both words have at most NEAREST_MOST_BYTES bytes. */
static unsigned mistakes(const char *a, size_t n_a, const char *b, size_t n_b)
{
    unsigned rows[3][NEAREST_MOST_BYTES + 1], *before = rows[0], *last = rows[1], *row = rows[2];

    for (unsigned j = 0; j <= n_b; j++) {
        last[j] = j;
    }
    for (unsigned i = 1; i <= n_a; i++) {
        unsigned *oldest = before;

        row[0] = i;
        for (unsigned j = 1; j <= n_b; j++) {
            unsigned change = last[j - 1] + (lower(a[i - 1]) != lower(b[j - 1]));

            row[j] = min_u32(change, min_u32(last[j], row[j - 1]) + 1);
            if (i > 1 && j > 1 && swapped(a + i - 1, b + j - 1)) {
                row[j] = min_u32(row[j], before[j - 2] + 1);
            }
        }
        before = last;
        last = row;
        row = oldest;
    }
    return last[n_b];
}

static bool is_near(unsigned d, size_t n_word, size_t n_name)
{
    return d <= MOST_MISTAKES && d <= 1 + n_name / 4 && d < max_size(n_word, n_name);
}

void nearest_begin(struct nearest *n, const char *word, size_t bytes)
{
    *n = (struct nearest){ .word = word, .bytes = bytes };
}

void nearest_offer(struct nearest *n, const char *name)
{
    size_t bytes = strlen(name), shorter = min_size(bytes, n->bytes);
    size_t longer = max_size(bytes, n->bytes);
    unsigned d, score;

    if (longer > NEAREST_MOST_BYTES) {
        return;
    }
    d = mistakes(n->word, n->bytes, name, bytes);
    if (shorter >= LEAST_BEGINNING && equal(name, n->word, shorter)) {
        d = min_u32(d, 1);
    } else if (!is_near(d, n->bytes, bytes)) {
        return;
    }
    score = d * (NEAREST_MOST_BYTES + 1) + (unsigned)(longer - shorter);
    if (n->name == NULL || score < n->score) {
        n->name = name;
        n->score = score;
    }
}
