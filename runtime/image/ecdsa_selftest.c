#include "runtime/image/ecdsa_selftest.h"

#include <stdint.h>
#include <string.h>

#include "runtime/base/sha256.h"
#include "runtime/image/ecdsa_p256.h"

enum { KEY = 65, HALF = 32, WHOLE = 64 };

/* RFC 6979, A.2.5. */
static const uint8_t key[KEY] = {
    4,    0x60, 0xfe, 0xd4, 0xba, 0x25, 0x5a, 0x9d, 0x31, 0xc9, 0x61, 0xeb, 0x74,
    0xc6, 0x35, 0x6d, 0x68, 0xc0, 0x49, 0xb8, 0x92, 0x3b, 0x61, 0xfa, 0x6c, 0xe6,
    0x69, 0x62, 0x2e, 0x60, 0xf2, 0x9f, 0xb6, 0x79, 0x03, 0xfe, 0x10, 0x08, 0xb8,
    0xbc, 0x99, 0xa4, 0x1a, 0xe9, 0xe9, 0x56, 0x28, 0xbc, 0x64, 0xf2, 0xf1, 0xb2,
    0x0c, 0x2d, 0x7e, 0x9f, 0x51, 0x77, 0xa3, 0xc2, 0x94, 0xd4, 0x46, 0x22, 0x99,
};

static const struct vector {
    const char *message;
    uint8_t signature[WHOLE];
} vectors[] = {
    { "sample", { 0xef, 0xd4, 0x8b, 0x2a, 0xac, 0xb6, 0xa8, 0xfd, 0x11, 0x40, 0xdd, 0x9c, 0xd4,
                  0x5e, 0x81, 0xd6, 0x9d, 0x2c, 0x87, 0x7b, 0x56, 0xaa, 0xf9, 0x91, 0xc3, 0x4d,
                  0x0e, 0xa8, 0x4e, 0xaf, 0x37, 0x16, 0xf7, 0xcb, 0x1c, 0x94, 0x2d, 0x65, 0x7c,
                  0x41, 0xd4, 0x36, 0xc7, 0xa1, 0xb6, 0xe2, 0x9f, 0x65, 0xf3, 0xe9, 0x00, 0xdb,
                  0xb9, 0xaf, 0xf4, 0x06, 0x4d, 0xc4, 0xab, 0x2f, 0x84, 0x3a, 0xcd, 0xa8 } },
    { "test", { 0xf1, 0xab, 0xb0, 0x23, 0x51, 0x83, 0x51, 0xcd, 0x71, 0xd8, 0x81, 0x56, 0x7b,
                0x1e, 0xa6, 0x63, 0xed, 0x3e, 0xfc, 0xf6, 0xc5, 0x13, 0x2b, 0x35, 0x4f, 0x28,
                0xd3, 0xb0, 0xb7, 0xd3, 0x83, 0x67, 0x01, 0x9f, 0x41, 0x13, 0x74, 0x2a, 0x2b,
                0x14, 0xbd, 0x25, 0x92, 0x6b, 0x49, 0xc6, 0x49, 0x15, 0x5f, 0x26, 0x7e, 0x60,
                0xd3, 0x81, 0x4b, 0x4c, 0x0c, 0xc8, 0x42, 0x50, 0xe4, 0x6f, 0x00, 0x83 } },
};

/* The order of the curve. */
static const uint8_t order[HALF] = { 0xff, 0xff, 0xff, 0xff, 0x00, 0x00, 0x00, 0x00,
                                     0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff,
                                     0xbc, 0xe6, 0xfa, 0xad, 0xa7, 0x17, 0x9e, 0x84,
                                     0xf3, 0xb9, 0xca, 0xc2, 0xfc, 0x63, 0x25, 0x51 };

/* Check that a signature fails if one half is replaced by 0, the order, all ones, or the other
 * half. */
static const char *check_halves(const uint8_t *digest, const uint8_t *good)
{
    static const uint8_t zeros[HALF];
    uint8_t ones[HALF], bad[WHOLE];
    const uint8_t *const wrong[] = { zeros, order, ones };

    memset(ones, 0xff, sizeof ones);
    for (unsigned i = 0; i < sizeof wrong / sizeof wrong[0]; i++) {
        for (unsigned half = 0; half < 2; half++) {
            memcpy(bad, good, sizeof bad);
            memcpy(bad + half * HALF, wrong[i], HALF);
            if (ecdsa_p256_verify(key, digest, bad)) {
                return "a signature with r or s out of bounds";
            }
        }
    }
    memcpy(bad, good + HALF, HALF);
    memcpy(bad + HALF, good, HALF);
    return ecdsa_p256_verify(key, digest, bad) ? "a signature with r and s exchanged" : NULL;
}

/* Check that a signature fails if a bit of the signature, the digest or the key is flipped. */
static const char *check_bits(const uint8_t *digest, const uint8_t *good)
{
    uint8_t bad[WHOLE], other[HALF], point[KEY];

    for (unsigned i = 0; i < 8; i++) {
        memcpy(bad, good, sizeof bad);
        bad[9 * i] ^= (uint8_t)(1u << i);
        memcpy(other, digest, sizeof other);
        other[4 * i] ^= (uint8_t)(1u << i);
        memcpy(point, key, sizeof point);
        point[8 * i + i / 2] ^= (uint8_t)(1u << i); /* this bit is in the key's first byte, which
                                                     * must be 4 */
        if (ecdsa_p256_verify(key, digest, bad) || ecdsa_p256_verify(key, other, good)) {
            return "a signature of other data";
        }
        if (ecdsa_p256_verify(point, digest, good)) {
            return "a key that is not a point of the curve";
        }
    }
    return NULL;
}

const char *ecdsa_selftest(void)
{
    for (size_t i = 0; i < sizeof vectors / sizeof vectors[0]; i++) {
        const struct vector *v = &vectors[i], *other = &vectors[1 - i];
        uint8_t digest[SHA256_BYTES];
        const char *wrong;

        sha256(digest, v->message, strlen(v->message));
        if (!ecdsa_p256_verify(key, digest, v->signature)) {
            return "a signature of RFC 6979";
        }
        if (ecdsa_p256_verify(key, digest, other->signature)) {
            return "another message's signature";
        }
        wrong = check_halves(digest, v->signature);
        if (wrong == NULL) {
            wrong = check_bits(digest, v->signature);
        }
        if (wrong != NULL) {
            return wrong;
        }
    }
    return NULL;
}
