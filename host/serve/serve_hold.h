/* The rules for a reply: the schemas of functions and of an answer as one grammar, the keywords that are checked when the
 * reply is finished, and the keywords that nothing checks, which the answer names. */
#ifndef INGOT_HOST_SERVE_HOLD_H
#define INGOT_HOST_SERVE_HOLD_H

#include "host/api/serve_request_private.h"

/* A schema as text: of a function's arguments, or (name NULL) of what a reply is when it is not a call. */
struct serve_held {
    const char *name, *schema;
    bool strict; /* what nobody looks at is an error */
    bool loose;  /* left to the check */
};

enum { SERVE_HELD_MOST = 129, SERVE_CALLS_MOST = 8 };

/* The grammar of a request: a call of one of the functions in list (n), or the answer in it. must: a call; without it and without
 * an answer also prose, and prose before a call. most: calls of a reply. False: r->e. */
bool serve_hold(struct serve_reader *r, struct serve_held *list, unsigned n, bool must,
                unsigned most);

/* An error message for the answer's warnings. */
__attribute__((format(printf, 2, 3))) void serve_warn(struct serve_request *q, const char *format,
                                                      ...);

/* Whether a finished reply is what its request's schemas allow, as far as the grammar did not hold it. cut: a limit has ended it, so
 * that a value that is not whole is not a fault; one that was led to its end is looked at. False: error_message (bytes). */
bool serve_check_reply(const struct serve_request *q, const struct serve_text *reply, bool cut,
                       char *error_message, size_t bytes);

#endif
