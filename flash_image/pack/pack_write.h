/* The writing half of the packer. */
#ifndef INGOT_FLASH_IMAGE_PACK_WRITE_H
#define INGOT_FLASH_IMAGE_PACK_WRITE_H

#include "flash_image/chat/chat_template.h"
#include "flash_image/pack/pack.h"
#include "flash_image/source/source.h"

/* Write the .ingot file of s to fd, which is empty and open for writing; path is for error
 * messages. Errors: ERR_IO, ERR_NO_SPACE (memory), ERR_BAD_TOKENIZER, ERR_UNSUPPORTED;
 * s->error_message says why. */
enum err pack_write(struct source *s, const struct pack_options *o, int fd, const char *path);

/* Build the chat section of s (4-byte aligned). The tokenizer section of s, which has just been
 * built, is changed as in chat_template_claim(); an unknown template is reported on standard error.
 * Errors: ERR_NOT_FOUND (o->template), ERR_NO_SPACE; s->error_message says why. */
enum err pack_chat(struct source *s, const struct pack_options *o, uint8_t *tokenizer,
                   uint8_t chat[CHAT_MOST_BYTES], size_t *bytes);

#endif
