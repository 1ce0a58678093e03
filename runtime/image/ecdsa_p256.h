/* ECDSA over P-256, by BearSSL. */
#ifndef INGOT_RUNTIME_ECDSA_P256_H
#define INGOT_RUNTIME_ECDSA_P256_H

#include <stdbool.h>
#include <stdint.h>

/* Whether signature (r and s, 32 bytes each, big-endian) is that of a SHA-256 (32 bytes) under a public key
 * (65 bytes: 4, X, Y). A key that is not a point of the curve, and r or s of 0, of the order or above, have
 * none. 2.5 KB of stack, no memory of its own. Everything in it is public: it need not take constant time,
 * although it does. */
bool ecdsa_p256_verify(const uint8_t *key, const uint8_t *digest, const uint8_t *signature);

#endif
