/* JSON Schema as ways of an automaton, for a board: the keywords that clients use most, and no other.
 * `ingot serve` has a whole compiler of its own (flash_image/grammar), which needs a heap. */
#ifndef INGOT_RUNTIME_API_SCHEMA_H
#define INGOT_RUNTIME_API_SCHEMA_H

#include "runtime/api/api_automaton.h"
#include "runtime/api/api_json.h"

enum { API_ANY_DEPTH = 6 /* depth of a value of any type */ };

struct api_schema_todo;
struct api_schema_ref;

struct api_schema {
    struct api_automaton *a;
    const struct api_json *root;  /* the document at work */
    struct api_schema_todo *todo; /* values whose ways are still to be made */
    struct api_schema_ref *refs;  /* parts of the document that are named */
    /* Parts that all values share, by their first state; 0: not made yet. */
    uint32_t character, text, digit, whole, number, blank, any[API_ANY_DEPTH];
    const char *unheld; /* a keyword of the document that is not held; NULL: all are */
};

void api_schema_open(struct api_schema *s, struct api_automaton *a);

/* The values of a document between two states. s->unheld is set anew; what is too large makes the
 * automaton full. */
void api_schema_put(struct api_schema *s, const struct api_json *root, uint32_t from, uint32_t to);

/* Any JSON object. */
void api_schema_put_object(struct api_schema *s, uint32_t from, uint32_t to);

#endif
