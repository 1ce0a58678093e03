/* A body as a tree of cJSON, for the APIs that are translated into chat completions
 * (serve_dialect.h). */
#include <stdlib.h>
#include <string.h>

#include <cjson/cJSON.h>

#include "host/api/serve_request.h"
#include "runtime/api/api_json.h"

/* Digits that a double keeps, and the size limit of an integer whose digits are kept. */
enum { DOUBLE_DIGITS = 15, NUMBER_BYTES = 64 };

static cJSON *tree_of(const struct api_json *v);

/* Adds v's members or entries; values are nested at most API_JSON_DEEPEST deep. */
static void add_children(cJSON *to, const struct api_json *v)
{
    const struct api_json *one;

    api_json_each(one, v)
    {
        cJSON *child = tree_of(one);

        if (one->key != NULL) {
            cJSON_AddItemToObject(to, one->key, child);
        } else {
            cJSON_AddItemToArray(to, child);
        }
    }
}

/* Makes a number. A double would round an integer of more than 15 digits, such as an id in the
 * arguments of a call, so its digits are kept. */
static cJSON *number_of(const struct api_json *v)
{
    char digits[NUMBER_BYTES];

    if (v->bytes <= DOUBLE_DIGITS || v->bytes >= sizeof digits ||
        memchr(v->text, '.', v->bytes) != NULL || memchr(v->text, 'e', v->bytes) != NULL ||
        memchr(v->text, 'E', v->bytes) != NULL) {
        return cJSON_CreateNumber(api_json_number(v));
    }
    memcpy(digits, v->text, v->bytes);
    digits[v->bytes] = '\0';
    return cJSON_CreateRaw(digits);
}

static cJSON *tree_of(const struct api_json *v)
{
    cJSON *to;

    switch (v->kind) {
    case JSON_TEXT: return cJSON_CreateString(v->text);
    case JSON_NUMBER: return number_of(v);
    case JSON_TRUE: return cJSON_CreateTrue();
    case JSON_FALSE: return cJSON_CreateFalse();
    case JSON_LIST: to = cJSON_CreateArray(); break;
    case JSON_OBJECT: to = cJSON_CreateObject(); break;
    default: return cJSON_CreateNull();
    }
    add_children(to, v);
    return to;
}

/* Keeps the digits of a seed, which may have more digits than a double. */
static void keep_seed(char seed[SERVE_SEED_BYTES], const struct api_json *root)
{
    const struct api_json *v = api_json_get(root, "seed");

    seed[0] = '\0';
    if (api_json_is(v, JSON_NUMBER) && v->bytes < SERVE_SEED_BYTES) {
        memcpy(seed, v->text, v->bytes);
        seed[v->bytes] = '\0';
    }
}

cJSON *serve_body_parse(const char *body, size_t bytes, char seed[SERVE_SEED_BYTES],
                        struct api_error *e)
{
    struct api_memory *m = serve_memory_new();
    char *copy = m != NULL ? serve_memory_copy(m, body, bytes) : NULL;
    struct api_json *root = NULL;
    cJSON *tree = NULL;

    if (copy == NULL) {
        (void)api_refuse(e, 500, NULL, NULL, "out of memory");
    } else if (api_body_parse(&root, copy, bytes, m, e)) {
        keep_seed(seed, root);
        tree = tree_of(root);
        if (tree == NULL) {
            (void)api_refuse(e, 500, NULL, NULL, "out of memory");
        }
    }
    serve_memory_drop(m);
    return tree;
}
