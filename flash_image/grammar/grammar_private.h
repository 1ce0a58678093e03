/* Between the parser of GBNF and the code that makes an automaton of it: rules as trees of
 * nodes. */
#ifndef INGOT_FLASH_IMAGE_GRAMMAR_PRIVATE_H
#define INGOT_FLASH_IMAGE_GRAMMAR_PRIVATE_H

#include <stdbool.h>
#include <stdint.h>

#include "flash_image/grammar/grammar_compile.h"

/* Steps that a compile has taken. A grammar of a few bytes can need any number of them, so each
 * loop whose length the grammar decides counts its rounds here. */
struct grammar_budget {
    uint32_t steps;
    bool spent; /* there were more than GRAMMAR_STEPS_MOST */
};

/* Add so many steps. False: there are too many, and the compile ends. */
bool grammar_spend(struct grammar_budget *b, size_t steps);

enum {
    GRAMMAR_NODES_MOST = 1 << 14,
    GRAMMAR_RULES_MOST = 2048,
    GRAMMAR_NEST_MOST = 64, /* groups in groups */
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
    NODE_TIMES,  /* left, low to high times; high GRAMMAR_NO_END: any number */
    NODE_RULE,   /* rule `low` */
};

struct node {
    enum node_kind kind;
    uint32_t left, right; /* nodes */
    uint32_t low, high;
};

struct rule {
    char name[GRAMMAR_NAME_MOST];
    uint32_t body; /* node; NO_BODY: it was named, but not defined */
    uint32_t line; /* the first place that names it */
    uint32_t first,
        end; /* nodes first .. end - 1 are those of the body, and some that are in no tree */
    uint32_t uses;
    bool calls_itself;
    bool joins; /* it ends the rules that name it, so it is laid out there once (grammar_tails.c) */
    uint32_t size; /* size of its body, as in sizes; 0: it calls itself */
};
#define GRAMMAR_NO_BODY UINT32_MAX

struct grammar_tree {
    struct node *nodes;
    struct rule *rules;
    uint32_t n_nodes, room, n_rules, root;
    bool full;   /* a node did not fit */
    bool *empty; /* (n_nodes) after grammar_look_at_rules: true if it may be empty */
    uint32_t
        *sizes; /* (n_nodes) after it: the number of nodes, with those of rules laid out in it */
    uint32_t
        inline_most; /* largest number of nodes of a rule that is laid out in each of several places */
};

/* A node's parts are created before it, and each is part of only one node: a loop over ascending
 * nodes sees parts first. ERR_OK: every named rule is defined; the caller calls grammar_tree_free
 * in any case. */
enum err grammar_parse(struct grammar_tree *t, const char *text,
                       char error_message[GRAMMAR_ERROR_MESSAGE_BYTES]);
void grammar_tree_free(struct grammar_tree *t);
uint32_t grammar_node(struct grammar_tree *t, enum node_kind kind, uint32_t left, uint32_t right,
                      uint32_t low, uint32_t high);

/* After inline_most is set: find uses, calls_itself and size of all rules, empty and sizes of all
 * nodes, in time linear in the nodes. ERR_BAD_ARGUMENT: a rule's first item is the rule itself. */
enum err grammar_look_at_rules(struct grammar_tree *t,
                               char error_message[GRAMMAR_ERROR_MESSAGE_BYTES]);
/* True if a rule is laid out where it is used, instead of being called; nodes: those of a tree. */
bool grammar_goes_inline(const struct grammar_tree *t, uint32_t rule);
uint32_t grammar_size(const struct grammar_tree *t, uint32_t node);
bool grammar_is_small(const struct grammar_tree *t, uint32_t rule);
/* After calls_itself and uses of all rules are known: set joins; a rule that only calls itself as a
 * loop no longer counts as calling itself. False: out of memory. */
bool grammar_find_tails(struct grammar_tree *t);
bool grammar_may_be_empty(const struct grammar_tree *t, uint32_t node);

/* ---- automata ------------------------------------------------------------------------------- */

/* Parts of a grammar that are called: rules, and long repetitions. */
struct part {
    uint32_t node, rule; /* rule: UINT32_MAX for a repetition */
    uint32_t start;      /* its first state in the result, once it is made */
};

/* A transition of a state: bytes low .. high to `to`, or a call of a part, then `to`. */
struct edge {
    uint32_t to;
    int32_t part; /* -1: bytes; -2: an empty transition */
    uint32_t low, high;
};

struct state {
    uint32_t edges, n_edges, room; /* in its automaton's edges */
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

/* Make the part of a node as an automaton with empty transitions, from state 0 to state 1. parts
 * (*n_parts) grows by the parts that it calls. */
struct part_list {
    struct part *parts;
    uint32_t n, room;
};
void grammar_make_part(const struct grammar_tree *t, uint32_t node, struct automaton *a,
                       struct part_list *parts);

/* The same language, in which each byte and each call leads to one state, with as few states as
 * possible; state 0 is the start. False: it is too large, or the budget is spent; then there is
 * nothing in *out to free. */
bool automaton_determinize(const struct automaton *a, struct automaton *out);

/* ---- deterministic automata ----------------------------------------------------------------- */

enum { GRAMMAR_WIDE_MOST = 8192 };

struct call_out {
    int32_t part;
    uint32_t low, high, to;
};

/* One of its states: the target of each byte (NOWHERE: none), and its calls. */
struct wide_state {
    uint16_t next[256];
    struct call_out calls[48];
    uint32_t n_calls;
    bool accepts;
    uint32_t set, n_set; /* set of the states that it stands for */
};
#define NOWHERE UINT16_MAX

/* group[i]: the number of the group of state i, whose states are equivalent; first[g]: the first
 * state of group g. Groups are numbered in the order of those. *n_groups. False: the budget is
 * spent, or memory has run out. */
bool grammar_find_alike(const struct wide_state *states, uint32_t n, struct grammar_budget *budget,
                        uint16_t *group, uint16_t *first, uint32_t *n_groups);

/* Add the bytes of the characters low .. high between two states. */
void automaton_characters(struct automaton *a, uint32_t from, uint32_t to, uint32_t low,
                          uint32_t high);

#endif
