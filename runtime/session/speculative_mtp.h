/* An MTP head as a draft (runtime/model/mtp.h): the head's sequence is the model's sequence from
 * some token on, and each token of the head needs the model's hidden state of the token before.
 * Only the model's last pass has these states, so the head runs once per pass.
 *
 * An assistant as a draft needs the same hidden states, but keeps nothing. So an assistant's
 * sequence begins anew with each draft, and the assistant runs only for guesses. */
#ifndef INGOT_RUNTIME_SPECULATIVE_MTP_H
#define INGOT_RUNTIME_SPECULATIVE_MTP_H

#include "runtime/session/speculative.h"

/* Check that an MTP head or an assistant has the sizes that it shares with the model.
 * ERR_UNSUPPORTED: the sizes differ; draft->error_message says what to do. */
enum err speculative_mtp_check(struct model *draft, const struct model *model);

/* Open the MTP head or the assistant of the session's model as the draft; a head computes the same
 * prompts. The draft is dropped if nothing is guessed, or if the model's data that it needs are not
 * in memory. A head needs the model's output matrix, and an assistant needs the model's keys and
 * values. */
void speculative_mtp_open(struct speculative *s);

/* Make the draft's sequence equal to the session's first n ids, with the logits after the last id.
 * ERR_NOT_FOUND: the model's last pass does not have the hidden state of token n - 2. Otherwise
 * errors of session_run. */
enum err speculative_mtp_follow(struct speculative *s, uint32_t n, const struct stop *stop);

/* Call if the draft's next token follows a guess, to take the head's own hidden state. */
void speculative_mtp_continue(struct speculative *s);

#endif
