#include "runtime/console/line_text.h"

#include <stdbool.h>
#include <stdint.h>

#include "board/min_max.h"
#include "runtime/text/char_width.h"
#include "runtime/text/utf8.h"

static bool is_continuation(char c)
{
    return ((uint8_t)c & 0xc0) == 0x80;
}

static size_t code_after(const char *line, size_t n, size_t at)
{
    while (at < n && is_continuation(line[++at])) {
    }
    return min_size(at, n);
}

static uint32_t code_at(const char *line, size_t n, size_t at)
{
    return utf8_decode((const uint8_t *)line + at, (int)(code_after(line, n, at) - at));
}

/* Return true if the character at `at` is a mark, which belongs to the character before it. */
static bool joins(const char *line, size_t n, size_t at)
{
    return at < n && (uint8_t)line[at] >= 0x80 && char_joins(code_at(line, n, at));
}

size_t line_text_character_before(const char *line, size_t n, size_t at)
{
    while (at > 0 && (is_continuation(line[--at]) || joins(line, n, at))) {
    }
    return at;
}

size_t line_text_character_after(const char *line, size_t n, size_t at)
{
    do {
        at = code_after(line, n, at);
    } while (joins(line, n, at));
    return at;
}

static bool is_space(char c)
{
    return c == ' ' || c == '\n' || c == '\t';
}

size_t line_text_word_before(const char *line, size_t at)
{
    while (at > 0 && is_space(line[at - 1])) {
        at--;
    }
    while (at > 0 && !is_space(line[at - 1])) {
        at--;
    }
    return at;
}

size_t line_text_word_after(const char *line, size_t n, size_t at)
{
    while (at < n && is_space(line[at])) {
        at++;
    }
    while (at < n && !is_space(line[at])) {
        at++;
    }
    return at;
}

unsigned line_text_columns(const char *line, size_t n)
{
    unsigned columns = 0;

    for (size_t at = 0; at < n; at = code_after(line, n, at)) {
        columns += char_width(code_at(line, n, at));
    }
    return columns;
}
