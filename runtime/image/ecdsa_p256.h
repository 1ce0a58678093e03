/* ECDSA over P-256, by BearSSL. */
#ifndef INGOT_RUNTIME_ECDSA_P256_H
#define INGOT_RUNTIME_ECDSA_P256_H

#include <stdbool.h>
#include <stdint.h>

/* Whether signature (r and s, 32 bytes each, big-endian) is that of a SHA-256 (32 bytes) under a
 * public key (65 bytes: 4, X, Y). Never true for a key that is not a point of the curve, or for
 * r or s that are 0, or not below the order. 2.5 KB of stack, no memory of its own. All inputs
 * are public, so it need not take constant time, although it does. */
bool ecdsa_p256_verify(const uint8_t *key, const uint8_t *digest, const uint8_t *signature);

#endif
