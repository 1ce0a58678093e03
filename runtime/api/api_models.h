/* The loaded model as OpenAI's API shows it. */
#ifndef INGOT_RUNTIME_API_MODELS_H
#define INGOT_RUNTIME_API_MODELS_H

#include <stdbool.h>
#include <stdint.h>

#include "runtime/api/api_text.h"

/* Append the answer to GET /v1/models if `asked` is NULL, otherwise to GET /v1/models/ASKED. `name`
 * is the name of the loaded model, or "". `created` is in seconds since 1970. Returns false if the
 * loaded model has another name. */
bool api_put_models(struct api_text *to, const char *asked, const char *name, int64_t created);

/* Return NAME in the path /v1/models/NAME or /models/NAME, or NULL for other paths. */
const char *api_model_asked(const char *path);

#endif
