/* Shared parts of the text screen's two files: cells, and the sequences that change them. */
#ifndef INGOT_RUNTIME_TEXT_SCREEN_PRIVATE_H
#define INGOT_RUNTIME_TEXT_SCREEN_PRIVATE_H

#include "runtime/screen/text_screen.h"

/* Make columns [from, to) of a row blank. */
void text_screen_blank(struct text_screen *t, uint32_t row, uint32_t from, uint32_t to);

/* Move the cursor to a place, or as near as the screen allows. */
void text_screen_go(struct text_screen *t, int64_t row, int64_t column);

/* Compute the colours from the current style. */
uint8_t text_screen_front(const struct text_look *look);
uint8_t text_screen_back(const struct text_look *look);

/* Take the next character of an escape sequence; t->state says which part it belongs to. */
void text_screen_take_escape(struct text_screen *t, uint32_t code);

#endif
