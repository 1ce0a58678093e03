/* Helpers for the writers of all APIs, in addition to runtime/api/api_stream.h, which has the
 * pieces of a reply. */
#ifndef INGOT_HOST_SERVE_STREAM_H
#define INGOT_HOST_SERVE_STREAM_H

#include "host/api/serve_answer.h"
#include "host/api/serve_scores.h"
#include "host/api/serve_figures.h"
#include "runtime/api/api_stream.h"

/* Writes all pieces of a whole reply. */
void serve_stream_all(const struct api_answer *a, const struct api_job *j, api_say *say,
                      void *context);

/* Makes a JSON string of n bytes of a text. */
struct cJSON *serve_stream_text(const char *bytes, size_t n);

/* If the request has warnings, adds them to the object as the list `warnings`. */
void serve_stream_warnings(struct cJSON *object, const struct api_request *q);

/* Makes the object that says how and where the reply was made (docs/SERVE.md, figures). */
struct cJSON *serve_stream_figures(const struct api_job *j);

#endif
