/* The formatter against the C library's snprintf, and the figures by hand. */
#include <inttypes.h>
#include <limits.h>
#include <string.h>

#include "runtime/text/format_text.h"
#include "tests/unit/tap.h"

/* Formats both at every buffer size from 0 to beyond the text: the bytes and the length are
 * equal. */
#define SAME(...) \
    do { \
        char ours[64], theirs[64]; \
        bool good = true; \
        for (size_t bytes = 0; bytes <= sizeof ours; bytes++) { \
            size_t a, b; \
            memset(ours, '#', sizeof ours); \
            memset(theirs, '#', sizeof theirs); \
            a = format_text(ours, bytes, __VA_ARGS__); \
            b = (size_t)snprintf(theirs, bytes, __VA_ARGS__); \
            good = good && a == b && memcmp(ours, theirs, sizeof ours) == 0; \
        } \
        OK(good, "the text is that of snprintf: %s", #__VA_ARGS__); \
    } while (0)

#pragma GCC diagnostic ignored "-Wformat-truncation"

static void test_against_snprintf(void)
{
    char text[] = "abc";

    SAME("plain, 100%%");
    SAME("%d %d %d %i", 0, -1, INT_MIN, INT_MAX);
    SAME("[%5d] [%-5d] [%05d]", 42, 42, 42);
    SAME("[%5d] [%-5d] [%05d]", -42, -42, -42);
    SAME("[%2d] [%02d]", 12345, -12345);
    SAME("%u %x %X %08x", 4000000000u, 0xbeefu, 0xbeefu, 0xbeefu);
    SAME("%lld %llu", LLONG_MIN, ULLONG_MAX);
    SAME("%zu %ld %llx", (size_t)7, -7L, 0xfedcba9876543210ull);
    SAME("%" PRIu64 " %" PRId32 " %" PRIx64, UINT64_C(1) << 40, -5, UINT64_C(255));
    SAME("%hd %hhu %hx", (short)-3, (unsigned char)250, (unsigned short)0xabcd);
    SAME("[%s] [%5s] [%-5s] [%.2s] [%.*s]", text, text, text, text, 1, text);
    SAME("[%*d] [%.3d] [%6.3d]", 6, 42, 7, -7);
    SAME("%c%c%c", 'x', '%', 'z');
    SAME("[%.0s] [%10.1s]", text, text);
}

static void test_unknown(void)
{
    char b[64];
    const char *odd = "%q %"; /* not a literal, so that the compiler lets it pass */
    const char *volatile none = NULL;

#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wformat-nonliteral"
#pragma GCC diagnostic ignored "-Wformat-security"
    format_text(b, sizeof b, odd);
#pragma GCC diagnostic pop
    OK(strcmp(b, "%q %") == 0, "an unknown conversion is copied: %s", b);
    format_text(b, sizeof b, "%p", (void *)0x80000000u);
    OK(strcmp(b, "0x80000000") == 0, "a pointer is written: %s", b);
    format_text(b, sizeof b, "%s", none);
    OK(strcmp(b, "(null)") == 0, "a missing string is written as (null): %s", b);
}

static bool milli(uint64_t value, unsigned decimals, const char *expected)
{
    char b[FORMAT_NUMBER_BYTES];

    return strcmp(format_milli(b, value, decimals), expected) == 0;
}

static bool ratio(uint64_t x, uint64_t y, unsigned decimals, const char *expected)
{
    char b[FORMAT_NUMBER_BYTES];

    return strcmp(format_ratio(b, x, y, decimals), expected) == 0;
}

static bool size(uint64_t value, const char *expected)
{
    char b[FORMAT_NUMBER_BYTES];

    format_bytes(b, value);
    if (strcmp(b, expected) != 0) {
        printf("# got %s want %s\n", b, expected);
    }
    return strcmp(b, expected) == 0;
}

static void test_figures(void)
{
    OK(milli(12345, 2, "12.35") && milli(12344, 2, "12.34"), "halves are rounded up");
    OK(milli(12345, 3, "12.345") && milli(12345, 1, "12.3") && milli(12500, 0, "13"),
       "decimals are written");
    OK(milli(7, 3, "0.007") && milli(0, 2, "0.00") && milli(999, 0, "1"),
       "small numbers are written");
    OK(milli(9999, 1, "10.0") && milli(UINT64_MAX, 3, "18446744073709551.615"),
       "a carry goes to the digit before");
    OK(ratio(1, 3, 2, "0.33") && ratio(2, 3, 2, "0.67") && ratio(7, 0, 2, "-"),
       "ratios are written");
    OK(ratio(UINT64_MAX, UINT64_MAX - 1, 2, "1.00") && ratio(UINT64_MAX, 1, 0, "18446744073709552"),
       "ratios beyond 64 bits stay defined");
    OK(size(0, "0 B") && size(1023, "1023 B") && size(1024, "1.00 KiB"), "bytes are written");
    OK(size(12288, "12.0 KiB") && size(1572864, "1.50 MiB") && size(1u << 30, "1.00 GiB"),
       "sizes are written");
    OK(size(1048575, "1.00 MiB") && size(1047000, "1022.5 KiB") && size(1048524, "1023.9 KiB"),
       "a size moves to the next unit if rounding would give 1024");
    OK(size(UINT64_MAX, "16.0 EiB") && size(UINT64_C(5) << 40, "5.00 TiB"),
       "large sizes are written");
}

__attribute__((format(printf, 1, 2))) static const char *line(const char *format, ...)
{
    static char text[80];
    va_list args;

    va_start(args, format);
    (void)format_line_args(text, sizeof text, format, args);
    va_end(args);
    return text;
}

static void test_line(void)
{
    char two[2] = { 'a', '\342' }; /* as a buffer without a NUL ends in the middle of a character */

    OK(strcmp(line("%s: %u\n", "one\ntwo\tthree", 7), "one\xef\xbf\xbdtwo\xef\xbf\xbdthree: 7\n") ==
           0,
       "only the format ends a line");
    OK(strcmp(line("%.3s%c|", "a\342\200\250", '\n'), "a\342\200\xef\xbf\xbd|") == 0,
       "a character, or a part of one, in an argument does not end a line");
    OK(strcmp(line("%.*s|", 2, two), "a\342|") == 0, "nothing is read after the precision");
}

int main(void)
{
    test_against_snprintf();
    test_unknown();
    test_figures();
    test_line();
    return tap_done();
}
