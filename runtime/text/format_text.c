#include "runtime/text/format_text.h"

#include <stdbool.h>
#include <string.h>

#include "board/min_max.h"
#include "runtime/text/shown_text.h"

struct output {
    char *buffer;
    size_t bytes;
    size_t length; /* length of the whole text; may be more than bytes */
    bool is_line;  /* the texts of %s and %c must not contain line ends */
};

struct conversion {
    bool left, zero;
    size_t width;
    size_t precision;
    bool has_precision;
    unsigned longs; /* 2 for l, ll, z and t, which mean 64 bits here; 0: int */
    unsigned shorts;
};

static void put_char(struct output *o, char c)
{
    if (o->length + 1 < o->bytes) {
        o->buffer[o->length] = c;
    }
    o->length++;
}

static void put_many(struct output *o, char c, size_t from, size_t to)
{
    for (size_t i = from; i < to; i++) {
        put_char(o, c);
    }
}

/* pad_left() writes the spaces before `length` characters, pad_right() those after them. A
 * conversion has spaces on one side only, so one of the two writes none. */
static void pad_left(struct output *o, const struct conversion *c, size_t length)
{
    if (!c->left) {
        put_many(o, ' ', length, c->width);
    }
}

static void pad_right(struct output *o, const struct conversion *c, size_t length)
{
    if (c->left) {
        put_many(o, ' ', length, c->width);
    }
}

static void put_replacement(struct output *o)
{
    for (const char *c = UTF8_REPLACEMENT; *c != '\0'; c++) {
        put_char(o, *c);
    }
}

/* As shown_breaks_name(), for n bytes without a NUL. */
static size_t breaks_line(const char *s, size_t n)
{
    char three[4] = { s[0], n > 1 ? s[1] : '\0', n > 2 ? s[2] : '\0', '\0' };

    return shown_breaks_name(three);
}

static void put_text(struct output *o, const struct conversion *c, const char *s)
{
    size_t n = 0;

    while ((!c->has_precision || n < c->precision) && s[n] != '\0') {
        n++;
    }
    pad_left(o, c, n);
    for (size_t i = 0; i < n; i++) {
        size_t broken = o->is_line ? breaks_line(s + i, n - i) : 0;

        if (broken != 0) {
            put_replacement(o);
            i += broken - 1;
        } else {
            put_char(o, s[i]);
        }
    }
    pad_right(o, c, n);
}

static void put_number(struct output *o, const struct conversion *c, uint64_t value, bool negative,
                       unsigned base, const char *digits)
{
    char text[24]; /* digits in reverse order; 2^64 has 20 decimal digits */
    size_t n = 0;
    size_t precision = c->has_precision ? c->precision : 1;
    size_t length;

    while (value > 0) {
        text[n++] = digits[value % base];
        value /= base;
    }
    length = max_size(n, precision) + negative;
    if (c->zero && !c->left && !c->has_precision && c->width > length) {
        precision = c->width - negative;
        length = c->width;
    }
    pad_left(o, c, length);
    if (negative) {
        put_char(o, '-');
    }
    put_many(o, '0', n, precision);
    while (n > 0) {
        put_char(o, text[--n]);
    }
    pad_right(o, c, length);
}

/* va_list may be an array type, so it is passed in a struct. */
struct arguments {
    va_list list;
};

static size_t read_count(const char **at, struct arguments *args)
{
    size_t value = 0;

    if (**at == '*') {
        int n = va_arg(args->list, int);

        (*at)++;
        return n > 0 ? (size_t)n : 0; /* a negative width does not pad */
    }
    while (**at >= '0' && **at <= '9' && value < 100000) {
        value = value * 10 + (size_t)(*(*at)++ - '0');
    }
    return value;
}

static struct conversion read_conversion(const char **at, struct arguments *args)
{
    struct conversion c = { 0 };

    for (; **at == '-' || **at == '0'; (*at)++) {
        c.left = c.left || **at == '-';
        c.zero = c.zero || **at == '0';
    }
    c.width = read_count(at, args);
    if (**at == '.') {
        (*at)++;
        c.has_precision = true;
        c.precision = read_count(at, args);
    }
    for (; **at == 'l' || **at == 'z' || **at == 't' || **at == 'h'; (*at)++) {
        if (**at == 'h') {
            c.shorts++;
        } else {
            c.longs = 2;
        }
    }
    return c;
}

static int64_t take_signed(const struct conversion *c, struct arguments *args)
{
    int value;

    if (c->longs > 0) {
        return va_arg(args->list, int64_t);
    }
    value = va_arg(args->list, int);
    switch (c->shorts) {
    case 1: return (short)value;
    case 2: return (signed char)value;
    default: return value;
    }
}

static void put_signed(struct output *o, const struct conversion *c, struct arguments *args)
{
    int64_t value = take_signed(c, args);
    uint64_t size = (uint64_t)value;

    if (value < 0) {
        size = 0 - size;
    }
    put_number(o, c, size, value < 0, 10, "0123456789");
}

static uint64_t take_unsigned(const struct conversion *c, struct arguments *args)
{
    unsigned value;

    if (c->longs > 0) {
        return va_arg(args->list, uint64_t);
    }
    value = va_arg(args->list, unsigned);
    switch (c->shorts) {
    case 1: return (uint16_t)value;
    case 2: return (uint8_t)value;
    default: return value;
    }
}

static void put_unsigned(struct output *o, const struct conversion *c, struct arguments *args,
                         char kind)
{
    uint64_t value = take_unsigned(c, args);

    switch (kind) {
    case 'u': put_number(o, c, value, false, 10, "0123456789"); break;
    case 'X': put_number(o, c, value, false, 16, "0123456789ABCDEF"); break;
    default: put_number(o, c, value, false, 16, "0123456789abcdef"); break;
    }
}

static void put_string(struct output *o, const struct conversion *c, const char *s)
{
    if (s == NULL) {
        s = "(null)";
    }
    put_text(o, c, s);
}

/* Write one conversion; *at is after its '%'. Return false if the conversion is unknown. */
static bool put_conversion(struct output *o, const char **at, struct arguments *args)
{
    struct conversion c = read_conversion(at, args);
    char kind = **at;

    switch (kind) {
    case 'd':
    case 'i': put_signed(o, &c, args); break;
    case 'u':
    case 'x':
    case 'X': put_unsigned(o, &c, args, kind); break;
    case 'p':
        c.longs = 2;
        put_char(o, '0');
        put_char(o, 'x');
        put_unsigned(o, &c, args, 'x');
        break;
    case 's': put_string(o, &c, va_arg(args->list, const char *)); break;
    case 'c': {
        char s[2] = { (char)va_arg(args->list, int), '\0' };

        put_text(o, &c, s);
        break;
    }
    case '%': put_char(o, '%'); break;
    default: return false;
    }
    (*at)++;
    return true;
}

static size_t format_args(struct output *to, const char *format, va_list list)
{
    struct output o = *to;
    struct arguments args;

    va_copy(args.list, list);
    while (*format != '\0') {
        const char *percent = format;

        if (*format++ != '%') {
            put_char(&o, *percent);
        } else if (!put_conversion(&o, &format, &args)) {
            for (; percent < format; percent++) {
                put_char(&o, *percent);
            }
        }
    }
    va_end(args.list);
    if (o.bytes > 0) {
        o.buffer[min_size(o.length, o.bytes - 1)] = '\0';
    }
    return o.length;
}

size_t format_text_args(char *buffer, size_t bytes, const char *format, va_list list)
{
    struct output o = { .buffer = buffer, .bytes = bytes };

    return format_args(&o, format, list);
}

size_t format_line_args(char *buffer, size_t bytes, const char *format, va_list list)
{
    struct output o = { .buffer = buffer, .bytes = bytes, .is_line = true };

    return format_args(&o, format, list);
}

size_t format_text(char *buffer, size_t bytes, const char *format, ...)
{
    va_list args;
    size_t length;

    va_start(args, format);
    length = format_text_args(buffer, bytes, format, args);
    va_end(args);
    return length;
}

const char *format_milli(char buffer[FORMAT_NUMBER_BYTES], uint64_t milli, unsigned decimals)
{
    static const unsigned step[4] = { 1000, 100, 10, 1 };
    unsigned places = min_u32(decimals, 3);
    unsigned unit = step[places];
    uint64_t n = milli / unit + (milli % unit >= (unit + 1) / 2 && unit > 1);
    uint64_t one = 1000 / unit;

    if (places == 0) {
        format_text(buffer, FORMAT_NUMBER_BYTES, "%llu", (unsigned long long)n);
        return buffer;
    }
    format_text(buffer, FORMAT_NUMBER_BYTES, "%llu.%0*u", (unsigned long long)(n / one),
                (int)places, (unsigned)(n % one));
    return buffer;
}

const char *format_ratio(char buffer[FORMAT_NUMBER_BYTES], uint64_t a, uint64_t b,
                         unsigned decimals)
{
    if (b == 0) {
        memcpy(buffer, "-", 2);
        return buffer;
    }
    if (a / b > UINT64_MAX / 2000) {
        return format_milli(buffer, UINT64_MAX, decimals);
    }
    while (b > UINT64_MAX / 2000) { /* makes the product below fit */
        a /= 2;
        b /= 2;
    }
    return format_milli(buffer, a / b * 1000 + a % b * 1000 / b, decimals);
}

const char *format_bytes(char buffer[FORMAT_NUMBER_BYTES], uint64_t bytes)
{
    static const char unit[] = "KMGTPE";
    unsigned shift = 10;
    char number[FORMAT_NUMBER_BYTES];

    if (bytes < 1024) {
        format_text(buffer, FORMAT_NUMBER_BYTES, "%u B", (unsigned)bytes);
        return buffer;
    }
    /* Take the next unit if rounding would print 1024.0. */
    while (shift < 60 && bytes >> shift >= 1023 &&
           (bytes >> shift >= 1024 || (bytes >> (shift - 10) & 1023) >= 973)) {
        shift += 10;
    }
    format_ratio(number, bytes >> (shift - 10), 1024, bytes >> shift < 10 ? 2 : 1);
    format_text(buffer, FORMAT_NUMBER_BYTES, "%s %ciB", number, unit[shift / 10 - 1]);
    return buffer;
}
