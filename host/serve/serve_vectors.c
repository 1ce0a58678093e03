/* Embeddings as OpenAI's object. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include <cjson/cJSON.h>

#include "host/api/serve_answer.h"
#include "runtime/text/base64.h"
#include "runtime/text/format_float.h"

static cJSON *base64_of(const uint8_t *bytes, size_t n)
{
    char *text = malloc(base64_length(n) + 1);
    cJSON *value;

    if (text != NULL) {
        base64_put(text, bytes, n);
        text[base64_length(n)] = '\0';
    }
    value = cJSON_CreateString(text);
    free(text);
    return value;
}

static cJSON *numbers_of(const uint8_t *bytes, size_t n)
{
    cJSON *list = cJSON_CreateArray();

    for (size_t i = 0; i < n; i += sizeof(float)) {
        char number[FORMAT_NUMBER_BYTES];
        float value;

        memcpy(&value, bytes + i, sizeof value);
        cJSON_AddItemToArray(list, cJSON_CreateRaw(format_float(number, value)));
    }
    return list;
}

/* Writes the first numbers (bytes) of a vector, scaled to length 1. */
static void to_length_one(uint8_t *bytes, size_t n)
{
    double sum = 0;

    for (int pass = 0; pass < 2; pass++) {
        for (size_t i = 0; i < n; i += sizeof(float)) {
            float value;

            memcpy(&value, bytes + i, sizeof value);
            if (pass == 0) {
                sum += (double)value * (double)value;
            } else if (sum > 0) {
                value = (float)((double)value / sqrt(sum));
                memcpy(bytes + i, &value, sizeof value);
            }
        }
    }
}

cJSON *serve_vectors_answer(const char *model, const struct serve_job *j)
{
    cJSON *root = cJSON_CreateObject(), *data, *usage;
    size_t bytes = j->vectors.n / j->request.n_turns, own = bytes;

    if (j->request.dimensions != 0 && j->request.dimensions * sizeof(float) < bytes) {
        own = j->request.dimensions * sizeof(float);
    }

    cJSON_AddStringToObject(root, "object", "list");
    data = cJSON_AddArrayToObject(root, "data");
    for (uint32_t i = 0; i < j->request.n_turns; i++) {
        uint8_t *from = (uint8_t *)j->vectors.bytes + i * bytes;
        cJSON *one = cJSON_CreateObject();

        cJSON_AddStringToObject(one, "object", "embedding");
        cJSON_AddNumberToObject(one, "index", i);
        if (own != bytes) {
            to_length_one(from, own);
        }
        cJSON_AddItemToObject(one, "embedding",
                              j->request.base64 ? base64_of(from, own) : numbers_of(from, own));
        cJSON_AddItemToArray(data, one);
    }
    cJSON_AddStringToObject(root, "model", model);
    usage = cJSON_AddObjectToObject(root, "usage");
    cJSON_AddNumberToObject(usage, "prompt_tokens", j->prompt_tokens);
    cJSON_AddNumberToObject(usage, "total_tokens", j->prompt_tokens);
    return root;
}
