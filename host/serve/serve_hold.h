/* The rules for a reply: one grammar from the schemas of functions and of an answer, the keywords
 * that are checked when the reply is finished, and the keywords that nothing checks, which the
 * answer names. */
#ifndef INGOT_HOST_SERVE_HOLD_H
#define INGOT_HOST_SERVE_HOLD_H

#include "host/api/serve_request_private.h"

/* A schema as text: of a function's arguments, or (name NULL) of a reply that is not a call. */
struct serve_held {
    const char *name, *schema;
    bool strict; /* a keyword that nothing checks is an error */
    bool loose;  /* left to the check */
};

enum { SERVE_HELD_MOST = 129, SERVE_CALLS_MOST = 8 };

/* Makes the grammar of a request: a call of one of the functions in list (n), or the answer in it.
 * must: only a call. Without must and without an answer, prose is allowed too, also before a call.
 * most: the most calls of a reply. False: see r->e. */
bool serve_hold(struct serve_reader *r, struct serve_held *list, unsigned n, bool must,
                unsigned most);

/* Returns a text for the answer's warnings. */
__attribute__((format(printf, 2, 3))) void serve_warn(struct serve_request *q, const char *format,
                                                      ...);

/* Checks a finished reply against the parts of its schemas that the grammar did not hold. cut: a limit
 * ended the reply, so a value may be unfinished, unless it was led to its end. False: error_message
 * (bytes) says why. */
bool serve_check_reply(const struct serve_request *q, const struct serve_text *reply, bool cut,
                       char *error_message, size_t bytes);

#endif
