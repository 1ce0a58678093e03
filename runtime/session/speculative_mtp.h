/* An MTP head as a draft (runtime/model/mtp.h): its sequence is the model's from some token on, and
 * each of its tokens needs the model's hidden state of the token before. Only the model's last
 * pass has these states, so the head runs once per pass. */
#ifndef INGOT_RUNTIME_SPECULATIVE_MTP_H
#define INGOT_RUNTIME_SPECULATIVE_MTP_H

#include "runtime/session/speculative.h"

/* Open the MTP head of the session's model as the draft; it computes the same prompts. It is
 * dropped if nothing is guessed, or if the model's output matrix is not in memory. */
void speculative_mtp_open(struct speculative *s);

/* Make the draft's sequence equal to the session's first n ids, with the logits after the last id.
 * ERR_NOT_FOUND: the model's last pass does not have the hidden state of token n - 2. Otherwise
 * errors of session_run. */
enum err speculative_mtp_follow(struct speculative *s, uint32_t n, const struct stop *stop);

/* Call if the draft's next token follows a guess: it then takes the head's own hidden state. */
void speculative_mtp_continue(struct speculative *s);

#endif
