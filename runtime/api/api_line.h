/* A request of OpenAI's API as a line of mode=json (docs/SERIAL.md): for the chat of this machine, or
 * for a board at another end. */
#ifndef INGOT_RUNTIME_API_LINE_H
#define INGOT_RUNTIME_API_LINE_H

#include "runtime/api/api_request.h"

/* Append the line, without its end: it has every setting, whatever earlier requests set. id: 0 is
 * none; seed: of the sampler. A request for embeddings has a line for each text, of which this is
 * text i. */
void api_line_put(struct api_text *out, const struct api_request *q, uint32_t i, uint64_t id,
                  uint64_t seed);

/* The name that a request has for a field of the line, for error messages; "": it has none. */
const char *api_line_param(const char *field);

/* Why an event `error` of the line ends the request. NULL: it has no such member. */
void api_line_error(struct api_error *e, const char *name, const char *text, const char *field);

#endif
