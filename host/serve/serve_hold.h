/* The rules for a reply: one grammar from the schemas of functions and of an answer, the keywords
 * that are checked when the reply is finished, and the keywords that nothing checks, which the
 * answer names. */
#ifndef INGOT_HOST_SERVE_HOLD_H
#define INGOT_HOST_SERVE_HOLD_H

#include "runtime/api/api_reader.h"

/* The grammar of a request: a call of one of the functions in list (n), or the answer in it. must: a call; without it and without
 * an answer also prose, and prose before a call. most: calls of a reply. False: r->e. */
bool serve_hold(struct api_reader *r, struct api_held *list, unsigned n, bool must, unsigned most);

/* Whether a finished reply is what its request's schemas allow, as far as the grammar did not hold it. cut: a limit has ended it, so
 * that a value that is not whole is not a fault; one that was led to its end is looked at. False: error_message (bytes). */
bool serve_check_reply(const struct api_request *q, const struct api_text *reply, bool cut,
                       char *error_message, size_t bytes);

#endif
