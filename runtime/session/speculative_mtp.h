/* An MTP head as a draft (runtime/model/mtp.h): its sequence is the model's from some token on, and
 * each of its tokens needs the model's hidden state of the token before. These are only in the
 * model's last pass, so the head runs once per pass. */
#ifndef INGOT_RUNTIME_SPECULATIVE_MTP_H
#define INGOT_RUNTIME_SPECULATIVE_MTP_H

#include "runtime/session/speculative.h"

/* The draft is the MTP head of the session's model, and follows its prompts; it is dropped if
 * nothing is guessed, or if the model's output matrix is not in memory. */
void speculative_mtp_open(struct speculative *s);

/* Make the draft's sequence that of the session's first n ids, with the logits after the last of
 * them. ERR_NOT_FOUND: the model's last pass does not have the hidden state of token n - 2.
 * Otherwise errors of session_run. */
enum err speculative_mtp_follow(struct speculative *s, uint32_t n, const struct stop *stop);

/* The next token of the draft follows a guess: it takes the head's own hidden state. */
void speculative_mtp_continue(struct speculative *s);

#endif
