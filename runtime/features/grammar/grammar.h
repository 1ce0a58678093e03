/* The checked view of a compiled grammar (flash_image/format/grammar.h), and grammars that are
 * lists of choices, which need no compiler. */
#ifndef INGOT_RUNTIME_GRAMMAR_GRAMMAR_H
#define INGOT_RUNTIME_GRAMMAR_GRAMMAR_H

#include <stdbool.h>
#include <stddef.h>

#include "board/err.h"
#include "flash_image/format/grammar.h"

struct grammar {
    const struct ingot_grammar *head;
    const struct ingot_grammar_state *states;
    const struct ingot_grammar_edge *edges;
    const struct ingot_grammar_call *calls;
};

/* Open the grammar of `bytes` bytes at memory, which is 4-byte aligned and must stay valid. The
 * bytes need not be trusted, because every number is checked. If they are not a grammar, the
 * function returns ERR_BAD_MODEL, and *error_message says why, without a full stop. */
enum err grammar_open(struct grammar *g, const void *memory, size_t bytes,
                      const char **error_message);

enum { GRAMMAR_WORK_BYTES = 16 << 10 };

/* Write the grammar of texts such as "yes|no|not sure" to memory (room bytes, 4-byte aligned); \|
 * means the character |, and \\ a backslash. `work` is GRAMMAR_WORK_BYTES, 4-byte aligned. *bytes
 * becomes the grammar's size. ERR_BAD_ARGUMENT: a choice is empty. ERR_TOO_LONG: the grammar does
 * not fit. *error_message is set as by grammar_open. */
enum err grammar_from_choices(const char *text, void *memory, size_t room, void *work,
                              size_t *bytes, const char **error_message);

/* Return true if a text is a list of at least two choices; a single name is not a list. */
bool grammar_is_choices(const char *text);

#endif
