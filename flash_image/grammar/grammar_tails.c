/* Handles rules that end with another rule. The last item of a rule ends where the rule ends, so
 * it needs no call. A rule that calls itself only at its end is a loop, and all alternatives
 * that end with the same rule share one copy of that rule. */
#include <stdlib.h>

#include "flash_image/grammar/grammar_private.h"

struct use {
    uint32_t from, to; /* rules */
    bool last;         /* the use is the end of the rule's body */
};

struct tails {
    struct grammar_tree *t;
    struct use *uses; /* (n) uses of rule a are first[a] .. first[a + 1] - 1 */
    uint32_t n, room, *first;
    uint32_t *seen, *low, *stack,
        *circle; /* (n_rules) R. E. Tarjan's strongly connected components */
    uint32_t n_seen, n_stack;
    bool *elsewhere; /* (n_rules) true if an alternative names the rule before its
                        end */
    bool failed;
};

static void add_use(struct tails *s, uint32_t from, uint32_t to, bool last, bool ends)
{
    if (s->n == s->room) {
        uint32_t room = s->room == 0 ? 256 : 2 * s->room;
        struct use *grown = realloc(s->uses, room * sizeof *grown);

        if (grown == NULL) {
            s->failed = true;
            return;
        }
        s->uses = grown;
        s->room = room;
    }
    s->uses[s->n++] = (struct use){ from, to, last };
    s->elsewhere[to] = s->elsewhere[to] || !ends;
}

/* last: true if the node ends its rule; ends: true if it ends its alternative. */
static void walk_node(struct tails *s, uint32_t rule, uint32_t node, bool last, bool ends)
{
    const struct node *n = &s->t->nodes[node];

    for (;;) { /* sequences and alternatives are nested to the left */
        if (n->kind == NODE_PAIR) {
            walk_node(s, rule, n->right, last, ends);
            last = ends = false;
        } else if (n->kind == NODE_EITHER) {
            ends = true;
            walk_node(s, rule, n->right, last, ends);
        } else if (n->kind == NODE_TIMES) {
            last = ends = false;
        } else {
            break;
        }
        n = &s->t->nodes[n->left];
    }
    if (n->kind == NODE_RULE) {
        add_use(s, rule, n->low, last, ends);
    }
}

static void find_circle(struct tails *s, uint32_t a)
{
    uint32_t b;

    s->seen[a] = s->low[a] = ++s->n_seen;
    s->stack[s->n_stack++] = a;
    for (uint32_t i = s->first[a]; i < s->first[a + 1]; i++) {
        b = s->uses[i].to;
        if (s->seen[b] == 0) {
            find_circle(s, b);
        }
        if (s->low[b] < s->low[a]) {
            s->low[a] = s->low[b];
        }
    }
    if (s->low[a] != s->seen[a]) {
        return;
    }
    do {
        b = s->stack[--s->n_stack];
        s->low[b] = UINT32_MAX; /* its component is complete */
        s->circle[b] = a;
    } while (b != a);
}

static void find(struct tails *s)
{
    struct grammar_tree *t = s->t;

    for (uint32_t i = 0; i < t->n_rules; i++) {
        s->first[i] = s->n;
        walk_node(s, i, t->rules[i].body, true, true);
    }
    s->first[t->n_rules] = s->n;
    for (uint32_t i = 0; i < t->n_rules && !s->failed; i++) {
        if (s->seen[i] == 0) {
            find_circle(s, i);
        }
        t->rules[i].joins = t->rules[i].calls_itself;
    }
    for (uint32_t i = 0; i < s->n && !s->failed;
         i++) { /* a cycle with a call before the end of a rule is not a loop */
        const struct use *u = &s->uses[i];

        if (s->circle[u->from] == s->circle[u->to] && !u->last) {
            t->rules[s->circle[u->to]].joins = false;
        }
    }
    for (uint32_t i = 0; i < t->n_rules && !s->failed; i++) {
        struct rule *r = &t->rules[i];

        if (r->calls_itself) {
            r->joins = t->rules[s->circle[i]].joins;
            r->calls_itself = !r->joins;
        } else {
            r->joins = r->uses > 1 && !s->elsewhere[i];
        }
    }
}

bool grammar_find_tails(struct grammar_tree *t)
{
    struct tails s = { .t = t,
                       .first = calloc(t->n_rules + 1, sizeof *s.first),
                       .seen = calloc(t->n_rules, sizeof *s.seen),
                       .low = calloc(t->n_rules, sizeof *s.low),
                       .stack = calloc(t->n_rules, sizeof *s.stack),
                       .circle = calloc(t->n_rules, sizeof *s.circle),
                       .elsewhere = calloc(t->n_rules, sizeof *s.elsewhere) };

    s.failed = s.first == NULL || s.seen == NULL || s.low == NULL || s.stack == NULL ||
               s.circle == NULL || s.elsewhere == NULL;
    if (!s.failed) {
        find(&s);
    }
    free(s.uses);
    free(s.first);
    free(s.seen);
    free(s.low);
    free(s.stack);
    free(s.circle);
    free(s.elsewhere);
    return !s.failed;
}
