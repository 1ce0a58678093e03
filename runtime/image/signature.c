#include "runtime/image/signature.h"

#include <string.h>

#include "runtime/image/image_check.h"
#include "runtime/text/format_text.h"

#define REFUSE_SIGNATURE(...) \
    (format_text(error_message, SIGNING_ERROR_MESSAGE_BYTES, __VA_ARGS__), ERR_NOT_SIGNED)

void signature_digest(uint8_t digest[SHA256_BYTES], const struct signature_block *b)
{
    struct sha256 s;

    sha256_begin(&s);
    sha256_add(&s, b, SIGNATURE_SIGNED_HEAD);
    sha256_add(&s, b->digests, (size_t)b->n_parts * SIGNATURE_DIGEST_BYTES);
    sha256_end(&s, digest);
}

void signature_key_id(uint8_t id[SIGNATURE_ID_BYTES], const uint8_t *key)
{
    uint8_t digest[SHA256_BYTES];

    sha256(digest, key, SIGNATURE_KEY_BYTES);
    memcpy(id, digest, SIGNATURE_ID_BYTES);
}

char *signature_id_text(char text[SIGNATURE_NAME_BYTES], const uint8_t *id)
{
    static const char digits[] = "0123456789abcdef";

    for (unsigned i = 0; i < SIGNATURE_ID_BYTES; i++) {
        text[2 * i] = digits[id[i] >> 4];
        text[2 * i + 1] = digits[id[i] & 15];
    }
    text[2 * SIGNATURE_ID_BYTES] = '\0';
    return text;
}

bool signature_is_block(const struct signature_block *b)
{
    return memcmp(b->magic, SIGNATURE_MAGIC, sizeof b->magic) == 0;
}

/* Check all fields except the digests and the signature: readers rely on these fields. */
static enum err check_head(const struct signature_block *b, uint64_t file_bytes, uint32_t n_parts,
                           char *error_message)
{
    size_t used = sizeof *b + (size_t)n_parts * SIGNATURE_DIGEST_BYTES;

    if (!signature_is_block(b)) {
        return REFUSE_SIGNATURE("it is not signed: sign it with `ingot sign MODEL --key KEY.pem`");
    }
    if (b->version != SIGNATURE_VERSION || b->kind != SIGNATURE_P256 ||
        b->leaf_bytes != SIGNATURE_LEAF) {
        return REFUSE_SIGNATURE(
            "its signature is of a kind that this program does not know: sign it "
            "again");
    }
    if (b->file_bytes != file_bytes || b->n_parts != n_parts ||
        b->block_bytes != signature_block_bytes(n_parts) ||
        !image_all_zero(b->reserved, sizeof b->reserved) ||
        !image_all_zero((const uint8_t *)b + used, (size_t)b->block_bytes - used)) {
        return REFUSE_SIGNATURE(
            "its signature belongs to another file, or is damaged: sign it again");
    }
    return ERR_OK;
}

enum err signature_check_block(const struct signing *g, const struct signature_block *b,
                               uint64_t file_bytes, uint32_t n_parts, char *error_message)
{
    char its[SIGNATURE_NAME_BYTES];
    uint8_t id[SIGNATURE_ID_BYTES], digest[SHA256_BYTES];
    enum err e = check_head(b, file_bytes, n_parts, error_message);

    if (e != ERR_OK) {
        return e;
    }
    signature_key_id(id, g->key);
    if (memcmp(id, b->key_id, sizeof id) != 0) {
        return REFUSE_SIGNATURE(
            "it is signed by the key %s, but the expected key is %s: sign it with the "
            "expected key",
            signature_id_text(its, b->key_id), g->name);
    }
    signature_digest(digest, b);
    if (!g->verify(g->key, digest, b->signature)) {
        return REFUSE_SIGNATURE(
            "its signature is not valid: it was altered after it was signed, or the signature is forged");
    }
    return ERR_OK;
}
