/* Reads JSON files of other programs through cJSON. Error messages name the file and the field. */
#ifndef INGOT_FLASH_IMAGE_HF_JSON_H
#define INGOT_FLASH_IMAGE_HF_JSON_H

#include <cjson/cJSON.h>

#include "flash_image/source/source.h"

/* The object that is read, and the first error, after which all calls return `otherwise`. */
struct hf_json {
    struct source *s;
    const cJSON *object;
    enum err e;
};

#define HF_NEEDED UINT32_MAX /* as `otherwise`: the field is required */

/* Parse a text of `bytes` bytes. NULL: s->error_message says why. The caller deletes it. cJSON
 * bounds the depth. Errors: ERR_BAD_MODEL (not JSON, or not an object), ERR_NO_SPACE. */
cJSON *hf_json_parse(struct source *s, const uint8_t *text, size_t bytes, enum err *e);

/* Find a field; NULL: it is absent or null. */
const cJSON *hf_json_get(const cJSON *object, const char *key);

/* Read a field: a whole number up to 2^32 - 2, a float, true or false, or a text. */
uint32_t hf_json_u32(struct hf_json *j, const char *key, uint32_t otherwise);
float hf_json_float(struct hf_json *j, const char *key, float otherwise);
bool hf_json_bool(struct hf_json *j, const char *key, bool otherwise);
const char *hf_json_text(struct hf_json *j, const char *key);

/* True if the field is this text, or (hf_json_is_true) if the field is true. The latter returns
 * `otherwise` if the field is not a boolean. */
bool hf_json_is(const cJSON *object, const char *key, const char *text);
bool hf_json_is_true(const cJSON *object, const char *key, bool otherwise);

/* Return the text of a value; NULL: the value is not a text. */
const char *hf_json_string(const cJSON *value);

/* Return the value if it is an array, else NULL, which counts as an empty array. */
const cJSON *hf_json_list(const cJSON *value);

/* True if n is a whole number from 0 to most. */
bool hf_json_whole(const cJSON *n, double most);

#endif
