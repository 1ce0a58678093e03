/* Names of special tokens, for files that do not mark them by type. */
#ifndef INGOT_FLASH_IMAGE_SPECIAL_NAMES_H
#define INGOT_FLASH_IMAGE_SPECIAL_NAMES_H

#include <stdbool.h>
#include <stddef.h>

/* The names of families for the end of a turn or of a text, from 0 on; NULL after the last. */
const char *special_end_name(size_t i);

/* True if a token is written like a marker of turns and texts in the families: "<|NAME|>", also
 * with full-width bars, or a known name. Words of a text never look like this. */
bool special_name_is_marker(const char *text, size_t bytes);

#endif
