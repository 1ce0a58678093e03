/* A regular expression as a machine that reads characters; shared by schema_pattern*.c and
 * schema_strings.c. */
#ifndef INGOT_FLASH_IMAGE_SCHEMA_PATTERN_H
#define INGOT_FLASH_IMAGE_SCHEMA_PATTERN_H

#include "flash_image/grammar/schema.h"

enum {
    PATTERN_STATES_MOST = 3000,
    PATTERN_NODES_MOST = 4000,
    PATTERN_RANGES_MOST = 4000,
    PATTERN_BUILDS_MOST = 200000, /* limits the time: nested repetitions may build many nodes
                                     without adding states */
    PATTERN_NEST_MOST = 40,
    PATTERN_WORDS_MOST = (PATTERN_STATES_MOST + 63) / 64
};
#define PATTERN_NO_END UINT32_MAX

struct pattern_range {
    uint32_t low, high; /* code points */
};

enum pattern_kind { PATTERN_CLASS, PATTERN_SPLIT, PATTERN_BEGIN, PATTERN_END, PATTERN_FOUND };

/* PATTERN_CLASS reads a character of the n ascending, disjoint ranges from `first` on, and goes to
 * next; PATTERN_SPLIT goes to next and other; PATTERN_BEGIN and PATTERN_END go to next at the
 * text's start and end. */
struct pattern_state {
    enum pattern_kind kind;
    uint32_t next, other;
    uint32_t first, n;
};

struct pattern {
    struct pattern_range *ranges;
    uint32_t n_ranges, ranges_room;
    struct pattern_state *states;
    uint32_t n_states, states_room, start, found;
    unsigned words; /* number of 64-bit words in a set of states */
    struct pattern
        *also;   /* a look-ahead: another pattern that must be found too, or must not be found
                 (absent) */
    bool absent; /* true if this pattern must not be found */
};

/* ---- between the parser and the code that makes a machine ---- */

enum pattern_node_kind { EMPTY, CLASS, THEN, EITHER, TIMES, BEGIN, END };

struct pattern_node {
    enum pattern_node_kind kind;
    uint32_t left, right; /* nodes */
    uint32_t low, high;   /* TIMES: least and most repetitions; CLASS: first range, and number of
                             ranges */
};

struct pattern_parser {
    struct pattern *p;
    const char *at;
    struct pattern_node *nodes;
    uint32_t n_nodes, n_builds;
    unsigned nest;
    bool failed;
};

/* Parse an expression up to its end and return its node; r->failed: it is not supported. */
uint32_t pattern_parse(struct pattern_parser *r);

/* ---- running ---- */

/* Functions on sets of states (p->words words each). */
void pattern_begin(const struct pattern *p, uint64_t *set);
void pattern_step(const struct pattern *p, const uint64_t *from, uint32_t c, uint64_t *to);
/* True if the text read so far contains the pattern. */
bool pattern_ends(const struct pattern *p, const uint64_t *set);

#endif
