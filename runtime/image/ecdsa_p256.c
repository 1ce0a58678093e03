#include "runtime/image/ecdsa_p256.h"

#include <bearssl.h>

enum { KEY_BYTES = 65, DIGEST_BYTES = 32, NUMBER_BYTES = 32 };

/* Return true if a number is 0. BearSSL checks all other bounds, but it would compare an r of 0
 * with the X of a point. */
static bool is_zero(const uint8_t *number)
{
    uint8_t any = 0;

    for (int i = 0; i < NUMBER_BYTES; i++) {
        any |= number[i];
    }
    return any == 0;
}

bool ecdsa_p256_verify(const uint8_t *key, const uint8_t *digest, const uint8_t *signature)
{
    /* The library's type is not const, but the library only reads. */
    const br_ec_public_key public = { .curve = BR_EC_secp256r1,
                                      .q = (unsigned char *)(uintptr_t)key,
                                      .qlen = KEY_BYTES };

    if (is_zero(signature)) {
        return false;
    }
    return br_ecdsa_i31_vrfy_raw(&br_ec_p256_m31, digest, DIGEST_BYTES, &public, signature,
                                 2 * (size_t)NUMBER_BYTES) == 1;
}
