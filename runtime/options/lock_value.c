#include "runtime/options/lock_value.h"

#include <string.h>

#include "runtime/base/sha256.h"

static int digit_of(char c)
{
    if (c >= '0' && c <= '9') {
        return c - '0';
    }
    if (c >= 'a' && c <= 'f') {
        return c - 'a' + 10;
    }
    return -1;
}

/* Read n bytes of two hexadecimal digits each. Stops at the first character that is not a digit. */
static bool read_bytes(uint8_t *bytes, size_t n, const char *text)
{
    for (size_t i = 0; i < n; i++) {
        int high = digit_of(text[2 * i]);
        int low = high < 0 ? -1 : digit_of(text[2 * i + 1]);

        if (low < 0) {
            return false;
        }
        bytes[i] = (uint8_t)(high << 4 | low);
    }
    return true;
}

bool lock_value_read(struct lock_value *w, const char *text)
{
    return read_bytes(w->salt, sizeof w->salt, text) && text[2 * LOCK_SALT_BYTES] == ':' &&
           read_bytes(w->hash, sizeof w->hash, text + 2 * LOCK_SALT_BYTES + 1) &&
           text[LOCK_TEXT_BYTES - 1] == '\0';
}

static char *put_bytes(char *text, const uint8_t *bytes, size_t n)
{
    static const char digits[] = "0123456789abcdef";

    for (size_t i = 0; i < n; i++) {
        *text++ = digits[bytes[i] >> 4];
        *text++ = digits[bytes[i] & 15];
    }
    return text;
}

void lock_value_text(char text[LOCK_TEXT_BYTES], const struct lock_value *w)
{
    char *at = put_bytes(text, w->salt, sizeof w->salt);

    *at++ = ':';
    *put_bytes(at, w->hash, sizeof w->hash) = '\0';
}

void lock_value_hash(struct lock_value *w, const char *pin, size_t n)
{
    uint8_t digest[SHA256_BYTES];
    size_t before = 0; /* bytes of the previous digest; 0 in the first round */

    for (uint32_t i = 0; i <= LOCK_ROUNDS; i++) {
        struct sha256 s;

        sha256_begin(&s);
        sha256_add(&s, digest, before);
        sha256_add(&s, w->salt, sizeof w->salt);
        sha256_add(&s, pin, n);
        sha256_end(&s, digest);
        before = sizeof digest;
    }
    memcpy(w->hash, digest, sizeof w->hash);
}

/* Compare all bytes, so that the time that this takes tells nothing about the hash. */
bool lock_value_opens(const struct lock_value *w, const char *pin, size_t n)
{
    struct lock_value guess = *w;
    uint8_t differs = 0;

    lock_value_hash(&guess, pin, n);
    for (size_t i = 0; i < sizeof guess.hash; i++) {
        differs |= guess.hash[i] ^ w->hash[i];
    }
    return differs == 0;
}
