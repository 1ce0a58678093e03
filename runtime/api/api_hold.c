/* A board constrains a reply with an automaton that accepts only certain function calls or
 * forms. */
#include <string.h>

#include "runtime/api/api_call.h"
#include "runtime/api/api_limits.h"
#include "runtime/api/api_reader.h"
#include "runtime/api/api_schema.h"
#include "runtime/options/options.h"

/* The work on one grammar. */
struct hold {
    struct api_reader *r;
    struct api_automaton a;
    struct api_schema schema;
};

static bool refuse_large(const struct hold *h, const char *field)
{
    return api_refuse(h->r->e, 413, field, "too_long",
                      "%s: the schemas are too large for a board: shorten them", field);
}

static const char *field_of(const struct api_held *held)
{
    return held->name != NULL ? "tools" : "response_format";
}

/* ---- schemas --------------------------------------------------------------------------------- */

static bool parse(struct hold *h, const struct api_held *held, struct api_json **root)
{
    struct api_text copy;

    api_memory_text(h->r->q->memory, &copy);
    if (!api_text_put(&copy, held->schema, strlen(held->schema))) {
        return refuse_large(h, field_of(held));
    }
    return api_body_parse(root, copy.bytes, copy.n, h->r->q->memory, h->r->e);
}

static bool put_schema(struct hold *h, const struct api_held *held, uint32_t from, uint32_t to)
{
    const char *of = held->name != NULL ? ", function " : "";
    const char *name = held->name != NULL ? held->name : "";
    struct api_json *root;

    if (!parse(h, held, &root)) {
        return false;
    }
    api_schema_put(&h->schema, root, from, to);
    if (h->a.full) {
        return refuse_large(h, field_of(held));
    }
    if (h->schema.unheld == NULL) {
        return true;
    }
    if (held->strict) {
        return api_refuse(h->r->e, 400, field_of(held), NULL,
                          "%s%s%.64s: %.40s is not supported by a board, and would have no effect: "
                          "leave it out, or leave out strict",
                          field_of(held), of, name, h->schema.unheld);
    }
    api_warn(h->r->q,
             "%s%s%.64s: %.40s is not enforced by the grammar of a board, and not checked either",
             field_of(held), of, name, h->schema.unheld);
    return true;
}

/* ---- calls ----------------------------------------------------------------------------------- */

static uint32_t put_text(struct hold *h, uint32_t from, const char *text)
{
    uint32_t to = api_automaton_state(&h->a);

    api_automaton_text(&h->a, from, to, text, strlen(text));
    return to;
}

/* Add a part, from *start on, that reads a call of a function after the call's first byte. */
static bool put_call(struct hold *h, const struct api_held *list, unsigned n, uint32_t *start)
{
    uint32_t name, end, last;

    *start = api_automaton_state(&h->a);
    name = put_text(h, *start, API_CALL_MARK API_CALL_NAME + 1);
    end = api_automaton_state(&h->a);
    for (unsigned i = 0; i < n; i++) {
        if (list[i].name != NULL &&
            !put_schema(h, &list[i],
                        put_text(h, put_text(h, name, list[i].name), API_CALL_ARGUMENTS), end)) {
            return false;
        }
    }
    last = put_text(h, end, API_CALL_END);
    api_automaton_accept(&h->a, last);
    return true;
}

/* Add the calls, without the first byte of the first call. */
static void put_calls(struct hold *h, uint32_t from, uint32_t to, uint32_t call, unsigned most)
{
    uint32_t behind = api_automaton_state(&h->a), again = api_automaton_state(&h->a), first, last;

    api_automaton_call(&h->a, from, behind, call, 1, 1);
    if (most == 1) {
        api_automaton_skip(&h->a, behind, to);
        return;
    }
    first = put_text(h, again, "\n<");
    last = api_automaton_state(&h->a);
    api_automaton_accept(&h->a, last);
    api_automaton_call(&h->a, first, last, call, 1, 1);
    api_automaton_call(&h->a, behind, to, again, 0, most - 1);
}

/* Add any text in which no call begins, then the first byte of a call, which leads to `calls`. The
 * reply may also end in each state of the text. */
static void put_prose(struct hold *h, uint32_t from, uint32_t calls)
{
    static const char begins[] = "<tool"; /* the text must not contain this */
    enum { N = sizeof begins - 1 };
    uint32_t states[N];

    for (unsigned i = 0; i < N; i++) {
        states[i] = i == 0 ? from : api_automaton_state(&h->a);
        api_automaton_accept(&h->a, states[i]);
    }
    for (unsigned i = 0; i < N; i++) {
        uint8_t next = i != 0 ? (uint8_t)begins[i] : '<';

        api_automaton_byte(&h->a, states[i], states[1], '<', '<');
        api_automaton_byte(&h->a, states[i], calls, '<', '<');
        api_automaton_byte(&h->a, states[i], from, 1, '<' - 1);
        if (next == '<') {
            api_automaton_byte(&h->a, states[i], from, '<' + 1, 0xff);
            continue;
        }
        api_automaton_byte(&h->a, states[i], from, '<' + 1, (uint8_t)(next - 1));
        api_automaton_byte(&h->a, states[i], from, (uint8_t)(next + 1), 0xff);
        if (i + 1 < N) {
            api_automaton_byte(&h->a, states[i], states[i + 1], next, next);
        }
    }
}

/* ---- the whole ------------------------------------------------------------------------------- */

static bool open(struct hold *h, struct api_reader *r)
{
    h->r = r;
    if (!api_automaton_open(&h->a, r->q->memory)) {
        return api_no_memory(r);
    }
    api_schema_open(&h->schema, &h->a);
    return true;
}

static bool finish(struct hold *h, uint32_t start, const char *field)
{
    struct api_request *q = h->r->q;

    q->grammar = api_automaton_grammar(&h->a, start, &q->grammar_bytes);
    return q->grammar != NULL || refuse_large(h, field);
}

/* Add up to three blanks or new lines and the first byte of a call. */
static void put_begin(struct hold *h, uint32_t from, uint32_t calls)
{
    uint32_t space = api_automaton_state(&h->a), end = api_automaton_state(&h->a),
             behind = api_automaton_state(&h->a);

    api_automaton_byte(&h->a, space, end, ' ', ' ');
    api_automaton_byte(&h->a, space, end, '\n', '\n');
    api_automaton_accept(&h->a, end);
    api_automaton_call(&h->a, from, behind, space, 0, 3);
    api_automaton_byte(&h->a, behind, calls, '<', '<');
}

static bool hold(struct api_reader *r, struct api_held *list, unsigned n, bool must, unsigned most)
{
    const struct api_held *answer = list[n - 1].name == NULL ? &list[n - 1] : NULL;
    uint32_t start, end, call, calls;
    struct hold h;

    if (!open(&h, r)) {
        return false;
    }
    start = api_automaton_state(&h.a);
    end = api_automaton_state(&h.a);
    api_automaton_accept(&h.a, end);
    if (answer != NULL && !put_schema(&h, answer, start, end)) {
        return false;
    }
    if (answer != NULL && n == 1) {
        return finish(&h, start, "response_format");
    }
    if (!put_call(&h, list, n, &call)) {
        return false;
    }
    calls = api_automaton_state(&h.a);
    put_calls(&h, calls, end, call, most);
    if (must) {
        put_begin(&h, start, calls);
    } else if (answer != NULL) {
        api_automaton_byte(&h.a, start, calls, '<', '<');
    } else {
        put_prose(&h, start, calls);
    }
    return finish(&h, start, "tools");
}

static bool hold_object(struct api_reader *r)
{
    uint32_t start, end;
    struct hold h;

    if (!open(&h, r)) {
        return false;
    }
    start = api_automaton_state(&h.a);
    end = api_automaton_state(&h.a);
    api_automaton_accept(&h.a, end);
    api_schema_put_object(&h.schema, start, end);
    return finish(&h, start, "response_format");
}

static bool hold_grammar(struct api_reader *r, const char *text)
{
    (void)text;
    return api_refuse(r->e, 400, "grammar", "unsupported_parameter",
                      "grammar is not supported by a board: response_format takes a schema");
}

const struct api_holder api_holder = {
    .hold = hold,
    .object = hold_object,
    .grammar = hold_grammar,
};

bool api_may_answer(const struct api_request *q, struct api_error *e)
{
    if (q->n_stops > OPTIONS_STOPS) {
        return api_refuse(e, 400, "stop", "unsupported_parameter",
                          "stop has %u texts: a board takes up to %u", (unsigned)q->n_stops,
                          OPTIONS_STOPS);
    }
    for (uint32_t i = 0; i < q->n_turns && q->kind == API_EMBED; i++) {
        if (q->turns[i].tokens.n != 0) {
            return api_refuse(e, 400, "input", "unsupported_parameter",
                              "input has to be texts: a board takes no token numbers");
        }
    }
    return true;
}
