/* Numbers with a point: every one is read back as the same f32, and fixed ones equal the C
 * library's. */
#include "runtime/text/format_float.h"

#include <float.h>
#include <math.h>
#include <string.h>

#include "tests/unit/tap.h"

static bool comes_back(float x)
{
    char text[FORMAT_NUMBER_BYTES], *end;
    float again = strtof(format_float(text, x), &end);

    if (*end != '\0' || memcmp(&again, &x, sizeof x) != 0) {
        printf("# %.9g: %s\n", (double)x, text);
        return false;
    }
    return true;
}

static void test_round_trip(void)
{
    static const float edges[] = {
        1.0f,  -1.0f,   10.0f,   9.99999952f,          0.1f,  -0.125f, 123456789.0f,
        1e-3f, FLT_MAX, FLT_MIN, FLT_MIN / 8388608.0f, 1e10f, 1e-10f
    };
    bool good = true;
    uint32_t bits = 12345;

    for (size_t i = 0; i < sizeof edges / sizeof edges[0]; i++) {
        good = comes_back(edges[i]) && good;
    }
    for (unsigned i = 0; i < 200000 && good; i++) {
        float x;

        bits = bits * 1664525u + 1013904223u;
        memcpy(&x, &bits, sizeof x);
        good = !isfinite(x) || x == 0 || comes_back(x);
    }
    OK(good, "200,000 floats, and the edges, come back");
}

static bool is(const char *text, const char *expected)
{
    if (strcmp(text, expected) != 0) {
        printf("# %s, not %s\n", text, expected);
    }
    return strcmp(text, expected) == 0;
}

static void test_words(void)
{
    char text[FORMAT_NUMBER_BYTES];

    OK(is(format_float(text, 0.0f), "0") && is(format_float(text, -0.0f), "0"),
       "both zeros are written as 0");
    OK(is(format_float(text, NAN), "null") && is(format_float(text, INFINITY), "null") &&
           is(format_float(text, -INFINITY), "null"),
       "a float that is not a number is written as null");
    OK(is(format_float(text, -0.00123456789f), "-1.23456784e-3"), "a small number is written");
    OK(is(format_fixed(text, -0.00004), "0.0000") && is(format_fixed(text, -0.00006), "-0.0001") &&
           is(format_fixed(text, 12.34567), "12.3457") && is(format_fixed(text, -7.5), "-7.5000"),
       "four digits are written");
    OK(is(format_fixed(text, (double)NAN), "null") && is(format_fixed(text, 1e9), "null") &&
           is(format_fixed(text, (double)-INFINITY), "null"),
       "four digits of what is not a number are null");
}

int main(void)
{
    test_round_trip();
    test_words();
    return tap_done();
}
