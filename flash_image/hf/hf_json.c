#include "flash_image/hf/hf_json.h"

#include "runtime/text/plural.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_BYTES = 256 << 20 }; /* seven times the size of the longest known tokenizer.json */

static int by_text(const void *a, const void *b)
{
    return strcmp(*(const char *const *)a, *(const char *const *)b);
}

/* Refuse an object with two equal names, because readers differ in which one they use. */
static enum err check_keys(struct source *s, const cJSON *root)
{
    size_t n = (size_t)cJSON_GetArraySize(root), i = 0;
    const char **keys = malloc((n + 1) * sizeof *keys);
    const cJSON *member;
    enum err e = ERR_OK;

    if (keys == NULL) {
        return source_refuse(s, ERR_NO_SPACE, "out of memory");
    }
    cJSON_ArrayForEach(member, root)
    {
        keys[i++] = member->string;
    }
    qsort(keys, n, sizeof *keys, by_text);
    for (i = 1; e == ERR_OK && i < n; i++) {
        if (strcmp(keys[i - 1], keys[i]) == 0) {
            e = source_refuse(s, ERR_BAD_MODEL, "the field %.120s appears twice", keys[i]);
        }
    }
    free(keys);
    return e;
}

/* Python's JSON writes an infinite number as a word. Replace the word by a number beyond all
 * floats, which cJSON reads as infinite. */
static void spell_infinity(char *text, size_t bytes)
{
    static const char word[] = "Infinity", number[] = "1e999999";
    size_t n = sizeof word - 1;
    bool quoted = false;

    for (size_t i = 0; i < bytes; i++) {
        if (text[i] == '\\') {
            i++;
        } else if (text[i] == '"') {
            quoted = !quoted;
        } else if (!quoted && bytes - i >= n && memcmp(text + i, word, n) == 0) {
            memcpy(text + i, number, n);
        }
    }
}

static cJSON *parse_copy(struct source *s, const uint8_t *text, size_t bytes, char *copy,
                         enum err *e)
{
    const char *end = copy;
    cJSON *root;

    memcpy(copy, text, bytes);
    copy[bytes] = '\0';
    spell_infinity(copy, bytes);
    root = cJSON_ParseWithLengthOpts(copy, bytes + 1, &end, true);
    if (cJSON_IsObject(root)) {
        *e = check_keys(s, root);
    } else {
        *e = source_refuse(s, ERR_BAD_MODEL, "not a JSON object: it is damaged at byte %td of %zu",
                           end - copy, bytes);
    }
    if (*e != ERR_OK) {
        cJSON_Delete(root);
        return NULL;
    }
    return root;
}

/* cJSON reads up to a NUL, so the text is copied and a NUL appended. */
cJSON *hf_json_parse(struct source *s, const uint8_t *text, size_t bytes, enum err *e)
{
    char *copy;
    cJSON *root;

    if (bytes > MOST_BYTES) {
        *e = source_refuse(s, ERR_BAD_MODEL, "%zu %s of JSON, at most %u are read", bytes,
                           plural(bytes, "byte", "bytes"), (unsigned)MOST_BYTES);
        return NULL;
    }
    copy = malloc(bytes + 1);
    if (copy == NULL) {
        *e = source_refuse(s, ERR_NO_SPACE, "out of memory");
        return NULL;
    }
    root = parse_copy(s, text, bytes, copy, e);
    free(copy);
    return root;
}

const cJSON *hf_json_get(const cJSON *object, const char *key)
{
    const cJSON *value = cJSON_GetObjectItemCaseSensitive(object, key);

    if (cJSON_IsNull(value)) {
        return NULL;
    }
    return value;
}

const char *hf_json_string(const cJSON *value)
{
    if (cJSON_IsString(value)) {
        return value->valuestring;
    }
    return NULL;
}

const cJSON *hf_json_list(const cJSON *value)
{
    if (cJSON_IsArray(value)) {
        return value;
    }
    return NULL;
}

bool hf_json_is(const cJSON *object, const char *key, const char *text)
{
    const char *value = hf_json_string(hf_json_get(object, key));

    return value != NULL && strcmp(value, text) == 0;
}

bool hf_json_is_true(const cJSON *object, const char *key, bool otherwise)
{
    const cJSON *value = hf_json_get(object, key);

    if (cJSON_IsBool(value)) {
        return cJSON_IsTrue(value);
    }
    return otherwise;
}

bool hf_json_whole(const cJSON *n, double most)
{
    return cJSON_IsNumber(n) && n->valuedouble >= 0.0 && n->valuedouble <= most &&
           n->valuedouble == floor(n->valuedouble);
}

static void refuse(struct hf_json *j, const char *key, const char *what)
{
    j->e = source_refuse(j->s, ERR_BAD_MODEL, "the field \"%s\" is %s", key, what);
}

uint32_t hf_json_u32(struct hf_json *j, const char *key, uint32_t otherwise)
{
    const cJSON *value = hf_json_get(j->object, key);

    if (j->e != ERR_OK) {
        return otherwise;
    }
    if (value == NULL && otherwise == HF_NEEDED) {
        refuse(j, key, "missing, and the model cannot be understood without it");
    } else if (value != NULL && !hf_json_whole(value, UINT32_MAX - 1.0)) {
        refuse(j, key, "not a whole number, or out of any bounds");
    }
    if (value == NULL || j->e != ERR_OK) {
        return otherwise;
    }
    return (uint32_t)value->valuedouble;
}

float hf_json_float(struct hf_json *j, const char *key, float otherwise)
{
    const cJSON *value = hf_json_get(j->object, key);

    if (j->e != ERR_OK || value == NULL) {
        return otherwise;
    }
    if (!cJSON_IsNumber(value) || !(fabs(value->valuedouble) <= 1e30)) {
        refuse(j, key, "not a number, or out of any bounds");
        return otherwise;
    }
    return (float)value->valuedouble;
}

bool hf_json_bool(struct hf_json *j, const char *key, bool otherwise)
{
    const cJSON *value = hf_json_get(j->object, key);

    if (j->e != ERR_OK || value == NULL) {
        return otherwise;
    }
    if (!cJSON_IsBool(value)) {
        refuse(j, key, "neither true nor false");
        return otherwise;
    }
    return cJSON_IsTrue(value);
}

const char *hf_json_text(struct hf_json *j, const char *key)
{
    const cJSON *value = hf_json_get(j->object, key);

    if (j->e != ERR_OK || value == NULL) {
        return NULL;
    }
    if (!cJSON_IsString(value)) {
        refuse(j, key, "not text");
        return NULL;
    }
    return value->valuestring;
}
