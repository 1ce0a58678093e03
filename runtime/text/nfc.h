/* Unicode normalization form C, in one pass and without memory of its own. Source: Unicode
 * Standard Annex 15, and chapter 3.12 of the standard for Hangul. */
#ifndef INGOT_RUNTIME_NFC_H
#define INGOT_RUNTIME_NFC_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* A character's marks that are put in order together; what comes after as many begins anew. */
enum { NFC_MOST_MARKS = 63, NFC_MOST_GROWTH = 3 /* bytes of the result for one of the text */ };

/* False: the text (n bytes) is in form C. True: it may not be. */
bool nfc_may_change(const uint8_t *text, size_t n);

/* Bytes of the text's form C, written to out (room bytes); SIZE_MAX: room is too small. out may
 * lie in front of the text, with its room reaching into it: only bytes that have been read are
 * overwritten. Bytes that are not UTF-8 stay, and nothing is composed across them. */
size_t nfc_normalize(const uint8_t *text, size_t n, uint8_t *out, size_t room);

#endif
