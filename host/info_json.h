/* Of `ingot info --json`: what its files share. Without memory cJSON's functions do nothing. */
#ifndef INGOT_HOST_INFO_JSON_H
#define INGOT_HOST_INFO_JSON_H

#include <cjson/cJSON.h>
#include <stdbool.h>
#include <stdint.h>

#include "runtime/image/image.h"

void info_json_add_count(cJSON *to, const char *key, uint64_t count);

/* Sizes in memory, and a row for each board. False: out of memory. */
bool info_json_add_sizes(cJSON *to, const struct image *img);

#endif
