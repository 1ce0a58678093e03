/* The field logit_bias: OpenAI's object, or llama.cpp's list, kept as the list that
 * json_biases.h reads. */
#include <stdlib.h>
#include <string.h>

#include "host/api/serve_request_private.h"

static bool refuse(struct serve_reader *r, const char *key)
{
    return serve_refuse(
        r->e, 400, "logit_bias", NULL,
        "logit_bias%s%.40s%s has to map tokens to numbers from -100 to 100, or to false: "
        "{\"15043\": -100}, or [[15043, -100], [\"a text\", false]]",
        key != NULL ? "[" : "", key != NULL ? key : "", key != NULL ? "]" : "");
}

static bool is_value(const cJSON *v)
{
    return cJSON_IsFalse(v) ||
           (cJSON_IsNumber(v) && v->valuedouble >= -100 && v->valuedouble <= 100);
}

static bool is_id(const cJSON *v)
{
    return cJSON_IsNumber(v) && v->valuedouble >= 0 && v->valuedouble < 4294967295.0 &&
           v->valuedouble == (double)(uint32_t)v->valuedouble;
}

/* Copies both. what: a token's number, or a text that is not empty. */
static bool add_pair(cJSON *list, const cJSON *what, const cJSON *value)
{
    cJSON *pair = cJSON_CreateArray();

    cJSON_AddItemToArray(pair, cJSON_Duplicate(what, false));
    cJSON_AddItemToArray(pair, cJSON_Duplicate(value, false));
    cJSON_AddItemToArray(list, pair);
    return cJSON_GetArraySize(pair) == 2;
}

/* {"15043": -100}: a key that is not a number is a text, as in llama.cpp. */
static bool add_member(struct serve_reader *r, cJSON *list, const cJSON *member)
{
    const char *key = member->string;
    size_t digits = strspn(key, "0123456789");
    cJSON *what;
    bool good;

    if (key[0] == '\0' || !is_value(member)) {
        return refuse(r, key);
    }
    if (key[digits] == '\0' && digits > 9) {
        return serve_refuse(r->e, 400, "logit_bias", NULL,
                            "logit_bias: the model has no token %.40s", key);
    }
    what = key[digits] == '\0' ? cJSON_CreateNumber(strtod(key, NULL)) : cJSON_CreateString(key);
    good = what != NULL && add_pair(list, what, member);
    cJSON_Delete(what);
    return good || serve_no_memory(r);
}

static bool add_entry(struct serve_reader *r, cJSON *list, const cJSON *entry)
{
    const cJSON *what = cJSON_GetArrayItem(entry, 0), *value = cJSON_GetArrayItem(entry, 1);

    if (!cJSON_IsArray(entry) || cJSON_GetArraySize(entry) != 2 || !is_value(value) ||
        !(is_id(what) || (cJSON_IsString(what) && what->valuestring[0] != '\0'))) {
        return refuse(r, NULL);
    }
    return add_pair(list, what, value) || serve_no_memory(r);
}

bool serve_read_bias(struct serve_reader *r, const struct serve_field *f, const cJSON *v)
{
    cJSON *list = cJSON_CreateArray();
    const cJSON *one;
    bool good = cJSON_IsArray(v) || cJSON_IsObject(v) || refuse(r, NULL);

    serve_text_free(&r->q->biases);
    if (good && cJSON_GetArraySize(v) > SAMPLER_BIASES_MOST) {
        good = serve_refuse(r->e, 400, f->name, NULL, "logit_bias has %d entries: %d are allowed",
                            cJSON_GetArraySize(v), SAMPLER_BIASES_MOST);
    }
    cJSON_ArrayForEach(one, v)
    {
        good = good && (cJSON_IsArray(v) ? add_entry(r, list, one) : add_member(r, list, one));
    }
    if (good && v->child != NULL) {
        serve_text_add_json(&r->q->biases, list);
        return !r->q->biases.failed || serve_no_memory(r);
    }
    cJSON_Delete(list);
    return good;
}
