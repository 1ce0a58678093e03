/* Tables that toolchain/unicode_tables.py --nfc generates, for runtime/text/nfc.c only. */
#ifndef INGOT_RUNTIME_NFC_TABLE_H
#define INGOT_RUNTIME_NFC_TABLE_H

#include <stdint.h>

/* Ranges of code points with the same combining class other than 0, ascending. */
extern const unsigned nfc_n_marks;
extern const uint32_t nfc_mark_first[];
extern const uint8_t nfc_mark_length[], nfc_mark_class[];

/* Ranges of code points that equal one other, ascending: entry[i] .. entry[i + 1] are range i's. */
extern const unsigned nfc_n_single;
extern const uint32_t nfc_single_first[];
extern const uint16_t nfc_single_entry[], nfc_single_low[];
extern const uint8_t nfc_single_high[]; /* bits 16 and up of what low[] has */

/* Ranges that decompose to two: a, then b, which has no parts itself. a's bits from 16 up are
 * the code point's own; b is an index of nfc_seconds, plus 128 where nothing composes the pair. */
extern const unsigned nfc_n_pairs;
extern const uint32_t nfc_pair_first[];
extern const uint16_t nfc_pair_entry[], nfc_pair_a[];
extern const uint8_t nfc_pair_b[];

extern const unsigned nfc_n_seconds;
extern const uint32_t nfc_seconds[]; /* ascending */

#endif
