/* Reads keys from files and signs with them, by the distribution's BearSSL (libbearssl-dev).
 * Without this library every function fails with an error message that says what to
 * install. */
#ifndef INGOT_FLASH_IMAGE_SIGN_KEY_H
#define INGOT_FLASH_IMAGE_SIGN_KEY_H

#include "flash_image/signing/pem_key.h"
#include "runtime/image/signature.h"

struct sign_key {
    struct pem_key pem;              /* with its public half, a point of the curve */
    char name[SIGNATURE_NAME_BYTES]; /* name of that half */
    struct signing signing;          /* checks its signatures */
};

/* Read a key, which must be private if to_sign is true. Errors: ERR_NOT_FOUND, ERR_IO,
 * ERR_BAD_ARGUMENT, ERR_UNSUPPORTED without the library; error_message is an error message with the
 * path. k must not move. */
enum err sign_key_open(struct sign_key *k, const char *path, bool to_sign, char *error_message,
                       size_t error_message_bytes);

/* Sign a digest (32) by RFC 6979: equal digests get equal signatures. */
void sign_key_sign(const struct sign_key *k, const uint8_t *digest, uint8_t signature[64]);

/* Overwrite the key, before its memory is used for something else. */
void sign_key_clear(struct sign_key *k);

#endif
