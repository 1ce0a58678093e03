/* Ask a grammar which tokens it allows: one token, or the whole vocabulary.
 *
 * A grammar can use only tokens that print bytes: NORMAL and USER tokens that are found by their
 * text (struct ingot_tokenizer, `sorted`), and BYTE tokens. */
#ifndef INGOT_RUNTIME_GRAMMAR_GRAMMAR_TOKENS_H
#define INGOT_RUNTIME_GRAMMAR_GRAMMAR_TOKENS_H

#include <stdbool.h>
#include <stdint.h>

#include "runtime/features/grammar/grammar_machine.h"
#include "runtime/tokenizer/tokenizer.h"

/* Return true if token `id` may come next. *level gets the level after it, for grammar_settle. */
bool grammar_takes_token(struct grammar_machine *m, const struct tokenizer *t, uint32_t id,
                         unsigned *level);

/* Call visit(context, id, level) once for every token that may come next, in no particular order;
 * `level` is the level after the token's bytes. The tokens are sorted by their bytes, so each byte
 * is pushed once for all tokens with the same beginning. If the byte is refused, all these tokens
 * are skipped. */
typedef void grammar_visit_fn(void *context, uint32_t id, unsigned level);
void grammar_visit_tokens(struct grammar_machine *m, const struct tokenizer *t,
                          grammar_visit_fn *visit, void *context);

#endif
