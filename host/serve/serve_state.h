/* The state of `ingot serve` and of its backend: metrics for Prometheus, and boards as JSON. All
 * functions add to *out; if memory runs out, they set out->failed. */
#ifndef INGOT_HOST_SERVE_STATE_H
#define INGOT_HOST_SERVE_STATE_H

#include "host/api/serve_backend.h"

/* Adds the metrics for Prometheus. */
void serve_state_metrics(struct api_text *out, const struct serve_stats *s);

/* Adds {"boards":[...]}: each with its plan, its memory and the figures of its latest reply. */
void serve_state_boards(struct api_text *out, const struct serve_backend *b);

#endif
