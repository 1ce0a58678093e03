/* The reader of signature blocks (flash_image/FORMAT.md, "Signatures") over memory. */
#ifndef INGOT_RUNTIME_SIGNATURE_H
#define INGOT_RUNTIME_SIGNATURE_H

#include "runtime/image/signing.h"

/* Check the block of a file of file_bytes bytes with n_parts parts: b has
 * signature_block_bytes(n_parts) bytes, 8-byte aligned. Success means that the key's owner signed
 * these digests; the data are not checked yet. ERR_NOT_SIGNED: error_message
 * (SIGNING_ERROR_MESSAGE_BYTES) then says why. */
enum err signature_check_block(const struct signing *g, const struct signature_block *b,
                               uint64_t file_bytes, uint32_t n_parts, char *error_message);

/* Hash the signed bytes: the head of the block, and the digests. */
void signature_digest(uint8_t digest[SHA256_BYTES], const struct signature_block *b);

/* signature_key_id writes the name of a public key as bytes. signature_id_text writes these bytes
 * as 16 hexadecimal digits, NUL-terminated. */
enum { SIGNATURE_NAME_BYTES = 2 * SIGNATURE_ID_BYTES + 1 };
void signature_key_id(uint8_t id[SIGNATURE_ID_BYTES], const uint8_t *key);
char *signature_id_text(char text[SIGNATURE_NAME_BYTES], const uint8_t *id);

/* Return true if the first fields of a block are those of a signature; for programs that show
 * signatures. */
bool signature_is_block(const struct signature_block *b);

#endif
