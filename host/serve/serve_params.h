/* Converts a request's settings for its reply to the runtime's form. */
#ifndef INGOT_HOST_SERVE_PARAMS_H
#define INGOT_HOST_SERVE_PARAMS_H

#include "flash_image/format/format.h"
#include "host/api/serve_request.h"
#include "runtime/session/generate.h"

/* Copies limits, stops and thoughts, but no grammar. The request must outlive the result. */
struct generate_params serve_params(const struct api_request *q, const struct ingot_chat *chat);

#endif
