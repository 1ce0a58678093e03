/* Parts of a request's head. Source: RFC 9110, sections 5 and 7.8; RFC 9112, sections 2 to 5. */
#ifndef INGOT_RUNTIME_HTTP_FIELDS_H
#define INGOT_RUNTIME_HTTP_FIELDS_H

#include <stdbool.h>
#include <stddef.h>

/* Return true if text `a` (n bytes) equals text `b`, ignoring case. */
bool http_same(const char *a, size_t n, const char *b);

/* Return true if a line without its CRLF is a request line: a method, a target and a version
 * with one space between them. */
bool http_is_request_line(const char *line, size_t n);

/* Return true if a line without its CRLF is a field: a name, a colon, a value without
 * control characters. */
bool http_is_field(const char *line, size_t n);

/* Return the value of field `which` (0: the first) of that name in a head (n bytes, whole lines),
 * without white space around it. Returns NULL and *bytes 0 if there is no such field. */
const char *http_field(const char *head, size_t n, const char *name, unsigned which, size_t *bytes);

/* Return true if a comma-separated list (n bytes), or a list in any field of that name, has the
 * item. Case is ignored, and so is what follows "/" or ";". */
bool http_list_has(const char *list, size_t n, const char *item);
bool http_field_has(const char *head, size_t n, const char *name, const char *item);

/* Return true if a text (n bytes) is a host, or a host and a port (RFC 3986, section 3.2). A user
 * name is not allowed (RFC 9110, section 4.2.4). The host may be empty. */
bool http_is_authority(const char *text, size_t n);

/* Write to path (room bytes with its NUL) the target's path without the query, and with its escapes
 * decoded. HTTP_PATH_WRONG: a bad escape, a control character, a fragment. */
enum http_path { HTTP_PATH_GOOD, HTTP_PATH_LONG, HTTP_PATH_WRONG };
enum http_path http_decode_path(const char *target, size_t n, char *path, size_t room);

#endif
