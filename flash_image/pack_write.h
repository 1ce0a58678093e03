/* The writing half of the packer. */
#ifndef INGOT_FLASH_IMAGE_PACK_WRITE_H
#define INGOT_FLASH_IMAGE_PACK_WRITE_H

#include "flash_image/pack.h"
#include "flash_image/source.h"

/* Write the .ingot file of s to fd, which is empty and open for writing; path is for sentences.
 * Errors: ERR_IO, ERR_NO_SPACE (memory), ERR_BAD_TOKENIZER, ERR_UNSUPPORTED; s->problem says. */
enum err pack_write(struct source *s, const struct pack_options *o, int fd, const char *path);

#endif
