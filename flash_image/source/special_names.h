/* Names of special tokens, for files that do not mark them by type. */
#ifndef INGOT_FLASH_IMAGE_SPECIAL_NAMES_H
#define INGOT_FLASH_IMAGE_SPECIAL_NAMES_H

#include <stdbool.h>
#include <stddef.h>

/* Return name i (from 0) of a token that ends a turn or a text; NULL after the last. */
const char *special_end_name(size_t i);

/* True if a token is written like a marker of turns or texts: "<|NAME|>", also with full-width
 * bars, or a name that a family uses. Words of a text never look like this. */
bool special_name_is_marker(const char *text, size_t bytes);

#endif
