/* Helpers of the writers of all APIs, beside the pieces of a reply (runtime/api/api_stream.h). */
#ifndef INGOT_HOST_SERVE_STREAM_H
#define INGOT_HOST_SERVE_STREAM_H

#include "host/api/serve_answer.h"
#include "host/api/serve_scores.h"
#include "host/serve/serve_figures.h"
#include "runtime/api/api_stream.h"

/* The pieces of a whole reply from the beginning, to the end. */
void serve_stream_all(const struct api_answer *a, const struct api_job *j, api_say *say,
                      void *context);

/* Some of a text as JSON. */
struct cJSON *serve_stream_text(const char *bytes, size_t n);

/* Add the list `warnings` of a request to the object, if there are any. */
void serve_stream_warnings(struct cJSON *object, const struct api_request *q);

/* How the reply was made, and where (docs/SERVE.md, figures). */
struct cJSON *serve_stream_figures(const struct api_job *j);

#endif
