/* UTF-8 for the console and the tokenizer: find characters in bytes, and write only whole
 * characters. Source: RFC 3629 and Unicode, table 3-7 (no overlong forms, no surrogates, up to
 * U+10FFFF). */
#ifndef INGOT_RUNTIME_UTF8_H
#define INGOT_RUNTIME_UTF8_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define UTF8_REPLACEMENT "\xef\xbf\xbd" /* U+FFFD */

/* The byte order mark that programs put in front of a text file, U+FEFF; it is not part of the
 * text (RFC 3629, section 6). Returns the mark's bytes, or 0 if the text has no mark. */
enum { UTF8_MARK_BYTES = 3 };
static inline size_t utf8_mark_bytes(const void *text, size_t bytes)
{
    const uint8_t *b = (const uint8_t *)text;

    return bytes >= UTF8_MARK_BYTES && b[0] == 0xef && b[1] == 0xbb && b[2] == 0xbf
               ? UTF8_MARK_BYTES
               : 0;
}

/* True if a text begins with UTF-16's byte order mark, as some Windows programs write it;
 * utf16_cure is the error message for it, without the text's name. */
bool utf16_has_mark(const void *text, size_t bytes);
extern const char utf16_cure[];

/* Return the bytes of the character with which s (n >= 1 bytes) begins, 0 if the character is
 * incomplete, -1 if s is not UTF-8. */
int utf8_check(const uint8_t *s, size_t n);

/* Return how many bytes at a text's beginning are whole characters: n if the whole text is
 * UTF-8. */
size_t utf8_whole_bytes(const void *text, size_t n);

/* Return the code point of a character that utf8_check() found to have `bytes` bytes. */
uint32_t utf8_decode(const uint8_t *s, int bytes);

/* Write the bytes of a code point up to U+10FFFF
 * that is not a surrogate; returns how many, 1 to 4. */
size_t utf8_encode(char *out, uint32_t code);

/* Passes text on in whole characters. Set write and context, zero the rest. */
struct utf8_writer {
    void (*write)(void *context, const char *text, size_t bytes);
    void *context;
    uint8_t held[4]; /* the incomplete character */
    uint8_t n_held;
};

/* Append bytes. Bytes that cannot be part of a character are written as U+FFFD, one for each
 * maximal part of a character, as Unicode recommends. */
void utf8_writer_put(struct utf8_writer *w, const char *text, size_t bytes);

/* Call at the end of the text: an incomplete character is written as one U+FFFD. */
void utf8_writer_flush(struct utf8_writer *w);

#endif
