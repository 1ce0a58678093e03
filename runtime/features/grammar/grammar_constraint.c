#include "runtime/features/grammar/grammar_constraint.h"

#include <string.h>

#include "board/min_max.h"
#include "runtime/base/arena.h"

static size_t machine_bytes(void)
{
    return arena_take_bytes(sizeof(struct grammar_machine));
}

static size_t rest_bytes(void)
{
    return GRAMMAR_STATES * sizeof(uint16_t);
}

size_t grammar_constraint_bytes(uint32_t vocab)
{
    return machine_bytes() + arena_take_bytes(INGOT_GRAMMAR_BYTES) +
           arena_take_bytes(vocab * sizeof(float)) + arena_take_bytes(rest_bytes());
}

void grammar_constraint_open(struct grammar_constraint *c, void *memory, const struct tokenizer *t,
                             uint32_t vocab)
{
    memset(c, 0, sizeof *c);
    c->base.kind = &grammar_kind;
    c->tokenizer = t;
    c->vocab = vocab;
    if (memory != NULL) {
        c->machine = memory;
        c->memory = (uint8_t *)memory + machine_bytes();
        c->logits = (float *)((uint8_t *)c->memory + arena_take_bytes(INGOT_GRAMMAR_BYTES));
        c->base.logits = c->logits;
        c->rest = (uint16_t *)((uint8_t *)c->logits + arena_take_bytes(vocab * sizeof(float)));
    }
}

void *grammar_constraint_memory(struct grammar_constraint *c)
{
    c->on = false;
    return c->memory;
}

static_assert(sizeof(struct grammar_machine) >= CONSTRAINT_WORK_BYTES,
              "the machine is idle while a grammar is made");

void *grammar_constraint_work(struct grammar_constraint *c)
{
    c->on = false;
    return c->machine;
}

enum err grammar_constraint_use(struct grammar_constraint *c, size_t bytes,
                                const char **error_message)
{
    enum err e = grammar_open(&c->grammar, c->memory, bytes, error_message);

    c->on = e == ERR_OK;
    if (c->on) {
        grammar_rest_of_states(&c->grammar, c->rest);
    }
    return e;
}

static_assert(sizeof(struct grammar_machine) >= GRAMMAR_WORK_BYTES,
              "the machine is idle while choices are laid out");

enum err grammar_constraint_use_choices(struct grammar_constraint *c, const char *text,
                                        const char **error_message)
{
    size_t bytes;
    enum err e;

    c->on = false;
    e = grammar_from_choices(text, c->memory, INGOT_GRAMMAR_BYTES, c->machine, &bytes,
                             error_message);
    return e == ERR_OK ? grammar_constraint_use(c, bytes, error_message) : e;
}

void grammar_constraint_off(struct grammar_constraint *c)
{
    c->on = false;
}

/* ---- of a reply: constraint.h ---------------------------------------------------------------- */

static struct grammar_constraint *of(struct constraint *c)
{
    return (struct grammar_constraint *)c; /* c is the first member */
}

static void constraint_begin(struct constraint *constraint, const uint32_t *end_ids, uint32_t n)
{
    struct grammar_constraint *c = of(constraint);
    c->end_ids = end_ids;
    c->n_end_ids = n;
    c->spent = c->base.closes = c->base.led = false;
    c->tokens = UINT32_MAX;
    grammar_begin(c->machine, &c->grammar);
}

static uint32_t missing(const struct grammar_constraint *c, unsigned level)
{
    return grammar_rest(c->machine, level, c->rest);
}

static void constraint_limit(struct constraint *constraint, uint32_t tokens)
{
    struct grammar_constraint *c = of(constraint);
    /* While the reply is led to its end, allow at most one token for each byte of the shortest text
     * that completes it. */
    c->tokens = c->base.closes ? min_u32(tokens, missing(c, 0)) : tokens;
}

static bool constraint_close(struct constraint *constraint)
{
    struct grammar_constraint *c = of(constraint);
    uint32_t bytes = missing(c, 0);

    c->base.closes = bytes != 0 && bytes < GRAMMAR_REST_MOST;
    return c->base.closes;
}

/* Return true if, after the token, enough tokens are left to complete the text, or if too few were
 * left already before the token. */
static bool is_in_time(const struct grammar_constraint *c, unsigned level)
{
    return missing(c, level) < c->tokens || missing(c, 0) > c->tokens;
}

static void constraint_keep(struct constraint *constraint, const float *logits)
{
    struct grammar_constraint *c = of(constraint);
    memcpy(c->logits, logits, c->vocab * sizeof *logits);
}

static bool is_end(const struct grammar_constraint *c, uint32_t id)
{
    for (uint32_t i = 0; i < c->n_end_ids; i++) {
        if (c->end_ids[i] == id) {
            return true;
        }
    }
    return id == c->tokenizer->head->bos;
}

static bool constraint_takes(struct constraint *constraint, uint32_t id)
{
    struct grammar_constraint *c = of(constraint);
    unsigned level;

    grammar_count_steps(c->machine);
    /* The reply may end only where the grammar allows it. */
    if (is_end(c, id)) {
        return grammar_accepts(c->machine, 0);
    }
    if (!grammar_takes_token(c->machine, c->tokenizer, id, &level)) {
        return false;
    }
    /* The grammar allows the token, but too few tokens would remain. */
    if (!is_in_time(c, level)) {
        c->base.led = true;
        return false;
    }
    grammar_settle(c->machine, level);
    return true;
}

struct mask {
    const struct grammar_constraint *c;
    float *logits;
    uint32_t n, only;
};

static void allow(void *context, uint32_t id)
{
    struct mask *m = context;

    if (id < m->c->vocab && m->logits[id] != m->c->logits[id]) {
        m->logits[id] = m->c->logits[id];
        m->n++;
        m->only = id;
    }
}

static void allow_text(void *context, uint32_t id, unsigned level)
{
    const struct mask *m = context;

    if (!is_end(m->c, id) && is_in_time(m->c, level)) {
        allow(context, id);
    }
}

static void allow_ends(struct mask *m)
{
    const struct grammar_constraint *c = m->c;

    for (uint32_t i = 0; i < c->n_end_ids; i++) {
        allow(m, c->end_ids[i]);
    }
    allow(m, c->tokenizer->head->bos);
}

static struct mask find_allowed(struct grammar_constraint *c, float *logits)
{
    struct mask m = { .c = c, .logits = logits };

    for (uint32_t i = 0; i < c->vocab; i++) {
        logits[i] = -__builtin_inff();
    }
    grammar_count_steps(c->machine);
    /* Tokens share beginnings, and the visitor reads each beginning once. */
    grammar_visit_tokens(c->machine, c->tokenizer, allow_text, &m);
    c->spent = grammar_is_spent(c->machine);
    if (!c->spent && grammar_accepts(c->machine, 0)) {
        allow_ends(&m);
    }
    return m;
}

static uint32_t constraint_mask(struct constraint *constraint, float *logits, uint32_t *only)
{
    struct grammar_constraint *c = of(constraint);
    struct mask m = find_allowed(c, logits);

    if (m.n == 0 && !c->spent &&
        c->tokens != UINT32_MAX) { /* no token begins with a byte of the shortest text that
                                    * completes the reply */
        /* Continue without a limit. */
        c->tokens = UINT32_MAX;
        m = find_allowed(c, logits);
    }
    *only = m.only;
    return c->spent ? 0 : m.n;
}

static bool constraint_is_complete(struct constraint *constraint)
{
    struct grammar_constraint *c = of(constraint);
    return grammar_accepts(c->machine, 0) && !grammar_goes_on(c->machine, 0);
}

static bool constraint_may_end(struct constraint *constraint)
{
    return grammar_accepts(of(constraint)->machine, 0);
}

const struct constraint_kind grammar_kind = { constraint_begin,   constraint_limit,
                                              constraint_close,   constraint_keep,
                                              constraint_takes,   constraint_mask,
                                              constraint_may_end, constraint_is_complete };
