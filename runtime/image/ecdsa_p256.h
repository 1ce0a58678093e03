/* ECDSA over P-256, by BearSSL. */
#ifndef INGOT_RUNTIME_ECDSA_P256_H
#define INGOT_RUNTIME_ECDSA_P256_H

#include <stdbool.h>
#include <stdint.h>

/* Return true if signature (r and s, 32 bytes each, big-endian) signs the SHA-256 digest (32 bytes)
 * under a public key (65 bytes: 4, X, Y). Returns false if the key is not a point of the curve, or
 * if r or s is 0 or not below the order. Takes 2.5 KB of stack and no other memory. All inputs are
 * public, so constant time is not required, but it is kept. */
bool ecdsa_p256_verify(const uint8_t *key, const uint8_t *digest, const uint8_t *signature);

#endif
