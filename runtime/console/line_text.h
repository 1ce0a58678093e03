/* The boundaries of characters and words of a line, and how wide they are (line_text.c). A line
 * is `n` bytes of valid UTF-8 at `line`; `at` is the first byte of a character, or n. */
#ifndef INGOT_RUNTIME_LINE_TEXT_H
#define INGOT_RUNTIME_LINE_TEXT_H

#include <stddef.h>

/* Return the start of the previous or the next character; combining marks belong to the character
 * before them. The result stays within [0, n]. */
size_t line_text_character_before(const char *line, size_t n, size_t at);
size_t line_text_character_after(const char *line, size_t n, size_t at);

/* Return the beginning of the word before `at`, and the end of the word after it. */
size_t line_text_word_before(const char *line, size_t at);
size_t line_text_word_after(const char *line, size_t n, size_t at);

/* Return the terminal columns of n bytes. */
unsigned line_text_columns(const char *line, size_t n);

#endif
