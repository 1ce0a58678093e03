/* Converts a request to the runtime's form: its prompt to tokens in the model's template, and its
 * settings to a reply's parameters. */
#ifndef INGOT_RUNTIME_API_TOKENS_H
#define INGOT_RUNTIME_API_TOKENS_H

#include "runtime/api/api_request.h"
#include "runtime/model/model.h"
#include "runtime/session/generate.h"

struct api_encoder {
    const struct model *model;
    uint32_t context; /* most tokens of prompt and reply */
    /* Take work space for the tokenizer, and give it back. `take` returns NULL if there is not
     * enough. */
    void *(*take)(void *owner, size_t bytes);
    void (*leave)(void *owner, void *memory);
    void *owner;
};

/* Write *n tokens, fewer than context, to ids. Uses the request's memory. If it returns false, *e
 * says why. */
bool api_tokens_encode(const struct api_encoder *x, const struct api_request *q, uint32_t *ids,
                       size_t *n, struct api_error *e);

/* Like api_tokens_encode(), for one input of a request for embeddings. */
bool api_tokens_encode_text(const struct api_encoder *x, const struct api_turn *input,
                            uint32_t *ids, size_t *n, struct api_error *e);

/* Return the parameters of a reply, without its grammar. The request must outlive the result. */
struct generate_params api_tokens_params(const struct api_request *q,
                                         const struct ingot_chat *chat);

/* Append the scores of the session's next token. Returns false if there is no room. */
bool api_tokens_add_scores(struct api_text *scores, const struct session *s,
                           const struct token_scores *t);

#endif
