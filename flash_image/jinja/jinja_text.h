/* Texts of a template: joined bytes, characters of UTF-8, and values as Python writes them. */
#ifndef INGOT_FLASH_IMAGE_JINJA_TEXT_H
#define INGOT_FLASH_IMAGE_JINJA_TEXT_H

#include "flash_image/jinja/jinja_value.h"

/* A growing text; at most JINJA_MOST_TEXT. Zeroed: empty. */
struct jinja_buffer {
    char *data;
    size_t bytes, room;
};

void jinja_write(struct jinja *j, struct jinja_buffer *b, struct jinja_text t);
void jinja_write_words(struct jinja *j, struct jinja_buffer *b, const char *s);
void jinja_write_char(struct jinja *j, struct jinja_buffer *b, char c);
struct jinja_text jinja_written(const struct jinja_buffer *b);

/* Write a value like Python's str() or, with the second function, like repr(). */
void jinja_write_value(struct jinja *j, struct jinja_buffer *b, struct jinja_value v);
void jinja_write_repr(struct jinja *j, struct jinja_buffer *b, struct jinja_value v);
void jinja_write_float(struct jinja *j, struct jinja_buffer *b, double real);
void jinja_write_code_point(struct jinja *j, struct jinja_buffer *b, uint32_t c);
struct jinja_text jinja_to_text(struct jinja *j, struct jinja_value v);
struct jinja_text jinja_join(struct jinja *j, struct jinja_text a, struct jinja_text b);

/* Find `what` in t from byte `from` on; SIZE_MAX: it is not there. */
size_t jinja_find(struct jinja_text t, struct jinja_text what, size_t from);

/* Count the characters of a text, or the bytes of its character at `at`. A byte that is not UTF-8
 * counts as one character. */
size_t jinja_characters(struct jinja_text t);
size_t jinja_character(struct jinja_text t, size_t at);

/* Return the position of the byte at which character n begins; at most t.bytes. */
size_t jinja_character_start(struct jinja_text t, size_t n);

bool jinja_is_space(char c);

#endif
