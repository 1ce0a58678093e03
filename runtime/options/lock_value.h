/* The value of lock=, against which a PIN is checked: SALT:HASH in hexadecimal digits
 * (docs/SIGNING.md). */
#ifndef INGOT_RUNTIME_LOCK_VALUE_H
#define INGOT_RUNTIME_LOCK_VALUE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
    LOCK_SALT_BYTES = 8,
    LOCK_HASH_BYTES = 16,
    LOCK_TEXT_BYTES = 2 * (LOCK_SALT_BYTES + LOCK_HASH_BYTES) + 2, /* with the colon and the NUL */
    LOCK_ROUNDS = 1 << 15, /* rounds of SHA-256: tens of milliseconds on a board's core for each
                            * guess */
    LOCK_PIN_LEAST = 4,
    LOCK_PIN_MOST = 64,
};

struct lock_value {
    uint8_t salt[LOCK_SALT_BYTES];
    uint8_t hash[LOCK_HASH_BYTES];
};

/* Read text; returns false, perhaps after changing *w, if text is malformed. */
bool lock_value_read(struct lock_value *w, const char *text);
void lock_value_text(char text[LOCK_TEXT_BYTES], const struct lock_value *w);

/* Set w->hash to the hash of a PIN of n bytes with w->salt: SHA-256 of salt and PIN, then
 * LOCK_ROUNDS times SHA-256 of the previous digest, salt and PIN. The hash is the first bytes of
 * the result. */
void lock_value_hash(struct lock_value *w, const char *pin, size_t n);

/* Return true if the PIN is right. */
bool lock_value_opens(const struct lock_value *w, const char *pin, size_t n);

#endif
