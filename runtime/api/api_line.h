/* A request of OpenAI's API as a line of mode=json (docs/SERIAL.md), for the chat of this machine
 * or for a board at the other end of a serial line, and the events that answer it. */
#ifndef INGOT_RUNTIME_API_LINE_H
#define INGOT_RUNTIME_API_LINE_H

#include "runtime/api/api_job.h"
#include "runtime/api/api_json.h"

/* Append the line, without the newline at its end. The line has every setting, because earlier
 * requests may have changed settings. `id` is the id of the line, or 0 for none; `seed` is the seed
 * of the sampler. A request for embeddings has a line for each text; this line is for text i. */
void api_line_put(struct api_text *out, const struct api_request *q, uint32_t i, uint64_t id,
                  uint64_t seed);

/* Return the request's name for a field of the line, or "" if the request has no such field. */
const char *api_line_param(const char *field);

/* Set *e from the members of an event `error` of the line; a member that is NULL is absent. */
void api_line_error(struct api_error *e, const char *name, const char *text, const char *field);

/* Return a whole number of an event, or 0 if the event lacks it. The first function reads numbers
 * up to 2^52, which a double holds exactly; the second reads numbers up to 2^32 - 1. */
uint64_t api_line_number(const struct api_json *event, const char *name);
uint32_t api_line_count(const struct api_json *event, const char *name);

/* Append the score in a token's event, if there is one, and the scores of the likeliest other
 * tokens. Returns false if there is no room. */
bool api_line_scores(struct api_text *scores, const struct api_json *event);

/* Read the figures of an event `done`, `ready` or `stats`. A missing figure becomes NaN. */
void api_line_figures(struct api_figures *f, const struct api_json *event);

#endif
