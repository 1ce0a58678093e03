/* The wishes of a request for its reply, for the runtime. */
#ifndef INGOT_HOST_SERVE_PARAMS_H
#define INGOT_HOST_SERVE_PARAMS_H

#include "flash_image/format/format.h"
#include "host/api/serve_request.h"
#include "runtime/session/generate.h"

/* Limits, stops and thoughts, without a grammar. The request outlives the result. */
struct generate_params serve_params(const struct serve_request *q, const struct ingot_chat *chat);

#endif
