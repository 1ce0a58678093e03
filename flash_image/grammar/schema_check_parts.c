/* Checks arrays and objects against a schema. */
#include <string.h>

#include "flash_image/grammar/schema.h"

static bool is_fewer(const cJSON *limit, double n)
{
    return cJSON_IsNumber(limit) && n < limit->valuedouble;
}

static bool is_more(const cJSON *limit, double n)
{
    return cJSON_IsNumber(limit) && n > limit->valuedouble;
}

/* ---- arrays ------------------------------------------------------------------------------------ */

static bool check_unique(struct schema_check *k, const cJSON *s, const cJSON *value)
{
    const cJSON *one, *other;

    cJSON_ArrayForEach(one, value)
    {
        size_t steps = schema_equal_steps(one, 1);

        for (other = one->next; other != NULL; other = other->next) {
            if (!schema_check_spend(k, 1 + steps)) {
                return true;
            }
            if (schema_values_equal(one, other)) {
                return schema_check_refuse(k, s, "uniqueItems");
            }
        }
    }
    return true;
}

static bool check_contains(struct schema_check *k, const cJSON *s, const cJSON *value)
{
    const cJSON *contains = schema_get(s, "contains"), *least = schema_get(s, "minContains"), *one;
    unsigned n = 0;

    if (contains == NULL) {
        return true;
    }
    cJSON_ArrayForEach(one, value)
    {
        n += schema_accepts_quietly(k, contains, one);
    }
    if (least != NULL ? is_fewer(least, n) : n == 0) {
        return schema_check_refuse(k, s, "contains");
    }
    return !is_more(schema_get(s, "maxContains"), n) || schema_check_refuse(k, s, "maxContains");
}

static bool check_items(struct schema_check *k, const cJSON *s, const cJSON *value)
{
    const cJSON *prefix = schema_get(s, "prefixItems"), *rest = schema_get(s, "items"), *item, *one;

    if (prefix == NULL && cJSON_IsArray(rest)) {
        prefix = rest;
        rest = schema_get(s, "additionalItems");
    }
    item = cJSON_IsArray(prefix) ? prefix->child : NULL;
    cJSON_ArrayForEach(one, value)
    {
        const cJSON *own = item != NULL ? item : rest;

        if (own != NULL && !schema_accepts(k, own, one)) {
            return false;
        }
        item = item != NULL ? item->next : NULL;
    }
    return true;
}

bool schema_check_array(struct schema_check *k, const cJSON *s, const cJSON *value)
{
    double n = cJSON_GetArraySize(value);

    if (is_fewer(schema_get(s, "minItems"), n)) {
        return schema_check_refuse(k, s, "minItems");
    }
    if (is_more(schema_get(s, "maxItems"), n)) {
        return schema_check_refuse(k, s, "maxItems");
    }
    return check_items(k, s, value) && check_contains(k, s, value) &&
           (!cJSON_IsTrue(schema_get(s, "uniqueItems")) || check_unique(k, s, value));
}

/* ---- objects ----------------------------------------------------------------------------------- */

static bool check_required(struct schema_check *k, const cJSON *s, const cJSON *list,
                           const cJSON *value, const char *keyword)
{
    size_t compared = (size_t)cJSON_GetArraySize(list) * (size_t)cJSON_GetArraySize(value);
    const cJSON *name;

    if (!schema_check_spend(k, compared / SCHEMA_NAMES_A_LOOK)) {
        return true;
    }
    cJSON_ArrayForEach(name, list)
    {
        if (cJSON_IsString(name) && schema_get(value, name->valuestring) == NULL) {
            return schema_check_refuse(k, s, keyword);
        }
    }
    return true;
}

static bool check_member(struct schema_check *k, const cJSON *s, const cJSON *member)
{
    const cJSON *own = schema_get(schema_get(s, "properties"), member->string), *item;
    bool described = own != NULL;

    if (own != NULL && !schema_accepts(k, own, member)) {
        return false;
    }
    cJSON_ArrayForEach(item, schema_get_named(s, "patternProperties"))
    {
        if (schema_check_pattern(k, item->string, member->string)) {
            described = true;
            if (!schema_accepts(k, item, member)) {
                return false;
            }
        }
    }
    own = schema_get(s, "additionalProperties");
    if (!described && cJSON_IsFalse(own)) {
        return schema_check_refuse(k, s, "additionalProperties");
    }
    return described || own == NULL || schema_accepts(k, own, member);
}

static bool check_name(struct schema_check *k, const cJSON *s, const cJSON *member)
{
    const cJSON *names = schema_get(s, "propertyNames");
    cJSON *name;
    bool good;

    if (names == NULL) {
        return true;
    }
    name = cJSON_CreateString(member->string);
    good = name == NULL || schema_accepts(k, names, name);
    cJSON_Delete(name);
    return good;
}

/* Check dependentRequired and dependentSchemas, and draft 7's dependencies, which means both. */
static bool check_dependent(struct schema_check *k, const cJSON *s, const cJSON *value)
{
    static const char *const names[] = { "dependentRequired", "dependentSchemas", "dependencies" };

    for (unsigned i = 0; i < 3; i++) {
        const cJSON *item;

        cJSON_ArrayForEach(item, schema_get(s, names[i]))
        {
            if (schema_get(value, item->string) == NULL) {
                continue;
            }
            if (cJSON_IsArray(item) ? !check_required(k, s, item, value, names[i])
                                    : !schema_accepts(k, item, value)) {
                return false;
            }
        }
    }
    return true;
}

/* Return how many steps it takes to compare each member's name with the schema's properties. */
static size_t lookups(const cJSON *s, const cJSON *value)
{
    static const char *const names[] = { "properties", "dependentRequired", "dependentSchemas",
                                         "dependencies", "patternProperties" };
    size_t n = 0;

    for (unsigned i = 0; i < sizeof names / sizeof names[0]; i++) {
        n += (size_t)cJSON_GetArraySize(schema_get(s, names[i]));
    }
    return n * (size_t)cJSON_GetArraySize(value);
}

bool schema_check_object(struct schema_check *k, const cJSON *s, const cJSON *value)
{
    double n = cJSON_GetArraySize(value);
    const cJSON *member;

    if (!schema_check_spend(k, lookups(s, value) / SCHEMA_NAMES_A_LOOK)) {
        return true;
    }
    if (is_fewer(schema_get(s, "minProperties"), n)) {
        return schema_check_refuse(k, s, "minProperties");
    }
    if (is_more(schema_get(s, "maxProperties"), n)) {
        return schema_check_refuse(k, s, "maxProperties");
    }
    cJSON_ArrayForEach(member, value)
    {
        if (!check_name(k, s, member) || !check_member(k, s, member)) {
            return false;
        }
    }
    return check_required(k, s, schema_get(s, "required"), value, "required") &&
           check_dependent(k, s, value);
}
