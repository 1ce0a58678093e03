#include "runtime/text/text_distance.h"

#include <assert.h>

#include "board/min_max.h"

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

unsigned text_distance(const char *a, size_t n_a, const char *b, size_t n_b)
{
    unsigned row[TEXT_DISTANCE_MOST_BYTES + 1];

    assert(n_b <= TEXT_DISTANCE_MOST_BYTES);
    if (n_a >= TEXT_DISTANCE_MOST_BYTES) {
        return TEXT_DISTANCE_FAR;
    }
    for (unsigned j = 0; j <= n_b; j++) {
        row[j] = j;
    }
    for (unsigned i = 1; i <= n_a; i++) {
        unsigned diagonal = row[0];

        row[0] = i;
        for (unsigned j = 1; j <= n_b; j++) {
            unsigned change = diagonal + (lower(a[i - 1]) != lower(b[j - 1]));

            diagonal = row[j];
            row[j] = min_u32(change, min_u32(row[j], row[j - 1]) + 1);
        }
    }
    return row[n_b];
}
