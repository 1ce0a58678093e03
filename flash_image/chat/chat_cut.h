/* Texts of templates taken apart, so that no marker and no word is cut. */
#ifndef INGOT_FLASH_IMAGE_CHAT_CUT_H
#define INGOT_FLASH_IMAGE_CHAT_CUT_H

#include "flash_image/jinja/jinja_value.h"

struct jinja_text chat_part(struct jinja_text t, size_t from, size_t to);
bool chat_begins_with(struct jinja_text t, struct jinja_text with);
bool chat_ends_with(struct jinja_text t, struct jinja_text with);

/* t begins with head, ends with tail. */
struct jinja_text chat_without_head(struct jinja_text t, struct jinja_text head);
struct jinja_text chat_without_tail(struct jinja_text t, struct jinja_text tail);

/* How many bytes both begin with, or end with. */
size_t chat_common_head(struct jinja_text a, struct jinja_text b);
size_t chat_common_tail(struct jinja_text a, struct jinja_text b);

/* The start of the <...> or [...] inside which byte n of the text lies; n: in none. *end: after
 * it. */
size_t chat_marker_around(struct jinja_text t, size_t n, size_t *end);

/* n bytes at the head of t, or at its tail, or fewer, so that neither a marker nor a word is cut. */
size_t chat_whole_head(struct jinja_text t, size_t n);
size_t chat_whole_tail(struct jinja_text t, size_t n);

#endif
