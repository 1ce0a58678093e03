/* JSON Schema as an automaton, for a board. This code knows only the keywords that clients use
 * most. `ingot serve` has a whole compiler of its own (flash_image/grammar), which needs a heap. */
#ifndef INGOT_RUNTIME_API_SCHEMA_H
#define INGOT_RUNTIME_API_SCHEMA_H

#include "runtime/api/api_automaton.h"
#include "runtime/api/api_json.h"

enum { API_ANY_DEPTH = 6 /* the greatest depth of a value of any type */ };

struct api_schema_todo;
struct api_schema_ref;

struct api_schema {
    struct api_automaton *a;
    const struct api_json *root;  /* the current document */
    struct api_schema_todo *todo; /* values for which no ways were added yet */
    struct api_schema_ref *refs;  /* named parts of the document */
    /* First states of the parts that all values share, or 0 if they are not made yet. */
    uint32_t character, text, digit, whole, number, blank, any[API_ANY_DEPTH];
    const char *unheld; /* a keyword that the automaton does not enforce, or NULL if none */
};

void api_schema_open(struct api_schema *s, struct api_automaton *a);

/* Add the values that a document allows, between two states. Sets s->unheld. If the automaton has
 * no room for the values, it becomes full. */
void api_schema_put(struct api_schema *s, const struct api_json *root, uint32_t from, uint32_t to);

/* Add any JSON object, between two states. */
void api_schema_put_object(struct api_schema *s, uint32_t from, uint32_t to);

#endif
