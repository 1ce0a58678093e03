/* The parts of `ingot info`; nobody else includes it. All print to standard output. */
#ifndef INGOT_HOST_INFO_H
#define INGOT_HOST_INFO_H

#include "runtime/image/image.h"

/* Family, shape, features in words, rope; the last line is not ended. */
void info_print_params(const struct image *img);

/* Kind, splitting into words, special tokens. */
void info_print_tokenizer(const struct image *img);

/* Name, strings, default system prompt, stop tokens. */
void info_print_chat(const struct image *img);

/* Sizes in memory, and what the planner makes of the model on each board. False: out of memory. */
bool info_print_sizes(const struct image *img);

#endif
