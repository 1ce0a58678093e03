/* Keys as openssl writes them, and texts that are not keys. */
#include "flash_image/signing/pem_key.h"

#include <string.h>

#include "tests/unit/tap.h"

/* RFC 6979's, A.2.5, in its three forms. */
#define SEC1 \
    "-----BEGIN EC PRIVATE KEY-----\n" \
    "MHcCAQEEIMmvqdhFunUWa1whV2ex1pNOUMPbNuibEnuKYisSD2choAoGCCqGSM49\n" \
    "AwEHoUQDQgAEYP7UuiVanTHJYet0xjVtaMBJuJI7Yfps5mliLmDyn7Z5A/4QCLi8\n" \
    "maQa6elWKLxk8vGyDC1+n1F3o8KU1EYimQ==\n" \
    "-----END EC PRIVATE KEY-----\n"
#define PKCS8 \
    "-----BEGIN PRIVATE KEY-----\r\n" \
    "MIGHAgEAMBMGByqGSM49AgEGCCqGSM49AwEHBG0wawIBAQQgya+p2EW6dRZrXCFX\r\n" \
    "Z7HWk05Qw9s26JsSe4piKxIPZyGhRANCAARg/tS6JVqdMclh63TGNW1owEm4kjth\r\n" \
    "+mzmaWIuYPKftnkD/hAIuLyZpBrp6VYovGTy8bIMLX6fUXejwpTURiKZ\r\n" \
    "-----END PRIVATE KEY-----\r\n"
#define SPKI \
    "-----BEGIN PUBLIC KEY-----\n" \
    "MFkwEwYHKoZIzj0CAQYIKoZIzj0DAQcDQgAEYP7UuiVanTHJYet0xjVtaMBJuJI7\n" \
    "Yfps5mliLmDyn7Z5A/4QCLi8maQa6elWKLxk8vGyDC1+n1F3o8KU1EYimQ==\n" \
    "-----END PUBLIC KEY-----\n"
#define PARAMETERS "-----BEGIN EC PARAMETERS-----\nBggqhkjOPQMBBw==\n-----END EC PARAMETERS-----\n"

static const char *error_message;

static bool reads(const char *text, struct pem_key *key)
{
    error_message = "";
    return pem_key_read(key, text, strlen(text), &error_message) == ERR_OK;
}

static bool refuses(const char *text, const char *why)
{
    struct pem_key key;

    return !reads(text, &key) && strstr(error_message, why) != NULL;
}

static void test_forms(void)
{
    struct pem_key sec1, pkcs8, spki;

    OK(reads(PARAMETERS SEC1, &sec1) && sec1.is_private && sec1.has_public,
       "a key of SEC 1 is read");
    OK(reads(PKCS8, &pkcs8) && pkcs8.is_private && pkcs8.has_public,
       "a key of PKCS 8 with DOS lines is read");
    OK(reads("Bag Attributes\n" SPKI, &spki) && !spki.is_private && spki.has_public,
       "a public key is read");
    OK(memcmp(sec1.private, pkcs8.private, PEM_PRIVATE_BYTES) == 0 && sec1.private[0] == 0xc9 &&
           sec1.private[31] == 0x21,
       "the private halves of both forms are the same");
    OK(memcmp(sec1.public, pkcs8.public, PEM_PUBLIC_BYTES) == 0 &&
           memcmp(sec1.public, spki.public, PEM_PUBLIC_BYTES) == 0 && spki.public[1] == 0x60,
       "the public halves of all forms are the same");
}

static void test_wrong(void)
{
    char text[512];

    OK(refuses("", "no key in it") && refuses("hello", "openssl ecparam"),
       "a text without a key is refused: %s", error_message);
    OK(refuses("-----BEGIN PUBLIC KEY-----\nMFkw", "ends in the middle"),
       "a key that ends in the middle is refused: %s", error_message);
    OK(refuses("-----BEGIN PUBLIC KEY-----\nM*kw\n-----END PUBLIC KEY-----\n", "not base64"),
       "a key that is not base64 is refused: %s", error_message);
    OK(refuses("-----BEGIN PUBLIC KEY-----\nMFkw\n-----END PUBLIC KEY-----\n",
               "not a key of P-256"),
       "a key that is not of P-256 is refused: %s", error_message);
    OK(refuses("-----BEGIN EC PRIVATE KEY-----\nProc-Type: 4,ENCRYPTED\nAAAA\n"
               "-----END EC PRIVATE KEY-----\n",
               "password") &&
           refuses("-----BEGIN ENCRYPTED PRIVATE KEY-----\nAAAA\n", "password"),
       "a key with a password is refused: %s", error_message);
    OK(refuses("-----BEGIN PUBLIC KEY-----\n"
               "MHYwEAYHKoZIzj0CAQYFK4EEACIDYgAEtest\n-----END PUBLIC KEY-----\n",
               "not a key of P-256"),
       "a key of another curve is refused");
    strcpy(text, SPKI);
    text[strlen("-----BEGIN PUBLIC KEY-----\n") + 1] = 'G'; /* the outer length */
    OK(refuses(text, "not a key of P-256"), "a key with a wrong length is refused");
}

/* Cuts off every byte and changes every character: each is refused or gives another key, without a
 * fault. */
static void test_damaged(void)
{
    static const char *const all[] = { SEC1, PKCS8, SPKI };
    unsigned n_read = 0, n_refused = 0;

    for (int i = 0; i < 3; i++) {
        struct pem_key key;
        char text[512];

        for (size_t n = 0; n < strlen(all[i]); n++) {
            memcpy(text, all[i], n);
            text[n] = '\0';
            n_read += reads(text, &key); /* without the dashes at the end it is whole */
            strcpy(text, all[i]);
            text[n] ^= 4;
            n_refused += !reads(text, &key);
        }
    }
    OK(n_read < 3 * 30, "a key that is cut off is refused, unless within its last line");
    OK(n_refused > 100, "damaged keys are refused: %u", n_refused);
}

int main(void)
{
    test_forms();
    test_wrong();
    test_damaged();
    return tap_done();
}
