/* The table as a grammar. Calls form a trie of bytes and, in numbers, of ranges of digits. A state
 * in front of the trie tells a call from prose by the first character that is not a space. */
#include <assert.h>
#include <string.h>

#include "board/min_max.h"
#include "flash_image/format/grammar.h"
#include "runtime/features/acting/actions.h"
#include "runtime/base/crc32c.h"

enum { NODES = 4096, START = 0, PROSE = 1, CALL = 2, NO_NODE = 0 };

struct node {
    uint16_t child, sibling; /* a node, or NO_NODE; the start is never a
                              * child */
    uint8_t low, high;       /* range of the bytes that lead to this node */
    bool accepts;
};

struct trie {
    struct node nodes[NODES];
    unsigned n;
    bool full;
};

static_assert(sizeof(struct trie) <= ACTIONS_WORK_BYTES, "actions.h says how much it takes");

static unsigned child_of(struct trie *t, unsigned at, uint8_t low, uint8_t high)
{
    unsigned i = t->nodes[at].child;

    while (i != NO_NODE && (t->nodes[i].low != low || t->nodes[i].high != high)) {
        i = t->nodes[i].sibling;
    }
    if (i != NO_NODE) {
        return i;
    }
    if (t->n == NODES) {
        t->full = true;
        return at;
    }
    i = t->n++;
    t->nodes[i] = (struct node){ .sibling = t->nodes[at].child, .low = low, .high = high };
    t->nodes[at].child = (uint16_t)i;
    return i;
}

static unsigned add_text(struct trie *t, unsigned at, const char *text)
{
    for (; *text != '\0'; text++) {
        at = child_of(t, at, (uint8_t)*text, (uint8_t)*text);
    }
    return at;
}

/* ---- values ---- */

/* Add the numbers from n on that have the digits of n above the place `size`, and at this place a
 * digit of at most `last`. `size` is a power of ten that divides n. */
static void add_digits(struct trie *t, unsigned at, uint32_t n, uint32_t size, uint32_t last,
                       uint32_t highest)
{
    for (uint32_t place = highest; place > size; place /= 10) {
        uint8_t digit = (uint8_t)('0' + n / place % 10);

        at = child_of(t, at, digit, digit);
    }
    at = child_of(t, at, (uint8_t)('0' + n / size % 10), (uint8_t)('0' + last));
    for (uint32_t place = size / 10; place != 0; place /= 10) {
        at = child_of(t, at, '0', '9');
    }
    t->nodes[add_text(t, at, "}")].accepts = true;
}

/* Add a range of numbers as blocks. The numbers of a block differ in one digit and the digits below
 * it: 34 to 51 becomes 34, 35..39, 40..49, 50..51. A number is the last argument of its action. */
static void add_range(struct trie *t, unsigned at, uint32_t n, uint32_t most)
{
    uint32_t highest = 1;

    while (n <= most && !t->full) {
        uint32_t size = 1, count = 1, digit;

        while (n >= highest * 10) {
            highest *= 10;
        }
        while (size < highest && n % (size * 10) == 0 && n + size * 10 - 1 <= most) {
            size *= 10;
        }
        for (digit = n / size % 10; digit + count < 10 && n + (count + 1) * size - 1 <= most;) {
            count++;
        }
        add_digits(t, at, n, size, digit + count - 1, highest);
        n += count * size;
    }
}

/* Nodes of the trie that continue alike: the same text is added after each of them. */
struct ends {
    unsigned n, at[PINS_MOST];
};

static void add_lines(struct trie *t, struct ends *e, const struct pin_list *l, uint32_t lines)
{
    unsigned before = add_text(t, e->at[0], "\"");

    e->n = 0;
    for (unsigned i = 0; i < l->n; i++) {
        if ((lines >> i & 1) != 0) {
            e->at[e->n++] = add_text(t, add_text(t, before, l->pin[i].name), "\"");
        }
    }
}

/* Add a call up to its end. A line's name comes first and a number last, as actions_read
 * requires. */
static void add_call(struct trie *t, const struct actions *a, const struct action *action)
{
    unsigned named = add_text(t, add_text(t, 0, "{\"action\":\""), action->name);
    struct ends e = { 1, { add_text(t, named, "\"") } };
    bool is_closed = false;

    for (unsigned k = 0; k < action->n_arguments; k++) {
        const struct action_argument *g = &action->argument[k];

        for (unsigned i = 0; i < e.n; i++) {
            e.at[i] = add_text(t, add_text(t, add_text(t, e.at[i], ",\""), g->name), "\":");
        }
        if (g->kind == ARGUMENT_LINE) {
            add_lines(t, &e, &a->pins.list, g->lines);
            continue;
        }
        for (unsigned i = 0; i < e.n && g->kind == ARGUMENT_NUMBER; i++) {
            add_range(t, e.at[i], g->least, g->most);
        }
        if (g->kind == ARGUMENT_SWITCH) {
            t->nodes[add_text(t, e.at[0], "\"on\"}")].accepts = true;
            t->nodes[add_text(t, e.at[0], "\"off\"}")].accepts = true;
        }
        is_closed = true;
    }
    if (!is_closed) {
        t->nodes[add_text(t, e.at[0], "}")].accepts = true;
    }
}

/* ---- as tables ---- */

/* Return the state of a node. Nodes after the first are states from CALL on; the trie's root is
 * START, where the "{" of a call or prose begins. */
static uint16_t state_of(unsigned node)
{
    return (uint16_t)(node + CALL - 1);
}

struct tables {
    struct ingot_grammar_state *states;
    struct ingot_grammar_edge *edges;
    unsigned n_edges;
};

static void begin_state(struct tables *out, unsigned state, bool accepts)
{
    out->states[state] = (struct ingot_grammar_state){ .edges = (uint16_t)out->n_edges,
                                                       .accepts = accepts };
}

static void put_edge(struct tables *out, unsigned state, unsigned low, unsigned high, unsigned to)
{
    out->edges[out->n_edges++] = (struct ingot_grammar_edge){ (uint8_t)low, (uint8_t)high,
                                                              (uint16_t)to };
    out->states[state].n_edges++;
}

static void put_children(struct tables *out, const struct trie *t, unsigned node, unsigned state)
{
    for (unsigned c = t->nodes[node].child; c != NO_NODE; c = t->nodes[c].sibling) {
        put_edge(out, state, t->nodes[c].low, t->nodes[c].high, state_of(c));
    }
}

/* Write the first states. Leading spaces are ignored, as in action_call_read; anything but "{"
 * begins prose. */
static void put_first_states(struct tables *out, const struct trie *t)
{
    begin_state(out, START, true);
    put_edge(out, START, ' ', ' ', START);
    put_edge(out, START, '\t', '\n', START);
    put_edge(out, START, '\r', '\r', START);
    put_edge(out, START, 0, '\t' - 1, PROSE);
    put_edge(out, START, '\n' + 1, '\r' - 1, PROSE);
    put_edge(out, START, '\r' + 1, ' ' - 1, PROSE);
    put_edge(out, START, ' ' + 1, '{' - 1, PROSE);
    put_edge(out, START, '{' + 1, 255, PROSE);
    put_children(out, t, 0, START);
    begin_state(out, PROSE, true);
    put_edge(out, PROSE, 0, 255, PROSE);
}

/* The start has 8 edges and prose has one. Each other edge leads to a node of its own, not to the
 * root. */
enum { FIRST_EDGES = 9 };

enum err actions_grammar(const struct actions *a, void *memory, size_t room, void *work,
                         size_t *bytes)
{
    struct ingot_grammar *head = memory;
    struct trie *t = work;
    struct tables out = { .states = (void *)(head + 1) };
    unsigned n_states;

    t->nodes[0] = (struct node){ 0 };
    t->n = 1;
    t->full = false;
    for (unsigned i = 0; i < a->n; i++) {
        add_call(t, a, &a->list[i]);
    }
    n_states = t->n + CALL - 1;
    *bytes = sizeof *head + n_states * sizeof *out.states +
             (FIRST_EDGES + t->n - 1) * sizeof *out.edges;
    if (t->full || *bytes > room) {
        return ERR_TOO_LONG;
    }
    out.edges = (void *)(out.states + n_states);
    put_first_states(&out, t);
    for (unsigned i = 1; i < t->n; i++) {
        begin_state(&out, state_of(i), t->nodes[i].accepts);
        put_children(&out, t, i, state_of(i));
    }
    *head = (struct ingot_grammar){ .magic = INGOT_GRAMMAR_MAGIC,
                                    .version = INGOT_GRAMMAR_VERSION,
                                    .start = START,
                                    .n_states = (uint16_t)n_states,
                                    .n_edges = (uint16_t)out.n_edges };
    head->crc32c = crc32c(0, &head->version, *bytes - 8);
    return ERR_OK;
}
