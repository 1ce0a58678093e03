/* Replies of any bytes: what is taken for a call has values within the table, acting on it touches
 * only its own line, and its answer is ASCII in a text of JSON. */
#include <stdlib.h>
#include <string.h>

#include "tests/unit/acting/fake_lines.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static struct actions a;

static void must(bool condition)
{
    if (!condition) {
        abort();
    }
}

static uint32_t line_of(const struct action_call *c)
{
    const struct pin_list *l = &a.pins.list;

    switch (c->action->kind) {
    case ACTION_OUTPUT:
    case ACTION_INPUT: return 1u << l->pin[c->action->pin].line;
    case ACTION_PULSE: return 1u << l->pin[c->value[0]].line;
    default: return 0;
    }
}

static void check_said(bool done, const char *said)
{
    char out[ACTION_ANSWER_BYTES];
    size_t n = action_answer(out, done, said);

    must(n < sizeof out && action_is_answer(out, n));
    for (size_t i = 0; i < n; i++) {
        must(out[i] >= ' ' && out[i] <= '~');
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct action_call c;
    char *text = calloc(1, size + 1), said[ACTION_TEXT_BYTES] = "x", shown[ACTION_TEXT_BYTES];
    enum action_reply r;

    must(text != NULL);
    memcpy(text, data, size);
    fake_open(&a, "light:3,lights:4:low,door:5:in", "pulse light|lights ms 1..500", false);
    fake.touched = 0;
    fake.step = 1000;
    r = action_call_read(&a, text, size, &c, said);
    if (r == ACTION_WRONG) {
        check_said(false, said);
    }
    if (r == ACTION_CALLED) {
        bool done = actions_do(&a, &c, NULL, said);

        must(strlen(action_call_text(&a, &c, shown)) < sizeof shown);
        must(done && (fake.touched & ~line_of(&c)) == 0);
        check_said(done, said);
    } else {
        must(fake.touched == 0);
    }
    free(text);
    return 0;
}
