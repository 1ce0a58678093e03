/* Read a body as JSON, even if a client has cut its texts in the middle of a character. */
#include <stdlib.h>
#include <string.h>

#include "host/api/serve_request_private.h"
#include "runtime/text/hex_digit.h"
#include "runtime/text/utf8.h"

/* UTF-8 without \u0000, which would end a text early. */
static bool is_text(const char *body, size_t bytes)
{
    if (utf8_whole_bytes(body, bytes) != bytes || memchr(body, '\0', bytes) != NULL) {
        return false;
    }
    for (size_t at = 0; at < bytes; at++) {
        if (body[at] != '\\') {
            continue;
        }
        if (bytes - at >= 6 && memcmp(body + at, "\\u0000", 6) == 0) {
            return false;
        }
        at++; /* a second backslash is not an escape */
    }
    return true;
}

/* Returns the UTF-16 unit of \uXXXX. -1: it is none. */
static int unit_at(const char *s)
{
    int value = 0;

    if (s[0] != '\\' || s[1] != 'u') {
        return -1;
    }
    for (int i = 2; i < 6; i++) {
        if (hex_digit(s[i]) < 0) {
            return -1;
        }
        value = value * 16 + hex_digit(s[i]);
    }
    return value;
}

/* Half of a surrogate pair becomes U+FFFD; clients that cut a text inside a character leave one. */
static void mend_halves(char *body)
{
    for (char *at = body; *at != '\0';) {
        int unit = unit_at(at), next;

        if (unit < 0) {
            at += *at == '\\' && at[1] != '\0' ? 2 : 1;
            continue;
        }
        next = unit >= 0xd800 && unit < 0xdc00 ? unit_at(at + 6) : -1;
        if (next >= 0xdc00 && next < 0xe000) {
            at += 6;
        } else if (unit >= 0xd800 && unit < 0xe000) {
            memcpy(at, "\\ufffd", 6);
        }
        at += 6;
    }
}

/* at: after the quote that begins a text. Returns the place after the closing quote. */
static const char *skip_text(const char *at)
{
    while (*at != '"' && *at != '\0') {
        at += *at == '\\' && at[1] != '\0' ? 2 : 1;
    }
    return *at == '"' ? at + 1 : at;
}

/* Reads the number after a key. False: there is none. */
static bool take_number(const char *at, char *text, size_t room)
{
    static const char blank[] = " \t\r\n";
    size_t n;

    at += strspn(at, blank);
    if (*at != ':') {
        return false;
    }
    at += 1 + strspn(at + 1, blank);
    n = strspn(at, "+-0123456789.eE");
    if (n == 0 || n >= room) {
        return false;
    }
    memcpy(text, at, n);
    text[n] = '\0';
    return true;
}

bool serve_body_number(const char *body, const char *name, char *text, size_t room)
{
    size_t length = strlen(name);
    bool found = false;
    int depth = 0;

    while (*body != '\0') {
        const char *key = body + 1;

        if (*body != '"') {
            depth += (*body == '{' || *body == '[') - (*body == '}' || *body == ']');
            body++;
            continue;
        }
        body = skip_text(key);
        if (depth == 1 && (size_t)(body - key) == length + 1 && memcmp(key, name, length) == 0 &&
            take_number(body, text, room)) {
            found = true; /* if there are two, the last one counts */
        }
    }
    return found;
}

/* NULL: *e says why there is none. */
cJSON *serve_body_parse(const char *body, size_t bytes, struct serve_error *e)
{
    const char *end = body;
    char *text;
    cJSON *root;

    if (!is_text(body, bytes)) {
        (void)serve_refuse(e, 400, NULL, NULL, "the body is not UTF-8 without \\u0000");
        return NULL;
    }
    text = strdup(body);
    if (text == NULL) {
        (void)serve_refuse(e, 500, NULL, NULL, "out of memory");
        return NULL;
    }
    mend_halves(text);
    root = cJSON_ParseWithOpts(text, &end, 1);
    if (root == NULL) {
        (void)serve_refuse(e, 400, NULL, NULL, "the body is not JSON: byte %zu is wrong",
                           end >= text ? (size_t)(end - text) : 0);
    }
    free(text);
    return root;
}
