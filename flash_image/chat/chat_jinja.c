#include "flash_image/chat/chat_jinja.h"

#include <stdbool.h>
#include <string.h>

#include "board/min_max.h"
#include "flash_image/chat/chat_forms.h"

struct squeeze {
    const char *at, *end;
    char *out;
    size_t n;
};

static const char quote = CHAT_QUOTE[0];

/* No outside byte may look like a mark of ours. */
static void put(struct squeeze *s, char c)
{
    if ((unsigned char)c <= 3) {
        c = ' ';
    }
    s->out[s->n++] = c;
}

/* The character that a backslash and the one after it stand for. */
static char unescape(char c)
{
    switch (c) {
    case 'n': return '\n';
    case 't': return '\t';
    default: return c;
    }
}

static bool is_space(char c)
{
    return c == ' ' || c == '\t' || c == '\n' || c == '\r';
}

static bool is_word(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
}

static bool begins(const struct squeeze *s, const char *what)
{
    size_t n = strlen(what);

    return (size_t)(s->end - s->at) >= n && memcmp(s->at, what, n) == 0;
}

/* The literal at s->at, which begins with a quotation mark of either kind. After a literal and an
 * operator that joins it continues that literal. */
static void take_literal(struct squeeze *s)
{
    char mark = *s->at++;

    if (s->n >= 2 && s->out[s->n - 2] == quote &&
        (s->out[s->n - 1] == '+' || s->out[s->n - 1] == '~')) {
        s->n -= 2;
    } else {
        s->out[s->n++] = quote;
    }
    while (s->at < s->end && *s->at != mark) {
        char c = *s->at++;

        if (c == '\\' && s->at < s->end) {
            c = unescape(*s->at++);
        }
        put(s, c);
    }
    if (s->at < s->end) {
        s->at++;
        s->out[s->n++] = quote;
    }
}

/* What ends with [QUOTEnameQUOTE, and a ] comes: .name instead. */
static bool close_name(struct squeeze *s)
{
    size_t start;

    if (s->n < 3 || s->out[s->n - 1] != quote) {
        return false;
    }
    for (start = s->n - 1; start > 0 && is_word(s->out[start - 1]);) {
        start--;
    }
    if (start < 2 || start == s->n - 1 || s->out[start - 1] != quote || s->out[start - 2] != '[') {
        return false;
    }
    s->out[start - 2] = '.';
    memmove(s->out + start - 1, s->out + start, s->n - 1 - start);
    s->n -= 2;
    return true;
}

/* A tag from its two opening characters to its end. Two words stay apart by one space. */
static void take_tag(struct squeeze *s, const char *close)
{
    bool apart = false;

    put(s, *s->at++);
    put(s, *s->at++);

    while (s->at < s->end && !begins(s, close)) {
        char c = *s->at;

        if (is_space(c)) {
            apart = true;
            s->at++;
            continue;
        }
        if (c == '\'' || c == '"') {
            take_literal(s);
        } else if (c == ']' && close_name(s)) {
            s->at++;
        } else {
            if (apart && s->n > 0 && is_word(c) && is_word(s->out[s->n - 1])) {
                put(s, ' ');
            }
            put(s, c);
            s->at++;
        }
        apart = false;
    }
    for (size_t i = 0; i < 2 && s->at < s->end; i++) {
        put(s, *s->at++);
    }
}

static void skip_comment(struct squeeze *s)
{
    while (s->at < s->end && !begins(s, "#}")) {
        s->at++;
    }
    s->at += min_size((size_t)(s->end - s->at), 2);
}

size_t chat_jinja_squeeze(const uint8_t *text, size_t bytes, char *out)
{
    struct squeeze s = { (const char *)text, (const char *)text + bytes, out, 0 };

    while (s.at < s.end) {
        if (begins(&s, "{#")) {
            skip_comment(&s);
        } else if (begins(&s, "{%")) {
            take_tag(&s, "%}");
        } else if (begins(&s, "{{")) {
            take_tag(&s, "}}");
        } else {
            put(&s, *s.at++);
        }
    }
    out[s.n] = '\0';
    return s.n;
}
