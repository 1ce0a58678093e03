#include "runtime/api/api_call.h"

#include <string.h>

static bool is_space(char c)
{
    return c == ' ' || c == '\n' || c == '\t' || c == '\r';
}

static size_t without_space(const char *text, size_t bytes)
{
    while (bytes != 0 && is_space(text[bytes - 1])) {
        bytes--;
    }
    return bytes;
}

/* Return the mark's offset, or `bytes` if there is none. */
static size_t find_mark(const char *text, size_t bytes)
{
    size_t n = strlen(API_CALL_MARK);

    for (size_t at = 0; at + n <= bytes; at++) {
        if (memcmp(text + at, API_CALL_MARK, n) == 0) {
            return at;
        }
    }
    return bytes;
}

/* Return how many bytes at the end may be the beginning of the mark. */
static size_t held_bytes(const char *text, size_t bytes)
{
    size_t n = strlen(API_CALL_MARK) - 1;

    for (n = n < bytes ? n : bytes; n != 0; n--) {
        if (memcmp(text + bytes - n, API_CALL_MARK, n) == 0) {
            break;
        }
    }
    return n;
}

/* Count the bytes of the object that have come. Returns true if the object is complete. */
static bool object_bytes(const char *text, size_t bytes, size_t *n)
{
    bool quoted = false;
    int open = 0;

    for (size_t at = 0; at < bytes; at++) {
        char c = text[at];

        if (quoted && c == '\\') {
            at++;
        } else if (c == '"') {
            quoted = !quoted;
        } else if (!quoted && (c == '{' || c == '[')) {
            open++;
        } else if (!quoted && (c == '}' || c == ']') && --open == 0) {
            *n = at + 1;
            return true;
        }
    }
    *n = bytes;
    return false;
}

/* Go past the fixed text if it comes next. */
static bool pass(const char **at, const char *end, const char *fixed)
{
    size_t n = strlen(fixed);

    if ((size_t)(end - *at) < n || memcmp(*at, fixed, n) != 0) {
        return false;
    }
    *at += n;
    return true;
}

/* Read the call whose mark is at offset `at`. */
static void read_call(struct api_call *c, const char *at, const char *end)
{
    if (!pass(&at, end, API_CALL_MARK) || !pass(&at, end, API_CALL_NAME)) {
        return;
    }
    c->name = at;
    while (at != end && *at != '"') {
        at++;
    }
    c->name_bytes = (size_t)(at - c->name);
    c->found = pass(&at, end, API_CALL_ARGUMENTS) && at != end;
    c->arguments = at;
    c->whole = c->found && object_bytes(at, (size_t)(end - at), &c->arguments_bytes);
}

bool api_call_next(struct api_call *c, const char *text, size_t bytes)
{
    size_t from = (size_t)(c->arguments - text) + c->arguments_bytes, mark;

    mark = from + find_mark(text + from, bytes - from);
    *c = (struct api_call){ .content = c->content };
    if (mark != bytes) {
        read_call(c, text + mark, text + bytes);
    }
    return c->found;
}

void api_call_find(struct api_call *c, const char *text, size_t bytes, bool done)
{
    size_t mark = find_mark(text, bytes);

    *c = (struct api_call){ .content = bytes };
    if (mark == bytes) {
        if (!done) {
            c->content = without_space(text, bytes - held_bytes(text, bytes));
        }
        return;
    }
    c->content = without_space(text, mark);
    read_call(c, text + mark, text + bytes);
}

bool api_call_add(struct api_text *out, const char *name, const char *arguments)
{
    static const char begin[] = API_CALL_MARK API_CALL_NAME;

    return api_text_put(out, begin, strlen(begin)) && api_text_put(out, name, strlen(name)) &&
           api_text_put(out, API_CALL_ARGUMENTS, strlen(API_CALL_ARGUMENTS)) &&
           api_text_put(out, arguments, strlen(arguments)) &&
           api_text_put(out, API_CALL_END, strlen(API_CALL_END));
}
