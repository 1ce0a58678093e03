/* Facts about rules: how often each is used, whether it calls itself, and whether it may be empty.
 * Each loop here visits the nodes or the references once, so the time is linear in the grammar. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "flash_image/grammar/grammar_private.h"

bool grammar_may_be_empty(const struct grammar_tree *t, uint32_t node)
{
    return t->empty[node];
}

uint32_t grammar_size(const struct grammar_tree *t, uint32_t node)
{
    return t->sizes[node];
}

#define NONE UINT32_MAX

/* Which rules each rule names: rule a names to[first[a]] .. to[first[a + 1] - 1]. */
struct graph {
    uint32_t *first, *to; /* (n_rules + 1), (n_nodes) */
    uint32_t *seen,
        *low; /* (n_rules) when a rule was reached (0: not yet), and the earliest rule reached from it */
    uint32_t *stack; /* (n_rules) rules whose cycle is not complete */
    uint32_t n_stack, n_seen;
    uint32_t *order; /* (n_rules) all rules; except in cycles, a rule comes after the rules that it
                        names */
    uint32_t n_order;
    bool *circles; /* (n_rules) true if a rule names itself, directly or through other rules */
};

struct look {
    struct grammar_tree *t;
    uint8_t *marks;     /* (n_nodes) of enum below */
    uint32_t *parent;   /* (n_nodes) the node that contains it; NONE: none */
    uint32_t *next_use; /* (n_nodes) for a NODE_RULE: the next node that names the same rule */
    uint32_t *uses;     /* (n_rules) the first node that names the rule */
    uint32_t *body_of;  /* (n_nodes) the rule whose body the node is; NONE: none */
    uint32_t *stack;    /* (n_nodes) */
    uint32_t n_stack;
    struct graph names, begins;
};

enum { IN_TREE = 1, MAY_BE_FIRST = 2 };

/* ---- what may be empty ---------------------------------------------------------------------- */

static void find_parents(struct look *l)
{
    const struct grammar_tree *t = l->t;

    memset(l->parent, 0xff, t->n_nodes * sizeof *l->parent);
    memset(l->body_of, 0xff, t->n_nodes * sizeof *l->body_of);
    memset(l->uses, 0xff, t->n_rules * sizeof *l->uses);
    for (uint32_t i = 0; i < t->n_nodes; i++) {
        const struct node *n = &t->nodes[i];

        if (n->kind == NODE_PAIR || n->kind == NODE_EITHER) {
            l->parent[n->left] = l->parent[n->right] = i;
        } else if (n->kind == NODE_TIMES) {
            l->parent[n->left] = i;
        } else if (n->kind == NODE_RULE) {
            l->next_use[i] = l->uses[n->low];
            l->uses[n->low] = i;
        }
    }
    for (uint32_t i = 0; i < t->n_rules; i++) {
        l->body_of[t->rules[i].body] = i;
    }
}

static void note_empty(struct look *l, uint32_t node)
{
    if (!l->t->empty[node]) {
        l->t->empty[node] = true;
        l->stack[l->n_stack++] = node;
    }
}

/* Mark nodes that may be empty by themselves, then nodes that may be empty because their parts
 * may. */
static void find_empty(struct look *l)
{
    const struct grammar_tree *t = l->t;

    for (uint32_t i = 0; i < t->n_nodes; i++) {
        const struct node *n = &t->nodes[i];

        if (n->kind == NODE_EMPTY || (n->kind == NODE_TIMES && n->low == 0)) {
            note_empty(l, i);
        }
    }
    while (l->n_stack != 0) {
        uint32_t node = l->stack[--l->n_stack], up = l->parent[node];

        if (up != NONE && (t->nodes[up].kind != NODE_PAIR ||
                           (t->empty[t->nodes[up].left] && t->empty[t->nodes[up].right]))) {
            note_empty(l, up);
        }
        if (l->body_of[node] != NONE) {
            for (uint32_t i = l->uses[l->body_of[node]]; i != NONE; i = l->next_use[i]) {
                note_empty(l, i);
            }
        }
    }
}

/* ---- what names what ------------------------------------------------------------------------ */

/* Mark the nodes of a rule's body, and those with which a text of the rule may begin. */
static void mark_rule(struct look *l, const struct rule *r)
{
    const struct grammar_tree *t = l->t;

    l->marks[r->body] = IN_TREE | MAY_BE_FIRST;
    for (uint32_t i = r->end; i-- > r->first;) {
        const struct node *n = &t->nodes[i];
        uint8_t mark = l->marks[i];

        if (n->kind == NODE_TIMES || n->kind == NODE_PAIR || n->kind == NODE_EITHER) {
            l->marks[n->left] |= mark;
        }
        if (n->kind == NODE_PAIR && !t->empty[n->left]) {
            l->marks[n->right] |= mark & IN_TREE;
        } else if (n->kind == NODE_PAIR || n->kind == NODE_EITHER) {
            l->marks[n->right] |= mark;
        }
    }
}

/* Make the graph whose arcs are the marked nodes. */
static void draw(const struct look *l, struct graph *g, uint8_t mark)
{
    const struct grammar_tree *t = l->t;
    uint32_t n = 0;

    for (uint32_t i = 0; i < t->n_rules; i++) {
        g->first[i] = n;
        for (uint32_t j = t->rules[i].first; j < t->rules[i].end; j++) {
            if (t->nodes[j].kind == NODE_RULE && (l->marks[j] & mark) != 0) {
                g->to[n++] = t->nodes[j].low;
            }
        }
    }
    g->first[t->n_rules] = n;
}

/* Visit a rule and all rules that it names: R. E. Tarjan's algorithm for strongly connected
 * components (SIAM Journal on Computing 1, 1972). There are at most 2,048 rules, which bounds the
 * depth. */
static void walk(struct graph *g, uint32_t a)
{
    uint32_t b;

    g->seen[a] = g->low[a] = ++g->n_seen;
    g->stack[g->n_stack++] = a;
    for (uint32_t i = g->first[a]; i < g->first[a + 1]; i++) {
        b = g->to[i];
        g->circles[a] = g->circles[a] || a == b;
        if (g->seen[b] == 0) {
            walk(g, b);
        }
        if (g->low[b] < g->low[a]) {
            g->low[a] = g->low[b];
        }
    }
    if (g->low[a] != g->seen[a]) {
        return;
    }
    g->circles[a] = g->circles[a] || g->stack[g->n_stack - 1] != a;
    do {
        b = g->stack[--g->n_stack];
        g->circles[b] = g->circles[b] || g->circles[a];
        g->low[b] = NONE; /* its cycle is complete */
        g->order[g->n_order++] = b;
    } while (b != a);
}

static void find_circles(const struct grammar_tree *t, struct graph *g)
{
    for (uint32_t i = 0; i < t->n_rules; i++) {
        if (g->seen[i] == 0) {
            walk(g, i);
        }
    }
}

/* ---- sizes of rules, and which rules are inlined -------------------------------------------- */

enum {
    SIZE_MOST = 1 << 20,
};

bool grammar_goes_inline(const struct grammar_tree *t, uint32_t rule)
{
    const struct rule *r = &t->rules[rule];

    return !r->calls_itself && !r->joins && (r->uses <= 1 || r->size <= t->inline_most);
}

bool grammar_is_small(const struct grammar_tree *t, uint32_t rule)
{
    return t->rules[rule].size <= t->inline_most;
}

static uint32_t size_of(const struct grammar_tree *t, const struct node *n)
{
    uint32_t size = 1;

    if (n->kind == NODE_PAIR || n->kind == NODE_EITHER) {
        size = 1 + t->sizes[n->left] + t->sizes[n->right];
    } else if (n->kind == NODE_TIMES) {
        size = 1 + t->sizes[n->left];
    } else if (n->kind == NODE_RULE && (grammar_goes_inline(t, n->low) || t->rules[n->low].joins)) {
        size = t->rules[n->low].size;
    }
    return size < SIZE_MOST ? size : SIZE_MOST;
}

/* Count the sizes of rules. A rule follows the rules that it names, except in cycles, which consist
 * of rules that call themselves. */
static void count_sizes(struct grammar_tree *t, const struct graph *names)
{
    for (uint32_t i = 0; i < names->n_order; i++) {
        struct rule *r = &t->rules[names->order[i]];

        for (uint32_t j = r->first; j < r->end; j++) {
            t->sizes[j] = size_of(t, &t->nodes[j]);
        }
        r->size = r->calls_itself ? 0 : t->sizes[r->body];
    }
}

/* ---- all of it ------------------------------------------------------------------------------ */

static bool open_graph(struct graph *g, const struct grammar_tree *t)
{
    g->first = calloc(t->n_rules + 1, sizeof *g->first);
    g->to = calloc(t->n_nodes, sizeof *g->to);
    g->seen = calloc(t->n_rules, sizeof *g->seen);
    g->low = calloc(t->n_rules, sizeof *g->low);
    g->stack = calloc(t->n_rules, sizeof *g->stack);
    g->order = calloc(t->n_rules, sizeof *g->order);
    g->circles = calloc(t->n_rules, sizeof *g->circles);
    return g->first != NULL && g->to != NULL && g->seen != NULL && g->low != NULL &&
           g->stack != NULL && g->order != NULL && g->circles != NULL;
}

static void close_graph(struct graph *g)
{
    free(g->first);
    free(g->to);
    free(g->seen);
    free(g->low);
    free(g->stack);
    free(g->order);
    free(g->circles);
}

static bool open_look(struct look *l, struct grammar_tree *t)
{
    l->t = t;
    l->marks = calloc(t->n_nodes, sizeof *l->marks);
    l->parent = calloc(t->n_nodes, sizeof *l->parent);
    l->next_use = calloc(t->n_nodes, sizeof *l->next_use);
    l->body_of = calloc(t->n_nodes, sizeof *l->body_of);
    l->stack = calloc(t->n_nodes, sizeof *l->stack);
    l->uses = calloc(t->n_rules, sizeof *l->uses);
    t->empty = calloc(t->n_nodes, sizeof *t->empty);
    t->sizes = calloc(t->n_nodes, sizeof *t->sizes);
    return open_graph(&l->names, t) && open_graph(&l->begins, t) && l->marks != NULL &&
           l->parent != NULL && l->next_use != NULL && l->body_of != NULL && l->stack != NULL &&
           l->uses != NULL && t->empty != NULL && t->sizes != NULL;
}

static void close_look(struct look *l)
{
    close_graph(&l->names);
    close_graph(&l->begins);
    free(l->marks);
    free(l->parent);
    free(l->next_use);
    free(l->body_of);
    free(l->stack);
    free(l->uses);
}

/* Check all rules. False: a rule begins with itself. */
static bool all_begin(const struct grammar_tree *t, const struct graph *begins, char *error_message)
{
    for (uint32_t i = 0; i < t->n_rules; i++) {
        if (begins->circles[i]) {
            snprintf(
                error_message, GRAMMAR_ERROR_MESSAGE_BYTES,
                "line %u: rule %s begins with itself, which never ends: put another item before it",
                (unsigned)t->rules[i].line, t->rules[i].name);
            return false;
        }
    }
    return true;
}

/* Look at all rules. False: no memory. */
static bool look_at(struct look *l)
{
    struct grammar_tree *t = l->t;

    find_parents(l);
    find_empty(l);
    for (uint32_t i = 0; i < t->n_rules; i++) {
        mark_rule(l, &t->rules[i]);
    }
    draw(l, &l->names, IN_TREE);
    draw(l, &l->begins, MAY_BE_FIRST);
    for (uint32_t i = 0; i < l->names.first[t->n_rules]; i++) {
        t->rules[l->names.to[i]].uses++;
    }
    find_circles(t, &l->names);
    find_circles(t, &l->begins);
    for (uint32_t i = 0; i < t->n_rules; i++) {
        t->rules[i].calls_itself = l->names.circles[i];
    }
    if (!grammar_find_tails(t)) {
        return false;
    }
    count_sizes(t, &l->names);
    return true;
}

enum err grammar_look_at_rules(struct grammar_tree *t,
                               char error_message[GRAMMAR_ERROR_MESSAGE_BYTES])
{
    struct look l = { .t = t };
    enum err e = ERR_OK;

    if (open_look(&l, t) && look_at(&l)) {
        e = all_begin(t, &l.begins, error_message) ? ERR_OK : ERR_BAD_ARGUMENT;
    } else {
        snprintf(error_message, GRAMMAR_ERROR_MESSAGE_BYTES, "there is no memory for the grammar");
        e = ERR_NO_SPACE;
    }
    close_look(&l);
    return e;
}
