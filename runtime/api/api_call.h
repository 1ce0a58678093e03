/* The text of a function call in a reply. A model writes new calls and reads earlier calls in this
 * form. */
#ifndef INGOT_RUNTIME_API_CALL_H
#define INGOT_RUNTIME_API_CALL_H

#include "runtime/api/api_text.h"

/* The fixed parts of a call, as C strings: before the name, after it, and after the arguments. */
#define API_CALL_MARK "<tool_call>"
#define API_CALL_NAME "\n{\"name\": \""
#define API_CALL_ARGUMENTS "\", \"arguments\": "
#define API_CALL_END "}\n</tool_call>"

/* The first call in a reply so far; its texts point into the reply. */
struct api_call {
    size_t content; /* bytes of text before the call, without white space at its end; if no call
                  * can follow, all bytes of the reply */
    bool found;     /* the name is complete and the arguments have begun */
    bool whole;     /* the arguments are complete, too */
    const char *name, *arguments;
    size_t name_bytes, arguments_bytes;
};

/* Find the first call in a reply. `done` says that the reply has ended. Until then, bytes at the
 * reply's end that may begin a call are not content. */
void api_call_find(struct api_call *c, const char *text, size_t bytes, bool done);

/* Find the call after *c, which must be complete; c->content stays as it is. Returns false if there
 * is none yet. */
bool api_call_next(struct api_call *c, const char *text, size_t bytes);

/* Append an earlier call to `out`. Returns false if there is no memory. */
bool api_call_add(struct api_text *out, const char *name, const char *arguments);

#endif
