/* Limits of a board: it refuses some requests that `ingot serve` answers. */
#ifndef INGOT_RUNTIME_API_LIMITS_H
#define INGOT_RUNTIME_API_LIMITS_H

#include "runtime/api/api_request.h"

/* Return true if a board can answer the request. If it returns false, *e says why. */
bool api_may_answer(const struct api_request *q, struct api_error *e);

/* The functions by which a board constrains replies to a form. */
extern const struct api_holder api_holder;

#endif
