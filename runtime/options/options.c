/* Reads the value of an option into its member. */
#include "runtime/options/options_private.h"

#include <assert.h>
#include <stdarg.h>
#include <string.h>

#include "board/min_max.h"
#include "runtime/compute/kv_cache.h"
#include "runtime/text/format_text.h"

void options_say(const struct options_report *report, bool refused, const char *format, ...)
{
    char error_message[OPTIONS_ERROR_MESSAGE_BYTES];
    va_list args;

    if (report == NULL || report->say == NULL) {
        return;
    }
    va_start(args, format);
    format_text_args(error_message, sizeof error_message, format, args);
    va_end(args);
    report->say(report->context, refused, error_message);
}

const char *options_shown(char buffer[OPTIONS_SHOWN_BYTES], const char *text, size_t bytes)
{
    size_t n = min_size(bytes, OPTIONS_SHOWN_BYTES - 4);

    for (size_t i = 0; i < n; i++) {
        buffer[i] = '?';
        if (text[i] >= ' ' && text[i] <= '~') {
            buffer[i] = text[i];
        }
    }
    buffer[n] = '\0';
    if (n < bytes) {
        memcpy(buffer + n, "...", 4);
    }
    return buffer;
}

/* ---- one option ---- */

enum err options_report_value(const struct rule *rule, const char *value, enum err err,
                              const struct options_report *report)
{
    char shown[OPTIONS_SHOWN_BYTES];

    if (err == ERR_TOO_LONG) { /* the message does not repeat the value, which may be long */
        options_say(report, true, "%s of %u bytes cannot be used: %s takes %s", rule->name,
                    (unsigned)strlen(value), rule->name, rule->accepts);
        return err;
    }
    options_say(report, true, "%s=%s cannot be used: %s takes %s", rule->name,
                options_shown(shown, value, strlen(value)), rule->name, rule->accepts);
    return err;
}

static enum err set_text(struct options *o, const struct rule *rule, const char *value)
{
    size_t bytes = strlen(value);

    if (bytes >= rule->bytes) {
        return ERR_TOO_LONG;
    }
    if (bytes == 0 && rule->kind != KIND_SAID) {
        return ERR_BAD_ARGUMENT;
    }
    memcpy((char *)o + rule->field, value, bytes + 1);
    if (rule->kind == KIND_SAID) {
        memcpy((char *)o + rule->length, &bytes, sizeof bytes);
    }
    return ERR_OK;
}

static enum err set_choice(struct options *o, const struct rule *rule, const char *value)
{
    uint32_t place;

    if (!options_find_choice(rule->choices, value, &place)) {
        return ERR_BAD_ARGUMENT;
    }
    memcpy((char *)o + rule->field, &place, sizeof place);
    return ERR_OK;
}

/* Set kv= to one type, or to a type of keys and a type of values. "card," may come before types;
 * "card" may also be the whole value. */
static enum err set_kv(struct options *o, const char *value)
{
    struct options_kv kv = { kv_both(KV_F16), strncmp(value, "card", 4) == 0 };
    const char *types = value;

    if (kv.card) {
        types += 4;
    }
    if (kv.card && types[0] == ',') {
        types++;
    } else if (kv.card && types[0] == '\0') {
        types = kv_formats[KV_F16].name;
    }
    if (!kv_types_parse(types, &kv.types) || (kv.card && kv.types.hot_tiles != 0)) {
        return ERR_BAD_ARGUMENT;
    }
    o->load.kv = kv;
    return ERR_OK;
}

/* "off" is stored as an empty value. */
static enum err set_adapters(struct options *o, const char *value)
{
    struct adapter_list list;

    if (strlen(value) >= sizeof o->load.adapter) {
        return ERR_TOO_LONG;
    }
    if (value[0] == '\0' || !adapter_list_read(&list, value)) {
        return ERR_BAD_ARGUMENT;
    }
    memcpy(o->load.adapter, list.n != 0 ? value : "", list.n != 0 ? strlen(value) + 1 : 1);
    return ERR_OK;
}

/* Set a list; the row's check gives the error message. */
static enum err set_list(struct options *o, const struct rule *rule, const char *value,
                         const struct options_report *report)
{
    char shown[OPTIONS_SHOWN_BYTES];
    const char *error_message = rule->check(value);

    if (error_message != NULL) {
        options_say(report, true, "%s=%s cannot be used: %s", rule->name,
                    options_shown(shown, value, strlen(value)), error_message);
        return ERR_BAD_ARGUMENT;
    }
    assert(strlen(value) < rule->bytes); /* the check refuses longer values */
    memcpy((char *)o + rule->field, value, strlen(value) + 1);
    return ERR_OK;
}

static enum err set_count(struct options *o, const struct rule *rule, const char *value)
{
    uint64_t n = (uint64_t)rule->most;
    uint32_t n32;
    bool all = (rule->least < 0 || rule->kind == KIND_LIMIT) && strcmp(value, "-1") == 0;

    if ((!all && !options_read_u64(value, false, &n)) || (float)n < rule->least ||
        (float)n > rule->most) {
        return ERR_BAD_ARGUMENT;
    }
    n32 = all && rule->kind == KIND_LIMIT ? 0 : (uint32_t)n;
    memcpy((char *)o + rule->field, &n32, sizeof n32);
    return ERR_OK;
}

/* Return true for a seed that is to be chosen, as if it were not given. */
static bool is_any_seed(const struct rule *rule, const char *value)
{
    return rule->kind == KIND_SEED && strcmp(value, "-1") == 0;
}

static enum err set_u64(struct options *o, const struct rule *rule, const char *value)
{
    uint64_t n;

    if (is_any_seed(rule, value)) {
        return ERR_OK; /* the clock's, which may have been chosen already, stays */
    }
    if (!options_read_u64(value, rule->kind == KIND_SIZE, &n) ||
        (rule->kind == KIND_SIZE && n == 0)) {
        return ERR_BAD_ARGUMENT;
    }
    memcpy((char *)o + rule->field, &n, sizeof n);
    return ERR_OK;
}

static enum err set_number(struct options *o, const struct rule *rule, const char *value)
{
    float x;

    /* compare with the bounds as f32, so that repeat=0.01 is not below 0.01 */
    if (!options_read_float(value, &x) || x < rule->least || x > rule->most) {
        return ERR_BAD_ARGUMENT;
    }
    memcpy((char *)o + rule->field, &x, sizeof x);
    return ERR_OK;
}

static enum err add_stop(struct options *o, const char *value)
{
    size_t bytes = strlen(value);

    if (bytes == 0) {
        return ERR_BAD_ARGUMENT;
    }
    if (bytes >= OPTIONS_STOP_BYTES || o->reply.n_stops == OPTIONS_STOPS) {
        return ERR_TOO_LONG;
    }
    memcpy(o->reply.stop[o->reply.n_stops++], value, bytes + 1);
    return ERR_OK;
}

static enum err set_lock(struct options *o, const char *value)
{
    struct lock_value w;

    if (!lock_value_read(&w, value)) {
        return ERR_BAD_ARGUMENT;
    }
    o->line.lock = w;
    return ERR_OK;
}

static enum err set_flag(struct options *o, const struct rule *rule, const char *value)
{
    bool on = value == NULL || strcmp(value, "on") == 0;

    if (!on && strcmp(value, "off") != 0) {
        return ERR_BAD_ARGUMENT;
    }
    memcpy((char *)o + rule->field, &on, sizeof on);
    return ERR_OK;
}

/* Return the option that is meant: before GPIO lines had names, pins= with a number meant what
 * pinned= means now. */
static enum option today(enum option which, const char *value, const struct options_report *report)
{
    char shown[OPTIONS_SHOWN_BYTES];

    if (which != OPTION_PINS || value == NULL || value[0] < '0' || value[0] > '9') {
        return which;
    }
    options_shown(shown, value, strlen(value));
    options_say(report, false, "pins=%s is called pinned=%s now: pins= names GPIO lines", shown,
                shown);
    return OPTION_PINNED;
}

enum err options_set_one(struct options *o, enum option which, const char *value,
                         const struct options_report *report)
{
    const struct rule *rule;
    enum err err;

    which = today(which, value, report);
    rule = &options_rules[which];
    option_set_put(&o->refused, which, true);
    if (value == NULL && rule->kind != KIND_FLAG) {
        options_say(report, true, "%s alone cannot be used: %s takes %s", rule->name, rule->name,
                    rule->accepts);
        return ERR_BAD_ARGUMENT;
    }
    switch (rule->kind) {
    case KIND_TEXT:
    case KIND_SAID: err = set_text(o, rule, value); break;
    case KIND_KV: err = set_kv(o, value); break;
    case KIND_ADAPTERS: err = set_adapters(o, value); break;
    case KIND_CHOICE: err = set_choice(o, rule, value); break;
    case KIND_LIST:
        err = set_list(o, rule, value, report);
        if (err != ERR_OK) {
            return err;
        }
        break;
    case KIND_COUNT:
    case KIND_LIMIT: err = set_count(o, rule, value); break;
    case KIND_SIZE:
    case KIND_SEED: err = set_u64(o, rule, value); break;
    case KIND_NUMBER: err = set_number(o, rule, value); break;
    case KIND_LOCK: err = set_lock(o, value); break;
    case KIND_STOP: err = add_stop(o, value); break;
    default: err = set_flag(o, rule, value); break;
    }
    if (err != ERR_OK) {
        return options_report_value(rule, value, err, report);
    }
    option_set_put(&o->given, which, !is_any_seed(rule, value));
    option_set_put(&o->refused, which, false);
    return ERR_OK;
}

enum err options_set(struct options *o, const char *name, const char *value,
                     const struct options_report *report)
{
    enum option which = options_of_name(name);

    if (which == OPTION_COUNT) {
        return ERR_NOT_FOUND;
    }
    return options_set_one(o, which, value, report);
}
