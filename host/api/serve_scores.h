/* Takes scores of tokens (runtime/api/api_scores.h) from a session, and writes them as cJSON. */
#ifndef INGOT_HOST_SERVE_SCORES_H
#define INGOT_HOST_SERVE_SCORES_H

#include "host/api/serve_text.h"
#include "runtime/api/api_scores.h"
#include "runtime/session/session.h"

/* Appends the scores of a session's next token. */
void serve_scores_take(struct api_text *scores, const struct session *s,
                       const struct token_scores *t);

struct cJSON;

/* Makes the value of a chat's `logprobs` for the tokens from *at on; null if there are none. */
struct cJSON *serve_scores_answer(const struct api_text *scores, struct api_scores_at *at);

#endif
