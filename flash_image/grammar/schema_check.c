/* Checks whether a value satisfies a schema, keyword by keyword: drafts 7 and 2020-12. An unknown
 * keyword is satisfied. */
#include <float.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "flash_image/grammar/schema.h"

enum { STEPS_MOST = 200000, DEPTH_MOST = 100 };

bool schema_check_refuse(struct schema_check *k, const cJSON *schema, const char *keyword)
{
    if (k->keyword == NULL) {
        k->failed = schema;
        k->keyword = keyword;
    }
    return false;
}

unsigned schema_type_of_value(const cJSON *value)
{
    if (cJSON_IsString(value)) {
        return TYPE_STRING;
    }
    if (cJSON_IsNumber(value)) {
        return value->valuedouble == floor(value->valuedouble) ? TYPE_INTEGER : TYPE_FRACTION;
    }
    if (cJSON_IsObject(value)) {
        return TYPE_OBJECT;
    }
    if (cJSON_IsArray(value)) {
        return TYPE_ARRAY;
    }
    return cJSON_IsBool(value) ? TYPE_BOOLEAN : TYPE_NULL;
}

bool schema_check_spend(struct schema_check *k, size_t steps)
{
    if (k->gave_up || steps > STEPS_MOST - k->steps) {
        k->gave_up = true;
        return false;
    }
    k->steps += (unsigned)steps;
    return true;
}

static bool equal(const cJSON *a, const cJSON *b, unsigned depth);

static bool members_equal(const cJSON *a, const cJSON *b, unsigned depth)
{
    const cJSON *one;

    if (cJSON_GetArraySize(a) != cJSON_GetArraySize(b)) {
        return false;
    }
    cJSON_ArrayForEach(one, a)
    {
        const cJSON *other = schema_get(b, one->string);

        if (other == NULL || !equal(one, other, depth + 1)) {
            return false;
        }
    }
    return true;
}

static bool items_equal(const cJSON *a, const cJSON *b, unsigned depth)
{
    for (a = a->child, b = b->child; a != NULL && b != NULL; a = a->next, b = b->next) {
        if (!equal(a, b, depth + 1)) {
            return false;
        }
    }
    return a == NULL && b == NULL;
}

static bool equal(const cJSON *a, const cJSON *b, unsigned depth)
{
    if (depth > DEPTH_MOST) {
        return false;
    }
    if (cJSON_IsNumber(a) && cJSON_IsNumber(b)) {
        return !(a->valuedouble < b->valuedouble) && !(a->valuedouble > b->valuedouble);
    }
    if (cJSON_IsString(a) && cJSON_IsString(b)) {
        return strcmp(a->valuestring, b->valuestring) == 0;
    }
    if (cJSON_IsObject(a) && cJSON_IsObject(b)) {
        return members_equal(a, b, depth);
    }
    if (cJSON_IsArray(a) && cJSON_IsArray(b)) {
        return items_equal(a, b, depth);
    }
    return (a->type & 0xff) == (b->type & 0xff) && (cJSON_IsBool(a) || cJSON_IsNull(a));
}

bool schema_values_equal(const cJSON *a, const cJSON *b)
{
    return equal(a, b, 0);
}

/* Each member of an object is looked up in the other object. */
size_t schema_equal_steps(const cJSON *value, size_t n)
{
    size_t width = (size_t)cJSON_GetArraySize(value);

    return n * (1 + (cJSON_IsObject(value) ? width * width : width)) / SCHEMA_NAMES_A_LOOK;
}

/* ---- numbers and strings ----------------------------------------------------------------------- */

/* True if a decimal number of at most 15 digits is whole, except for the rounding of doubles. */
static bool is_nearly_whole(double value)
{
    return fabs(value - round(value)) <= fabs(value) * 4 * DBL_EPSILON;
}

/* Divide exactly, after multiplying both numbers by the power of 10 that makes `of` whole. */
static bool is_multiple(double value, double of)
{
    double scale = 1;

    while (scale < 1e15 && (round(of * scale) < 1 || !is_nearly_whole(of * scale))) {
        scale *= 10;
    }
    if (round(of * scale) < 1 || !isfinite(value * scale)) {
        return fmod(value, of) == 0;
    }
    return is_nearly_whole(value * scale) && fmod(round(value * scale), round(of * scale)) == 0;
}

/* True if the value is on the wrong side of limit (NULL: there is none). */
static bool is_beyond(const cJSON *limit, double value, int side, bool out)
{
    if (!cJSON_IsNumber(limit)) {
        return false;
    }
    return side * (value - limit->valuedouble) > 0 ||
           (out && !(value < limit->valuedouble) && !(value > limit->valuedouble));
}

static bool check_number(struct schema_check *k, const cJSON *s, const cJSON *value)
{
    const cJSON *low = schema_get(s, "exclusiveMinimum"), *high = schema_get(s, "exclusiveMaximum"),
                *of = schema_get(s, "multipleOf");
    double v = value->valuedouble;

    if (is_beyond(schema_get(s, "minimum"), v, -1, cJSON_IsTrue(low))) {
        return schema_check_refuse(k, s, "minimum");
    }
    if (is_beyond(schema_get(s, "maximum"), v, 1, cJSON_IsTrue(high))) {
        return schema_check_refuse(k, s, "maximum");
    }
    if (is_beyond(low, v, -1, true)) {
        return schema_check_refuse(k, s, "exclusiveMinimum");
    }
    if (is_beyond(high, v, 1, true)) {
        return schema_check_refuse(k, s, "exclusiveMaximum");
    }
    if (cJSON_IsNumber(of) && of->valuedouble > 0 && !is_multiple(v, of->valuedouble)) {
        return schema_check_refuse(k, s, "multipleOf");
    }
    return true;
}

bool schema_check_pattern(struct schema_check *k, const char *pattern, const char *text)
{
    struct pattern *p = schema_check_spend(k, 50 + strlen(pattern) / 16) ? pattern_new(pattern)
                                                                         : NULL;
    bool matches = p == NULL || !schema_check_spend(k, pattern_steps(p, text)) ||
                   pattern_matches(p, text);

    pattern_free(p);
    return matches;
}

static unsigned characters_of(const char *text)
{
    unsigned n = 0;

    for (; *text != '\0'; text++) {
        n += ((uint8_t)*text & 0xc0) != 0x80;
    }
    return n;
}

static bool check_string(struct schema_check *k, const cJSON *s, const cJSON *value)
{
    const cJSON *pattern = schema_get(s, "pattern");
    double n = characters_of(value->valuestring);

    if (is_beyond(schema_get(s, "minLength"), n, -1, false)) {
        return schema_check_refuse(k, s, "minLength");
    }
    if (is_beyond(schema_get(s, "maxLength"), n, 1, false)) {
        return schema_check_refuse(k, s, "maxLength");
    }
    if (cJSON_IsString(pattern) &&
        !schema_check_pattern(k, pattern->valuestring, value->valuestring)) {
        return schema_check_refuse(k, s, "pattern");
    }
    return true;
}

/* ---- schemas ----------------------------------------------------------------------------------- */

static bool check_values(struct schema_check *k, const cJSON *s, const cJSON *value)
{
    const cJSON *one = schema_get(s, "const"), *list = schema_get(s, "enum"), *item;

    if (!schema_check_spend(k, schema_equal_steps(value, (size_t)cJSON_GetArraySize(list) + 1))) {
        return true;
    }
    if (one != NULL && !schema_values_equal(one, value)) {
        return schema_check_refuse(k, s, "const");
    }
    if (!cJSON_IsArray(list)) {
        return true;
    }
    cJSON_ArrayForEach(item, list)
    {
        if (schema_values_equal(item, value)) {
            return true;
        }
    }
    return schema_check_refuse(k, s, "enum");
}

bool schema_accepts_quietly(struct schema_check *k, const cJSON *schema, const cJSON *value)
{
    const cJSON *failed = k->failed;
    const char *keyword = k->keyword;
    bool accepted = schema_accepts(k, schema, value);

    k->failed = failed;
    k->keyword = keyword;
    return accepted;
}

static unsigned count_accepting(struct schema_check *k, const cJSON *list, const cJSON *value)
{
    const cJSON *one;
    unsigned n = 0;

    cJSON_ArrayForEach(one, list)
    {
        n += schema_accepts_quietly(k, one, value);
    }
    return n;
}

static bool check_if(struct schema_check *k, const cJSON *s, const cJSON *value)
{
    const cJSON *condition = schema_get(s, "if"), *then = schema_get(s, "then"),
                *otherwise = schema_get(s, "else");

    if (condition == NULL || (then == NULL && otherwise == NULL)) {
        return true;
    }
    if (schema_accepts_quietly(k, condition, value)) {
        return then == NULL || schema_accepts(k, then, value);
    }
    return otherwise == NULL || schema_accepts(k, otherwise, value);
}

static bool check_combined(struct schema_check *k, const cJSON *s, const cJSON *value)
{
    const cJSON *list, *one, *not = schema_get(s, "not");

    cJSON_ArrayForEach(one, schema_get(s, "allOf"))
    {
        if (!schema_accepts(k, one, value)) {
            return false;
        }
    }
    list = schema_get(s, "anyOf");
    if (cJSON_IsArray(list) && count_accepting(k, list, value) == 0) {
        return schema_check_refuse(k, s, "anyOf");
    }
    list = schema_get(s, "oneOf");
    if (cJSON_IsArray(list) && count_accepting(k, list, value) != 1) {
        return schema_check_refuse(k, s, "oneOf");
    }
    if (not != NULL && schema_accepts_quietly(k, not, value)) {
        return schema_check_refuse(k, s, "not");
    }
    return check_if(k, s, value);
}

/* True if the budget allows searching the whole document for the target of a reference. */
static bool may_search(struct schema_check *k)
{
    if (k->n_nodes == 0) {
        k->n_nodes = schema_count_nodes(k->root);
    }
    return schema_check_spend(k, k->n_nodes / SCHEMA_NODES_A_LOOK);
}

static bool check_references(struct schema_check *k, const cJSON *s, const cJSON *value)
{
    static const char *const names[] = { "$ref", "$dynamicRef", "$recursiveRef" };

    for (unsigned i = 0; i < 3; i++) {
        const char *ref = cJSON_GetStringValue(schema_get(s, names[i]));
        const cJSON *to = ref != NULL && may_search(k) ? schema_resolve(k->root, s, ref) : NULL;

        if (to != NULL && !schema_accepts(k, to, value)) {
            return false;
        }
    }
    return true;
}

static bool check_kind(struct schema_check *k, const cJSON *s, const cJSON *value)
{
    const cJSON *type = schema_get(s, "type");
    unsigned own = schema_type_of_value(value), types = type != NULL ? schema_types_of(type) : 0;

    if (types != 0 && (types & own) == 0) {
        return schema_check_refuse(k, s, "type");
    }
    if ((own & (TYPE_INTEGER | TYPE_FRACTION)) != 0) {
        return check_number(k, s, value);
    }
    if (own == TYPE_STRING) {
        return check_string(k, s, value);
    }
    if (own == TYPE_ARRAY) {
        return schema_check_array(k, s, value);
    }
    return own != TYPE_OBJECT || schema_check_object(k, s, value);
}

bool schema_accepts(struct schema_check *k, const cJSON *schema, const cJSON *value)
{
    bool good;

    if (cJSON_IsFalse(schema)) {
        return schema_check_refuse(k, schema, "");
    }
    if (!cJSON_IsObject(schema)) {
        return true;
    }
    if (k->depth == DEPTH_MOST) {
        k->gave_up = true;
    }
    if (!schema_check_spend(k, 1 + (size_t)cJSON_GetArraySize(schema) / 8)) {
        return true;
    }
    k->depth++;
    good = check_values(k, schema, value) && check_kind(k, schema, value) &&
           check_references(k, schema, value) && check_combined(k, schema, value);
    k->depth--;
    return good || k->gave_up;
}

bool grammar_check_value(const char *schema, const char *value, size_t bytes,
                         char error_message[GRAMMAR_ERROR_MESSAGE_BYTES])
{
    cJSON *root = cJSON_Parse(schema), *v = cJSON_ParseWithLength(value, bytes);
    struct schema_check k = { .root = root };
    struct text path = { 0 };
    bool good = false;

    error_message[0] = '\0';
    if (v == NULL) {
        snprintf(error_message, GRAMMAR_ERROR_MESSAGE_BYTES, "it is not JSON");
    } else {
        good = root == NULL || schema_accepts(&k, root, v);
    }
    if (v != NULL && !good) {
        schema_put_path(root, k.failed, &path);
        snprintf(error_message, GRAMMAR_ERROR_MESSAGE_BYTES,
                 "%.120s/%.40s of the schema is not satisfied", path.s != NULL ? path.s : "",
                 k.keyword);
    }
    free(path.s);
    cJSON_Delete(root);
    cJSON_Delete(v);
    return good;
}
