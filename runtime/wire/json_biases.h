/* Biases of a request: [[ID or "TEXT", NUMBER or false], ...]. */
#ifndef INGOT_RUNTIME_JSON_BIASES_H
#define INGOT_RUNTIME_JSON_BIASES_H

#include "runtime/session/sampler.h"
#include "runtime/session/session.h"

struct json_biases {
    struct sampler_bias list[SAMPLER_BIASES_MOST];
    uint32_t n;
    char error_message[96];
};

/* Read a list (bytes, followed by a NUL), which is overwritten. ID means this token of the
 * session's model, "TEXT" means all tokens of the text. NUMBER, -100 to 100, is added to the
 * tokens' logits; false bans the tokens. Uses the session's scratch memory. Return NULL after
 * success, with all biases in b; otherwise a message, which may be in b. */
const char *json_biases_read(struct json_biases *b, char *text, size_t bytes,
                             const struct session *s);

#endif
