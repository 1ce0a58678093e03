/* JSON (RFC 8259) for line protocols: read the members of one object in order, and escape text.
 * Values are texts, numbers, true, false and null. A list or an object inside is not parsed, so
 * there is no recursion. All values stay in the line, so no memory is needed. */
#ifndef INGOT_RUNTIME_JSON_H
#define INGOT_RUNTIME_JSON_H

#include <stdbool.h>
#include <stddef.h>

enum json_kind {
    JSON_BAD, /* an error, which error_message and column
               * describe; later calls return it again */
    JSON_END, /* the object or list has ended, and nothing follows it */
    JSON_TEXT,
    JSON_NUMBER,
    JSON_TRUE,
    JSON_FALSE,
    JSON_NULL,
    JSON_LIST, /* the unchanged text of a list, with brackets; json_item reads it */
    JSON_OBJECT,
};

struct json {
    char *text;
    size_t n, at;
    char held; /* the character at `at`, which a value's NUL has replaced; or NUL */
    bool open, closed;
    const char *error_message; /* NULL, or an error message without its full stop */
    size_t column;             /* number of the byte with the error, from 1 */
};

struct json_value {
    enum json_kind kind;
    const char *key; /* UTF-8, NUL-terminated */
    char *text;      /* the text in UTF-8, or an unchanged number, list or object; NUL-terminated */
    size_t bytes;    /* without the NUL */
    size_t column;   /* where the value begins */
};

/* Open an object. text has n bytes and a NUL after them. The text is overwritten with
 * unescaped keys and values, which stay there. */
void json_open(struct json *j, char *text, size_t n);

/* Read the next member; returns its kind. Texts are valid UTF-8 without NUL: invalid bytes, half of
 * a surrogate pair and \u0000 are refused. A number has only a number's characters; the caller
 * checks that it is one. In a list or an object only brackets and texts are checked; other errors
 * are found when the caller reads the list or object, which may be before or after the next
 * call. */
enum json_kind json_member(struct json *j, struct json_value *v);

/* As json_member, for a list, whose values have no key. */
enum json_kind json_item(struct json *j, struct json_value *v);

enum { JSON_ESCAPE_BYTES = 6 };

/* Write a whole character (bytes of UTF-8 from a utf8_writer) for use in a JSON text:
 * unchanged, or as an escape if it is a quote, a backslash, or a control character
 * (char_is_control()), so that the line can be shown on a terminal. Returns the number of bytes
 * written to out. */
size_t json_escape(char out[JSON_ESCAPE_BYTES], const char *character, size_t bytes);

#endif
