#include "runtime/api/api_schema_parts.h"

#include <string.h>

#include "runtime/text/format_text.h"

static void put_char(struct api_schema *s, uint32_t from, uint32_t to, char c)
{
    api_automaton_byte(s->a, from, to, (uint8_t)c, (uint8_t)c);
}

/* The first and last state of a part that is called. */
struct part {
    uint32_t start, end;
};

static struct part new_part(struct api_schema *s)
{
    struct part p = { api_automaton_state(s->a), api_automaton_state(s->a) };

    api_automaton_accept(s->a, p.end);
    return p;
}

/* ---- white space and marks ------------------------------------------------------------------- */

enum { INDENT_MOST = 20 };

/* Add a gap: nothing, a blank, or the end of a line with an indentation. */
static void put_gap(struct api_schema *s, uint32_t from, uint32_t to)
{
    uint32_t line = api_automaton_state(s->a);

    if (s->blank == 0) {
        struct part p = new_part(s);

        put_char(s, p.start, p.end, ' ');
        put_char(s, p.start, p.end, '\t');
        s->blank = p.start;
    }
    api_automaton_skip(s->a, from, to);
    put_char(s, from, to, ' ');
    put_char(s, from, line, '\n');
    api_automaton_call(s->a, line, to, s->blank, 0, INDENT_MOST);
}

void api_schema_open_bracket(struct api_schema *s, uint32_t from, uint32_t to, char bracket)
{
    uint32_t inside = api_automaton_state(s->a);

    put_char(s, from, inside, bracket);
    put_gap(s, inside, to);
}

void api_schema_close_bracket(struct api_schema *s, uint32_t from, uint32_t to, char bracket)
{
    uint32_t last = api_automaton_state(s->a);

    put_gap(s, from, last);
    put_char(s, last, to, bracket);
}

void api_schema_comma(struct api_schema *s, uint32_t from, uint32_t to)
{
    uint32_t behind = api_automaton_state(s->a);

    put_char(s, from, behind, ',');
    put_gap(s, behind, to);
}

void api_schema_colon(struct api_schema *s, uint32_t from, uint32_t to)
{
    uint32_t behind = api_automaton_state(s->a);

    put_char(s, from, behind, ':');
    api_automaton_skip(s->a, behind, to);
    put_char(s, behind, to, ' ');
}

/* ---- texts ----------------------------------------------------------------------------------- */

/* Add characters of two to four bytes (Unicode, table 3-7). */
static void put_long_characters(struct api_schema *s, struct part p)
{
    static const uint8_t firsts[][4] = { /* first byte from .. to, second byte from .. to */
                                         { 0xe0, 0xe0, 0xa0, 0xbf }, { 0xe1, 0xec, 0x80, 0xbf },
                                         { 0xed, 0xed, 0x80, 0x9f }, { 0xee, 0xef, 0x80, 0xbf },
                                         { 0xf0, 0xf0, 0x90, 0xbf }, { 0xf1, 0xf3, 0x80, 0xbf },
                                         { 0xf4, 0xf4, 0x80, 0x8f }
    };
    uint32_t one = api_automaton_state(s->a), two = api_automaton_state(s->a);

    api_automaton_byte(s->a, one, p.end, 0x80, 0xbf);
    api_automaton_byte(s->a, two, one, 0x80, 0xbf);
    api_automaton_byte(s->a, p.start, one, 0xc2, 0xdf);
    for (size_t i = 0; i < sizeof firsts / sizeof firsts[0]; i++) {
        uint32_t second = api_automaton_state(s->a);

        api_automaton_byte(s->a, p.start, second, firsts[i][0], firsts[i][1]);
        api_automaton_byte(s->a, second, firsts[i][0] < 0xf0 ? one : two, firsts[i][2],
                           firsts[i][3]);
    }
}

static void put_escapes(struct api_schema *s, struct part p)
{
    uint32_t escape = api_automaton_state(s->a), code = api_automaton_state(s->a);

    put_char(s, p.start, escape, '\\');
    for (const char *c = "\"\\/bfnrt"; *c != '\0'; c++) {
        put_char(s, escape, p.end, *c);
    }
    put_char(s, escape, code, 'u');
    for (unsigned i = 0; i < 4; i++) {
        uint32_t next = i == 3 ? p.end : api_automaton_state(s->a);

        api_automaton_byte(s->a, code, next, '0', '9');
        api_automaton_byte(s->a, code, next, 'a', 'f');
        api_automaton_byte(s->a, code, next, 'A', 'F');
        code = next;
    }
}

static uint32_t character_part(struct api_schema *s)
{
    if (s->character == 0) {
        struct part p = new_part(s);

        api_automaton_byte(s->a, p.start, p.end, ' ', '!');
        api_automaton_byte(s->a, p.start, p.end, '#', '[');
        api_automaton_byte(s->a, p.start, p.end, ']', '~');
        put_long_characters(s, p);
        put_escapes(s, p);
        s->character = p.start;
    }
    return s->character;
}

void api_schema_text(struct api_schema *s, uint32_t least, uint32_t most, uint32_t from,
                     uint32_t to)
{
    uint32_t inside = api_automaton_state(s->a), behind = api_automaton_state(s->a);

    put_char(s, from, inside, '"');
    if (most != 0) {
        api_automaton_call(s->a, inside, behind, character_part(s), least, most);
    } else {
        api_automaton_skip(s->a, inside, behind);
    }
    put_char(s, behind, to, '"');
}

static uint32_t text_part(struct api_schema *s)
{
    if (s->text == 0) {
        struct part p = new_part(s);

        api_schema_text(s, 0, API_TEXT_MOST, p.start, p.end);
        s->text = p.start;
    }
    return s->text;
}

uint32_t api_schema_text_to(struct api_schema *s, uint32_t from)
{
    uint32_t to = api_automaton_state(s->a);

    api_automaton_call(s->a, from, to, text_part(s), 1, 1);
    return to;
}

/* ---- values ---------------------------------------------------------------------------------- */

static void put_json(struct api_schema *s, const struct api_text *json, uint32_t from, uint32_t to)
{
    s->a->full |= json->failed;
    if (!s->a->full) {
        api_automaton_text(s->a, from, to, json->bytes, json->n);
    }
}

void api_schema_literal(struct api_schema *s, const struct api_json *v, uint32_t from, uint32_t to)
{
    struct api_text json;

    api_memory_text(s->a->memory, &json);
    api_json_put(&json, v);
    put_json(s, &json, from, to);
}

uint32_t api_schema_key(struct api_schema *s, uint32_t from, const char *name)
{
    uint32_t behind = api_automaton_state(s->a), value = api_automaton_state(s->a);
    struct api_text json;

    api_memory_text(s->a->memory, &json);
    api_text_quoted(&json, name, strlen(name));
    put_json(s, &json, from, behind);
    api_schema_colon(s, behind, value);
    return value;
}

void api_schema_whole(struct api_schema *s, int32_t value, uint32_t from, uint32_t to)
{
    char text[16];
    size_t n = format_text(text, sizeof text, "%ld", (long)value);

    api_automaton_text(s->a, from, to, text, n);
}

static void put_digits(struct api_schema *s, uint32_t least, uint32_t most, uint32_t from,
                       uint32_t to)
{
    if (s->digit == 0) {
        struct part p = new_part(s);

        api_automaton_byte(s->a, p.start, p.end, '0', '9');
        s->digit = p.start;
    }
    api_automaton_call(s->a, from, to, s->digit, least, most);
}

void api_schema_fraction(struct api_schema *s, uint32_t from, uint32_t to)
{
    uint32_t point = api_automaton_state(s->a);

    put_char(s, from, point, '.');
    put_digits(s, 1, API_DIGITS_MOST, point, to);
}

void api_schema_range(struct api_schema *s, int32_t least, int32_t most, bool whole, uint32_t from,
                      uint32_t to)
{
    for (int32_t i = least; i <= most; i++) {
        api_schema_whole(s, i, from, to);
        if (!whole && i >= 0 && i < most) {
            uint32_t behind = api_automaton_state(s->a);

            api_schema_whole(s, i, from, behind);
            api_schema_fraction(s, behind, to);
        }
    }
}

void api_schema_number(struct api_schema *s, bool whole, bool positive, uint32_t from, uint32_t to)
{
    uint32_t digits = api_automaton_state(s->a), minus = api_automaton_state(s->a);
    uint32_t end = whole ? to : api_automaton_state(s->a);

    for (unsigned i = 0; i < 2; i++) {
        uint32_t begin = i == 0 ? from : minus;

        put_char(s, begin, end, '0');
        api_automaton_byte(s->a, begin, digits, '1', '9');
    }
    if (!positive) {
        put_char(s, from, minus, '-');
    }
    put_digits(s, 0, API_DIGITS_MOST - 1, digits, end);
    if (whole) {
        return;
    }
    api_automaton_skip(s->a, end, to);
    api_schema_fraction(s, end, to);
}

/* ---- formats --------------------------------------------------------------------------------- */

/* Add the characters for a letter of a pattern: Y is 1 or 2, d is a digit, x is a hexadecimal
 * digit. M is a month, D a day, h an hour, and m a minute or second, each of two digits. Other
 * letters stand for themselves. */
static uint32_t put_class(struct api_schema *s, uint32_t from, char c)
{
    static const struct {
        char c, first[2], last[2]; /* ranges of two digits, or of one digit if last is 0 */
    } classes[] = {
        { 'Y', { '1', '2' }, { 0, 0 } },     { 'd', { '0', '9' }, { 0, 0 } },
        { 'M', { '0', '0' }, { '1', '9' } }, { 'M', { '1', '1' }, { '0', '2' } },
        { 'D', { '0', '0' }, { '1', '9' } }, { 'D', { '1', '1' }, { '0', '9' } },
        { 'D', { '2', '2' }, { '0', '8' } }, { 'h', { '0', '1' }, { '0', '9' } },
        { 'h', { '2', '2' }, { '0', '3' } }, { 'm', { '0', '5' }, { '0', '9' } },
        { 'x', { '0', '9' }, { 0, 0 } },     { 'x', { 'a', 'f' }, { 0, 0 } },
    };
    uint32_t to = api_automaton_state(s->a);
    bool some = false;

    for (size_t i = 0; i < sizeof classes / sizeof classes[0]; i++) {
        uint32_t next = to;

        if (classes[i].c != c) {
            continue;
        }
        some = true;
        if (classes[i].last[0] != 0) {
            next = api_automaton_state(s->a);
            api_automaton_byte(s->a, next, to, (uint8_t)classes[i].last[0],
                               (uint8_t)classes[i].last[1]);
        }
        api_automaton_byte(s->a, from, next, (uint8_t)classes[i].first[0],
                           (uint8_t)classes[i].first[1]);
    }
    if (!some) {
        put_char(s, from, to, c);
    }
    return to;
}

bool api_schema_format(struct api_schema *s, const char *format, uint32_t from, uint32_t to)
{
    static const struct {
        const char *name, *pattern;
    } formats[] = { { "date", "Yddd-M-D" },
                    { "time", "h:m:mZ" },
                    { "date-time", "Yddd-M-DTh:m:mZ" },
                    { "uuid", "xxxxxxxx-xxxx-xxxx-xxxx-xxxxxxxxxxxx" } };

    for (size_t i = 0; i < sizeof formats / sizeof formats[0]; i++) {
        if (strcmp(formats[i].name, format) == 0) {
            uint32_t at = api_automaton_state(s->a);

            put_char(s, from, at, '"');
            for (const char *c = formats[i].pattern; *c != '\0'; c++) {
                at = put_class(s, at, *c);
            }
            put_char(s, at, to, '"');
            return true;
        }
    }
    return false;
}

/* ---- lists ----------------------------------------------------------------------------------- */

void api_schema_list(struct api_schema *s, uint32_t item, uint32_t least, uint32_t most,
                     uint32_t from, uint32_t to, const char brackets[2])
{
    uint32_t inside = api_automaton_state(s->a), one = api_automaton_state(s->a),
             all = api_automaton_state(s->a), next = api_automaton_state(s->a);
    struct part more = new_part(s);

    api_schema_open_bracket(s, from, inside, brackets[0]);
    if (least == 0) {
        api_automaton_skip(s->a, inside, all);
    }
    if (most != 0) {
        api_automaton_call(s->a, inside, one, item, 1, 1);
        api_schema_comma(s, more.start, next);
        api_automaton_call(s->a, next, more.end, item, 1, 1);
    }
    if (most > 1) {
        api_automaton_call(s->a, one, all, more.start, least > 1 ? least - 1 : 0, most - 1);
    } else {
        api_automaton_skip(s->a, one, all);
    }
    api_schema_close_bracket(s, all, to, brackets[1]);
}

/* ---- any value ------------------------------------------------------------------------------- */

/* Return the part for an object's member with a value of any type. */
static uint32_t member_part(struct api_schema *s, uint32_t value)
{
    struct part p = new_part(s);
    uint32_t behind = api_schema_text_to(s, p.start), colon = api_automaton_state(s->a);

    api_schema_colon(s, behind, colon);
    api_automaton_call(s->a, colon, p.end, value, 1, 1);
    return p.start;
}

static void fill_any(struct api_schema *s, unsigned depth, struct part p)
{
    api_automaton_call(s->a, p.start, p.end, text_part(s), 1, 1);
    api_schema_number(s, false, false, p.start, p.end);
    api_automaton_text(s->a, p.start, p.end, "true", 4);
    api_automaton_text(s->a, p.start, p.end, "false", 5);
    api_automaton_text(s->a, p.start, p.end, "null", 4);
    if (depth + 1 < API_ANY_DEPTH) {
        uint32_t value = s->any[depth + 1];

        api_schema_list(s, value, 0, API_ITEMS_MOST, p.start, p.end, "[]");
        api_schema_list(s, member_part(s, value), 0, API_ITEMS_MOST, p.start, p.end, "{}");
    }
}

void api_schema_any(struct api_schema *s, unsigned depth, uint32_t from, uint32_t to)
{
    if (s->any[0] == 0) {
        for (unsigned i = API_ANY_DEPTH; i-- > 0;) { /* the deepest part comes first, because the
                                                      * others call it */
            struct part p = new_part(s);

            s->any[i] = p.start;
            fill_any(s, i, p);
        }
    }
    api_automaton_call(s->a, from, to, s->any[depth], 1, 1);
}

/* ---- schemas --------------------------------------------------------------------------------- */

/* Return the member or entry that a step of a JSON Pointer names (n bytes). In a step, ~1 is a
 * slash and ~0 a tilde. */
static const struct api_json *step_to(const struct api_json *v, const char *step, size_t n)
{
    const struct api_json *one;
    uint32_t i = 0;

    api_json_each(one, v)
    {
        const char *key = one->key, *at = step;

        for (; key != NULL && *key != '\0' && at < step + n; key++, at++) {
            bool escaped = *at == '~' && at + 1 < step + n;

            if (escaped ? *key != (*++at == '1' ? '/' : '~') : *key != *at) {
                break;
            }
        }
        if (key != NULL ? *key == '\0' && at == step + n
                        : n == 1 && (uint32_t)(step[0] - '0') == i) {
            return one;
        }
        i++;
    }
    return NULL;
}

const struct api_json *api_schema_find(const struct api_schema *s, const char *pointer)
{
    const struct api_json *v = s->root;

    if (*pointer++ != '#') {
        return NULL;
    }
    while (v != NULL && *pointer == '/') {
        size_t n = strcspn(++pointer, "/");

        v = step_to(v, pointer, n);
        pointer += n;
    }
    return *pointer == '\0' ? v : NULL;
}

const char *api_schema_type(const struct api_schema *s, const struct api_json *v)
{
    const char *pointer = api_json_text_of(v, "$ref"), *type;

    if (pointer != NULL) {
        v = api_schema_find(s, pointer);
    }
    type = api_json_text_of(v, "type");
    if (type == NULL && api_json_text_of(v, "const") != NULL) {
        return "string";
    }
    return type == NULL && api_json_get(v, "properties") != NULL ? "object" : type;
}
