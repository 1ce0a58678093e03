#include "runtime/net/sntp.h"

#include <string.h>

/* Offsets and values of fields (RFC 4330, section 4). */
enum {
    AT_STRATUM = 1,
    AT_CODE = 12, /* the code of a server that refuses, four letters */
    AT_ORIGINATE = 24,
    AT_RECEIVE = 32,
    AT_TRANSMIT = 40,
    VERSION_4_CLIENT = 4 << 3 | 3,
    MODE_SERVER = 4,
    VERSION_LEAST = 3,
    VERSION_MOST = 4,
    LEAP_UNKNOWN = 3, /* the server has no time */
    STRATUM_REFUSES = 0,
    STRATUM_MOST = 15,
};

#define SECONDS_1900_TO_1970 2208988800u
/* 1 January 2026: no correct server reports an earlier date. */
#define OLDEST_MS (1767225600ull * 1000)

static uint64_t read64(const uint8_t *p)
{
    uint64_t value = 0;

    for (unsigned i = 0; i < 8; i++) {
        value = value << 8 | p[i];
    }
    return value;
}

/* Convert a timestamp: seconds since 1900 and fractions, 32 bits each. Without the highest bit the
 * seconds count from 2036 on (section 3). */
static uint64_t unix_ms(uint64_t timestamp)
{
    uint64_t seconds = timestamp >> 32, fraction = timestamp & 0xffffffff;

    seconds += seconds >> 31 == 0 ? 1ull << 32 : 0;
    return (seconds - SECONDS_1900_TO_1970) * 1000 + ((fraction * 1000 + (1u << 31)) >> 32);
}

void sntp_write(uint8_t to[SNTP_BYTES], uint64_t nonce)
{
    memset(to, 0, SNTP_BYTES);
    to[0] = VERSION_4_CLIENT;
    for (unsigned i = 0; i < 8; i++) {
        to[AT_TRANSMIT + i] = (uint8_t)(nonce >> (56 - 8 * i));
    }
}

/* Read why an answer has no time (section 8). */
static enum sntp_result read_refusal(const uint8_t *code)
{
    if (memcmp(code, "RATE", 4) == 0) {
        return SNTP_LATER;
    }
    if (memcmp(code, "DENY", 4) == 0 || memcmp(code, "RSTR", 4) == 0) {
        return SNTP_REFUSED;
    }
    return SNTP_NO_TIME;
}

enum sntp_result sntp_read(const uint8_t *bytes, size_t n, uint64_t nonce, uint64_t round_ms,
                           uint64_t *now_ms)
{
    unsigned version;
    uint64_t received, sent, worked;

    if (n < SNTP_BYTES || (bytes[0] & 7) != MODE_SERVER || read64(bytes + AT_ORIGINATE) != nonce) {
        return SNTP_FOREIGN;
    }
    version = bytes[0] >> 3 & 7;
    if (version < VERSION_LEAST || version > VERSION_MOST) {
        return SNTP_FOREIGN;
    }
    if (bytes[AT_STRATUM] == STRATUM_REFUSES) {
        return read_refusal(bytes + AT_CODE);
    }
    received = unix_ms(read64(bytes + AT_RECEIVE));
    sent = unix_ms(read64(bytes + AT_TRANSMIT));
    if (bytes[0] >> 6 == LEAP_UNKNOWN || bytes[AT_STRATUM] > STRATUM_MOST ||
        read64(bytes + AT_TRANSMIT) == 0 || sent < OLDEST_MS) {
        return SNTP_NO_TIME;
    }
    /* The round trip without the server's work is twice the answer's travel time. If the server
     * claims to have worked longer than we waited, ignore the travel time. */
    worked = sent > received ? sent - received : 0;
    *now_ms = sent + (round_ms > worked ? (round_ms - worked) / 2 : 0);
    return SNTP_GOOD;
}
