#include "flash_image/signing/sign_key.h"

#include <stdio.h>
#include <string.h>

#include "flash_image/source/map_file.h"

#ifdef INGOT_BEARSSL
#include <bearssl.h>

#include "runtime/compute/tree_digest.h"
#include "runtime/image/ecdsa_p256.h"
#include "runtime/image/ecdsa_selftest.h"

void sign_key_sign(const struct sign_key *k, const uint8_t *digest, uint8_t signature[64])
{
    struct pem_key pem = k->pem; /* the library's type is not const */
    const br_ec_private_key key = { .curve = BR_EC_secp256r1,
                                    .x = pem.private,
                                    .xlen = sizeof pem.private };

    (void)br_ecdsa_i31_sign_raw(&br_ec_p256_m31, &br_sha256_vtable, digest, &key, signature);
}

/* Compute the public half of a private key. False: the private key is 0, or not below the curve's
 * order. */
static bool derive(const struct pem_key *pem, uint8_t public[PEM_PUBLIC_BYTES])
{
    static const uint8_t zeros[PEM_PRIVATE_BYTES];
    size_t n;
    const uint8_t *order = br_ec_p256_m31.order(BR_EC_secp256r1, &n);

    if (memcmp(pem->private, order, sizeof pem->private) >= 0 ||
        memcmp(pem->private, zeros, sizeof zeros) == 0) {
        return false;
    }
    return br_ec_p256_m31.mulgen(public, pem->private, sizeof pem->private, BR_EC_secp256r1) ==
           PEM_PUBLIC_BYTES;
}

/* True if the public key is a point of the curve; BearSSL must not multiply other points. */
static bool is_point(const struct pem_key *pem)
{
    static const uint8_t one = 1;
    uint8_t point[PEM_PUBLIC_BYTES];

    memcpy(point, pem->public, sizeof point);
    return br_ec_p256_m31.mul(point, sizeof point, &one, 1, BR_EC_secp256r1) == 1;
}

static enum err complete(struct sign_key *k, const char **error_message)
{
    struct pem_key *pem = &k->pem;
    uint8_t public[PEM_PUBLIC_BYTES], id[SIGNATURE_ID_BYTES];

    if (pem->is_private) {
        if (!derive(pem, public) ||
            (pem->has_public && memcmp(public, pem->public, sizeof public) != 0)) {
            *error_message =
                "its private and its public half do not belong together: make a new key";
            return ERR_BAD_ARGUMENT;
        }
        memcpy(pem->public, public, sizeof public);
    } else if (!is_point(pem)) {
        *error_message = "its public half is not a point of P-256: the file is damaged";
        return ERR_BAD_ARGUMENT;
    }
    signature_key_id(id, pem->public);
    (void)signature_id_text(k->name, id);
    k->signing = (struct signing){ .key = pem->public,
                                   .name = k->name,
                                   .verify = ecdsa_p256_verify,
                                   .selftest = ecdsa_selftest,
                                   .check_block = signature_check_block,
                                   .begin_digest = tree_digest_begin,
                                   .add_digest = tree_digest_add,
                                   .end_digest = tree_digest_end };
    return ERR_OK;
}

#else

void sign_key_sign(const struct sign_key *k, const uint8_t *digest, uint8_t signature[64])
{
    (void)k;
    (void)digest;
    memset(signature, 0, 64);
}

static enum err complete(struct sign_key *k, const char **error_message)
{
    (void)k;
    *error_message =
        "this program was built without BearSSL: install libbearssl-dev and build it again";
    return ERR_UNSUPPORTED;
}

#endif

enum err sign_key_open(struct sign_key *k, const char *path, bool to_sign, char *error_message,
                       size_t error_message_bytes)
{
    struct mapping file;
    char not_opened[320];
    const char *why = not_opened;
    enum err e = mapping_open(&file, path, not_opened, sizeof not_opened);

    memset(k, 0, sizeof *k);
    if (e == ERR_OK) {
        e = pem_key_read(&k->pem, (const char *)file.data, file.bytes, &why);
        unmap_file(&file);
    }
    if (e == ERR_OK && to_sign && !k->pem.is_private) {
        why = "it is a public key: sign with the private one";
        e = ERR_BAD_ARGUMENT;
    }
    if (e == ERR_OK) {
        e = complete(k, &why);
    }
    if (e != ERR_OK) {
        snprintf(error_message, error_message_bytes, "%.400s: %s", path, why);
    }
    return e;
}

void sign_key_clear(struct sign_key *k)
{
    volatile uint8_t *bytes = (volatile uint8_t *)k;

    /* A compiler may omit a memset whose result nobody reads. */
    for (size_t i = 0; i < sizeof *k; i++) {
        bytes[i] = 0;
    }
}
