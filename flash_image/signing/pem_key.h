/* Reads keys of P-256 in PEM, as openssl writes them. Nothing here computes on the curve. */
#ifndef INGOT_FLASH_IMAGE_PEM_KEY_H
#define INGOT_FLASH_IMAGE_PEM_KEY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "board/err.h"

enum { PEM_PRIVATE_BYTES = 32, PEM_PUBLIC_BYTES = 65, PEM_MOST_BYTES = 16384 };

struct pem_key {
    bool is_private;                    /* false: `private` is not set */
    uint8_t private[PEM_PRIVATE_BYTES]; /* big-endian */
    bool has_public;
    uint8_t public[PEM_PUBLIC_BYTES]; /* a byte 4, then X and Y, as in the file */
};

/* Read a text of `bytes` bytes (up to PEM_MOST_BYTES): the first block of "EC PRIVATE KEY" (SEC 1),
 * "PRIVATE KEY" (PKCS 8, without a password) or "PUBLIC KEY" in it. Errors: ERR_BAD_ARGUMENT;
 * *error_message says what to do. */
enum err pem_key_read(struct pem_key *key, const char *text, size_t bytes,
                      const char **error_message);

#endif
