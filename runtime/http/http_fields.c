#include "runtime/http/http_fields.h"

#include <string.h>

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

static bool is_token(char c)
{
    return (c >= '0' && c <= '9') || (lower(c) >= 'a' && lower(c) <= 'z') ||
           (c != '\0' && strchr("!#$%&'*+-.^_`|~", c) != NULL);
}

static bool is_control(char c)
{
    return (unsigned char)c < ' ' || c == 0x7f;
}

/* Bytes of the token that text (n) begins with. */
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
    /* " HTTP/1.1", and nothing after it */
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

const char *http_field(const char *head, size_t n, const char *name, unsigned which, size_t *bytes)
{
    const char *end = head + n;

    *bytes = 0;
    while (head < end) {
        const char *line_end = memchr(head, '\r', (size_t)(end - head));
        const char *colon;

        line_end = line_end != NULL ? line_end : end;
        colon = memchr(head, ':', (size_t)(line_end - head));
        if (colon != NULL && http_same(head, (size_t)(colon - head), name) && which-- == 0) {
            *bytes = (size_t)(line_end - colon) - 1;
            return trim(colon + 1, bytes);
        }
        head = line_end + 2; /* CRLF */
    }
    return NULL;
}

bool http_list_has(const char *list, size_t n, const char *item)
{
    while (n != 0) {
        const char *comma = memchr(list, ',', n);
        size_t all = comma != NULL ? (size_t)(comma - list) : n, some = all;
        const char *one = trim(list, &some);
        size_t name = 0;

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
    size_t bytes;
    const char *list;

    for (unsigned i = 0; (list = http_field(head, n, name, i, &bytes)) != NULL; i++) {
        if (http_list_has(list, bytes, item)) {
            return true;
        }
    }
    return false;
}

/* ---- the target ------------------------------------------------------------------------------ */

static int hex(char c)
{
    if (c >= '0' && c <= '9') {
        return c - '0';
    }
    return lower(c) >= 'a' && lower(c) <= 'f' ? lower(c) - 'a' + 10 : -1;
}

bool http_decode_path(const char *target, size_t n, char *path, size_t room)
{
    size_t out = 0;

    for (size_t at = 0; at < n && target[at] != '?' && target[at] != '#'; at++) {
        char c = target[at];

        if (c == '%') {
            int high = n - at > 2 ? hex(target[at + 1]) : -1,
                low = n - at > 2 ? hex(target[at + 2]) : -1;

            if (high < 0 || low < 0) {
                return false;
            }
            c = (char)(high * 16 + low);
            at += 2;
        }
        if (is_control(c) || out + 1 == room) {
            return false;
        }
        path[out++] = c;
    }
    path[out] = '\0';
    return true;
}
