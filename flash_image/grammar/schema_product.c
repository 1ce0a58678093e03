/* Makes strings that satisfy several patterns and a length at the same time. One machine runs all
 * patterns together, and each of its states becomes a rule of GBNF. A rule ends with the name of
 * the next rule, so the compiler makes a loop of it and no call. */
#include <stdlib.h>
#include <string.h>

#include "flash_image/grammar/schema_pattern.h"

enum {
    STATES_MOST = 700,
    SETS_MOST = 1500, /* of one pattern */
    CUTS_MOST = 1200,
    INLINE_DEPTH = 10,
    NOWHERE = UINT16_MAX
};

/* The sets of states that a pattern reaches: set i is at sets + i * p->words. */
struct sets {
    const struct pattern *p;
    uint64_t *sets;
    unsigned n;
};

struct product_state {
    uint16_t at[STRING_LIMITS_MOST], count;
    bool accepts, useful;
    unsigned ways_in;
};

struct product {
    const struct string_limits *limits;
    struct sets sets[STRING_LIMITS_MOST];
    struct product_state *states; /* (STATES_MOST) */
    uint16_t *next;               /* (STATES_MOST, n_cuts) */
    unsigned n;
    uint32_t cuts[CUTS_MOST]; /* all characters from one cut up to the next have the same effect */
    unsigned n_cuts;
    bool full;
    struct text *rules;
    unsigned *n_extra;
    unsigned *names; /* (STATES_MOST) number of the state's rule; UINT_MAX: none yet */
};

/* ---- equivalent characters ------------------------------------------------------------------ */

static int compare(const void *a, const void *b)
{
    uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;

    return x < y ? -1 : x > y;
}

static void add_cut(struct product *m, uint32_t c)
{
    if (m->n_cuts == CUTS_MOST) {
        m->full = true;
        return;
    }
    m->cuts[m->n_cuts++] = c;
}

static void find_cuts(struct product *m)
{
    static const uint32_t own[] = { 0,   8,   9,    11,  12,   13,   14,     0x20,
                                    '"', '#', '\\', ']', 0x7f, 0x80, 0xd800, 0xe000 };
    unsigned n = 0;

    for (unsigned i = 0; i < sizeof own / sizeof own[0]; i++) {
        add_cut(m, own[i]);
    }
    for (unsigned i = 0; i < m->limits->n; i++) {
        const struct pattern *p = m->limits->patterns[i];

        for (uint32_t j = 0; j < p->n_ranges && !m->full; j++) {
            add_cut(m, p->ranges[j].low);
            add_cut(m, p->ranges[j].high + 1);
        }
        if (p->n_ranges > CUTS_MOST) {
            m->full = true;
        }
        qsort(m->cuts, m->n_cuts, sizeof m->cuts[0], compare);
        n = 0;
        for (unsigned j = 0; j < m->n_cuts; j++) {
            if (n == 0 || m->cuts[j] != m->cuts[n - 1]) {
                m->cuts[n++] = m->cuts[j];
            }
        }
        m->n_cuts = n;
    }
    qsort(m->cuts, m->n_cuts, sizeof m->cuts[0], compare);
}

/* True if c is not a character, or must be escaped in a string and has no short escape. */
static bool is_left_out(uint32_t c)
{
    return (c < 0x20 && c != '\b' && c != '\t' && c != '\n' && c != '\f' && c != '\r') ||
           c == 0x7f || (c >= 0xd800 && c < 0xe000) || c > 0x10ffff;
}

/* ---- states ---------------------------------------------------------------------------------- */

/* Find the number of a set, or add the set. */
static uint16_t intern(struct product *m, struct sets *s, const uint64_t *set)
{
    size_t words = s->p->words;

    for (unsigned i = 0; i < s->n; i++) {
        if (memcmp(s->sets + i * words, set, words * sizeof *set) == 0) {
            return (uint16_t)i;
        }
    }
    if (s->n == SETS_MOST) {
        m->full = true;
        return 0;
    }
    memcpy(s->sets + s->n * words, set, words * sizeof *set);
    return (uint16_t)s->n++;
}

static bool accepts(const struct product *m, const struct product_state *s)
{
    if (s->count < m->limits->least) {
        return false;
    }
    for (unsigned i = 0; i < m->limits->n; i++) {
        const struct sets *sets = &m->sets[i];

        if (pattern_ends(sets->p, sets->sets + (size_t)s->at[i] * sets->p->words) ==
            m->limits->absent[i]) {
            return false;
        }
    }
    return true;
}

static uint16_t state_of(struct product *m, const struct product_state *s)
{
    for (unsigned i = 0; i < m->n; i++) {
        if (m->states[i].count == s->count && memcmp(m->states[i].at, s->at, sizeof s->at) == 0) {
            return (uint16_t)i;
        }
    }
    if (m->n == STATES_MOST) {
        m->full = true;
        return NOWHERE;
    }
    m->states[m->n] = *s;
    m->states[m->n].accepts = accepts(m, s);
    return (uint16_t)m->n++;
}

static uint16_t step(struct product *m, unsigned from, uint32_t c)
{
    struct product_state s = { .count = m->states[from].count };
    uint64_t set[PATTERN_WORDS_MOST];
    bool endless = m->limits->most == UINT_MAX;

    if (is_left_out(c) || (!endless && s.count == m->limits->most)) {
        return NOWHERE;
    }
    s.count = (uint16_t)(s.count + (!endless || s.count < m->limits->least));
    for (unsigned i = 0; i < m->limits->n; i++) {
        const struct sets *sets = &m->sets[i];

        pattern_step(sets->p, sets->sets + (size_t)m->states[from].at[i] * sets->p->words, c, set);
        s.at[i] = intern(m, &m->sets[i], set);
        *m->limits->steps += sets->p->n_states / 64 + 1 + (sets->n + m->n) / 64;
    }
    m->full = m->full || *m->limits->steps > STRING_STEPS_MOST;
    return m->full ? NOWHERE : state_of(m, &s);
}

static void explore(struct product *m)
{
    struct product_state first = { .count = 0 };
    uint64_t set[PATTERN_WORDS_MOST];

    for (unsigned i = 0; i < m->limits->n; i++) {
        pattern_begin(m->sets[i].p, set);
        first.at[i] = intern(m, &m->sets[i], set);
    }
    (void)state_of(m, &first);
    for (unsigned i = 0; i < m->n && !m->full; i++) {
        for (unsigned j = 0; j < m->n_cuts && !m->full; j++) {
            m->next[i * m->n_cuts + j] = step(m, i, m->cuts[j]);
        }
    }
}

/* Mark useful states: those from which the end can be reached. */
static void find_useful(struct product *m)
{
    bool changed = true;

    for (unsigned i = 0; i < m->n; i++) {
        m->states[i].useful = m->states[i].accepts;
    }
    while (changed) {
        changed = false;
        for (unsigned i = m->n; i-- > 0;) {
            for (unsigned j = 0; j < m->n_cuts && !m->states[i].useful; j++) {
                uint16_t to = m->next[i * m->n_cuts + j];

                changed = to != NOWHERE && m->states[to].useful ? true : changed;
                m->states[i].useful = to != NOWHERE && m->states[to].useful;
            }
        }
    }
}

/* ---- rules ----------------------------------------------------------------------------------- */

static void put_code(struct text *t, uint32_t c)
{
    if (c < 0x80) {
        text_format(t, "\\x%02x", (unsigned)c);
    } else {
        text_format(t, c < 0x10000 ? "\\u%04x" : "\\U%08x", (unsigned)c);
    }
}

/* The escape of a character that must be escaped. */
static const char *escape_of(uint32_t c)
{
    switch (c) {
    case '"': return "\"\\\\\\\"\"";
    case '\\': return "\"\\\\\\\\\"";
    case '\b': return "\"\\\\b\"";
    case '\t': return "\"\\\\t\"";
    case '\n': return "\"\\\\n\"";
    case '\f': return "\"\\\\f\"";
    case '\r': return "\"\\\\r\"";
    default: return NULL;
    }
}

/* Write the characters that lead from one state to another. */
static void put_characters(const struct product *m, struct text *t, unsigned from, unsigned to)
{
    const uint16_t *next = &m->next[from * m->n_cuts];
    unsigned n = 0;
    bool open = false;

    text_put(t, "(");
    for (unsigned j = 0; j < m->n_cuts; j++) {
        const char *escape = escape_of(m->cuts[j]);
        uint32_t high = j + 1 < m->n_cuts ? m->cuts[j + 1] - 1 : 0x10ffff, low;

        if (next[j] != to) {
            continue;
        }
        if (escape != NULL) {
            text_put(t, open ? "]" : "");
            text_put(t, n++ != 0 ? " | " : "");
            text_put(t, escape);
            open = false;
            continue;
        }
        low = m->cuts[j];
        while (j + 1 < m->n_cuts && next[j + 1] == to && escape_of(m->cuts[j + 1]) == NULL) {
            high = ++j + 1 < m->n_cuts ? m->cuts[j + 1] - 1 : 0x10ffff;
        }
        if (!open) {
            text_put(t, n++ != 0 ? " | [" : "[");
            open = true;
        }
        put_code(t, low);
        text_put(t, "-");
        put_code(t, high);
    }
    text_put(t, open ? "])" : ")");
}

static void put_state(struct product *m, struct text *t, unsigned at, unsigned depth);

static void put_next(struct product *m, struct text *t, unsigned to, unsigned depth)
{
    if (m->states[to].ways_in == 1 && depth < INLINE_DEPTH && to != 0) {
        text_put(t, " (");
        put_state(m, t, to, depth + 1);
        text_put(t, ")");
        return;
    }
    if (m->names[to] == UINT_MAX) {
        struct text rule = { 0 };

        m->names[to] = (*m->n_extra)++;
        text_format(&rule, "s%u ::= ", m->names[to]);
        put_state(m, &rule, to, 0);
        text_put(&rule, "\n");
        text_put(m->rules, rule.s != NULL ? rule.s : "");
        m->rules->failed = m->rules->failed || rule.failed;
        free(rule.s);
    }
    text_format(t, " s%u", m->names[to]);
}

static void put_state(struct product *m, struct text *t, unsigned at, unsigned depth)
{
    const uint16_t *next = &m->next[at * m->n_cuts];
    bool bar = false;

    for (unsigned j = 0; j < m->n_cuts; j++) {
        unsigned to = next[j];
        bool before = false;

        for (unsigned i = 0; i < j && !before; i++) {
            before = next[i] == to;
        }
        if (to == NOWHERE || before || !m->states[to].useful) {
            continue;
        }
        text_put(t, bar ? " | " : "");
        bar = true;
        put_characters(m, t, at, to);
        put_next(m, t, to, depth);
    }
    if (m->states[at].accepts) {
        text_put(t, bar ? " | \"\"" : "\"\"");
    }
}

/* Count the states that lead to each state. */
static void count_ways(struct product *m)
{
    m->states[0].ways_in = 2; /* a loop back to the start needs a rule */
    for (unsigned i = 0; i < m->n; i++) {
        const uint16_t *next = &m->next[i * m->n_cuts];

        for (unsigned j = 0; j < m->n_cuts && m->states[i].useful; j++) {
            bool before = next[j] == NOWHERE;

            for (unsigned k = 0; k < j && !before; k++) {
                before = next[k] == next[j];
            }
            if (!before) {
                m->states[next[j]].ways_in++;
            }
        }
        m->names[i] = UINT_MAX;
    }
}

static bool open_product(struct product *m, const struct string_limits *l)
{
    bool good;

    m->limits = l;
    find_cuts(m);
    m->states = calloc(STATES_MOST, sizeof *m->states);
    m->names = calloc(STATES_MOST, sizeof *m->names);
    m->next = malloc((size_t)STATES_MOST * (m->n_cuts + 1) * sizeof *m->next);
    good = m->states != NULL && m->next != NULL && m->names != NULL && !m->full;
    for (unsigned i = 0; i < l->n && good; i++) {
        m->sets[i].p = l->patterns[i];
        m->sets[i].sets = malloc(SETS_MOST * l->patterns[i]->words * sizeof(uint64_t));
        good = m->sets[i].sets != NULL;
    }
    return good;
}

static void close_product(struct product *m)
{
    for (unsigned i = 0; i < m->limits->n; i++) {
        free(m->sets[i].sets);
    }
    free(m->states);
    free(m->names);
    free(m->next);
    free(m);
}

enum string_result string_put(struct text *t, struct text *rules, unsigned *n_extra,
                              const struct string_limits *l)
{
    struct product *m = calloc(1, sizeof *m);
    enum string_result result = STRING_TOO_LARGE;

    if (m == NULL) {
        return result;
    }
    m->rules = rules;
    m->n_extra = n_extra;
    if ((l->most == UINT_MAX || l->most < STATES_MOST) && l->least < STATES_MOST &&
        open_product(m, l)) {
        explore(m);
        if (!m->full) { /* if m is full, some states have no transitions yet */
            find_useful(m);
            result = m->states[0].useful ? STRING_PUT : STRING_NEVER;
        }
        if (result == STRING_PUT) {
            count_ways(m);
            put_state(m, t, 0, 0);
        }
    }
    m->limits = l;
    close_product(m);
    return result;
}
