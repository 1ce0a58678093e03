#include "runtime/wire/json_settings.h"

#include "runtime/text/json.h"

static enum err refuse(const struct options_report *report, const char *error_message)
{
    report->say(report->context, true, error_message);
    return ERR_BAD_ARGUMENT;
}

/* Set stop strings; each is added to the earlier ones. */
static enum err set_stops(struct options *o, char *list, size_t bytes,
                          const struct options_report *report)
{
    enum err e = ERR_OK;
    struct json_value v;
    struct json j;

    json_open(&j, list, bytes);
    while (e == ERR_OK && json_item(&j, &v) != JSON_END) {
        if (v.kind != JSON_TEXT || v.bytes == 0) {
            return refuse(report, "a list of stop strings has texts that are not empty");
        }
        e = options_set(o, "stop", v.text, report);
    }
    return e;
}

enum err json_request_set(struct json_request *r, enum json_field field, struct options *o,
                          const struct options_report *report)
{
    char *value = r->values[field];

    if (field == JSON_FIELD_STOP) {
        o->reply.n_stops = 0;
        if (r->stop_is_list) {
            return set_stops(o, value, r->bytes[field], report);
        }
        if (value[0] == '\0') {
            return ERR_OK;
        }
    }
    return options_set(o, json_field_name(field), value, report);
}
