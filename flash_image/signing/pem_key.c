#include "flash_image/signing/pem_key.h"

#include <string.h>

#include "runtime/text/base64.h"

#define MAKE_ONE \
    "make one with: openssl ecparam -name prime256v1 -genkey -noout -out key.pem, and its public " \
    "half with: openssl pkey -in key.pem -pubout -out public.pem"

#define HAS_PASSWORD "the key has a password: openssl pkey -in KEY.pem -out plain.pem removes it"

enum { MOST_DER = 512 };

static enum err refuse(const char **error_message, const char *why)
{
    *error_message = why;
    return ERR_BAD_ARGUMENT;
}

/* ---- PEM: lines of base64 between two labels --------------------------------------------------- */

enum label { SEC1, PKCS8, SPKI, N_LABELS };
static const char *const labels[N_LABELS] = { "EC PRIVATE KEY", "PRIVATE KEY", "PUBLIC KEY" };

/* Return the text after the first `what`, or NULL if `what` does not occur. */
static const char *find(const char *text, const char *end, const char *what)
{
    size_t n = strlen(what);

    for (; (size_t)(end - text) >= n; text++) {
        if (memcmp(text, what, n) == 0) {
            return text + n;
        }
    }
    return NULL;
}

/* True if a line begins with "LABEL-----"; *rest is the text after it. */
static bool has_label(const char *text, const char *end, const char *label, const char **rest)
{
    size_t n = strlen(label);

    if ((size_t)(end - text) < n + 5 || memcmp(text, label, n) != 0 ||
        memcmp(text + n, "-----", 5) != 0) {
        return false;
    }
    *rest = text + n + 5;
    return true;
}

/* Decode the base64 before the next line of dashes. */
static enum err decode(const char *text, const char *end, uint8_t der[MOST_DER], size_t *n,
                       const char **error_message)
{
    const char *stop = find(text, end, "-----END ");
    char packed[MOST_DER * 2];
    size_t length = 0;

    if (stop == NULL) {
        return refuse(error_message, "the key ends in the middle: copy the file again");
    }
    stop -= strlen("-----END ");
    for (; text < stop; text++) {
        if (*text == '\n' || *text == '\r' || *text == ' ' || *text == '\t') {
            continue;
        }
        if (*text == ':' || *text == ',') {
            return refuse(error_message,
                          "the key has a password: openssl pkey -in KEY.pem -out plain.pem "
                          "removes it");
        }
        if (length == sizeof packed) {
            return refuse(error_message, "the key is longer than one of P-256: " MAKE_ONE);
        }
        packed[length++] = *text;
    }
    if (!base64_get(der, MOST_DER, packed, length, n)) {
        return refuse(error_message,
                      "the text between the key's lines of dashes is not base64, or is too long");
    }
    return ERR_OK;
}

/* ---- DER: elements, which may contain other elements ------------------------- */

struct der {
    const uint8_t *at, *end;
};

/* Take the next element and return its value in *value; false: it has another tag. */
static bool take(struct der *d, uint8_t tag, struct der *value)
{
    size_t left = (size_t)(d->end - d->at), bytes, head = 2;

    if (left < 2 || d->at[0] != tag) {
        return false;
    }
    bytes = d->at[1];
    if (bytes == 0x81 && left >= 3 && d->at[2] >= 0x80) {
        bytes = d->at[2];
        head = 3;
    } else if (bytes >= 0x80) {
        return false;
    }
    if (bytes > left - head) {
        return false;
    }
    value->at = d->at + head;
    value->end = value->at + bytes;
    d->at = value->end;
    return true;
}

/* Take the next element; false if it does not have this tag and this value. */
static bool take_known(struct der *d, uint8_t tag, const void *value, size_t bytes)
{
    struct der v;

    return take(d, tag, &v) && (size_t)(v.end - v.at) == bytes && memcmp(v.at, value, bytes) == 0;
}

enum {
    INTEGER = 2,
    BITS = 3,
    OCTETS = 4,
    OBJECT = 6,
    SEQUENCE = 0x30,
    CONTEXT0 = 0xa0,
    CONTEXT1 = 0xa1
};

static const uint8_t prime256v1[] = { 0x2a, 0x86, 0x48, 0xce, 0x3d, 3, 1, 7 };
static const uint8_t ec_public_key[] = { 0x2a, 0x86, 0x48, 0xce, 0x3d, 2, 1 };

static bool take_curve(struct der *d)
{
    return take_known(d, OBJECT, prime256v1, sizeof prime256v1);
}

static bool take_algorithm(struct der *d)
{
    struct der v;

    return take(d, SEQUENCE, &v) && take_known(&v, OBJECT, ec_public_key, sizeof ec_public_key) &&
           take_curve(&v) && v.at == v.end;
}

/* Take a bit string that is an uncompressed point. */
static bool take_point(struct der *d, struct pem_key *key)
{
    struct der v;

    if (!take(d, BITS, &v) || v.end - v.at != 1 + PEM_PUBLIC_BYTES || v.at[0] != 0 ||
        v.at[1] != 4) {
        return false;
    }
    memcpy(key->public, v.at + 1, PEM_PUBLIC_BYTES);
    key->has_public = true;
    return true;
}

/* Read a key as in RFC 5915. named: the curve is already known, so the key need not name the
 * curve. */
static bool read_sec1(struct der d, bool named, struct pem_key *key)
{
    static const uint8_t one = 1;
    struct der s, v;
    bool curve = false;

    if (!take(&d, SEQUENCE, &s) || d.at != d.end || !take_known(&s, INTEGER, &one, 1) ||
        !take(&s, OCTETS, &v) || v.end - v.at != PEM_PRIVATE_BYTES) {
        return false;
    }
    memcpy(key->private, v.at, PEM_PRIVATE_BYTES);
    key->is_private = true;
    if (take(&s, CONTEXT0, &v)) {
        curve = take_curve(&v) && v.at == v.end;
        if (!curve) {
            return false;
        }
    }
    if (take(&s, CONTEXT1, &v) && (!take_point(&v, key) || v.at != v.end)) {
        return false;
    }
    return s.at == s.end && (curve || named);
}

/* Read a private key in PKCS #8 (RFC 5208). */
static bool read_pkcs8(struct der d, struct pem_key *key)
{
    static const uint8_t zero = 0;
    struct der s, v;

    return take(&d, SEQUENCE, &s) && d.at == d.end && take_known(&s, INTEGER, &zero, 1) &&
           take_algorithm(&s) && take(&s, OCTETS, &v) && s.at == s.end && read_sec1(v, true, key);
}

/* Read a public key as RFC 5480 defines it (SubjectPublicKeyInfo). */
static bool read_spki(struct der d, struct pem_key *key)
{
    struct der s;

    return take(&d, SEQUENCE, &s) && d.at == d.end && take_algorithm(&s) && take_point(&s, key) &&
           s.at == s.end;
}

static bool read_der(enum label which, struct der d, struct pem_key *key)
{
    switch (which) {
    case SEC1: return read_sec1(d, false, key);
    case PKCS8: return read_pkcs8(d, key);
    default: return read_spki(d, key);
    }
}

enum err pem_key_read(struct pem_key *key, const char *text, size_t bytes,
                      const char **error_message)
{
    const char *end = text + bytes, *at = text;
    uint8_t der[MOST_DER];

    memset(key, 0, sizeof *key);
    if (bytes > PEM_MOST_BYTES) {
        return refuse(error_message, "it is too long for a key: " MAKE_ONE);
    }
    while ((at = find(at, end, "-----BEGIN ")) != NULL) {
        for (int i = 0; i < N_LABELS; i++) {
            const char *body;
            size_t n;
            enum err e;

            if (!has_label(at, end, labels[i], &body)) {
                continue;
            }
            e = decode(body, end, der, &n, error_message);
            if (e == ERR_OK && !read_der((enum label)i, (struct der){ der, der + n }, key)) {
                e = refuse(error_message, "it is not a key of P-256 (prime256v1): " MAKE_ONE);
            }
            return e;
        }
    }
    if (find(text, end, "-----BEGIN ENCRYPTED ") != NULL) {
        return refuse(error_message, HAS_PASSWORD);
    }
    return refuse(error_message, "there is no key in it: " MAKE_ONE);
}
