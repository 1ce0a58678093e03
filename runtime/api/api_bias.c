/* The field logit_bias: OpenAI's object, or llama.cpp's list, kept as the list that
 * json_biases.h reads. */
#include <string.h>

#include "runtime/api/api_reader.h"

static bool refuse(struct api_reader *r, const char *key)
{
    return api_refuse(
        r->e, 400, "logit_bias", NULL,
        "logit_bias%s%.40s%s has to map tokens to numbers from -100 to 100, or to false: "
        "{\"15043\": -100}, or [[15043, -100], [\"a text\", false]]",
        key != NULL ? "[" : "", key != NULL ? key : "", key != NULL ? "]" : "");
}

static bool is_value(const struct api_json *v)
{
    return api_json_is(v, JSON_FALSE) ||
           (api_json_is(v, JSON_NUMBER) && api_json_number(v) >= -100 && api_json_number(v) <= 100);
}

static bool is_id(const struct api_json *v)
{
    return api_json_is(v, JSON_NUMBER) && api_json_number(v) >= 0 &&
           api_json_number(v) < 4294967295.0 &&
           api_json_number(v) == (double)(uint32_t)api_json_number(v);
}

static void begin_pair(struct api_text *list)
{
    api_text_print(list, "%s[", list->n > 1 ? "," : "");
}

/* Write the second part of a pair, the bias, and end the pair. The bias gets no exponent, which the
 * list's reader would refuse. */
static void end_pair(struct api_text *list, const struct api_json *value)
{
    api_text_put(list, ",", 1);
    if (value->kind == JSON_NUMBER && strcspn(value->text, "eE") < value->bytes) {
        api_text_decimal(list, api_json_number(value));
    } else {
        api_json_put(list, value);
    }
    api_text_put(list, "]", 1);
}

/* Add a member, as in {"15043": -100}. A key that is not a number is a text, as in llama.cpp. */
static bool add_member(struct api_reader *r, struct api_text *list, const struct api_json *member)
{
    const char *key = member->key;
    size_t digits = strspn(key, "0123456789"), zeros = strspn(key, "0");

    if (key[0] == '\0' || !is_value(member)) {
        return refuse(r, key);
    }
    if (key[digits] == '\0' && digits > 9) {
        return api_refuse(r->e, 400, "logit_bias", NULL, "logit_bias: the model has no token %.40s",
                          key);
    }
    begin_pair(list);
    if (key[digits] == '\0') {
        zeros -= zeros == digits; /* if all digits are zeros, keep one zero */
        api_text_put(list, key + zeros, digits - zeros);
    } else {
        api_text_quoted(list, key, strlen(key));
    }
    end_pair(list, member);
    return true;
}

static bool add_entry(struct api_reader *r, struct api_text *list, const struct api_json *entry)
{
    const struct api_json *what = entry->child, *value = what != NULL ? what->next : NULL;

    if (!api_json_is(entry, JSON_LIST) || entry->n != 2 || !is_value(value) ||
        !(is_id(what) || (api_json_is(what, JSON_TEXT) && what->text[0] != '\0'))) {
        return refuse(r, NULL);
    }
    begin_pair(list);
    if (is_id(what)) {
        api_text_print(list, "%lu", (unsigned long)api_json_number(what));
    } else {
        api_json_put(list, what);
    }
    end_pair(list, value);
    return true;
}

bool api_read_bias(struct api_reader *r, const struct api_field *f, const struct api_json *v)
{
    struct api_text *list = &r->q->biases;
    const struct api_json *one;

    if (!api_json_is(v, JSON_LIST) && !api_json_is(v, JSON_OBJECT)) {
        return refuse(r, NULL);
    }
    if (v->n > SAMPLER_BIASES_MOST) {
        return api_refuse(r->e, 400, f->name, NULL, "logit_bias has %u entries: %d are allowed",
                          (unsigned)v->n, SAMPLER_BIASES_MOST);
    }
    list->n = 0;
    if (v->n == 0) {
        return true;
    }
    api_text_put(list, "[", 1);
    api_json_each(one, v)
    {
        if (!(api_json_is(v, JSON_LIST) ? add_entry(r, list, one) : add_member(r, list, one))) {
            return false;
        }
    }
    return api_text_put(list, "]", 1) || api_no_memory(r);
}
