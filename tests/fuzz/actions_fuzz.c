/* pins=, sensors= and a text of actions, of any bytes: they give an error sentence or a table, no
 * line that was not named is touched, and the table's words and grammar have room and are sound. */
#include <stdlib.h>
#include <string.h>

#include "runtime/features/acting/action_said.h"
#include "runtime/features/grammar/grammar.h"
#include "tests/unit/acting/fake_lines.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static struct actions a;
static _Alignas(16) uint8_t memory[INGOT_GRAMMAR_BYTES], work[ACTIONS_WORK_BYTES];

static void must(bool condition)
{
    if (!condition) {
        abort();
    }
}

static void check_table(void)
{
    char text[ACTIONS_PROMPT_BYTES];
    struct grammar g;
    const char *error_message;
    size_t bytes;

    must(actions_prompt(&a, text) < sizeof text - 1);
    must(actions_grammar(&a, memory, sizeof memory, work, &bytes) == ERR_OK);
    must(grammar_open(&g, memory, bytes, &error_message) == ERR_OK);
}

/* Takes the bytes as a person's words about each pin: a refused call says why in printable ASCII,
 * and the same text is heard the same way. */
static void check_heard(const char *text, size_t bytes)
{
    char why[ACTION_TEXT_BYTES] = "";

    for (unsigned i = 0; i < a.n; i++) {
        struct action_call c = { .action = &a.list[i], .value = { 1, 500 } };
        struct action_heard h = { .named = false }, more;

        c.value[0] = a.list[i].kind != ACTION_PULSE;
        action_hear(&a, &c, text, bytes, false, &h);
        must(h.values == 0 && !h.has_number);
        more = h;
        action_hear(&a, &c, text, bytes, true, &more);
        must(more.named == h.named && more.values <= (SAID_ON | SAID_OFF));
        must(action_is_asked(&a, &c, &more, why) || strlen(why) > 10);
    }
}

/* Makes a sentence, or sensors whose names, buses and addresses are as the actions want them. */
static void check_sensors(const char *text)
{
    struct sensor_list l;
    const char *why = sensor_list_read(&l, text);

    must(why == NULL ? l.n != 0 : strlen(why) > 10);
    for (unsigned i = 0; why == NULL && i < l.n; i++) {
        const struct sensor *s = &l.sensor[i];

        must(pin_is_name(s->name, strlen(s->name)) && s->bus < SENSOR_BUSES && s->kind != NULL);
        must(s->address >= SENSOR_ADDRESS_LEAST && s->address <= SENSOR_ADDRESS_MOST);
    }
    fake_sensors = why == NULL ? text : "";
}

/* Returns a line without its end as a text; *at goes after it. */
static char *take_line(const uint8_t **at, size_t *left)
{
    const uint8_t *end = *left != 0 ? memchr(*at, '\n', *left) : NULL;
    size_t n = end != NULL ? (size_t)(end - *at) : *left;
    char *text = calloc(1, n + 1);

    must(text != NULL);
    memcpy(text, *at, n);
    *at += n + (end != NULL);
    *left -= n + (end != NULL);
    return text;
}

/* Takes the first line as pins=, the second as sensors=, the rest as the text. */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    char *pins = take_line(&data, &size), *sensors = take_line(&data, &size);
    char *text = calloc(1, size + 1), error_message[ACTION_TEXT_BYTES];
    struct pin_list list;
    const char *why;
    uint32_t named = 0;

    must(text != NULL);
    memcpy(text, data, size);
    check_sensors(sensors);
    why = pin_list_read(&list, pins);
    must(why == NULL || strlen(why) > 10);
    if (why == NULL) {
        for (unsigned i = 0; i < list.n; i++) {
            must(pin_is_name(list.pin[i].name, strlen(list.pin[i].name)));
            named |= list.pin[i].line < FAKE_LINES ? 1u << list.pin[i].line : 0;
        }
        fake_open(&a, pins, "", false);
        why = actions_read(&a, text, error_message);
        must(why == NULL || (strlen(why) > 10 && strlen(why) < ACTION_TEXT_BYTES));
        check_table();
        check_heard(text, size);
        must((fake.touched & ~named) == 0 && (fake.touched & 1u << FAKE_UART) == 0);
    }
    free(pins);
    free(sensors);
    free(text);
    return 0;
}
