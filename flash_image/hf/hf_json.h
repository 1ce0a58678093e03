/* JSON of outside files through cJSON, with error messages that name file and field. */
#ifndef INGOT_FLASH_IMAGE_HF_JSON_H
#define INGOT_FLASH_IMAGE_HF_JSON_H

#include <cjson/cJSON.h>

#include "flash_image/source/source.h"

/* An object at work. The first error stays in e, and later calls give their `otherwise`. */
struct hf_json {
    struct source *s;
    const cJSON *object;
    enum err e;
};

#define HF_NEEDED UINT32_MAX /* for otherwise: the field must be there */

/* Parse bytes bytes. NULL: s->error_message says so. The caller deletes it. Depth is bounded by cJSON.
 * Errors: ERR_BAD_MODEL (no JSON, or no object), ERR_NO_SPACE. */
cJSON *hf_json_parse(struct source *s, const uint8_t *text, size_t bytes, enum err *e);

/* The field, or NULL where it is absent or null. */
const cJSON *hf_json_get(const cJSON *object, const char *key);

/* A whole number up to 2^32 - 2, a number, true or false, a text. */
uint32_t hf_json_u32(struct hf_json *j, const char *key, uint32_t otherwise);
float hf_json_float(struct hf_json *j, const char *key, float otherwise);
bool hf_json_bool(struct hf_json *j, const char *key, bool otherwise);
const char *hf_json_text(struct hf_json *j, const char *key);

/* The field is this text; is true, false or, where it is neither, `otherwise`. */
bool hf_json_is(const cJSON *object, const char *key, const char *text);
bool hf_json_is_true(const cJSON *object, const char *key, bool otherwise);

/* The text of a value; NULL: it is none. */
const char *hf_json_string(const cJSON *value);

/* The value if it is an array; NULL: it is none, which has no elements. */
const cJSON *hf_json_list(const cJSON *value);

/* n is a whole number from 0 to most. */
bool hf_json_whole(const cJSON *n, double most);

#endif
