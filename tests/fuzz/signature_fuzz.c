/* A signature's block in a compact form: the file's size in pages, how many parts it has, a flag that corrects
 * dependent fields, the block's bytes. The signature itself counts as valid: a block that the reader accepts has
 * all its digests inside its bytes. */
#include <stdlib.h>
#include <string.h>

#include "runtime/image/signature.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { HEAD = 5, KEEP = 1 };

static const uint8_t key[SIGNATURE_KEY_BYTES] = { 4 };

static void must(bool condition)
{
    if (!condition) {
        abort();
    }
}

static bool holds(const uint8_t *k, const uint8_t *digest, const uint8_t *signature)
{
    must(k == key && digest != NULL);
    return (signature[0] & 1) == 0;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    const struct signing signing = { .key = key, .name = "0123456789abcdef", .verify = holds };
    char error_message[SIGNING_ERROR_MESSAGE_BYTES] = "";
    struct signature_block *b;
    uint64_t file_bytes, bytes;
    uint32_t n_parts;
    enum err e;

    if (size < HEAD) {
        return 0;
    }
    file_bytes = (uint64_t)(data[0] | data[1] << 8) * INGOT_PAGE;
    n_parts = (uint32_t)(data[2] | data[3] << 8) % (SIGNATURE_MOST_PARTS + 1);
    bytes = signature_block_bytes(n_parts);
    b = calloc(1, (size_t)bytes); /* and no more, so that the sanitizer sees a read beyond */
    must(b != NULL);
    memcpy(b, data + HEAD, size - HEAD < bytes ? size - HEAD : (size_t)bytes);
    if ((data[4] & KEEP) == 0) {
        size_t used = sizeof *b + (size_t)n_parts * SIGNATURE_DIGEST_BYTES;

        b->file_bytes = file_bytes;
        b->block_bytes = bytes;
        b->n_parts = n_parts;
        signature_key_id(b->key_id, key);
        memset((uint8_t *)b + used, 0, (size_t)bytes - used);
    }
    e = signature_check_block(&signing, b, file_bytes, n_parts, error_message);
    must(e == ERR_OK || (e == ERR_NOT_SIGNED && error_message[0] != '\0'));
    must(e != ERR_OK ||
         (b->n_parts == n_parts && b->file_bytes == file_bytes && (b->signature[0] & 1) == 0));
    free(b);
    return 0;
}
