/* Factors of rotation: YaRN's ramp with the numbers of Qwen2.5's published configuration, worked
 * out by hand, and the bounds. */
#include <math.h>

#include "flash_image/source/rope_factors.h"
#include "tests/unit/tap.h"

static struct source s;

static float factor(enum source_rope_set set, unsigned i)
{
    return s.rope[(unsigned)set * (s.params.rope_dims / 2) + i];
}

static bool near(float a, double b)
{
    return fabs((double)a - b) < 1e-5 * b;
}

static void test_yarn(void)
{
    const struct rope_yarn y = { 4.0, 32768, 32.0, 1.0, false };

    /* 128 ln(32768 / (turns 2 pi)) / (2 ln 10^6): 23.6 for 32 turns, 39.7 for one. */
    OK(rope_factors_take(&s) == ERR_OK && rope_factors_yarn_all(&s, &y) == ERR_OK,
       "the scaling yarn is taken %s", s.error_message);
    OK(near(factor(SOURCE_ROPE_GLOBAL, 0), 1.0) && near(factor(SOURCE_ROPE_GLOBAL, 23), 1.0),
       "fast pairs keep their factors");
    OK(near(factor(SOURCE_ROPE_GLOBAL, 40), 4.0) && near(factor(SOURCE_ROPE_GLOBAL, 63), 4.0),
       "slow pairs are stretched");
    OK(near(factor(SOURCE_ROPE_GLOBAL, 31), 1.0 / (9.0 / 17 + 8.0 / 17 / 4)),
       "the factors between fast and slow pairs make a ramp");
    OK(near(factor(SOURCE_ROPE_LOCAL, 63), 1.0), "another set is left alone");
    OK(near((float)rope_yarn_magnitude(4.0), 1.1386294) && rope_yarn_magnitude(1.0) == 1.0,
       "the magnitude is right");
}

static enum err scale(enum source_rope_set set, float by)
{
    float factors[64];

    for (size_t i = 0; i < 64; i++) {
        factors[i] = by;
    }
    return rope_factors_multiply(&s, set, factors);
}

/* Local layers are stretched like the global ones if they share a base. */
static void test_all(void)
{
    OK(rope_factors_scale_all(&s, 2.0f) == ERR_OK && factor(SOURCE_ROPE_GLOBAL, 5) == 2.0f &&
           factor(SOURCE_ROPE_LONG, 5) == 2.0f && factor(SOURCE_ROPE_LOCAL, 5) == 1.0f,
       "all layers but the local ones are scaled");
    s.params.rope_base_local = s.params.rope_base;
    OK(rope_factors_scale_all(&s, 0.5f) == ERR_OK && factor(SOURCE_ROPE_GLOBAL, 5) == 1.0f &&
           factor(SOURCE_ROPE_LONG, 5) == 1.0f && factor(SOURCE_ROPE_LOCAL, 5) == 0.5f,
       "all layers are scaled if the local ones share the base");
}

static void test_bounds(void)
{
    OK(scale(SOURCE_ROPE_LONG, 8.0f) == ERR_OK && factor(SOURCE_ROPE_LONG, 5) == 8.0f,
       "one factor serves for all pairs");
    OK(scale(SOURCE_ROPE_LONG, NAN) == ERR_BAD_MODEL, "a factor of NaN is refused: %s",
       s.error_message);
    OK(scale(SOURCE_ROPE_LOCAL, 0.0f) == ERR_BAD_MODEL, "a factor of 0 is refused: %s",
       s.error_message);
    OK(scale(SOURCE_ROPE_GLOBAL, 1e33f) == ERR_BAD_MODEL, "a factor of 10^33 is refused: %s",
       s.error_message);
    s.params.rope_dims = 2 * SOURCE_MAX_FACTORS + 2;
    OK(rope_factors_take(&s) == ERR_UNSUPPORTED, "too many factors are refused: %s",
       s.error_message);
}

int main(void)
{
    s.path = "test";
    s.params.rope_dims = 128;
    s.params.rope_base = 1e6f;
    test_yarn();
    test_all();
    test_bounds();
    return tap_done();
}
