/* Finds words in what people say. A word consists of letters of any script, digits, and apostrophes
 * inside. The meaning of words plays no part. */
#ifndef INGOT_RUNTIME_ACTING_ACTION_WORD_H
#define INGOT_RUNTIME_ACTING_ACTION_WORD_H

#include <stdbool.h>
#include <stddef.h>

/* A position in a text. */
struct ear {
    const char *at, *end;
};

char action_small(char c);

/* Return true if c belongs to a word. Every byte of a longer UTF-8 character belongs to a word. */
bool action_is_letter(char c);
bool action_is_digit(char c);

/* Return how many bytes match `word` at the current position, or 0 if another word is there.
 * Capitals and a plural s also match, and "_" in `word` also matches a space or a hyphen. */
size_t action_match(const struct ear *e, const char *word);

/* Like action_match, for the first of n words that matches. */
size_t action_match_list(const struct ear *e, const char *const *words, size_t n);

/* Move to the end of the word at the current position; returns whether it ends with n't. */
bool action_pass_word(struct ear *e);

#endif
