/* `--type auto`: the type of each matrix for a file of a given size, by what each type was measured to lose. */
#ifndef INGOT_FLASH_IMAGE_PACK_AUTO_H
#define INGOT_FLASH_IMAGE_PACK_AUTO_H

#include "flash_image/pack/pack_private.h"

/* Once w is laid out: set types (one for each of w->s->tensors, which w->options->chosen points to) and lay the tables
 * again, for a file of at most w->options->size bytes. Says on standard error which types were taken.
 * Errors: ERR_NO_SPACE (memory, or no types make a file so small), ERR_BAD_MODEL; w->s->error_message says. */
enum err pack_auto_choose(struct writer *w, uint8_t *types);

#endif
