/* Builds a pushdown automaton over bytes (flash_image/format/grammar.h). A text may take several
 * ways through the automaton; the machine that runs the automaton follows all of them. All data
 * lies in the memory of a request. */
#ifndef INGOT_RUNTIME_API_AUTOMATON_H
#define INGOT_RUNTIME_API_AUTOMATON_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "runtime/api/api_memory.h"

struct api_edge;
struct api_part;

struct api_automaton {
    struct api_memory *memory;
    struct api_edge *edges, *last; /* a list, in the order in which the edges were added */
    struct api_part *calls, *last_call;
    uint32_t n_states, n_edges, n_calls;
    uint32_t nowhere; /* a state that no edge leaves */
    uint8_t *accepts; /* (API_STATES_MOST / 8) bits */
    bool full;        /* the automaton is too large */
};

enum { API_STATES_MOST = 8192 };

/* Set up an empty automaton. Returns false if there is no memory. */
bool api_automaton_open(struct api_automaton *a, struct api_memory *m);

uint32_t api_automaton_state(struct api_automaton *a);
void api_automaton_accept(struct api_automaton *a, uint32_t state);

/* Add a way from one state to another. _byte reads one byte in [low, high], _text reads all of a
 * text, and _skip reads nothing. _call reads `least` to `most` runs of the part that begins at
 * `start` and ends at a state that accepts. */
void api_automaton_byte(struct api_automaton *a, uint32_t from, uint32_t to, uint8_t low,
                        uint8_t high);
void api_automaton_text(struct api_automaton *a, uint32_t from, uint32_t to, const char *text,
                        size_t n);
void api_automaton_skip(struct api_automaton *a, uint32_t from, uint32_t to);
void api_automaton_call(struct api_automaton *a, uint32_t from, uint32_t to, uint32_t start,
                        uint32_t least, uint32_t most);

/* Return the automaton as a grammar of *bytes bytes that begins at `start`. Returns NULL if it is
 * too large or there is no memory. */
void *api_automaton_grammar(const struct api_automaton *a, uint32_t start, size_t *bytes);

#endif
