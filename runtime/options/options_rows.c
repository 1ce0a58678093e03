/* The rows of options.def as rules, and functions that need only a row: defaults, names, values
 * as text. */
#include "runtime/options/options_private.h"

#include <assert.h>
#include <string.h>

#include "board/board.h"
#include "flash_image/format/format.h"
#include "runtime/text/format_text.h"

static_assert(sizeof(struct options) <= UINT16_MAX, "an offset fits its field of struct rule");
#define CORES_TEXT_(n) #n
#define CORES_TEXT(n) CORES_TEXT_(n)
static_assert(OPTIONS_STOPS == 4 && OPTIONS_STOP_BYTES == 64, "must match the text of stop=");
static_assert(ADAPTER_LIST_MOST == 4, "must match the text of adapter=");
static_assert(OPTIONS_BEAMS == 4, "must match the text of beams=");
static_assert(OPTIONS_TOGETHER == 8, "must match the text of together=");
static_assert(OPTIONS_BRANCHES == 8, "must match the text of branches=");
static_assert(INGOT_MAX_CONTEXT == 1048576 && INGOT_MAX_VOCAB == 1048576, "sentences say so");

#define FIELD(member) offsetof(struct options, member)

#define RULE_TEXT(size) .kind = KIND_TEXT, .bytes = (size)
#define RULE_SAID(size, count) .kind = KIND_SAID, .bytes = (size), .length = FIELD(count)
#define RULE_LIST(size, function) .kind = KIND_LIST, .bytes = (size), .check = function
#define RULE_CHOICE(list) .kind = KIND_CHOICE, .choices = list
#define RULE_COUNT(from, to) .kind = KIND_COUNT, .least = (float)(from), .most = (float)(to)
#define RULE_LIMIT(to) .kind = KIND_LIMIT, .most = (float)(to)
#define RULE_NUMBER(from, to) .kind = KIND_NUMBER, .least = (float)(from), .most = (float)(to)
#define RULE_SIZE() .kind = KIND_SIZE
#define RULE_SEED() .kind = KIND_SEED
#define RULE_FLAG() .kind = KIND_FLAG
#define RULE_KV() .kind = KIND_KV
#define RULE_ADAPTERS() .kind = KIND_ADAPTERS
#define RULE_STOP() .kind = KIND_STOP
#define RULE_LOCK() .kind = KIND_LOCK

enum {
    WHERE_START = 0,
    WHERE_PRESET = OPTION_IN_PRESET,
    WHERE_SET_PRESET = OPTION_BY_SET | OPTION_IN_PRESET,
    WHERE_PRESET_JSON = OPTION_IN_PRESET | OPTION_IN_JSON,
    WHERE_SET_PRESET_JSON = OPTION_BY_SET | OPTION_IN_PRESET | OPTION_IN_JSON,
};

const struct rule options_rules[OPTION_COUNT] = {
#define OPTION(id, text, group, member, type, value, places, takes, ...) \
    [OPTION_##id] = { .name = text, \
                      .accepts = takes, \
                      .field = FIELD(group.member), \
                      .initial = (float)(value), \
                      .where = WHERE_##places, \
                      RULE_##type },
#include "runtime/options/options.def"
};

void options_set_initial(struct options *o, const struct rule *rule)
{
    uint32_t count = (uint32_t)rule->initial;

    if (rule->kind == KIND_COUNT || rule->kind == KIND_LIMIT) {
        memcpy((char *)o + rule->field, &count, sizeof count);
    } else if (rule->kind == KIND_NUMBER) {
        memcpy((char *)o + rule->field, &rule->initial, sizeof rule->initial);
    }
}

void options_init(struct options *o)
{
    memset(o, 0, sizeof *o);
    for (unsigned i = 0; i < OPTION_COUNT; i++) {
        options_set_initial(o, &options_rules[i]);
    }
}

/* ---- names ---- */

static const struct {
    const char *name;
    enum option option;
} also[] = {
#define OPTION(...)
#define OPTION_ALSO(text, id) { text, OPTION_##id },
#include "runtime/options/options.def"
};

static bool is(const char *name, size_t bytes, const char *text)
{
    return strlen(text) == bytes && memcmp(text, name, bytes) == 0;
}

enum option options_find(const char *name, size_t bytes)
{
    for (unsigned i = 0; i < OPTION_COUNT; i++) {
        if (is(name, bytes, options_rules[i].name)) {
            return (enum option)i;
        }
    }
    for (size_t i = 0; i < sizeof also / sizeof also[0]; i++) {
        if (is(name, bytes, also[i].name)) {
            return also[i].option;
        }
    }
    return OPTION_COUNT;
}

enum option options_of_name(const char *name)
{
    return options_find(name, strlen(name));
}

const char *options_name(enum option which)
{
    return options_rules[which].name;
}

const char *options_accepts(enum option which)
{
    return options_rules[which].accepts;
}

unsigned options_where(enum option which)
{
    return options_rules[which].where;
}

/* ---- values ---- */

bool options_find_choice(const char *choices, const char *value, uint32_t *place)
{
    size_t bytes = strlen(value);

    for (uint32_t i = 0; *choices != '\0'; i++) {
        size_t n = strcspn(choices, " ");

        if (n == bytes && memcmp(choices, value, n) == 0) {
            *place = i;
            return true;
        }
        choices += n + (choices[n] == ' ');
    }
    return false;
}

static const char *choice_text(const char *choices, uint32_t place, char text[OPTIONS_VALUE_BYTES])
{
    for (; place != 0; place--) {
        choices += strcspn(choices, " ") + 1;
    }
    (void)format_text(text, OPTIONS_VALUE_BYTES, "%.*s", (int)strcspn(choices, " "), choices);
    return text;
}

/* Write a number with three digits after the point. */
static const char *number_text(float number, char text[OPTIONS_VALUE_BYTES])
{
    char digits[FORMAT_NUMBER_BYTES];
    const char *sign = number < 0 ? "-" : "";

    number = number < 0 ? -number : number;
    (void)format_text(text, OPTIONS_VALUE_BYTES, "%s%s", sign,
                      format_milli(digits, (uint64_t)(number * 1000.0f + 0.5f), 3));
    return text;
}

const char *options_value_text(const struct options *o, enum option which,
                               char text[OPTIONS_VALUE_BYTES])
{
    const struct rule *rule = &options_rules[which];
    const char *field = (const char *)o + rule->field;
    uint64_t n = 0;
    float number;

    switch (rule->kind) {
    case KIND_NUMBER: memcpy(&number, field, sizeof number); return number_text(number, text);
    case KIND_FLAG: return *(const bool *)field ? "on" : "off";
    case KIND_SIZE:
    case KIND_SEED: memcpy(&n, field, sizeof n); break;
    default: {
        uint32_t n32;

        memcpy(&n32, field, sizeof n32);
        n = n32;
    }
    }
    if (rule->kind == KIND_CHOICE) {
        return choice_text(rule->choices, (uint32_t)n, text);
    }
    (void)format_text(text, OPTIONS_VALUE_BYTES, "%llu", (unsigned long long)n);
    return text;
}

void options_keep(struct options_kept *kept, const struct options *o)
{
#define OPTION(id, name, group, member, type, initial, where, ...) \
    OPTIONS_KEPT_##where(memcpy(&kept->group##_##member, &o->group.member, sizeof o->group.member);)
#include "runtime/options/options.def"
    kept->n_stops = o->reply.n_stops;
}

void options_put_back(struct options *o, const struct options_kept *kept)
{
#define OPTION(id, name, group, member, type, initial, where, ...) \
    OPTIONS_KEPT_##where(memcpy(&o->group.member, &kept->group##_##member, sizeof o->group.member);)
#include "runtime/options/options.def"
    o->reply.n_stops = kept->n_stops;
}
