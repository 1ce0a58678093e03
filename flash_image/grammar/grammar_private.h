/* Rules as trees of nodes, which the parser of GBNF makes and the compiler turns into an
 * automaton. */
#ifndef INGOT_FLASH_IMAGE_GRAMMAR_PRIVATE_H
#define INGOT_FLASH_IMAGE_GRAMMAR_PRIVATE_H

#include <stdbool.h>
#include <stdint.h>

#include "flash_image/grammar/grammar_compile.h"

/* Steps that compiling has taken. A grammar of a few bytes can need any number of steps, so each
 * loop whose length depends on the grammar counts its rounds here. */
struct grammar_budget {
    uint32_t steps;
    bool spent; /* compiling needs more than GRAMMAR_STEPS_MOST steps */
};

/* Count this many steps. False if compiling has taken too many steps and must end. */
bool grammar_spend(struct grammar_budget *b, size_t steps);

enum {
    GRAMMAR_NODES_MOST = 1 << 14,
    GRAMMAR_RULES_MOST = 2048,
    GRAMMAR_NEST_MOST = 64, /* depth of nested groups */
    GRAMMAR_NAME_MOST = 64,
    GRAMMAR_TIMES_MOST = GRAMMAR_TIMES_LIMIT,
    GRAMMAR_PARTS_MOST = 1024,
};
#define GRAMMAR_NO_END UINT32_MAX

enum node_kind {
    NODE_EMPTY,
    NODE_RANGE,  /* a code point of low .. high */
    NODE_PAIR,   /* left, then right */
    NODE_EITHER, /* left or right */
    NODE_TIMES,  /* `left`, low to high times; high GRAMMAR_NO_END: no upper limit */
    NODE_RULE,   /* rule `low` */
};

struct node {
    enum node_kind kind;
    uint32_t left, right; /* nodes */
    uint32_t low, high;
};

struct rule {
    char name[GRAMMAR_NAME_MOST];
    uint32_t body; /* its node; NO_BODY: the rule is named, but not defined */
    uint32_t line; /* the first line that names it */
    uint32_t first,
        end; /* nodes first .. end - 1 belong to the body, except some that are in no tree */
    uint32_t uses;
    bool calls_itself;
    bool joins;    /* alternatives name it only at their end, and share a copy of it
                      (grammar_tails.c) */
    uint32_t size; /* size of its body, as in `sizes`; 0: the rule calls itself */
};
#define GRAMMAR_NO_BODY UINT32_MAX

struct grammar_tree {
    struct node *nodes;
    struct rule *rules;
    uint32_t n_nodes, room, n_rules, root;
    bool full;       /* a node did not fit */
    bool *empty;     /* (n_nodes) set by grammar_look_at_rules: true if the node may match "" */
    uint32_t *sizes; /* (n_nodes) also set there: nodes in a node's tree, counting inlined rules */
    uint32_t inline_most; /* largest number of nodes of a rule that is inlined in several places */
};

/* A node's parts have lower numbers than the node, so a loop over ascending nodes sees parts first.
 * A node is a part of only one other node. ERR_OK: every named rule is defined. Call
 * grammar_tree_free after errors as well. */
enum err grammar_parse(struct grammar_tree *t, const char *text,
                       char error_message[GRAMMAR_ERROR_MESSAGE_BYTES]);
void grammar_tree_free(struct grammar_tree *t);
uint32_t grammar_node(struct grammar_tree *t, enum node_kind kind, uint32_t left, uint32_t right,
                      uint32_t low, uint32_t high);

/* Set uses, calls_itself and size of all rules, and empty and sizes of all nodes, in time linear in
 * the nodes. inline_most must be set. ERR_BAD_ARGUMENT: a rule's first item is the rule itself. */
enum err grammar_look_at_rules(struct grammar_tree *t,
                               char error_message[GRAMMAR_ERROR_MESSAGE_BYTES]);
/* True if a rule of t is inlined where it is used, instead of being called. */
bool grammar_goes_inline(const struct grammar_tree *t, uint32_t rule);
uint32_t grammar_size(const struct grammar_tree *t, uint32_t node);
bool grammar_is_small(const struct grammar_tree *t, uint32_t rule);
/* Set `joins` of all rules; calls_itself and uses must be known. A rule that calls itself only as a
 * loop no longer counts as calling itself. False: out of memory. */
bool grammar_find_tails(struct grammar_tree *t);
bool grammar_may_be_empty(const struct grammar_tree *t, uint32_t node);

/* ---- automata ------------------------------------------------------------------------------- */

/* A part of a grammar that is called: a rule, or a long repetition. */
struct part {
    uint32_t node, rule; /* `rule` is UINT32_MAX for a repetition */
    uint32_t start;      /* the part's first state in the result, once it is made */
};

/* A transition of a state to `to`: by a byte of low .. high, or by a call of a part. */
struct edge {
    uint32_t to;
    int32_t part; /* -1: bytes; -2: an empty transition */
    uint32_t low, high;
};

struct state {
    uint32_t edges, n_edges, room; /* edges: index of its first edge in the automaton's edges */
    bool accepts;
};

struct automaton {
    struct state *states;
    struct edge *edges;
    uint32_t n_states, n_edges, states_room, edges_room;
    bool full;
    struct grammar_budget *budget;
};

uint32_t automaton_state(struct automaton *a);
void automaton_edge(struct automaton *a, uint32_t from, struct edge e);
void automaton_free(struct automaton *a);

/* Make the automaton of a node, with empty transitions, from state 0 to state 1. The parts that it
 * calls are added to the list. */
struct part_list {
    struct part *parts;
    uint32_t n, room;
};
void grammar_make_part(const struct grammar_tree *t, uint32_t node, struct automaton *a,
                       struct part_list *parts);

/* Make a deterministic automaton of the same language: each byte and each call leads to one state,
 * with as few states as possible; state 0 is the start. False if the automaton is too large, or the
 * budget is spent; then *out has nothing to free. */
bool automaton_determinize(const struct automaton *a, struct automaton *out);

/* ---- deterministic automata ----------------------------------------------------------------- */

enum { GRAMMAR_WIDE_MOST = 8192 };

struct call_out {
    int32_t part;
    uint32_t low, high, to;
};

/* A state of a deterministic automaton: the target of each byte (NOWHERE: none), and its calls. */
struct wide_state {
    uint16_t next[256];
    struct call_out calls[48];
    uint32_t n_calls;
    bool accepts;
    uint32_t set, n_set; /* the set of states that it replaces */
};
#define NOWHERE UINT16_MAX

/* Find groups of equivalent states: group[i] is the number of state i's group, first[g] the first
 * state of group g, and *n_groups their number. Groups are numbered in the order of their first
 * states. False if the budget is spent, or memory has run out. */
bool grammar_find_alike(const struct wide_state *states, uint32_t n, struct grammar_budget *budget,
                        uint16_t *group, uint16_t *first, uint32_t *n_groups);

/* Add the bytes of the characters low .. high between two states. */
void automaton_characters(struct automaton *a, uint32_t from, uint32_t to, uint32_t low,
                          uint32_t high);

#endif
