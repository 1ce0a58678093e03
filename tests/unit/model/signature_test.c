/* Signed models: the signature with published vectors and with made-up bad ones; a signed model
 * computes the same as before, in memory, streamed and in place; every altered part is refused by name,
 * also if its CRC is unchanged. */
#include <unistd.h>

#include "flash_image/signing/sign_file.h"
#include "runtime/compute/tree_digest.h"
#include "runtime/image/ecdsa_p256.h"
#include "runtime/image/ecdsa_selftest.h"
#include "tests/unit/rig_expected.h"

/* RFC 6979, A.2.5. */
static const char rfc_key[] = "-----BEGIN EC PRIVATE KEY-----\n"
                              "MHcCAQEEIMmvqdhFunUWa1whV2ex1pNOUMPbNuibEnuKYisSD2choAoGCCqGSM49\n"
                              "AwEHoUQDQgAEYP7UuiVanTHJYet0xjVtaMBJuJI7Yfps5mliLmDyn7Z5A/4QCLi8\n"
                              "maQa6elWKLxk8vGyDC1+n1F3o8KU1EYimQ==\n"
                              "-----END EC PRIVATE KEY-----\n";

/* A file for as long as the test runs. */
static const char *path_of(const char *what)
{
    static char paths[4][200];
    static unsigned n;
    const char *base = getenv("TMPDIR");
    char *path = paths[n++ % 4];

    snprintf(path, 200, "%s/ingot-signature-%ld-%s", base != NULL ? base : "/tmp", (long)getpid(),
             what);
    return path;
}

static void write_file(const char *path, const void *data, size_t bytes)
{
    FILE *f = fopen(path, "wb");

    if (f == NULL || fwrite(data, 1, bytes, f) != bytes || fclose(f) != 0)
        rig_die("a file cannot be written");
}

static struct sign_key key, other;

static void open_keys(void)
{
    const char *path = path_of("key.pem");
    char error_message[300];

    write_file(path, rfc_key, strlen(rfc_key));
    if (sign_key_open(&key, path, true, error_message, sizeof error_message) != ERR_OK)
        rig_die(error_message);
    unlink(path);
    other = key; /* its private half is one higher, and has no file */
    other.pem.private[31]++;
    other.pem.has_public = false;
}

/* ---- the signature ---- */

static void test_vectors(void)
{
    static const uint8_t r[] = { 0xef, 0xd4, 0x8b, 0x2a }, s[] = { 0xf7, 0xcb, 0x1c, 0x94 };
    uint8_t digest[SHA256_BYTES], signature[64];
    const char *wrong = ecdsa_selftest();

    OK(wrong == NULL, "the vectors of RFC 6979 are judged rightly: %s",
       wrong == NULL ? "none is judged wrongly" : wrong);
    sha256(digest, "sample", 6);
    sign_key_sign(&key, digest, signature);
    OK(memcmp(signature, r, sizeof r) == 0 && memcmp(signature + 32, s, sizeof s) == 0,
       "the signature is RFC 6979's");
}

/* Flips every bit of signature and digest. */
static void test_bits(void)
{
    uint8_t digest[SHA256_BYTES], signature[64];
    unsigned taken = 0;

    sha256(digest, "bits", 4);
    sign_key_sign(&key, digest, signature);
    OK(ecdsa_p256_verify(key.pem.public, digest, signature), "a signature holds");
    for (unsigned i = 0; i < 512; i += 3) {
        signature[i / 8] ^= (uint8_t)(1u << i % 8);
        taken += ecdsa_p256_verify(key.pem.public, digest, signature);
        signature[i / 8] ^= (uint8_t)(1u << i % 8);
    }
    for (unsigned i = 0; i < 256; i += 5) {
        digest[i / 8] ^= (uint8_t)(1u << i % 8);
        taken += ecdsa_p256_verify(key.pem.public, digest, signature);
        digest[i / 8] ^= (uint8_t)(1u << i % 8);
    }
    OK(taken == 0, "a signature with another bit does not hold");
}

/* Digests that are special to the arithmetic. BearSSL multiplies by no 0, so a digest of 0 or of
 * the order, which nobody will meet, has no signature; digests above the order have one. */
static void test_special_digests(void)
{
    static const uint8_t order[32] = { 0xff, 0xff, 0xff, 0xff, 0,    0,    0,    0,
                                       0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff,
                                       0xbc, 0xe6, 0xfa, 0xad, 0xa7, 0x17, 0x9e, 0x84,
                                       0xf3, 0xb9, 0xca, 0xc2, 0xfc, 0x63, 0x25, 0x51 };
    uint8_t digests[4][SHA256_BYTES] = { { 0 } }, signature[64], zero[SHA256_BYTES] = { 0 };
    bool holds = true;

    memcpy(digests[1], order, sizeof order);
    memset(digests[2], 0xff, sizeof digests[2]);
    digests[3][31] = 1;
    for (int i = 0; i < 4; i++) {
        sign_key_sign(&key, digests[i], signature);
        holds = holds && ecdsa_p256_verify(key.pem.public, digests[i], signature) == (i >= 2);
        holds = holds && !ecdsa_p256_verify(key.pem.public, zero, signature);
    }
    OK(holds, "digests of 0 and of the order are never right, those above it are");
}

/* ---- digests ---- */

static void test_tree(void)
{
    enum { BYTES = 5 * SIGNATURE_LEAF + 1234 };
    uint8_t *data = malloc(BYTES), whole[SHA256_BYTES], parts[SHA256_BYTES];
    static struct workers crew;
    struct tree_digest d;
    bool same = true;

    workers_start(&crew, rig_platform(), 3);
    for (size_t i = 0; i < BYTES; i++)
        data[i] = (uint8_t)(i >> 8 ^ i);
    tree_digest_begin(&d);
    tree_digest_add(&d, NULL, data, BYTES);
    tree_digest_end(&d, whole);
    for (size_t step = 1000; step < BYTES; step = step * 3 + 77) {
        tree_digest_begin(&d);
        for (size_t at = 0; at < BYTES; at += step)
            tree_digest_add(&d, &crew, data + at, BYTES - at < step ? BYTES - at : step);
        tree_digest_end(&d, parts);
        same = same && memcmp(whole, parts, sizeof whole) == 0;
    }
    OK(same, "the digest is the same wherever it is cut, by one core or three");
    workers_stop(&crew);
    free(data);
}

/* ---- models ---- */

static size_t unsigned_bytes;

/* Signs rig.packed with the host's own code. */
static void sign_model(const struct sign_key *by)
{
    const char *path = path_of("model.ingot");
    char error_message[300];
    FILE *f;

    write_file(path, rig.packed, unsigned_bytes);
    if (sign_file(by, path, NULL, error_message, sizeof error_message) != ERR_OK)
        rig_die(error_message);
    f = fopen(path, "rb");
    rig.packed_bytes = fread(rig.packed, 1, RIG_MOST_BYTES, f);
    fclose(f);
    unlink(path);
}

/* These five bytes are a multiple of CRC-32C's polynomial, so the checksum does not see them. */
static void alter(uint64_t at)
{
    uint64_t bits = 1 | (uint64_t)0x82f63b78 << 1;

    for (int i = 0; i < 5; i++)
        rig.packed[at + (unsigned)i] ^= (uint8_t)(bits >> 8 * i);
}

static bool refused(size_t limit, bool in_place, const char *why)
{
    enum err e = rig_start(limit, 0, in_place);

    return e == ERR_NOT_SIGNED && strstr(rig.model.error_message, why) != NULL;
}

static void test_equal(size_t limit, bool in_place, const char *form)
{
    bool equal = rig_start(limit, 0, in_place) == ERR_OK;

    for (uint32_t i = 0; i < N_TOKENS && equal; i++)
        equal = append(i);
    OK(equal, "%s: a signature changes no logits: %s", form, rig.model.error_message);
}

static void test_segments(size_t limit, bool in_place, const char *form)
{
    uint32_t n = image_segment_count(&rig.model.image);
    uint64_t offsets[INGOT_MAX_SEGMENTS], sizes[INGOT_MAX_SEGMENTS];
    char names[INGOT_MAX_SEGMENTS][32];

    for (uint32_t i = 0; i < n; i++) {
        image_segment_name(&rig.model.image, i, names[i], sizeof names[i]);
        offsets[i] = rig.model.image.segments[i].offset;
        sizes[i] = rig.model.image.segments[i].bytes;
    }
    for (uint32_t i = 0; i < n; i++) {
        uint64_t last = offsets[i] + sizes[i] - 5;

        alter(offsets[i] + sizes[i] / 2);
        OK(refused(limit, in_place, names[i]), "%s: a wrong bit of a signed part is found: %s",
           form, rig.model.error_message);
        alter(offsets[i] + sizes[i] / 2);
        alter(last);
        OK(refused(limit, in_place, names[i]),
           "%s: a wrong bit in the last bytes of a part is found: %s", form,
           rig.model.error_message);
        alter(last);
    }
}

/* A bit that flips once on the way is read again. */
static void test_flip(size_t limit, const char *form)
{
    uint64_t middle;

    if (rig_open(limit, 0, false) != ERR_OK)
        rig_die(rig.model.error_message);
    middle = rig.model.image.segments[1].offset + rig.model.image.segments[1].bytes / 2;
    rig.flip_sector = (long)(middle / SECTOR_BYTES);
    rig.flip_times = 1;
    OK(rig_load() == ERR_OK && rig.flip_times == 0,
       "%s: a bit that flips on the way costs a second read", form);
}

static void test_model(const char *shape, enum ingot_type type)
{
    struct rig_limits limits;
    struct ingot_header *h;
    struct signature_block *block;
    uint8_t *kept;

    rig_make_model(shape, type);
    unsigned_bytes = rig.packed_bytes;
    set_expected();
    limits = rig_limits();
    rig.signing = &key.signing;
    OK(refused(0, false, "not signed") && rig.reads[INGOT_PAGE / SECTOR_BYTES] == 0,
       "%s: an unsigned model is refused before its tables are read: %s", shape,
       rig.model.error_message);
    sign_model(&key);
    test_equal(0, false, shape);
    test_equal(limits.least, false, shape);
    test_equal(limits.untiled, false, shape);
    test_equal(0, true, shape);
    test_flip(0, shape);
    test_flip(limits.least, shape);
    test_segments(0, false, "in memory");
    test_segments(limits.least, false, "streamed");
    test_segments(0, true, "in place");

    kept = malloc(rig.packed_bytes);
    memcpy(kept, rig.packed, rig.packed_bytes);
    h = (void *)rig.packed;
    h->name[0] ^= 1;
    h->header_crc32c = 0;
    h->header_crc32c = crc32c(0, h, sizeof *h);
    OK(refused(0, false, "header"), "a header whose CRC was put right is refused: %s",
       rig.model.error_message);
    memcpy(rig.packed, kept, rig.packed_bytes);
    alter(h->tokenizer.offset + h->tokenizer.bytes - 5);
    OK(refused(0, false, "tables"), "a table whose CRC is still right is refused: %s",
       rig.model.error_message);
    memcpy(rig.packed, kept, rig.packed_bytes);

    block = (void *)(rig.packed + h->file_bytes);
    block->digests[3][5] ^= 1;
    OK(refused(0, false, "is not valid"), "a wrong digest in the block is refused: %s",
       rig.model.error_message);
    memcpy(rig.packed, kept, rig.packed_bytes);
    block->signature[40] ^= 1;
    OK(refused(0, false, "is not valid"), "a wrong signature is refused: %s",
       rig.model.error_message);
    memcpy(rig.packed, kept, rig.packed_bytes);
    block->version++;
    OK(refused(0, false, "of a kind"), "a block of a later version is refused: %s",
       rig.model.error_message);
    memcpy(rig.packed, kept, rig.packed_bytes);
    block->n_parts++;
    OK(refused(0, false, "belongs to another file"), "a block with other counts is refused: %s",
       rig.model.error_message);
    memcpy(rig.packed, kept, rig.packed_bytes);
    rig.packed[h->file_bytes + block->block_bytes - 1] = 1;
    OK(refused(0, false, "damaged"), "a block with bytes after the digests is refused: %s",
       rig.model.error_message);
    memcpy(rig.packed, kept, rig.packed_bytes);
    rig.packed_bytes -= SECTOR_BYTES;
    OK(refused(0, false, "not signed"), "a block that is cut off is refused: %s",
       rig.model.error_message);
    rig.packed_bytes += SECTOR_BYTES;
    memset(rig.packed + rig.packed_bytes, 0xa5, 8192);
    rig.packed_bytes += 8192;
    OK(rig_start(0, 0, false) == ERR_OK, "bytes behind the block are not part of it");
    rig.signing = NULL;
    OK(rig_start(0, 0, false) == ERR_OK, "a signed model runs on a board without a key");
    free(kept);
}

/* Tries somebody else's key: under its own name, and under our key's name. */
static void test_other_key(void)
{
    uint8_t public[SIGNATURE_KEY_BYTES], digest[SHA256_BYTES];
    struct signature_block *block;

    rig.packed_bytes = unsigned_bytes;
    memcpy(public, key.pem.public, sizeof public);
    sign_model(&key);
    rig.signing = &key.signing;
    block = (void *)(rig.packed + ((struct ingot_header *)rig.packed)->file_bytes);
    signature_digest(digest, block);
    sign_key_sign(&other, digest, block->signature);
    OK(refused(0, false, "is not valid"),
       "a signature by another key under our key's name is refused: %s", rig.model.error_message);
    block->key_id[0] ^= 1;
    OK(refused(0, false, "signed by the key"),
       "a signature by another key under its own name is refused: %s", rig.model.error_message);
    rig.signing = NULL;
}

int main(void)
{
    static struct workers crew;

    rig_compute(true);
    open_keys();
    test_vectors();
    test_bits();
    test_special_digests();
    test_tree();
    workers_start(&crew, rig_platform(), 2);
    rig.workers = &crew;
    test_model("tiny", INGOT_Q8_0);
    test_model("untied", INGOT_Q4_0);
    test_model("experts", INGOT_Q8_0);
    test_other_key();
    return tap_done();
}
