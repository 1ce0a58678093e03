/* A Jinja template squeezed into one spelling, so that a form can be told by comparing bytes. */
#ifndef INGOT_FLASH_IMAGE_CHAT_JINJA_H
#define INGOT_FLASH_IMAGE_CHAT_JINJA_H

#include <stddef.h>
#include <stdint.h>

/* text (bytes) to out, which has room for bytes + 1; terminated. Inside {{ }} and {% %}: white
 * space between words goes, a literal stands between CHAT_QUOTE bytes with its escapes resolved,
 * literals joined by + or ~ become one, and x['name'] becomes x.name. Comments go; text outside
 * stays. Any bytes are taken; bytes 0 to 3 become spaces. Returns the bytes of out. */
size_t chat_jinja_squeeze(const uint8_t *text, size_t bytes, char *out);

#endif
