/* The client's side of SNTP, as bytes in memory without a network. Sources: RFC 4330, sections 4, 5
 * and 8; RFC 5905, sections 7.3 and 7.4. */
#ifndef INGOT_RUNTIME_SNTP_H
#define INGOT_RUNTIME_SNTP_H

#include <stddef.h>
#include <stdint.h>

enum { SNTP_BYTES = 48, SNTP_PORT = 123 };

enum sntp_result {
    SNTP_GOOD,
    SNTP_FOREIGN, /* the packet does not answer this question: go on waiting */
    SNTP_NO_TIME, /* the server does not know the time itself */
    SNTP_LATER,   /* the server is asked too often */
    SNTP_REFUSED, /* the server does not want to be asked again */
};

/* Write the question. The nonce, any number except 0, is sent in place of our time; the server
 * returns it. */
void sntp_write(uint8_t to[SNTP_BYTES], uint64_t nonce);

/* Read the answer (n bytes), which came round_ms milliseconds after the question with this
 * nonce. SNTP_GOOD: *now_ms is the time when the answer came, in milliseconds since 1970, with an
 * error of at most half of round_ms. After other results *now_ms is unchanged. */
enum sntp_result sntp_read(const uint8_t *bytes, size_t n, uint64_t nonce, uint64_t round_ms,
                           uint64_t *now_ms);

#endif
