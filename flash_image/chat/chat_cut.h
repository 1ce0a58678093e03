/* Cuts texts of templates so that no marker and no word is split. */
#ifndef INGOT_FLASH_IMAGE_CHAT_CUT_H
#define INGOT_FLASH_IMAGE_CHAT_CUT_H

#include "flash_image/jinja/jinja_value.h"

struct jinja_text chat_part(struct jinja_text t, size_t from, size_t to);
bool chat_begins_with(struct jinja_text t, struct jinja_text with);
bool chat_ends_with(struct jinja_text t, struct jinja_text with);

/* True if t begins with head and ends with tail. */
struct jinja_text chat_without_head(struct jinja_text t, struct jinja_text head);
struct jinja_text chat_without_tail(struct jinja_text t, struct jinja_text tail);

/* The number of bytes that are equal at the start, or at the end. */
size_t chat_common_head(struct jinja_text a, struct jinja_text b);
size_t chat_common_tail(struct jinja_text a, struct jinja_text b);

/* The start of the <...> or [...] that contains byte n of the text; n: none does. *end: after
 * it. */
size_t chat_marker_around(struct jinja_text t, size_t n, size_t *end);

/* n bytes at the start of t, or at its end, or fewer, so that no marker and no word is split. */
size_t chat_whole_head(struct jinja_text t, size_t n);
size_t chat_whole_tail(struct jinja_text t, size_t n);

#endif
