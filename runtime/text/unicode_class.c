#include "runtime/text/unicode_class.h"

#include "runtime/text/unicode_table.h"

/* Values of the low nibble of a run's first byte, and the classes of alternating letters
 * (unicode_table.c). */
enum { LENGTH_BYTE = 14, LENGTH_LONG = 15, UPPER_FIRST = 11, LOWER_FIRST = 12 };

/* Return the last start at or before code. */
static unsigned find_start(uint32_t code)
{
    unsigned low = 0, high = unicode_n_starts;

    while (high - low > 1) {
        unsigned middle = (low + high) / 2;

        if (unicode_starts[middle] <= code) {
            low = middle;
        } else {
            high = middle;
        }
    }
    return low;
}

/* Return the length of the run at *at; *at moves to the next run. */
static uint32_t run_length(const uint8_t **at)
{
    const uint8_t *run = *at;
    uint32_t low = run[0] & 15;

    if (low < LENGTH_BYTE) {
        *at = run + 1;
        return low + 1;
    }
    if (low == LENGTH_BYTE) {
        *at = run + 2;
        return run[1] + LENGTH_BYTE + 1u;
    }
    *at = run + 4;
    return run[1] | (uint32_t)run[2] << 8 | (uint32_t)run[3] << 16;
}

/* Return the class of character number i of a run. */
static enum unicode_class class_in_run(uint8_t run, uint32_t i)
{
    uint8_t class = run >> 4;

    if (class != UPPER_FIRST && class != LOWER_FIRST) {
        return (enum unicode_class) class;
    }
    if (i % 2 == (class == LOWER_FIRST)) {
        return UNICODE_LU;
    }
    return UNICODE_LL;
}

enum unicode_class unicode_class(uint32_t code)
{
    const uint8_t *at, *run;
    uint32_t first, length;
    unsigned start;

    if (code < sizeof unicode_ascii) {
        return (enum unicode_class)unicode_ascii[code];
    }
    if (code > 0x10ffff) {
        return UNICODE_OTHER;
    }
    start = find_start(code);
    first = unicode_starts[start];
    at = unicode_runs + unicode_offsets[start];
    for (;;) { /* this ends, because the runs cover every code point */
        run = at;
        length = run_length(&at);
        if (code - first < length) {
            return class_in_run(*run, code - first);
        }
        first += length;
    }
}
