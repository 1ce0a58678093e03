/* Implements boot/signing.h for an image with a key, so the code that checks signatures is
 * linked. */
#include "boot/signing.h"

#include "runtime/compute/tree_digest.h"
#include "runtime/image/ecdsa_p256.h"
#include "runtime/image/ecdsa_selftest.h"
#include "runtime/image/signature.h"

/* KEY_BYTES and KEY_NAME, from toolchain/signing_key.py. */
#include "signing_key.inc"

const struct signing *boot_signing(void)
{
    static const uint8_t key[SIGNATURE_KEY_BYTES] = { KEY_BYTES };
    static const struct signing signing = { .key = key,
                                            .name = KEY_NAME,
                                            .verify = ecdsa_p256_verify,
                                            .selftest = ecdsa_selftest,
                                            .check_block = signature_check_block,
                                            .begin_digest = tree_digest_begin,
                                            .add_digest = tree_digest_add,
                                            .end_digest = tree_digest_end };

    return &signing;
}
