/* Fields of an answer's head, beside those of its body: a text of lines, each with its CRLF. */
#ifndef INGOT_HOST_SERVE_ANSWER_HEAD_H
#define INGOT_HOST_SERVE_ANSWER_HEAD_H

#include <stdbool.h>

enum { SERVE_FIELDS_BYTES = 3072 };

/* Those of every answer. */
void serve_head_begin(char fields[SERVE_FIELDS_BYTES]);

/* One more. Text that does not fit is left out. */
void serve_head_add(char fields[SERVE_FIELDS_BYTES], const char *name, const char *value);

/* Those that a status wants; methods: of the page. */
void serve_head_add_status(char fields[SERVE_FIELDS_BYTES], int status, const char *methods);

/* A page of that origin may read the answer (the Fetch standard, section 3.3). */
void serve_head_add_origin(char fields[SERVE_FIELDS_BYTES], const char *origin);

/* And may ask: with fields of those names ("": none), and from a network that is public, where it asked so. */
void serve_head_add_preflight(char fields[SERVE_FIELDS_BYTES], const char *names,
                              bool private_network);

#endif
