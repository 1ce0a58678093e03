/* SNTP as bytes: the question, the arithmetic of an answer, and every wrong answer. */
#include "runtime/net/sntp.h"

#include <string.h>

#include "tests/unit/tap.h"

#define NONCE 0x0123456789abcdefull
/* 29 November 2026, 04:00:00.5 UTC. */
#define SECONDS 1795924800ull
#define HALF 0x80000000u
#define TO_1970 2208988800ull

static uint8_t answer[SNTP_BYTES];
static uint64_t date;

static void put(unsigned at, uint64_t value)
{
    for (unsigned i = 0; i < 8; i++) {
        answer[at + i] = (uint8_t)(value >> (56 - 8 * i));
    }
}

/* A server of stratum 2 that works for 10 ms. */
static void make_good(void)
{
    memset(answer, 0, sizeof answer);
    answer[0] = 4 << 3 | 4;
    answer[1] = 2;
    put(24, NONCE);
    put(32, (SECONDS + TO_1970) << 32 | HALF);
    put(40, ((SECONDS + TO_1970) << 32 | HALF) + (10ull << 32) / 1000);
}

static enum sntp_result read_answer(size_t n, uint64_t round_ms)
{
    date = 1;
    return sntp_read(answer, n, NONCE, round_ms, &date);
}

static bool is_refused(enum sntp_result wanted)
{
    enum sntp_result got = read_answer(SNTP_BYTES, 20);

    make_good();
    return got == wanted && date == 1;
}

static void check_refused(void)
{
    static const struct {
        unsigned at;
        uint8_t value;
        enum sntp_result wanted;
        const char *what;
    } rows[] = {
        { 0, 4 << 3 | 3, SNTP_FOREIGN, "a question" },
        { 0, 4 << 3 | 5, SNTP_FOREIGN, "a broadcast, which nobody asked for" },
        { 0, 2 << 3 | 4, SNTP_FOREIGN, "another version" },
        { 0, 7 << 3 | 4, SNTP_FOREIGN, "a version that does not exist" },
        { 24, 2, SNTP_FOREIGN, "the answer to another question" },
        { 31, 0, SNTP_FOREIGN, "the answer to nearly this question" },
        { 0, 3 << 6 | 4 << 3 | 4, SNTP_NO_TIME, "a server whose clock is not set" },
        { 1, 16, SNTP_NO_TIME, "a stratum that means: not synchronized" },
        { 1, 255, SNTP_NO_TIME, "a stratum that is reserved" },
        { 40, 0xe0, SNTP_NO_TIME, "a date before this program" },
    };

    for (unsigned i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        make_good();
        answer[rows[i].at] = rows[i].value;
        OK(is_refused(rows[i].wanted), "the client does not accept %s", rows[i].what);
    }
    memset(answer + 40, 0, 8);
    OK(is_refused(SNTP_NO_TIME), "the client does not accept an answer without a time");
    for (size_t n = 0; n < SNTP_BYTES; n++) {
        if (read_answer(n, 20) != SNTP_FOREIGN) {
            OK(false, "an answer of %zu bytes is taken", n);
        }
    }
    OK(read_answer(0, 20) == SNTP_FOREIGN && date == 1, "the client does not accept a cut answer");
}

static void check_code(const char *code, enum sntp_result wanted)
{
    answer[1] = 0;
    memcpy(answer + 12, code, 4);
    OK(is_refused(wanted), "a server says %s", code);
}

int main(void)
{
    uint8_t question[SNTP_BYTES];

    sntp_write(question, NONCE);
    OK(question[0] == (4 << 3 | 3) && question[1] == 0 && question[40] == 0x01 &&
           question[47] == 0xef,
       "a question has version 4, mode 3 and the nonce");
    make_good();
    OK(read_answer(SNTP_BYTES, 30) == SNTP_GOOD && date == SECONDS * 1000 + 500 + 10 + 10,
       "half of the way is added to the time of the answer");
    OK(read_answer(SNTP_BYTES, 4) == SNTP_GOOD && date == SECONDS * 1000 + 510,
       "a server that says it worked for longer than we waited adds nothing");
    answer[0] = 3 << 3 | 4;
    OK(read_answer(SNTP_BYTES, 10) == SNTP_GOOD, "version 3 is taken");
    put(32, 5ull << 32);
    put(40, 5ull << 32);
    OK(read_answer(SNTP_BYTES, 0) == SNTP_GOOD && date == ((1ull << 32) + 5 - TO_1970) * 1000,
       "a time without the highest bit is after 2036");
    make_good();
    check_refused();
    check_code("RATE", SNTP_LATER);
    check_code("DENY", SNTP_REFUSED);
    check_code("RSTR", SNTP_REFUSED);
    check_code("INIT", SNTP_NO_TIME);
    return tap_done();
}
