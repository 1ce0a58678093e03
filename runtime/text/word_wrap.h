/* Rows that end between words. Text comes as it is made, a part of a word at a time, and is
 * shown at once; a word that meets the right edge is taken back and begins the next row
 * (ECMA-48: CUB, EL). We end rows ourselves, one column before the terminal would wrap, so that
 * the terminal's way of wrapping does not matter. */
#ifndef INGOT_RUNTIME_WORD_WRAP_H
#define INGOT_RUNTIME_WORD_WRAP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
    WORD_WRAP_BYTES = 120,      /* longest word that moves; a longer one breaks where the row
                                 * ends */
    WORD_WRAP_LEAST_COLUMNS = 8 /* narrower terminals are treated as this wide */
};

/* Set write, context and columns, zero the rest. columns may change at any time. */
struct word_wrap {
    void (*write)(void *context, const char *text, size_t bytes);
    void *context;
    uint32_t columns; /* columns of the terminal; 0: none is known, and nothing is wrapped */

    uint32_t column, word_column; /* where the cursor is, and where its word begins */
    bool full;                    /* a space met the edge: what comes next begins a row */
    bool wide;                    /* the word is one wide character, which none other joins */
    bool unbroken;                /* the word is longer than `word` */
    size_t n;
    char word[WORD_WRAP_BYTES];
};

/* One whole character (bytes of UTF-8) that is printable, a newline or a tab. */
void word_wrap_put(struct word_wrap *w, const char *text, size_t bytes);

/* The next text is another word, without a space as well. */
void word_wrap_begin_word(struct word_wrap *w);

/* Somebody else has brought the cursor to the beginning of a row. */
void word_wrap_begin_row(struct word_wrap *w);

#endif
