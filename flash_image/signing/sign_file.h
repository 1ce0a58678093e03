/* Signs files of models and adapters, and checks their signatures. */
#ifndef INGOT_FLASH_IMAGE_SIGN_FILE_H
#define INGOT_FLASH_IMAGE_SIGN_FILE_H

#include "flash_image/signing/sign_key.h"

/* Sign the file at `in`: `out` becomes a copy with this key's signature at its end; if `out` is
 * NULL, `in` itself is signed, and an earlier signature is replaced. A copy is written as
 * output_file.h describes. When a file is signed in place, signals are blocked while the block is
 * written, and a failed write is undone. Errors: those of reading, ERR_NOT_FOUND, ERR_IO,
 * ERR_BAD_MODEL (neither a model nor an adapter); error_message has an error message with the
 * path. */
enum err sign_file(const struct sign_key *k, const char *in, const char *out, char *error_message,
                   size_t error_message_bytes);

enum sign_state {
    SIGN_NONE,
    SIGN_MATCHES /* the digests are right, but any key may have signed them */,
    SIGN_HOLDS /* the given key made the signature */
};

struct sign_checked {
    enum sign_state state;
    char name[SIGNATURE_NAME_BYTES]; /* name of the key that signed the file */
    uint32_t n_parts;
};

/* Check that the file has the digests in its signature, and that `key`, unless NULL, signed them.
 * ERR_NOT_SIGNED: the file was altered, or another key signed it, or `key` is given and the file
 * has no signature. Other errors as above. */
enum err sign_check(struct sign_checked *c, const struct signing *key, const char *path,
                    char *error_message, size_t error_message_bytes);

/* Read only the header of a file's signature, and check nothing. file_bytes: the file's size
 * without the signature, from the file's header. */
void sign_look(struct sign_checked *c, const uint8_t *data, size_t bytes, uint64_t file_bytes);

#endif
