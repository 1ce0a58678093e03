/* Cuts texts of templates without splitting markers or words. */
#ifndef INGOT_FLASH_IMAGE_CHAT_CUT_H
#define INGOT_FLASH_IMAGE_CHAT_CUT_H

#include "flash_image/jinja/jinja_value.h"

struct jinja_text chat_part(struct jinja_text t, size_t from, size_t to);
bool chat_begins_with(struct jinja_text t, struct jinja_text with);
bool chat_ends_with(struct jinja_text t, struct jinja_text with);

/* Return t without its beginning `head`, or without its end `tail`. */
struct jinja_text chat_without_head(struct jinja_text t, struct jinja_text head);
struct jinja_text chat_without_tail(struct jinja_text t, struct jinja_text tail);

/* The number of bytes in which both texts agree at the start, or at the end. */
size_t chat_common_head(struct jinja_text a, struct jinja_text b);
size_t chat_common_tail(struct jinja_text a, struct jinja_text b);

/* Return the start of the <...> or [...] that contains byte n of the text, and set *end to the
 * byte after it. Return n if no marker contains byte n. */
size_t chat_marker_around(struct jinja_text t, size_t n, size_t *end);

/* The largest number of bytes, at most n, that can be cut from the start of t (or from its end)
 * without splitting a marker or a word. */
size_t chat_whole_head(struct jinja_text t, size_t n);
size_t chat_whole_tail(struct jinja_text t, size_t n);

#endif
