/* Break rows between words. Text comes in parts of words and is shown immediately; a word that
 * reaches the right edge is erased and begins the next row (ECMA-48: CUB, EL). This code ends rows
 * itself, one column before the terminal would wrap, so that the terminal's way of wrapping does
 * not matter. */
#ifndef INGOT_RUNTIME_WORD_WRAP_H
#define INGOT_RUNTIME_WORD_WRAP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
    WORD_WRAP_BYTES = 120,      /* longest word that moves; a longer word breaks where the row
                                 * ends */
    WORD_WRAP_LEAST_COLUMNS = 8 /* narrower terminals are treated as this wide */
};

/* Set write, context and columns, zero the rest. columns may change at any time. */
struct word_wrap {
    void (*write)(void *context, const char *text, size_t bytes);
    void *context;
    uint32_t columns; /* columns of the terminal; 0: unknown, and nothing is wrapped */

    uint32_t column, word_column; /* columns of the cursor and of the start of its word */
    bool full;                    /* a space reached the edge: the next text begins a row */
    bool wide;                    /* the word is one wide character, which no character joins */
    bool unbroken;                /* the word does not fit `word` */
    size_t n;
    char word[WORD_WRAP_BYTES];
};

/* Write one whole character (bytes of UTF-8): printable, a newline or a tab. */
void word_wrap_put(struct word_wrap *w, const char *text, size_t bytes);

/* Begin a new word, even without a space before it. */
void word_wrap_begin_word(struct word_wrap *w);

/* Call when other code has moved the cursor to the beginning of a row. */
void word_wrap_begin_row(struct word_wrap *w);

#endif
