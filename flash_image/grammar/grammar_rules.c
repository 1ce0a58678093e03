/* What rules are among each other: used how often, calling themselves, empty. */
#include <stdio.h>
#include <stdlib.h>

#include "flash_image/grammar/grammar_private.h"

/* Nodes are made after those that they are made of, so a loop over them goes from the leaves up; only rules
 * point anywhere. */
bool grammar_may_be_empty(const struct grammar_tree *t, uint32_t node)
{
    const struct node *n = &t->nodes[node];

    switch (n->kind) {
    case NODE_EMPTY: return true;
    case NODE_RANGE: return false;
    case NODE_PAIR: return grammar_may_be_empty(t, n->left) && grammar_may_be_empty(t, n->right);
    case NODE_EITHER: return grammar_may_be_empty(t, n->left) || grammar_may_be_empty(t, n->right);
    case NODE_TIMES: return n->low == 0 || grammar_may_be_empty(t, n->left);
    default: return t->rules[n->low].may_be_empty;
    }
}

static void find_empty(struct grammar_tree *t)
{
    bool changed = true;

    while (changed) {
        changed = false;
        for (uint32_t i = 0; i < t->n_rules; i++) {
            if (!t->rules[i].may_be_empty && grammar_may_be_empty(t, t->rules[i].body)) {
                t->rules[i].may_be_empty = changed = true;
            }
        }
    }
}

/* Rules that a node names are marked; `first`: only those that can be its first item. */
static void mark(const struct grammar_tree *t, uint32_t node, bool first, bool *marks,
                 uint32_t *uses)
{
    const struct node *n = &t->nodes[node];

    switch (n->kind) {
    case NODE_PAIR:
        mark(t, n->left, first, marks, uses);
        if (!first || grammar_may_be_empty(t, n->left)) {
            mark(t, n->right, first, marks, uses);
        }
        break;
    case NODE_EITHER:
        mark(t, n->left, first, marks, uses);
        mark(t, n->right, first, marks, uses);
        break;
    case NODE_TIMES: mark(t, n->left, first, marks, uses); break;
    case NODE_RULE:
        marks[n->low] = true;
        if (uses != NULL) {
            uses[n->low]++;
        }
        break;
    default: break;
    }
}

/* reached[b]: from rule a's marks on, over any number of rules, rule b is reached. */
static void close_marks(const struct grammar_tree *t, const bool *marks, uint32_t a, bool *reached,
                        uint32_t *stack)
{
    uint32_t n = 0;

    for (uint32_t b = 0; b < t->n_rules; b++) {
        reached[b] = false;
    }
    stack[n++] = a;
    while (n != 0) {
        const bool *row = &marks[(size_t)stack[--n] * t->n_rules];

        for (uint32_t b = 0; b < t->n_rules; b++) {
            if (row[b] && !reached[b]) {
                reached[b] = true;
                stack[n++] = b;
            }
        }
    }
}

/* ---- what is laid out where ----------------------------------------------------------------- */

enum {
    INLINE_MOST = 96, /* nodes of a rule that is used in several places */
    SIZE_MOST = 1 << 20,
};

uint32_t grammar_size(const struct grammar_tree *t, uint32_t node)
{
    const struct node *n = &t->nodes[node];
    uint32_t size;

    switch (n->kind) {
    case NODE_PAIR:
    case NODE_EITHER: size = 1 + grammar_size(t, n->left) + grammar_size(t, n->right); break;
    case NODE_TIMES: size = 1 + grammar_size(t, n->left); break;
    case NODE_RULE: size = grammar_goes_inline(t, n->low) ? t->rules[n->low].size : 1; break;
    default: size = 1; break;
    }
    return size < SIZE_MOST ? size : SIZE_MOST;
}

bool grammar_goes_inline(const struct grammar_tree *t, uint32_t rule)
{
    const struct rule *r = &t->rules[rule];

    return !r->calls_itself && (r->uses <= 1 || r->size <= INLINE_MOST);
}

/* Those first that a rule names: there is no circle among rules that do not call themselves. */
static void count_sizes(struct grammar_tree *t, uint32_t rule)
{
    if (t->rules[rule].size != 0 || t->rules[rule].calls_itself) {
        return;
    }
    for (uint32_t i = 0; i < t->n_rules; i++) {
        if (i != rule && t->names[(size_t)rule * t->n_rules + i]) {
            count_sizes(t, i);
        }
    }
    t->rules[rule].size = grammar_size(t, t->rules[rule].body);
}

enum err grammar_look_at_rules(struct grammar_tree *t, char problem[GRAMMAR_PROBLEM_BYTES])
{
    size_t cells = (size_t)t->n_rules * t->n_rules;
    bool *marks = calloc(cells, 1), *firsts = calloc(cells, 1), *reached = malloc(t->n_rules);
    uint32_t *uses = calloc(t->n_rules, sizeof *uses),
             *stack = calloc(t->n_rules + 1, sizeof *stack);
    enum err e = ERR_OK;

    if (marks == NULL || firsts == NULL || reached == NULL || uses == NULL || stack == NULL) {
        snprintf(problem, GRAMMAR_PROBLEM_BYTES, "there is no memory for the grammar");
        e = ERR_NO_SPACE;
    } else {
        find_empty(t);
    }
    for (uint32_t i = 0; e == ERR_OK && i < t->n_rules; i++) {
        mark(t, t->rules[i].body, false, &marks[(size_t)i * t->n_rules], uses);
        mark(t, t->rules[i].body, true, &firsts[(size_t)i * t->n_rules], NULL);
    }
    for (uint32_t i = 0; e == ERR_OK && i < t->n_rules; i++) {
        t->rules[i].uses = uses[i];
        close_marks(t, marks, i, reached, stack);
        t->rules[i].calls_itself = reached[i];
        close_marks(t, firsts, i, reached, stack);
        if (reached[i]) {
            snprintf(problem, GRAMMAR_PROBLEM_BYTES,
                     "line %u: rule %s begins with itself, which never ends: put what comes first "
                     "before it",
                     (unsigned)t->rules[i].line, t->rules[i].name);
            e = ERR_BAD_ARGUMENT;
        }
    }
    t->names = marks;
    for (uint32_t i = 0; e == ERR_OK && i < t->n_rules; i++) {
        count_sizes(t, i);
    }
    t->names = NULL;
    free(marks);
    free(firsts);
    free(reached);
    free(uses);
    free(stack);
    return e;
}
