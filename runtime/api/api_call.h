/* A call of a function as text in a reply: the form in which a model writes it and reads earlier
 * ones. */
#ifndef INGOT_RUNTIME_API_CALL_H
#define INGOT_RUNTIME_API_CALL_H

#include "runtime/api/api_text.h"

/* The form's fixed parts, as C strings: before the name, after it, and after the arguments. */
#define API_CALL_MARK "<tool_call>"
#define API_CALL_NAME "\n{\"name\": \""
#define API_CALL_ARGUMENTS "\", \"arguments\": "
#define API_CALL_END "}\n</tool_call>"

/* Parse a reply so far; texts point into it. */
struct api_call {
    size_t content; /* bytes before the call, without the white space at their end; all bytes if no
                  * call can come */
    bool found;     /* name is complete, and arguments have begun */
    bool whole;     /* arguments are complete, too */
    const char *name, *arguments;
    size_t name_bytes, arguments_bytes;
};

/* done: the reply has ended. Until then bytes that may be the beginning of a call are not
 * content. */
void api_call_find(struct api_call *c, const char *text, size_t bytes, bool done);

/* Finds the call after *c, which was found and is complete; its content stays. False: there is none
 * yet. */
bool api_call_next(struct api_call *c, const char *text, size_t bytes);

/* Write an earlier call. False: out of memory. */
bool api_call_add(struct api_text *out, const char *name, const char *arguments);

#endif
