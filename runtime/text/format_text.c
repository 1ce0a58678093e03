#include "runtime/text/format_text.h"

#include <stdbool.h>
#include <string.h>

struct output {
    char *buffer;
    size_t bytes;
    size_t length; /* of the whole text, may be beyond bytes */
};

struct conversion {
    bool left, zero;
    size_t width;
    size_t precision;
    bool has_precision;
    unsigned longs; /* 2: 64 bits, as l, ll, z and t are on every 64-bit target; 0: int */
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

static void put_text(struct output *o, const struct conversion *c, const char *s)
{
    size_t n = 0;

    while ((!c->has_precision || n < c->precision) && s[n] != '\0') {
        n++;
    }
    put_many(o, ' ', c->left ? c->width : n, c->width);
    for (size_t i = 0; i < n; i++) {
        put_char(o, s[i]);
    }
    put_many(o, ' ', c->left ? n : c->width, c->width);
}

static void put_number(struct output *o, const struct conversion *c, uint64_t value, bool negative,
                       unsigned base, const char *digits)
{
    char text[24]; /* backwards; 2^64 has 20 decimal digits */
    size_t n = 0;
    size_t precision = c->has_precision ? c->precision : 1;
    size_t length;

    while (value > 0) {
        text[n++] = digits[value % base];
        value /= base;
    }
    length = (n > precision ? n : precision) + negative;
    if (c->zero && !c->left && !c->has_precision && c->width > length) {
        precision = c->width - negative;
        length = c->width;
    }
    put_many(o, ' ', c->left ? c->width : length, c->width);
    if (negative) {
        put_char(o, '-');
    }
    put_many(o, '0', n, precision);
    while (n > 0) {
        put_char(o, text[--n]);
    }
    put_many(o, ' ', c->left ? length : c->width, c->width);
}

/* va_list may be an array, so it travels in a struct. */
struct arguments {
    va_list list;
};

static size_t read_count(const char **at, struct arguments *args)
{
    size_t value = 0;

    if (**at == '*') {
        int n = va_arg(args->list, int);

        (*at)++;
        return n > 0 ? (size_t)n : 0;
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

static void put_signed(struct output *o, const struct conversion *c, struct arguments *args)
{
    int64_t value = c->longs > 0 ? va_arg(args->list, int64_t) : va_arg(args->list, int);

    value = c->shorts == 1 ? (short)value : c->shorts == 2 ? (signed char)value : value;
    put_number(o, c, value < 0 ? 0 - (uint64_t)value : (uint64_t)value, value < 0, 10,
               "0123456789");
}

static void put_unsigned(struct output *o, const struct conversion *c, struct arguments *args,
                         char kind)
{
    uint64_t value = c->longs > 0 ? va_arg(args->list, uint64_t) : va_arg(args->list, unsigned);

    value = c->shorts == 1 ? (uint16_t)value : c->shorts == 2 ? (uint8_t)value : value;
    put_number(o, c, value, false, kind == 'u' ? 10 : 16,
               kind == 'X' ? "0123456789ABCDEF" : "0123456789abcdef");
}

/* One conversion, *at behind its '%'. False: none that this file knows. */
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
    case 's': {
        const char *s = va_arg(args->list, const char *);

        put_text(o, &c, s != NULL ? s : "(null)");
        break;
    }
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

size_t format_text_args(char *buffer, size_t bytes, const char *format, va_list list)
{
    struct output o = { buffer, bytes, 0 };
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
    if (bytes > 0) {
        buffer[o.length < bytes ? o.length : bytes - 1] = '\0';
    }
    return o.length;
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
    unsigned unit = step[decimals < 3 ? decimals : 3];
    uint64_t n = milli / unit + (milli % unit >= (unit + 1) / 2 && unit > 1);
    uint64_t one = 1000 / unit;

    if (decimals == 0) {
        format_text(buffer, FORMAT_NUMBER_BYTES, "%llu", (unsigned long long)n);
    } else {
        format_text(buffer, FORMAT_NUMBER_BYTES, "%llu.%0*u", (unsigned long long)(n / one),
                    decimals < 3 ? (int)decimals : 3, (unsigned)(n % one));
    }
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
    while (b > UINT64_MAX / 2000) { /* so that the product below fits */
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
    /* One unit up where rounding would print 1024.0. */
    while (shift < 60 && bytes >> shift >= 1023 &&
           (bytes >> shift >= 1024 || (bytes >> (shift - 10) & 1023) >= 973)) {
        shift += 10;
    }
    format_ratio(number, bytes >> (shift - 10), 1024, bytes >> shift < 10 ? 2 : 1);
    format_text(buffer, FORMAT_NUMBER_BYTES, "%s %ciB", number, unit[shift / 10 - 1]);
    return buffer;
}
