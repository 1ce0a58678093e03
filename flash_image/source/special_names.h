/* Names of special tokens, for files that do not type them so. */
#ifndef INGOT_FLASH_IMAGE_SPECIAL_NAMES_H
#define INGOT_FLASH_IMAGE_SPECIAL_NAMES_H

#include <stdbool.h>
#include <stddef.h>

/* The names that families have for the end of a turn or of a text, from 0 on; NULL after the last. */
const char *special_end_name(size_t i);

/* Whether a token is written as the families write markers of turns and texts: "<|NAME|>", with full-width
 * bars too, or a name that is known. Words of a text have no such tokens. */
bool special_name_is_marker(const char *text, size_t bytes);

#endif
