/* Words in what people say: letters of any script, digits, and an apostrophe within. Nothing is understood. */
#ifndef INGOT_RUNTIME_ACTING_ACTION_WORD_H
#define INGOT_RUNTIME_ACTING_ACTION_WORD_H

#include <stdbool.h>
#include <stddef.h>

/* A position in a text. */
struct ear {
    const char *at, *end;
};

char action_small(char c);

/* For a word: any byte of UTF-8 too. */
bool action_is_letter(char c);
bool action_is_digit(char c);

/* The bytes of a word at the ear's position, which begins one: also in capitals or with an s for several, and "_"
 * may be a space or a hyphen; 0: it is another. */
size_t action_match(const struct ear *e, const char *word);

/* The same for the first of n words that is there. */
size_t action_match_list(const struct ear *e, const char *const *words, size_t n);

/* To the end of the word at the ear's position; whether it ends with n't. */
bool action_pass_word(struct ear *e);

#endif
