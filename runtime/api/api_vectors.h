/* Embeddings in OpenAI's object, one vector after the other. */
#ifndef INGOT_RUNTIME_API_VECTORS_H
#define INGOT_RUNTIME_API_VECTORS_H

#include "runtime/api/api_job.h"

/* Return true if vectors of `width` numbers have the wanted dimensions. Otherwise set *e. */
bool api_vectors_check(const struct api_request *q, size_t width, struct api_error *e);

/* Write {"object":"list","data":[ ... ],...} around the vectors. `tokens` is the number of tokens
 * in all texts. */
void api_vectors_begin(struct api_text *out);
void api_vectors_end(struct api_text *out, const char *model, uint32_t tokens);

/* Write vector i (width), cut to the wanted dimensions and then scaled to length 1. */
void api_vectors_put(struct api_text *out, const struct api_request *q, uint32_t i, float *vector,
                     size_t width);

#endif
