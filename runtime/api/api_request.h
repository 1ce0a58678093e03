/* A request of OpenAI's API becomes a line of mode=json (runtime/wire/json_request.h), so that
 * the same code answers both. A field that the line does not have is refused by name. */
#ifndef INGOT_RUNTIME_API_REQUEST_H
#define INGOT_RUNTIME_API_REQUEST_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "runtime/api/api_text.h"

enum { API_ERROR_MESSAGE_BYTES = 160 };

enum api_kind {
    API_CHAT,
    API_COMPLETION,
    API_LINE, /* is a line of mode=json already */
    API_LOAD, /* another model */
};

struct api_request {
    enum api_kind kind;
    bool streams, wants_usage; /* stream; stream_options.include_usage */
    bool has_seed, has_input;
    const char *model; /* the model as the caller names it in the body; NULL: not named */
    /* The error message; param: the field that is wrong, or "" if no field is to blame. */
    char error_message[API_ERROR_MESSAGE_BYTES];
    char param[32];
};

/* Translate a body (bytes, followed by a NUL), which is overwritten, to a line. seed: for a
 * request that has none. False: r->error_message says why not. */
bool api_request_read(struct api_request *r, enum api_kind kind, char *body, size_t bytes,
                      uint64_t seed, struct api_text *line);

/* OpenAI's name for a field of the line, used in error messages. */
const char *api_request_param(enum api_kind kind, const char *field);

#endif
