#include "host/api/serve_call.h"

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

/* Returns where the mark starts; bytes: there is none. */
static size_t find_mark(const char *text, size_t bytes)
{
    size_t n = strlen(SERVE_CALL_MARK);

    for (size_t at = 0; at + n <= bytes; at++) {
        if (memcmp(text + at, SERVE_CALL_MARK, n) == 0) {
            return at;
        }
    }
    return bytes;
}

/* Returns how many bytes at the end may be the beginning of the mark. */
static size_t held_bytes(const char *text, size_t bytes)
{
    size_t n = strlen(SERVE_CALL_MARK) - 1;

    for (n = n < bytes ? n : bytes; n != 0; n--) {
        if (memcmp(text + bytes - n, SERVE_CALL_MARK, n) == 0) {
            break;
        }
    }
    return n;
}

/* Returns the object's own bytes, as far as they have come. True: the object is complete. */
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

/* Goes past the fixed text if it comes next. */
static bool pass(const char **at, const char *end, const char *fixed)
{
    size_t n = strlen(fixed);

    if ((size_t)(end - *at) < n || memcmp(*at, fixed, n) != 0) {
        return false;
    }
    *at += n;
    return true;
}

/* at: the mark. */
static void read_call(struct serve_call *c, const char *at, const char *end)
{
    if (!pass(&at, end, SERVE_CALL_MARK) || !pass(&at, end, SERVE_CALL_NAME)) {
        return;
    }
    c->name = at;
    while (at != end && *at != '"') {
        at++;
    }
    c->name_bytes = (size_t)(at - c->name);
    c->found = pass(&at, end, SERVE_CALL_ARGUMENTS) && at != end;
    c->arguments = at;
    c->whole = c->found && object_bytes(at, (size_t)(end - at), &c->arguments_bytes);
}

bool serve_call_next(struct serve_call *c, const char *text, size_t bytes)
{
    size_t from = (size_t)(c->arguments - text) + c->arguments_bytes, mark;

    mark = from + find_mark(text + from, bytes - from);
    *c = (struct serve_call){ .content = c->content };
    if (mark != bytes) {
        read_call(c, text + mark, text + bytes);
    }
    return c->found;
}

void serve_call_find(struct serve_call *c, const char *text, size_t bytes, bool done)
{
    size_t mark = find_mark(text, bytes);

    *c = (struct serve_call){ .content = bytes };
    if (mark == bytes) {
        if (!done) {
            c->content = without_space(text, bytes - held_bytes(text, bytes));
        }
        return;
    }
    c->content = without_space(text, mark);
    read_call(c, text + mark, text + bytes);
}

bool serve_call_add(struct serve_text *out, const char *name, const char *arguments)
{
    static const char begin[] = SERVE_CALL_MARK SERVE_CALL_NAME;

    return serve_text_add(out, begin, strlen(begin)) && serve_text_add(out, name, strlen(name)) &&
           serve_text_add(out, SERVE_CALL_ARGUMENTS, strlen(SERVE_CALL_ARGUMENTS)) &&
           serve_text_add(out, arguments, strlen(arguments)) &&
           serve_text_add(out, SERVE_CALL_END, strlen(SERVE_CALL_END));
}
