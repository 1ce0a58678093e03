#include "runtime/features/acting/actions.h"

#include <assert.h>
#include <string.h>

#include "board/min_max.h"
#include "runtime/features/acting/action_said.h"
#include "runtime/text/format_text.h"

/* Add an action. The caller has checked that there is room. */
static struct action *add(struct actions *a, enum action_kind kind, const char *name)
{
    struct action *new = &a->list[a->n++];

    *new = (struct action){ .kind = kind };
    format_text(new->name, sizeof new->name, "%s", name);
    return new;
}

static_assert(ACTIONS_A_MINUTE == 120, "must match the text of actions_minute=");
static_assert(ACTIONS_MOST >= PINS_MOST + SENSORS_MOST + 3,
              "ACTIONS_MOST has room for pins, sensors, temperature, uptime and pulse");

static void add_sensor(struct actions *a, unsigned i)
{
    add(a, ACTION_SENSOR, a->sensors.list.sensor[i].name)->pin = i;
}

/* Add the sensors, and the action `temperature`, which models look for. The action reads a sensor
 * of that name or, without a sensor, the machine. */
static void add_sensors(struct actions *a, pins_say_fn *say, void *context)
{
    const struct sensor_list *l = &a->sensors.list;
    char error_message[ACTION_TEXT_BYTES];
    unsigned own = SENSORS_MOST;

    for (unsigned i = 0; i < l->n; i++) {
        const char *name = l->sensor[i].name;

        if (strcmp(name, "temperature") == 0) {
            own = i;
        } else if (actions_find(a, name, strlen(name)) == NULL) {
            add_sensor(a, i);
        } else {
            format_text(error_message, sizeof error_message,
                        "%s of sensors= is not used: a pin has the same name", name);
            say(context, error_message);
        }
    }
    if (own != SENSORS_MOST) {
        add_sensor(a, own);
    } else {
        (void)add(a, ACTION_TEMPERATURE, "temperature");
    }
}

void actions_open(struct actions *a, const struct platform *platform, const struct pin_list *pins,
                  const struct sensor_list *sensors, bool dry, uint32_t a_minute, pins_say_fn *say,
                  void *context)
{
    memset(a, 0, sizeof *a);
    a->platform = platform;
    a->a_minute = min_u32(a_minute, ACTIONS_A_MINUTE);
    sensors_open(&a->sensors, &platform->i2c, sensors, say, context);
    pins_open(&a->pins, &platform->pins, pins, dry, say, context);
    for (unsigned i = 0; i < a->pins.list.n; i++) {
        const struct pin *pin = &a->pins.list.pin[i];
        struct action *new = add(a, pin->input ? ACTION_INPUT : ACTION_OUTPUT, pin->name);

        new->pin = i;
        if (!pin->input) {
            new->argument[new->n_arguments++] = (struct action_argument){ .name = "value",
                                                                          .kind = ARGUMENT_SWITCH };
        }
    }
    add_sensors(a, say, context);
    (void)add(a, ACTION_UPTIME, "uptime");
}

struct action *actions_find(struct actions *a, const char *name, size_t bytes)
{
    for (unsigned i = 0; i < a->n; i++) {
        if (strlen(a->list[i].name) == bytes && memcmp(a->list[i].name, name, bytes) == 0) {
            return &a->list[i];
        }
    }
    return NULL;
}

/* ---- a file with more actions ---------------------------------------------------------------- */

struct reader {
    struct actions *actions;
    const char *at;
    char *error_message; /* (ACTION_TEXT_BYTES) */
    unsigned line;
};

static bool fail(struct reader *r, const char *why)
{
    format_text(r->error_message, ACTION_TEXT_BYTES, "line %u of the actions: %s", r->line, why);
    return false;
}

static bool is_end(char c)
{
    return c == '\0' || c == '\n' || c == ';';
}

static bool is_blank(char c)
{
    return c == ' ' || c == '\t' || c == '\r';
}

/* Find the next word of the line and return its length, or 0 if there is none. */
static size_t next_word(struct reader *r, const char **word)
{
    while (is_blank(*r->at)) {
        r->at++;
    }
    *word = r->at;
    while (!is_blank(*r->at) && !is_end(*r->at)) {
        r->at++;
    }
    return (size_t)(r->at - *word);
}

static bool is_word(const char *word, size_t bytes, const char *what)
{
    return strlen(what) == bytes && memcmp(what, word, bytes) == 0;
}

/* Read names of outputs, separated by bars. */
static bool read_lines(struct reader *r, uint32_t *lines)
{
    const struct pin_list *l = &r->actions->pins.list;
    const char *word;
    size_t bytes = next_word(r, &word);

    *lines = 0;
    for (size_t from = 0; from <= bytes;) {
        const char *bar = memchr(word + from, '|', bytes - from);
        size_t n = bar != NULL ? (size_t)(bar - word) - from : bytes - from;
        unsigned i = pin_list_find(l, word + from, n);

        if (i == PINS_MOST) {
            return fail(r, "pulse takes names of pins=, such as pulse light|fan ms 1..5000");
        }
        if (l->pin[i].input) {
            return fail(r, "an input has no pulses: name pins that are outputs");
        }
        *lines |= UINT32_C(1) << i;
        from += n + 1;
    }
    return true;
}

/* Read the digits at *text, seven at most. Returns false if there are no digits. */
static bool read_number(const char **text, uint32_t *n)
{
    const char *at = *text;

    for (*n = 0; *at >= '0' && *at <= '9' && at < *text + 7; at++) {
        *n = *n * 10 + (uint32_t)(*at - '0');
    }
    if (at == *text) {
        return false;
    }
    *text = at;
    return true;
}

static bool read_range(struct reader *r, struct action_argument *to)
{
    const char *word, *end;
    size_t bytes = next_word(r, &word);

    end = word;
    if (!read_number(&end, &to->least) || end + 2 > word + bytes || end[0] != '.' ||
        end[1] != '.') {
        return fail(r, "after ms comes a range, such as 1..5000");
    }
    end += 2;
    if (!read_number(&end, &to->most) || end != word + bytes || to->least > to->most ||
        to->most > ACTION_PULSE_MS || to->least == 0) {
        return fail(r, "a range of milliseconds is within 1..60000, the smaller number first");
    }
    return true;
}

static bool read_pulse(struct reader *r, struct action *new)
{
    struct action_argument *line = &new->argument[0], *ms = &new->argument[1];
    const char *word;
    size_t bytes;

    *new = (struct action){ .kind = ACTION_PULSE, .name = "pulse", .n_arguments = 2 };
    *line = (struct action_argument){ .name = "line", .kind = ARGUMENT_LINE };
    *ms = (struct action_argument){ .name = "ms", .kind = ARGUMENT_NUMBER };
    if (!read_lines(r, &line->lines)) {
        return false;
    }
    bytes = next_word(r, &word);
    if (!is_word(word, bytes, "ms")) {
        return fail(r, "after the names comes ms, such as pulse light ms 1..5000");
    }
    if (!read_range(r, ms)) {
        return false;
    }
    return next_word(r, &word) == 0 || fail(r, "nothing may follow the range");
}

/* Return the list that the word names, or WORDS_NOT + 1 if the word names no list. */
static unsigned words_of(const struct actions *a, const char *word, size_t bytes)
{
    unsigned i = pin_list_find(&a->pins.list, word, bytes);

    if (i != PINS_MOST) {
        return i;
    }
    if (is_word(word, bytes, "on")) {
        return WORDS_ON;
    }
    if (is_word(word, bytes, "off")) {
        return WORDS_OFF;
    }
    return is_word(word, bytes, "not") ? WORDS_NOT : WORDS_NOT + 1;
}

static bool read_words(struct reader *r)
{
    const char *word, *why;
    size_t bytes = next_word(r, &word);
    unsigned of = words_of(r->actions, word, bytes);

    if (of > WORDS_NOT) {
        return fail(
            r, "words takes a name from pins=, or on, off or not; an example is: words light lamp");
    }
    bytes = next_word(r, &word);
    why = action_words_add(r->actions, of, word, bytes);
    if (why != NULL) {
        return fail(r, why);
    }
    return next_word(r, &word) == 0 || fail(r, "words are separated by a bar, such as lamp|bulb");
}

/* Read one line up to its end. *`new` gets the action that the line adds, or an empty name. */
static bool read_line(struct reader *r, struct action *new)
{
    const char *word;
    size_t bytes = next_word(r, &word);

    new->name[0] = '\0';
    if (bytes == 0) {
        return true;
    }
    if (word[0] == '#') {
        r->at = word + strcspn(word, "\n");
        return true;
    }
    if (is_word(word, bytes, "words")) {
        return read_words(r);
    }
    if (!is_word(word, bytes, "pulse")) {
        return fail(r, "a line begins with pulse or words, or with # for a comment");
    }
    return read_pulse(r, new);
}

static const char *read_lines_of(struct actions *a, const char *text, char *error_message)
{
    struct reader r = { .actions = a, .at = text, .error_message = error_message, .line = 1 };
    struct action new, found = { .name = "" };

    for (;; r.at++) {
        if (!read_line(&r, &new)) {
            return error_message;
        }
        if (new.name[0] != '\0' && found.name[0] != '\0') {
            (void)fail(&r,
                       "one line of pulse names all its pins, such as pulse light|fan ms 1..5000");
            return error_message;
        }
        if (new.name[0] != '\0') {
            found = new;
        }
        if (*r.at == '\0') {
            break;
        }
        r.line += *r.at == '\n';
    }
    if (found.name[0] == '\0') {
        return NULL;
    }
    if (actions_find(a, found.name, strlen(found.name)) != NULL) {
        format_text(error_message, ACTION_TEXT_BYTES, "there is an action pulse already");
        return error_message;
    }
    a->list[a->n++] = found;
    return NULL;
}

const char *actions_read(struct actions *a, const char *text, char error_message[ACTION_TEXT_BYTES])
{
    unsigned n_words = a->n_words;
    const char *why = read_lines_of(a, text, error_message);

    if (why != NULL) {
        a->n_words = n_words;
    }
    return why;
}
