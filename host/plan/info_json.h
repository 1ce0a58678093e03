/* Functions that the files of `ingot info --json` share. If memory runs out, cJSON's functions do
 * nothing. */
#ifndef INGOT_HOST_INFO_JSON_H
#define INGOT_HOST_INFO_JSON_H

#include <cjson/cJSON.h>
#include <stdbool.h>
#include <stdint.h>

#include "runtime/image/image.h"

void info_json_add_count(cJSON *to, const char *key, uint64_t count);

/* Add a float as the shortest decimal number that reads back as the same f32. */
void info_json_add_float(cJSON *to, const char *key, float value);

/* Add a text from a file; bytes that are not UTF-8 become U+FFFD. */
void info_json_add_text(cJSON *to, const char *key, const char *text);

/* Add sizes in memory, and a row for each board. False: out of memory. */
bool info_json_add_sizes(cJSON *to, const struct image *img);

#endif
