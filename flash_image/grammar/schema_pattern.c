/* Builds machines from patterns: a state reads a character, splits, or tests for the text's start
 * or end. */
#include <stdlib.h>
#include <string.h>

#include "flash_image/grammar/schema_pattern.h"

static uint32_t state(struct pattern_parser *r, struct pattern_state s)
{
    struct pattern *p = r->p;

    if (p->n_states == p->states_room) {
        uint32_t room = p->states_room == 0 ? 64 : 2 * p->states_room;
        struct pattern_state *grown = realloc(p->states, room * sizeof *grown);

        if (grown == NULL) {
            r->failed = true;
            return 0;
        }
        p->states = grown;
        p->states_room = room;
    }
    if (p->n_states == PATTERN_STATES_MOST) {
        r->failed = true;
        return 0;
    }
    p->states[p->n_states] = s;
    return p->n_states++;
}

static uint32_t build(struct pattern_parser *r, uint32_t n, uint32_t next);

static uint32_t build_times(struct pattern_parser *r, const struct pattern_node *n, uint32_t next)
{
    uint32_t end = next;

    if (n->high == PATTERN_NO_END) {
        uint32_t loop = state(r, (struct pattern_state){ PATTERN_SPLIT, 0, next, 0, 0 }), body;

        body = build(r, n->left, loop);
        r->p->states[loop].next = body;
        next = loop;
    } else {
        for (uint32_t i = n->low; i < n->high && !r->failed; i++) {
            next = state(r, (struct pattern_state){ PATTERN_SPLIT, build(r, n->left, next), end, 0,
                                                    0 });
        }
    }
    for (uint32_t i = 0; i < n->low && !r->failed; i++) {
        next = build(r, n->left, next);
    }
    return next;
}

/* Build the states of a node, followed by state `next`; returns the first one. */
static uint32_t build(struct pattern_parser *r, uint32_t at, uint32_t next)
{
    const struct pattern_node *n = &r->nodes[at];

    r->failed = r->failed || r->n_builds++ == PATTERN_BUILDS_MOST;
    if (r->failed) {
        return 0;
    }
    switch (n->kind) {
    case CLASS: return state(r, (struct pattern_state){ PATTERN_CLASS, next, 0, n->low, n->high });
    case THEN: return build(r, n->left, build(r, n->right, next));
    case EITHER: {
        uint32_t left = build(r, n->left, next), right = build(r, n->right, next);

        return state(r, (struct pattern_state){ PATTERN_SPLIT, left, right, 0, 0 });
    }
    case TIMES: return build_times(r, n, next);
    case BEGIN: return state(r, (struct pattern_state){ PATTERN_BEGIN, next, 0, 0, 0 });
    case END: return state(r, (struct pattern_state){ PATTERN_END, next, 0, 0, 0 });
    default: return next;
    }
}

void pattern_free(struct pattern *p)
{
    while (p != NULL) {
        struct pattern *also = p->also;

        free(p->ranges);
        free(p->states);
        free(p);
        p = also;
    }
}

static struct pattern *compile(const char *text)
{
    struct pattern_parser r = { .p = calloc(1, sizeof *r.p), .at = text };
    struct pattern *p = r.p;

    r.nodes = malloc(PATTERN_NODES_MOST * sizeof *r.nodes);
    if (p != NULL && r.nodes != NULL) {
        uint32_t all = pattern_parse(&r);

        p->found = state(&r, (struct pattern_state){ .kind = PATTERN_FOUND });
        p->start = build(&r, all, p->found);
        p->words = (p->n_states + 63) / 64;
    }
    free(r.nodes);
    if (p == NULL || r.failed) {
        pattern_free(p);
        return NULL;
    }
    return p;
}

/* Return the end of the group that begins at `at`, or NULL if the group is not closed. */
static const char *group_end(const char *at)
{
    bool in_class = false;
    int open = 0;

    for (; *at != '\0'; at++) {
        if (*at == '\\' && at[1] != '\0') {
            at++;
        } else if (in_class) {
            in_class = *at != ']';
        } else if (*at == '[') {
            in_class = true;
        } else if (*at == '(') {
            open++;
        } else if (*at == ')' && --open == 0) {
            return at;
        }
    }
    return NULL;
}

/* True if a bar is outside all groups, so that the part before it is not the whole pattern. */
static bool has_bar(const char *at)
{
    for (; *at != '\0'; at++) {
        if (*at == '\\' && at[1] != '\0') {
            at++;
        } else if (*at == '(' || *at == '[') {
            const char *end = *at == '(' ? group_end(at) : strchr(at + 1, ']');

            if (end == NULL) {
                return true;
            }
            at = end;
        } else if (*at == '|') {
            return true;
        }
    }
    return false;
}

/* Read ^(?=A)(?!B)C as three patterns: ^C and ^A must be found, and ^B must not be found. */
struct pattern *pattern_new(const char *text)
{
    struct pattern *all = NULL, *p;
    struct text rest = { 0 };
    const char *at = text + 1, *end;

    if (text[0] != '^' || strncmp(at, "(?", 2) != 0 || (at[2] != '=' && at[2] != '!') ||
        has_bar(text)) {
        return compile(text);
    }
    while (strncmp(at, "(?=", 3) == 0 || strncmp(at, "(?!", 3) == 0) {
        end = group_end(at);
        if (end == NULL) {
            pattern_free(all);
            return NULL;
        }
        rest.n = 0;
        text_put(&rest, "^(?:");
        text_add(&rest, at + 3, (size_t)(end - at - 3));
        text_put(&rest, ")");
        p = rest.failed ? NULL : compile(rest.s);
        if (p == NULL) {
            free(rest.s);
            pattern_free(all);
            return NULL;
        }
        p->absent = at[2] == '!';
        p->also = all;
        all = p;
        at = end + 1;
    }
    rest.n = 0;
    text_put(&rest, "^");
    text_put(&rest, at);
    p = rest.failed ? NULL : compile(rest.s);
    free(rest.s);
    if (p == NULL) {
        pattern_free(all);
        return NULL;
    }
    p->also = all;
    return p;
}
