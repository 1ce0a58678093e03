/* A regular expression as a machine that reads characters; between schema_pattern*.c and schema_strings.c. */
#ifndef INGOT_FLASH_IMAGE_SCHEMA_PATTERN_H
#define INGOT_FLASH_IMAGE_SCHEMA_PATTERN_H

#include "flash_image/grammar/schema.h"

enum {
    PATTERN_STATES_MOST = 3000,
    PATTERN_NODES_MOST = 4000,
    PATTERN_RANGES_MOST = 4000,
    PATTERN_BUILDS_MOST = 200000, /* of nodes: times of times of what has no states */
    PATTERN_NEST_MOST = 40,
    PATTERN_WORDS_MOST = (PATTERN_STATES_MOST + 63) / 64
};
#define PATTERN_NO_END UINT32_MAX

struct pattern_range {
    uint32_t low, high; /* code points */
};

enum pattern_kind { PATTERN_CLASS, PATTERN_SPLIT, PATTERN_BEGIN, PATTERN_END, PATTERN_FOUND };

/* PATTERN_CLASS reads a character of ranges first .. first + n, which ascend and have nothing in common, and goes to next; PATTERN_SPLIT goes to next and other;
 * PATTERN_BEGIN and PATTERN_END go to next at the text's begin and end. */
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
    unsigned words; /* of a set of states */
    struct pattern
        *also;   /* which has to be found as well, or not (absent): what was looked for ahead */
    bool absent; /* of this one, as somebody's `also` */
};

/* ---- between the parser and what makes a machine ---- */

enum pattern_node_kind { EMPTY, CLASS, THEN, EITHER, TIMES, BEGIN, END };

struct pattern_node {
    enum pattern_node_kind kind;
    uint32_t left, right; /* nodes */
    uint32_t low, high;   /* TIMES: how often; CLASS: first range, and how many */
};

struct pattern_parser {
    struct pattern *p;
    const char *at;
    struct pattern_node *nodes;
    uint32_t n_nodes, n_builds;
    unsigned nest;
    bool failed;
};

/* An expression up to its end; r->failed: it is not known here. Returns the node of all. */
uint32_t pattern_parse(struct pattern_parser *r);

/* ---- running ---- */

/* Sets of states (words each). */
void pattern_begin(const struct pattern *p, uint64_t *set);
void pattern_step(const struct pattern *p, const uint64_t *from, uint32_t c, uint64_t *to);
/* Whether the text up to here has the pattern. */
bool pattern_ends(const struct pattern *p, const uint64_t *set);

#endif
