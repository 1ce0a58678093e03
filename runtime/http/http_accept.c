#include "runtime/http/http_accept.h"

#include <stdint.h>
#include <string.h>

#include "runtime/text/base64.h"

enum { KEY_PADDED = 18, SHA1_WORDS = 5, SHA1_BLOCK = 64 };

static uint32_t rotate(uint32_t x, unsigned by)
{
    return x << by | x >> (32 - by);
}

/* FIPS 180-4, section 6.1.2: functions and constants of the 80 steps. */
static uint32_t mix(unsigned step, uint32_t b, uint32_t c, uint32_t d)
{
    if (step < 20) {
        return ((b & c) | (~b & d)) + 0x5a827999;
    }
    if (step < 40) {
        return (b ^ c ^ d) + 0x6ed9eba1;
    }
    if (step < 60) {
        return ((b & c) | (b & d) | (c & d)) + 0x8f1bbcdc;
    }
    return (b ^ c ^ d) + 0xca62c1d6;
}

static void add_block(uint32_t h[SHA1_WORDS], const uint8_t block[SHA1_BLOCK])
{
    uint32_t w[80], v[SHA1_WORDS];

    for (unsigned i = 0; i < 80; i++) {
        w[i] = i < 16 ? (uint32_t)block[4 * i] << 24 | (uint32_t)block[4 * i + 1] << 16 |
                            (uint32_t)block[4 * i + 2] << 8 | block[4 * i + 3]
                      : rotate(w[i - 3] ^ w[i - 8] ^ w[i - 14] ^ w[i - 16], 1);
    }
    memcpy(v, h, sizeof v);
    for (unsigned i = 0; i < 80; i++) {
        uint32_t next = rotate(v[0], 5) + mix(i, v[1], v[2], v[3]) + v[4] + w[i];

        memmove(v + 1, v, 4 * sizeof v[0]);
        v[2] = rotate(v[2], 30);
        v[0] = next;
    }
    for (unsigned i = 0; i < SHA1_WORDS; i++) {
        h[i] += v[i];
    }
}

/* Hash the key and the constant. These 60 bytes, the end mark and the length fill two blocks. */
static void hash_key(const char *key, uint8_t digest[4 * SHA1_WORDS])
{
    static const char constant[] = "258EAFA5-E914-47DA-95CA-C5AB0DC85B11";
    uint32_t h[SHA1_WORDS] = { 0x67452301, 0xefcdab89, 0x98badcfe, 0x10325476, 0xc3d2e1f0 };
    uint8_t text[2 * SHA1_BLOCK] = { 0 };
    size_t n = HTTP_KEY_BYTES + sizeof constant - 1;

    memcpy(text, key, HTTP_KEY_BYTES);
    memcpy(text + HTTP_KEY_BYTES, constant, sizeof constant - 1);
    text[n] = 0x80;
    text[sizeof text - 2] = (uint8_t)(n * 8 >> 8);
    text[sizeof text - 1] = (uint8_t)(n * 8);
    add_block(h, text);
    add_block(h, text + SHA1_BLOCK);
    for (unsigned i = 0; i < 4 * SHA1_WORDS; i++) {
        digest[i] = (uint8_t)(h[i / 4] >> (24 - i % 4 * 8));
    }
}

/* Some clients choose the key's letters at random, so the bits after its last byte may have any
 * value. The base64 decoder requires unused bits to be zero. Therefore two letters replace the
 * padding, so that no bit is unused. */
bool http_is_key(const char *key, size_t n)
{
    char letters[HTTP_KEY_BYTES];
    uint8_t bytes[KEY_PADDED];
    size_t decoded;

    if (n != HTTP_KEY_BYTES || key[n - 2] != '=' || key[n - 1] != '=') {
        return false;
    }
    memcpy(letters, key, n);
    letters[n - 2] = letters[n - 1] = 'A';
    return base64_get(bytes, sizeof bytes, letters, n, &decoded);
}

void http_accept_key(const char *key, char accept[HTTP_ACCEPT_BYTES])
{
    uint8_t digest[4 * SHA1_WORDS];

    hash_key(key, digest);
    base64_put(accept, digest, sizeof digest);
    accept[HTTP_ACCEPT_BYTES - 1] = '\0';
}
