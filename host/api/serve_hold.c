#include "host/api/serve_hold.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cjson/cJSON.h>

#include "flash_image/grammar/grammar_compile.h"
#include "host/api/serve_request.h"
#include "host/api/serve_text.h"
#include "runtime/api/api_call.h"

enum { ERROR_MESSAGE_BYTES = 400 };

/* A rule for any text in which no call begins. */
static const char prose[] =
    "prose ::= ([^<] | \"<\" (\"<\" | \"t<\" | \"to<\" | \"too<\")* ([^<t] | \"t\" [^<o] | "
    "\"to\" [^<o] | \"too\" [^<l]))*\n";

/* ---- the root --------------------------------------------------------------------------------- */

/* Writes a text in quotes, in GBNF's syntax. */
static void put_literal(struct api_text *out, const char *text)
{
    (void)serve_text_add(out, "\"", 1);
    for (; *text != '\0'; text++) {
        if (*text == '\n' || *text == '"') {
            (void)serve_text_add(out, "\\", 1);
        }
        (void)serve_text_add(out, *text == '\n' ? "n" : text, 1);
    }
    (void)serve_text_add(out, "\"", 1);
}

/* The parts of the grammar in this attempt. */
struct hold {
    bool must;
    unsigned most;
    bool any_name; /* a call may have any name; the check compares it with the list */
};

/* Writes the rule of a call with any name; the arguments of all functions have one rule. */
static void put_any_call(struct api_text *out, unsigned rule)
{
    (void)serve_text_say(out, "call ::= ");
    put_literal(out, API_CALL_MARK API_CALL_NAME);
    (void)serve_text_say(out, " [a-zA-Z0-9_.:-]{1,64} ");
    put_literal(out, API_CALL_ARGUMENTS);
    (void)serve_text_say(out, " r%u ", rule);
    put_literal(out, API_CALL_END);
    (void)serve_text_say(out, "\n");
}

/* Writes the rule of a call; returns the number of functions that it can name. */
static unsigned put_call(struct api_text *out, const struct api_held *list, unsigned n,
                         const unsigned *rules)
{
    unsigned callable = 0;

    (void)serve_text_say(out, "call ::= ");
    put_literal(out, API_CALL_MARK API_CALL_NAME);
    (void)serve_text_say(out, " (");
    for (unsigned i = 0; i < n; i++) {
        if (list[i].name == NULL || rules[i] == GRAMMAR_NO_RULE) {
            continue;
        }
        (void)serve_text_say(out, "%s", callable++ != 0 ? " | " : "");
        put_literal(out, list[i].name);
        (void)serve_text_say(out, " ");
        put_literal(out, API_CALL_ARGUMENTS);
        (void)serve_text_say(out, " r%u", rules[i]);
    }
    (void)serve_text_say(out, ") ");
    put_literal(out, API_CALL_END);
    (void)serve_text_say(out, "\n");
    return callable;
}

static bool put_root(struct api_reader *r, struct api_text *out, const struct api_held *list,
                     unsigned n, const unsigned *rules, const struct hold *h)
{
    unsigned answer = n != 0 && list[n - 1].name == NULL ? rules[n - 1] : GRAMMAR_NO_RULE;
    bool answers = n != 0 && list[n - 1].name == NULL;

    if (answers && n == 1) {
        (void)serve_text_say(out, "root ::= r%u\n", answer);
        return answer != GRAMMAR_NO_RULE ||
               api_refuse(r->e, 400, "response_format", NULL,
                          "response_format: no value satisfies the schema");
    }
    if (h->any_name) { /* all schemas are left to the check; rules[0] is the rule of any function */
        put_any_call(out, rules[0]);
    } else if (put_call(out, list, n, rules) == 0) {
        return api_refuse(r->e, 400, "tools", NULL,
                          "tools: no arguments satisfy the parameters of any function");
    }
    (void)serve_text_say(out, "calls ::= call (\"\\n\" call){0,%u}\n", h->most - 1);
    if (h->must) {
        (void)serve_text_say(out, "root ::= [ \\n]{0,3} calls\n");
    } else if (answers && answer != GRAMMAR_NO_RULE) {
        (void)serve_text_say(out, "root ::= calls | r%u\n", answer);
    } else if (answers) {
        return api_refuse(r->e, 400, "response_format", NULL,
                          "response_format: no value satisfies the schema");
    } else {
        (void)serve_text_say(out, "%sroot ::= prose calls | prose\n", prose);
    }
    return true;
}

/* ---- what the grammar does not enforce --------------------------------------------------------- */

static bool add_check(struct api_reader *r, const struct api_held *h)
{
    struct api_request *q = r->q;
    struct api_checked *more;

    for (uint32_t i = 0; i < q->n_checked; i++) {
        const char *tool = q->checked[i].tool;

        if ((tool == NULL) == (h->name == NULL) && (tool == NULL || strcmp(tool, h->name) == 0)) {
            return true;
        }
    }
    more = api_memory_take(q->memory, (q->n_checked + 1) * sizeof *more);
    if (more == NULL) {
        return api_no_memory(r);
    }
    if (q->n_checked != 0) {
        memcpy(more, q->checked, q->n_checked * sizeof *more);
    }
    q->checked = more;
    more[q->n_checked++] = (struct api_checked){ .tool = h->name, .schema = h->schema };
    return true;
}

static bool take_note(struct api_reader *r, const struct api_held *h,
                      const struct grammar_note *note)
{
    const char *field = h->name != NULL ? "tools" : "response_format",
               *place = note->where[1] == '\0' ? "the schema" : note->where;
    char of[96] = "";

    if (h->name != NULL) {
        snprintf(of, sizeof of, ", function %.64s", h->name);
    }
    if (!note->checked && h->strict) {
        return api_refuse(
            r->e, 400, field, NULL,
            "%s%s: %s is not supported, and would have no effect: leave it out, or leave out strict",
            field, of, place);
    }
    api_warn(r->q, "%s%s: %s is not enforced by the grammar%s", field, of, place,
             note->checked ? "; the finished reply is checked against it"
                           : ", and not checked either");
    return !note->checked || add_check(r, h);
}

static bool take_notes(struct api_reader *r, const struct api_held *list,
                       const struct grammar_notes *notes)
{
    for (unsigned i = 0; i < notes->n; i++) {
        if (!take_note(r, &list[notes->list[i].schema], &notes->list[i])) {
            return false;
        }
    }
    if (notes->more != 0) {
        api_warn(r->q, "%u more keywords are not enforced by the grammar", notes->more);
    }
    return true;
}

static bool take_loose(struct api_reader *r, const struct api_held *list, unsigned n)
{
    for (unsigned i = 0; i < n; i++) {
        if (!list[i].loose) {
            continue;
        }
        api_warn(r->q,
                 "%s%s: the schemas are too large for one grammar; the finished reply is "
                 "checked against this one",
                 list[i].name != NULL ? "tools, function " : "response_format",
                 list[i].name != NULL ? list[i].name : "");
        if (!add_check(r, &list[i])) {
            return false;
        }
    }
    return true;
}

static void warn_impossible(struct api_reader *r, const struct api_held *list, unsigned n,
                            const unsigned *rules)
{
    for (unsigned i = 0; i < n; i++) {
        if (list[i].name != NULL && rules[i] == GRAMMAR_NO_RULE) {
            api_warn(r->q,
                     "tools, function %.64s: no arguments satisfy its parameters, so it is "
                     "not called",
                     list[i].name);
        }
    }
}

/* ---- the grammar ------------------------------------------------------------------------------- */

/* Returns the grammar's text for this attempt; NULL: r->e says why there is none. */
static char *write_gbnf(struct api_reader *r, const struct api_held *list, unsigned n,
                        const struct hold *h, struct grammar_notes *notes, unsigned *rules)
{
    struct grammar_schema schemas[API_HELD_MOST];
    char why[GRAMMAR_ERROR_MESSAGE_BYTES] = "", *made = NULL;
    struct api_text gbnf = { .n = 0 };

    for (unsigned i = 0; i < n; i++) {
        schemas[i].arguments = list[i].name != NULL;
        schemas[i].text = list[i].loose ? "{\"type\":\"object\"}" : list[i].schema;
        if (list[i].loose && list[i].name == NULL) {
            schemas[i].text = "{}";
        }
    }
    if (grammar_gbnf_of_schemas("", schemas, n, rules, notes, &made, why) != ERR_OK) {
        (void)api_refuse(r->e, 400, n == 1 && list[0].name == NULL ? "response_format" : "tools",
                         NULL, "%s", why);
        return NULL;
    }
    (void)serve_text_add(&gbnf, made, strlen(made));
    free(made);
    if (!put_root(r, &gbnf, list, n, rules, h) || gbnf.failed) {
        if (gbnf.failed) {
            (void)api_no_memory(r);
        }
        serve_text_free(&gbnf);
        return NULL;
    }
    return gbnf.bytes;
}

/* Makes the grammar smaller: leaves the longer half of the schemas to the check and, when no
 * schemas are left, the functions' names. Returns false if nothing is left to drop. */
static bool loosen(struct api_held *list, unsigned n, struct hold *h)
{
    unsigned held = 0;

    for (unsigned i = 0; i < n; i++) {
        held += !list[i].loose;
    }
    for (unsigned left = (held + 1) / 2; left != 0; left--) {
        struct api_held *longest = NULL;

        for (unsigned i = 0; i < n; i++) {
            if (!list[i].loose &&
                (longest == NULL || strlen(list[i].schema) > strlen(longest->schema))) {
                longest = &list[i];
            }
        }
        longest->loose = true;
    }
    if (held != 0) {
        return true;
    }
    if (h->any_name || n == 0 || list[0].name == NULL) {
        return false;
    }
    h->any_name = true;
    return true;
}

bool serve_hold(struct api_reader *r, struct api_held *list, unsigned n, bool must, unsigned most)
{
    struct grammar_notes *notes = calloc(1, sizeof *notes);
    struct hold h = { .must = must, .most = most };
    unsigned rules[API_HELD_MOST];
    bool good = notes != NULL, done = false;
    void *grammar = NULL;
    size_t grammar_bytes = 0;

    while (good && !done) {
        char why[GRAMMAR_ERROR_MESSAGE_BYTES] = "", *gbnf;
        enum err e;

        memset(notes, 0, sizeof *notes);
        gbnf = write_gbnf(r, list, n, &h, notes, rules);
        good = gbnf != NULL;
        if (!good) {
            break;
        }
        e = grammar_compile_gbnf(gbnf, &grammar, &grammar_bytes, why);
        free(gbnf);
        done = e == ERR_OK;
        if (!done && (e != ERR_TOO_LONG || !loosen(list, n, &h))) {
            good = api_refuse(r->e, 400,
                              n == 1 && list[0].name == NULL ? "response_format" : "tools", NULL,
                              "%s", why);
        }
    }
    good = good && serve_request_hold(r->q, grammar, grammar_bytes, r->e) &&
           take_notes(r, list, notes) && take_loose(r, list, n);
    r->q->checks_names = h.any_name;
    if (good && h.any_name) {
        api_warn(r->q, "tools: the names are too long for one grammar; the names in the "
                       "finished reply are checked instead");
    }
    if (good) {
        warn_impossible(r, list, n, rules);
    }
    free(notes);
    return good;
}

/* ---- afterwards -------------------------------------------------------------------------------- */

/* Returns the schema that the reply or the call must be checked against; NULL: none. */
static const char *schema_of(const struct api_request *q, const char *name, size_t bytes)
{
    for (uint32_t i = 0; i < q->n_checked; i++) {
        const char *tool = q->checked[i].tool;

        if (name == NULL
                ? tool == NULL
                : tool != NULL && strlen(tool) == bytes && memcmp(tool, name, bytes) == 0) {
            return q->checked[i].schema;
        }
    }
    return NULL;
}

static bool is_json(const char *text, size_t n)
{
    cJSON *value = cJSON_ParseWithLength(text, n);
    bool good = value != NULL;

    cJSON_Delete(value);
    return good;
}

/* Checks a whole reply, or the arguments of a call, against its schema (NULL: none). */
static bool check(const char *schema, const char *text, size_t n, const struct api_call *call,
                  char *error_message, size_t bytes)
{
    char why[GRAMMAR_ERROR_MESSAGE_BYTES];

    if (schema == NULL || grammar_check_value(schema, text, n, why)) {
        return true;
    }
    if (call != NULL) {
        snprintf(error_message, bytes, "the call of %.*s: %s", (int)call->name_bytes, call->name,
                 why);
    } else {
        snprintf(error_message, bytes, "the reply: %s", why);
    }
    return false;
}

static bool check_answer(const struct api_request *q, const struct api_text *reply, bool cut,
                         char *error_message, size_t bytes)
{
    const char *text = api_text_shown(reply);

    return (cut && !is_json(text, reply->n)) ||
           check(schema_of(q, NULL, 0), text, reply->n, NULL, error_message, bytes);
}

static bool check_call(const struct api_request *q, const struct api_call *c, char *error_message,
                       size_t bytes)
{
    const char *schema = schema_of(q, c->name, c->name_bytes);

    if (q->checks_names && schema == NULL) {
        snprintf(error_message, bytes, "the call of %.*s: the request has no such function",
                 (int)c->name_bytes, c->name);
        return false;
    }
    return check(schema, c->arguments, c->arguments_bytes, c, error_message, bytes);
}

bool serve_check_reply(const struct api_request *q, const struct api_text *reply, bool cut,
                       char *error_message, size_t bytes)
{
    const char *text = api_text_shown(reply);
    struct api_call c = { .found = false };

    if (q->n_checked == 0) {
        return true;
    }
    if (q->may_call) {
        api_call_find(&c, text, reply->n, true);
    }
    if (!c.found) {
        return check_answer(q, reply, cut, error_message, bytes);
    }
    do {
        if (c.whole && !check_call(q, &c, error_message, bytes)) {
            return false;
        }
    } while (c.whole && api_call_next(&c, text, reply->n));
    return true;
}
