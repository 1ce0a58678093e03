/* Models and adapters as files: signs them, and checks their signatures. */
#ifndef INGOT_FLASH_IMAGE_SIGN_FILE_H
#define INGOT_FLASH_IMAGE_SIGN_FILE_H

#include "flash_image/signing/sign_key.h"

/* Sign the file at `in`: `out` is a copy of it with a block of this key at its end; NULL: `in` itself,
 * whose earlier signature is replaced. The output appears whole or not at all: OUT.tmp is renamed, and in
 * place the block is written before the length of the file changes. Errors: those of reading;
 * ERR_NOT_FOUND, ERR_IO, ERR_BAD_MODEL: it is neither a model nor an adapter; error_message is an error
 * message with the path. */
enum err sign_file(const struct sign_key *k, const char *in, const char *out, char *error_message,
                   size_t error_message_bytes);

enum sign_state {
    SIGN_NONE,
    SIGN_MATCHES /* only the digests, whoever signed them */,
    SIGN_HOLDS /* of the key */
};

struct sign_checked {
    enum sign_state state;
    char name[SIGNATURE_NAME_BYTES]; /* name of the key that signed it */
    uint32_t n_parts;
};

/* Check the file against its signature, and that against a key (NULL: none). ERR_NOT_SIGNED: it was
 * altered, or signed by another key; with a key also if there is no signature. Other errors as
 * above. */
enum err sign_check(struct sign_checked *c, const struct signing *key, const char *path,
                    char *error_message, size_t error_message_bytes);

/* A file's own statement about its signature: nothing is computed. file_bytes: from its header. */
void sign_look(struct sign_checked *c, const uint8_t *data, size_t bytes, uint64_t file_bytes);

#endif
