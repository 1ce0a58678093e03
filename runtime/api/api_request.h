/* A request of OpenAI's API becomes a line of mode=json (runtime/wire/json_request.h), so that the same code answers both. A field that
 * the line does not know is refused by name. */
#ifndef INGOT_RUNTIME_API_REQUEST_H
#define INGOT_RUNTIME_API_REQUEST_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "runtime/api/api_text.h"

enum { API_ERROR_MESSAGE_BYTES = 160 };

enum api_kind { API_CHAT, API_COMPLETION, API_LINE /* a line of mode=json as it is */ };

struct api_request {
    enum api_kind kind;
    bool streams, wants_usage; /* stream; stream_options.include_usage */
    bool has_seed, has_input;
    const char *model; /* as the caller names it, in the body; NULL: it does not */
    /* The error message; param: the field that is wrong, "" if it has no name. */
    char error_message[API_ERROR_MESSAGE_BYTES];
    char param[32];
};

/* Translate a body (bytes, and a NUL behind them), which is overwritten, to a line. seed: for a request that has none. False:
 * r->error_message says why not. */
bool api_request_read(struct api_request *r, enum api_kind kind, char *body, size_t bytes,
                      uint64_t seed, struct api_text *line);

/* OpenAI's name of a field of the line, for what is said of it. */
const char *api_request_param(enum api_kind kind, const char *field);

#endif
