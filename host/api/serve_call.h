/* A call of a function as text in a reply: the form in which a model writes it and reads earlier
 * ones. */
#ifndef INGOT_HOST_SERVE_CALL_H
#define INGOT_HOST_SERVE_CALL_H

#include "host/api/serve_text.h"

/* The form's fixed parts, as C strings: before the name, after it, and after the arguments. */
#define SERVE_CALL_MARK "<tool_call>"
#define SERVE_CALL_NAME "\n{\"name\": \""
#define SERVE_CALL_ARGUMENTS "\", \"arguments\": "
#define SERVE_CALL_END "}\n</tool_call>"

/* Parse a reply so far; texts point into it. */
struct serve_call {
    size_t content; /* bytes before the call, without the white space at their end; all bytes if no
                  * call can come */
    bool found;     /* name is complete, and arguments have begun */
    bool whole;     /* arguments are complete, too */
    const char *name, *arguments;
    size_t name_bytes, arguments_bytes;
};

/* done: the reply has ended. Until then bytes that may be the beginning of a call are not
 * content. */
void serve_call_find(struct serve_call *c, const char *text, size_t bytes, bool done);

/* Finds the call after *c, which was found and is complete; its content stays. False: there is none
 * yet. */
bool serve_call_next(struct serve_call *c, const char *text, size_t bytes);

/* Write an earlier call. False: out of memory. */
bool serve_call_add(struct serve_text *out, const char *name, const char *arguments);

#endif
