/* Makes the header fields of an answer, except those of its body, as lines that each end with
 * CRLF. */
#ifndef INGOT_HOST_SERVE_ANSWER_HEAD_H
#define INGOT_HOST_SERVE_ANSWER_HEAD_H

#include <stdbool.h>

enum { SERVE_FIELDS_BYTES = 3072 };

/* Begins with the fields that every answer has. */
void serve_head_begin(char fields[SERVE_FIELDS_BYTES]);

/* Adds a line. A line that does not fit is left out. */
void serve_head_add(char fields[SERVE_FIELDS_BYTES], const char *name, const char *value);

/* Adds the fields that a status requires. methods: those that the page accepts. */
void serve_head_add_status(char fields[SERVE_FIELDS_BYTES], int status, const char *methods);

/* Lets pages of `origin` read the answer (the Fetch standard, section 3.3). */
void serve_head_add_origin(char fields[SERVE_FIELDS_BYTES], const char *origin);

/* Also lets these pages send requests with header fields of these names ("": none) and, if
 * private_network, from a public network. */
void serve_head_add_preflight(char fields[SERVE_FIELDS_BYTES], const char *names,
                              bool private_network);

#endif
