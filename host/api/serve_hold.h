/* Makes a grammar for a reply from the schemas of functions and of the answer. Some
 * keywords are checked when the reply is finished; the answer names those that nothing
 * checks. */
#ifndef INGOT_HOST_SERVE_HOLD_H
#define INGOT_HOST_SERVE_HOLD_H

#include "runtime/api/api_reader.h"

/* Make the grammar of a request. A reply is a call of one of the n functions in list, or an
 * answer that satisfies the answer's schema in list. must: only calls are allowed. If must is false
 * and list has no schema for the answer, prose is allowed, too, even before calls. False: r->e says
 * why. */
bool serve_hold(struct api_reader *r, struct api_held *list, unsigned n, bool must, unsigned most);

/* Check what the grammar did not enforce: true if a finished reply is what its request's schemas
 * allow. cut: a limit has ended the reply, so an incomplete value is not an error; a complete value
 * is still checked. If it returns false, error_message (bytes) says why. */
bool serve_check_reply(const struct api_request *q, const struct api_text *reply, bool cut,
                       char *error_message, size_t bytes);

#endif
