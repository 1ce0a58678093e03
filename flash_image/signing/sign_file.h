/* Models and adapters as files: signed, and held against their signatures. */
#ifndef INGOT_FLASH_IMAGE_SIGN_FILE_H
#define INGOT_FLASH_IMAGE_SIGN_FILE_H

#include "flash_image/signing/sign_key.h"

/* Sign the file at `in`: `out` is that file with a block of this key's behind it; NULL: in itself is, and
 * what another key signed is forgotten. Whole files appear or none: OUT.tmp is renamed, and in place the
 * block is written before the file has another length. Errors: those of reading; ERR_NOT_FOUND, ERR_IO,
 * ERR_BAD_MODEL: it is neither a model nor an adapter; error_message is an error message with the path. */
enum err sign_file(const struct sign_key *k, const char *in, const char *out, char *error_message,
                   size_t error_message_bytes);

enum sign_state {
    SIGN_NONE,
    SIGN_MATCHES /* digests; by whom is not asked */,
    SIGN_HOLDS /* of the key */
};

struct sign_checked {
    enum sign_state state;
    char name[SIGNATURE_NAME_BYTES]; /* of the key that it says */
    uint32_t n_parts;
};

/* Hold the file against its signature, and that against a key (NULL: none). ERR_NOT_SIGNED: it was altered, or
 * is another key's; with a key also where there is no signature. Errors as above, too. */
enum err sign_check(struct sign_checked *c, const struct signing *key, const char *path,
                    char *error_message, size_t error_message_bytes);

/* A file's own statement about its signature: nothing is computed. file_bytes: as its header has it. */
void sign_look(struct sign_checked *c, const uint8_t *data, size_t bytes, uint64_t file_bytes);

#endif
