/* CRC-32C against published values (RFC 3720, B.4) and against one shift per bit. */
#include <stdlib.h>
#include <string.h>

#include "runtime/base/crc32c.h"

#include "board/host/host_cpu.h"
#include "tests/unit/tap.h"

static uint32_t crc_by_bits(uint32_t crc, const uint8_t *p, size_t n)
{
    crc = ~crc;
    for (size_t i = 0; i < n; i++) {
        crc ^= p[i];
        for (int bit = 0; bit < 8; bit++) {
            crc = (crc & 1) != 0 ? crc >> 1 ^ 0x82f63b78u : crc >> 1;
        }
    }
    return ~crc;
}

static void test_published(void)
{
    uint8_t b[32];

    OK(crc32c(0, "123456789", 9) == 0xe3069283u, "the check value of \"123456789\" is right");
    memset(b, 0, sizeof b);
    OK(crc32c(0, b, 32) == 0x8a9136aau, "the CRC of 32 bytes of zeros is right");
    memset(b, 0xff, sizeof b);
    OK(crc32c(0, b, 32) == 0x62a8ab43u, "the CRC of 32 bytes of ones is right");
    for (uint8_t i = 0; i < 32; i++) {
        b[i] = i;
    }
    OK(crc32c(0, b, 32) == 0x46dd794eu, "the CRC of 32 incrementing bytes is right");
    for (uint8_t i = 0; i < 32; i++) {
        b[i] = (uint8_t)(31 - i);
    }
    OK(crc32c(0, b, 32) == 0x113fdb5cu, "the CRC of 32 decrementing bytes is right");
    OK(crc32c(0, NULL, 0) == 0 && crc32c(7, b, 0) == 7, "no bytes change nothing");
}

static void test_against_bits(void)
{
    static uint8_t b[512];
    uint32_t seed = 1;
    bool equal = true;
    bool pieces = true;

    for (size_t i = 0; i < sizeof b; i++) {
        seed = seed * 1664525u + 1013904223u;
        b[i] = (uint8_t)(seed >> 24);
    }
    for (size_t start = 0; start < 9; start++) {
        for (size_t n = 0; n <= 300; n++) {
            equal = equal && crc32c(seed, b + start, n) == crc_by_bits(seed, b + start, n);
        }
    }
    OK(equal, "every length to 300 at 9 alignments equals the shifts");
    for (size_t cut = 0; cut <= sizeof b; cut++) {
        uint32_t first = crc32c(0, b, cut);

        pieces = pieces && crc32c(first, b + cut, sizeof b - cut) == crc32c(0, b, sizeof b);
    }
    OK(pieces, "any cut into two pieces gives the same");
}

/* Each message has one bit set. */
static void test_each_bit(void)
{
    bool equal = true;

    for (size_t bit = 0; bit < 128; bit++) {
        uint8_t b[16] = { 0 };

        b[bit / 8] = (uint8_t)(1u << bit % 8);
        equal = equal && crc32c(0xffffffffu, b, 16) == crc_by_bits(0xffffffffu, b, 16);
    }
    OK(equal, "each single bit of 16 bytes changes it as it should");
}

enum { LONGEST = 1 << 15, TIMES = 200 };

static uint64_t random_word(void)
{
    static uint64_t seed = 1;

    seed = seed * 6364136223846793005u + 1442695040888963407u;
    return seed >> 33;
}

/* Copies exactly n bytes to an address of `start` modulo 8, so that a read beyond them is seen. */
static bool equals_bits(uint32_t crc, size_t start, size_t n)
{
    uint8_t *b = malloc(start + n);
    bool equal;

    for (size_t i = 0; i < start + n; i++) {
        b[i] = (uint8_t)random_word();
    }
    equal = crc32c(crc, b + start, n) == crc_by_bits(crc, b + start, n);
    free(b);
    if (!equal) {
        printf("# start %zu, %zu bytes, from %x\n", start, n, (unsigned)crc);
    }
    return equal;
}

static void test_long(void)
{
    bool equal = true;

    for (int i = 0; i < TIMES; i++) {
        equal = equals_bits((uint32_t)random_word(), random_word() % 8, random_word() % LONGEST) &&
                equal;
    }
    OK(equal, "the CRC is right for %d random lengths up to %d, any alignment and any beginning",
       TIMES, LONGEST);
}

static void test_cuts(void)
{
    static uint8_t b[LONGEST];
    uint32_t whole;
    bool equal = true;

    for (size_t i = 0; i < sizeof b; i++) {
        b[i] = (uint8_t)random_word();
    }
    whole = crc_by_bits(7, b, sizeof b);
    for (int i = 0; i < TIMES; i++) {
        size_t most = i % 2 == 0 ? sizeof b : 5000;
        uint32_t crc = 7;

        for (size_t at = 0, n; at < sizeof b; at += n) {
            n = 1 + random_word() % most;
            n = n < sizeof b - at ? n : sizeof b - at;
            crc = crc32c(crc, b + at, n);
        }
        equal = equal && crc == whole;
    }
    OK(equal, "%d bytes in random pieces give the same, %d times", LONGEST, TIMES);
}

/* The CRC of two parts follows from theirs, wherever the cut is. */
static void test_joins(void)
{
    static uint8_t b[LONGEST];
    unsigned good = 0;

    for (size_t i = 0; i < sizeof b; i++) {
        b[i] = (uint8_t)random_word();
    }
    for (int i = 0; i < TIMES; i++) {
        size_t cut = i == 0 ? sizeof b : random_word() % sizeof b;
        uint32_t power = crc32c_power(sizeof b - cut);

        good += (crc32c_times(crc32c(0, b, cut), power) ^ crc32c(0, b + cut, sizeof b - cut)) ==
                crc32c(0, b, sizeof b);
    }
    OK(good == TIMES, "the CRCs of two parts of %d bytes, cut anywhere, join to the CRC of all",
       LONGEST);
    OK(crc32c_power(CRC32C_STRIPE * 3) == crc32c_shift(crc32c_power(0), 3),
       "stripes give the same CRC");
}

/* Runs with the CPU's instruction if there is one, and then with the reference, as a CPU without it
 * does. */
static void test_all(const char *how, uint32_t features)
{
    static struct kernels k;

    kernels_select(&k, features);
    crc32c_use(&k);
    printf("# by %s\n", k.crc32c_u8 == crc32c_u8_ref ? "bits" : how);
    test_published();
    test_against_bits();
    test_each_bit();
    test_long();
    test_cuts();
    test_joins();
}

int main(void)
{
    test_all("the CPU", host_cpu_features());
    test_all("", CPU_ANY);
    return tap_done();
}
