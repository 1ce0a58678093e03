/* JSON (RFC 8259) for protocols of lines: a reader of the members of one object, in their order,
 * and the escapes of a text. Values are texts, numbers, true, false and null. A list or an
 * object inside is not parsed, so there is no depth. Everything stays in the line: no memory is
 * needed. */
#ifndef INGOT_RUNTIME_JSON_H
#define INGOT_RUNTIME_JSON_H

#include <stdbool.h>
#include <stddef.h>

enum json_kind {
    JSON_BAD, /* error_message and column say what; so does every later call */
    JSON_END, /* end of the object or list; nothing follows it */
    JSON_TEXT,
    JSON_NUMBER,
    JSON_TRUE,
    JSON_FALSE,
    JSON_NULL,
    JSON_LIST, /* as it stands, brackets included: json_item reads it */
    JSON_OBJECT,
};

struct json {
    char *text;
    size_t n, at;
    char held; /* what stood at `at` before a value was ended there; or NUL */
    bool open, closed;
    const char *error_message; /* NULL, or an error message without its full stop */
    size_t column;             /* place of the error: a byte, from 1 */
};

struct json_value {
    enum json_kind kind;
    const char *key; /* UTF-8, NUL-terminated */
    char *text; /* the text in UTF-8, or the number, list or object as it stands; NUL-terminated */
    size_t bytes;  /* without the NUL */
    size_t column; /* where the value begins */
};

/* text has n bytes and a NUL after them. It is overwritten: keys and values lie in it,
 * unescaped, and stay there. */
void json_open(struct json *j, char *text, size_t n);

/* The next member; the result is its kind. Texts are valid UTF-8 without NUL: invalid bytes,
 * half of a surrogate pair and \u0000 are refused. A number has the characters of numbers; the
 * caller checks that it is one. In a list or an object only brackets and texts are checked: a
 * reader of its own finds other errors, before the next call here or after it. */
enum json_kind json_member(struct json *j, struct json_value *v);

/* The same for a list, whose values have no key. */
enum json_kind json_item(struct json *j, struct json_value *v);

enum { JSON_ESCAPE_BYTES = 6 };

/* Write a whole character (bytes of UTF-8, as a utf8_writer has them) as it stands within a
 * text: itself, or an escape for a quote, a backslash, or what char_is_control() knows, so that
 * a line shown as it came is harmless. Returns how many bytes of out it took. */
size_t json_escape(char out[JSON_ESCAPE_BYTES], const char *character, size_t bytes);

#endif
