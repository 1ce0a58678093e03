/* `--type auto` chooses each matrix's type for a file of a given size, by measured losses. */
#ifndef INGOT_FLASH_IMAGE_PACK_AUTO_H
#define INGOT_FLASH_IMAGE_PACK_AUTO_H

#include "flash_image/pack/pack_private.h"

/* Set types (one for each of w->s->tensors; w->options->chosen points to them) and lay out the
 * file again, with at most w->options->size bytes. w must have been laid out. The types are
 * reported on standard error. Errors: ERR_NO_SPACE (out of memory, or no types make the file small
 * enough), ERR_BAD_MODEL; w->s->error_message says which. */
enum err pack_auto_choose(struct writer *w, uint8_t *types);

#endif
