#include "runtime/http/http_fields.h"

#include <string.h>

#include "runtime/text/hex_digit.h"

static char lower(char c)
{
    return c >= 'A' && c <= 'Z' ? (char)(c - 'A' + 'a') : c;
}

bool http_same(const char *a, size_t n, const char *b)
{
    for (size_t i = 0; i < n; i++) {
        if (b[i] == '\0' || lower(a[i]) != lower(b[i])) {
            return false;
        }
    }
    return b[n] == '\0';
}

/* ---- lines ----------------------------------------------------------------------------------- */

static bool is_alphanumeric(char c)
{
    return (c >= '0' && c <= '9') || (lower(c) >= 'a' && lower(c) <= 'z');
}

static bool is_token(char c)
{
    return is_alphanumeric(c) || (c != '\0' && strchr("!#$%&'*+-.^_`|~", c) != NULL);
}

static bool is_control(char c)
{
    return (unsigned char)c < ' ' || c == 0x7f;
}

/* Return how many bytes at the beginning of text (n) form a token. */
static size_t token_bytes(const char *text, size_t n)
{
    size_t at = 0;

    while (at < n && is_token(text[at])) {
        at++;
    }
    return at;
}

bool http_is_request_line(const char *line, size_t n)
{
    size_t method = token_bytes(line, n), target = 0;

    if (method == 0 || method == n || line[method] != ' ') {
        return false;
    }
    line += method + 1;
    n -= method + 1;
    while (target < n && line[target] != ' ' && !is_control(line[target])) {
        target++;
    }
    /* the line must end with " HTTP/", a digit, a point and a digit; check_version() checks the
     * digits */
    return target != 0 && n - target == 9 && memcmp(line + target, " HTTP/", 6) == 0 &&
           line[target + 7] == '.';
}

bool http_is_field(const char *line, size_t n)
{
    size_t name = token_bytes(line, n);

    if (name == 0 || name == n || line[name] != ':') {
        return false;
    }
    for (size_t at = name + 1; at < n; at++) {
        if (is_control(line[at]) && line[at] != '\t') {
            return false;
        }
    }
    return true;
}

/* ---- fields ---------------------------------------------------------------------------------- */

static bool is_space(char c)
{
    return c == ' ' || c == '\t';
}

static const char *trim(const char *text, size_t *n)
{
    while (*n != 0 && is_space(text[*n - 1])) {
        --*n;
    }
    while (*n != 0 && is_space(*text)) {
        text++;
        --*n;
    }
    return text;
}

/* Return the value of the next field of that name from *at on; *at advances past it. Returns NULL
 * if there are no more. */
static const char *next_field(const char **at, const char *end, const char *name, size_t *bytes)
{
    while (*at < end) {
        const char *line = *at, *line_end = memchr(line, '\r', (size_t)(end - line));
        const char *colon;

        line_end = line_end != NULL ? line_end : end;
        *at = end - line_end > 2 ? line_end + 2 : end; /* CRLF */
        colon = memchr(line, ':', (size_t)(line_end - line));
        if (colon != NULL && http_same(line, (size_t)(colon - line), name)) {
            *bytes = (size_t)(line_end - colon) - 1;
            return trim(colon + 1, bytes);
        }
    }
    *bytes = 0;
    return NULL;
}

const char *http_field(const char *head, size_t n, const char *name, unsigned which, size_t *bytes)
{
    const char *end = head + n, *value = next_field(&head, end, name, bytes);

    for (; which != 0 && value != NULL; which--) {
        value = next_field(&head, end, name, bytes);
    }
    return value;
}

bool http_list_has(const char *list, size_t n, const char *item)
{
    while (n != 0) {
        const char *comma = memchr(list, ',', n);
        size_t all = comma != NULL ? (size_t)(comma - list) : n, some = all;
        const char *one = trim(list, &some);
        size_t name = 0;

        /* An item's name ends before its version ("websocket/13") or its parameters. */
        while (name < some && one[name] != '/' && one[name] != ';' && !is_space(one[name])) {
            name++;
        }
        if (http_same(one, name, item)) {
            return true;
        }
        all += comma != NULL;
        list += all;
        n -= all;
    }
    return false;
}

bool http_field_has(const char *head, size_t n, const char *name, const char *item)
{
    const char *end = head + n, *list;
    size_t bytes;

    while ((list = next_field(&head, end, name, &bytes)) != NULL) {
        if (http_list_has(list, bytes, item)) {
            return true;
        }
    }
    return false;
}

/* ---- the target ------------------------------------------------------------------------------ */

/* Return the length of an IPv6 address in brackets, or 0 if there is none. Only its characters are
 * checked. */
static size_t literal_bytes(const char *text, size_t n)
{
    size_t at = 1;

    while (at < n && (hex_digit(text[at]) >= 0 || text[at] == ':' || text[at] == '.')) {
        at++;
    }
    return at > 1 && at < n && text[at] == ']' ? at + 1 : 0;
}

/* Return the length of a name, which has letters, digits, marks and escapes. */
static size_t name_bytes(const char *text, size_t n)
{
    size_t at = 0;

    while (at < n && (is_alphanumeric(text[at]) ||
                      (text[at] != '\0' && strchr("-._~!$&'()*+,;=", text[at]) != NULL) ||
                      (text[at] == '%' && n - at > 2 && hex_digit(text[at + 1]) >= 0 &&
                       hex_digit(text[at + 2]) >= 0))) {
        at++;
    }
    return at;
}

bool http_is_authority(const char *text, size_t n)
{
    bool literal = n != 0 && text[0] == '[';
    size_t at = literal ? literal_bytes(text, n) : name_bytes(text, n);

    if (literal && at == 0) {
        return false;
    }
    if (at < n && text[at] == ':') {
        at++;
        while (at < n && text[at] >= '0' && text[at] <= '9') {
            at++;
        }
    }
    return at == n;
}

enum http_path http_decode_path(const char *target, size_t n, char *path, size_t room)
{
    bool fits = true;
    size_t out = 0, at = 0;

    for (; at < n && target[at] != '?'; at++) {
        char c = target[at];

        if (c == '%') {
            int high = n - at > 2 ? hex_digit(target[at + 1]) : -1,
                low = n - at > 2 ? hex_digit(target[at + 2]) : -1;

            if (high < 0 || low < 0) {
                return HTTP_PATH_WRONG;
            }
            c = (char)(high * 16 + low);
            at += 2;
        }
        /* A decoded control character could split a line of a log or of an answer. */
        if (is_control(c) || target[at] == '#') {
            return HTTP_PATH_WRONG;
        }
        /* Continue to decode when the room is full, so that a path that is long and malformed is
         * reported as malformed. */
        fits = fits && out + 1 < room;
        if (fits) {
            path[out++] = c;
        }
    }
    path[out] = '\0';
    if (memchr(target + at, '#', n - at) != NULL) {
        return HTTP_PATH_WRONG;
    }
    return fits ? HTTP_PATH_GOOD : HTTP_PATH_LONG;
}
