#include "flash_image/jinja/jinja_text.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "runtime/text/utf8.h"

void jinja_write(struct jinja *j, struct jinja_buffer *b, struct jinja_text t)
{
    if (t.bytes > JINJA_MOST_TEXT - b->bytes) {
        jinja_fail(j, "a text has more than %u bytes", (unsigned)JINJA_MOST_TEXT);
    }
    if (t.bytes > b->room - b->bytes) {
        b->room = (b->bytes + t.bytes) * 2 + 32;
        b->data = jinja_grow(j, b->data, b->bytes, b->room);
    }
    if (t.bytes != 0) {
        memcpy(b->data + b->bytes, t.data, t.bytes);
        b->bytes += t.bytes;
    }
}

void jinja_write_words(struct jinja *j, struct jinja_buffer *b, const char *s)
{
    jinja_write(j, b, jinja_text(s));
}

void jinja_write_char(struct jinja *j, struct jinja_buffer *b, char c)
{
    jinja_write(j, b, (struct jinja_text){ &c, 1 });
}

struct jinja_text jinja_written(const struct jinja_buffer *b)
{
    return (struct jinja_text){ b->data != NULL ? b->data : "", b->bytes };
}

void jinja_write_code_point(struct jinja *j, struct jinja_buffer *b, uint32_t c)
{
    char text[4];
    bool surrogate = c >= 0xd800 && c < 0xe000;

    if (surrogate || c > 0x10ffff) {
        jinja_write_words(j, b, UTF8_REPLACEMENT);
    } else {
        jinja_write(j, b, (struct jinja_text){ text, utf8_encode(text, c) });
    }
}

/* Find the fewest digits that read back as the same number; *exponent is the exponent of the first
 * digit. */
static void shortest(double real, char digits[20], int *exponent)
{
    char text[40];
    const char *at = text;
    size_t n = 0;

    for (int places = 0; places < 17; places++) {
        snprintf(text, sizeof text, "%.*e", places, fabs(real));
        if (strtod(text, NULL) == fabs(real)) {
            break;
        }
    }
    for (; *at != 'e'; at++) {
        if (*at != '.') {
            digits[n++] = *at;
        }
    }
    digits[n] = '\0';
    *exponent = atoi(at + 1);
}

static void write_fixed(struct jinja *j, struct jinja_buffer *b, const char *digits, int exponent)
{
    int n = (int)strlen(digits);

    if (exponent < 0) {
        jinja_write_words(j, b, "0.");
        for (int i = exponent + 1; i < 0; i++) {
            jinja_write_char(j, b, '0');
        }
        jinja_write_words(j, b, digits);
        return;
    }
    for (int i = 0; i < n || i <= exponent; i++) {
        if (i == exponent + 1) {
            jinja_write_char(j, b, '.');
        }
        jinja_write_char(j, b, i < n ? digits[i] : '0');
    }
    if (n <= exponent + 1) {
        jinja_write_words(j, b, ".0");
    }
}

void jinja_write_float(struct jinja *j, struct jinja_buffer *b, double real)
{
    char digits[20], end[16];
    int exponent;

    if (isnan(real)) {
        jinja_write_words(j, b, "nan");
        return;
    }
    if (signbit(real)) {
        jinja_write_char(j, b, '-');
    }
    if (isinf(real)) {
        jinja_write_words(j, b, "inf");
        return;
    }
    shortest(real, digits, &exponent);
    if (exponent >= -4 && exponent < 16) {
        write_fixed(j, b, digits, exponent);
        return;
    }
    jinja_write_char(j, b, digits[0]);
    if (digits[1] != '\0') {
        jinja_write_char(j, b, '.');
        jinja_write_words(j, b, digits + 1);
    }
    snprintf(end, sizeof end, "e%+03d", exponent);
    jinja_write_words(j, b, end);
}

static void write_int(struct jinja *j, struct jinja_buffer *b, int64_t n)
{
    char text[24];

    snprintf(text, sizeof text, "%lld", (long long)n);
    jinja_write_words(j, b, text);
}

static void write_quoted(struct jinja *j, struct jinja_buffer *b, struct jinja_text t)
{
    bool single = jinja_find(t, jinja_text("'"), 0) != SIZE_MAX;
    char quote = single && jinja_find(t, jinja_text("\""), 0) == SIZE_MAX ? '"' : '\'';

    jinja_write_char(j, b, quote);
    for (size_t i = 0; i < t.bytes; i++) {
        static const char plain[] = "\n\r\t\\", named[] = "nrt\\";
        const char *at = t.data[i] != '\0' ? strchr(plain, t.data[i]) : NULL;
        char code[8];

        if (at != NULL) {
            jinja_write_char(j, b, '\\');
            jinja_write_char(j, b, named[at - plain]);
        } else if (t.data[i] == quote) {
            jinja_write_char(j, b, '\\');
            jinja_write_char(j, b, quote);
        } else if ((unsigned char)t.data[i] < 0x20 || t.data[i] == 0x7f) {
            snprintf(code, sizeof code, "\\x%02x", (unsigned)(unsigned char)t.data[i]);
            jinja_write_words(j, b, code);
        } else {
            jinja_write_char(j, b, t.data[i]);
        }
    }
    jinja_write_char(j, b, quote);
}

static void write_list(struct jinja *j, struct jinja_buffer *b, struct jinja_value v)
{
    bool tuple = v.kind == JINJA_TUPLE;

    jinja_write_char(j, b, tuple ? '(' : '[');
    for (size_t i = 0; i < v.list->n; i++) {
        jinja_write_words(j, b, i != 0 ? ", " : "");
        jinja_write_repr(j, b, v.list->item[i]);
    }
    jinja_write_words(j, b, tuple && v.list->n == 1 ? "," : "");
    jinja_write_char(j, b, tuple ? ')' : ']');
}

static void write_dict(struct jinja *j, struct jinja_buffer *b, const struct jinja_dict *d)
{
    jinja_write_char(j, b, '{');
    for (size_t i = 0; i < d->n; i++) {
        jinja_write_words(j, b, i != 0 ? ", " : "");
        jinja_write_repr(j, b, d->key[i]);
        jinja_write_words(j, b, ": ");
        jinja_write_repr(j, b, d->value[i]);
    }
    jinja_write_char(j, b, '}');
}

void jinja_write_repr(struct jinja *j, struct jinja_buffer *b, struct jinja_value v)
{
    jinja_enter(j);
    switch (v.kind) {
    case JINJA_UNDEFINED: jinja_write_words(j, b, "Undefined"); break;
    case JINJA_NONE: jinja_write_words(j, b, "None"); break;
    case JINJA_BOOL: jinja_write_words(j, b, v.truth ? "True" : "False"); break;
    case JINJA_INT: write_int(j, b, v.integer); break;
    case JINJA_FLOAT: jinja_write_float(j, b, v.real); break;
    case JINJA_STRING: write_quoted(j, b, v.text); break;
    case JINJA_LIST:
    case JINJA_TUPLE: write_list(j, b, v); break;
    case JINJA_DICT: write_dict(j, b, v.dict); break;
    default: jinja_fail(j, "a %s cannot be written as text", jinja_kind_name(v));
    }
    jinja_leave(j);
}

void jinja_write_value(struct jinja *j, struct jinja_buffer *b, struct jinja_value v)
{
    if (v.kind == JINJA_STRING) {
        jinja_write(j, b, v.text);
    } else if (v.kind != JINJA_UNDEFINED) {
        jinja_write_repr(j, b, v);
    }
}

struct jinja_text jinja_to_text(struct jinja *j, struct jinja_value v)
{
    struct jinja_buffer b = { 0 };

    if (v.kind == JINJA_STRING) {
        return v.text;
    }
    jinja_write_value(j, &b, v);
    return jinja_written(&b);
}

struct jinja_text jinja_join(struct jinja *j, struct jinja_text a, struct jinja_text b)
{
    struct jinja_buffer out = { 0 };

    jinja_write(j, &out, a);
    jinja_write(j, &out, b);
    return jinja_written(&out);
}

size_t jinja_find(struct jinja_text t, struct jinja_text what, size_t from)
{
    const char *at;

    if (from > t.bytes) {
        return SIZE_MAX;
    }
    if (what.bytes == 0) {
        return from;
    }
    if (from == t.bytes) {
        return SIZE_MAX;
    }
    at = memmem(t.data + from, t.bytes - from, what.data, what.bytes);
    return at != NULL ? (size_t)(at - t.data) : SIZE_MAX;
}

size_t jinja_character(struct jinja_text t, size_t at)
{
    int n = utf8_check((const uint8_t *)t.data + at, t.bytes - at);

    return n > 0 ? (size_t)n : 1;
}

size_t jinja_characters(struct jinja_text t)
{
    size_t n = 0;

    for (size_t at = 0; at < t.bytes; n++) {
        at += jinja_character(t, at);
    }
    return n;
}

size_t jinja_character_start(struct jinja_text t, size_t n)
{
    size_t at = 0;

    while (n-- != 0 && at < t.bytes) {
        at += jinja_character(t, at);
    }
    return at;
}

bool jinja_is_space(char c)
{
    return c == ' ' || (c >= '\t' && c <= '\r') || (c >= 0x1c && c <= 0x1f);
}
