/* Tables that toolchain/unicode_tables.py --nfc generates, for runtime/text/nfc.c only. */
#ifndef INGOT_RUNTIME_NFC_TABLE_H
#define INGOT_RUNTIME_NFC_TABLE_H

#include <stdint.h>

/* Ranges of code points with the same combining class other than 0, ascending. */
extern const unsigned nfc_n_marks;
extern const uint32_t nfc_mark_first[];
extern const uint8_t nfc_mark_length[], nfc_mark_class[];

/* Ascending ranges whose code points decompose to one code point; range i has the entries
 * [entry[i], entry[i + 1]) of low[] and high[]. */
extern const unsigned nfc_n_single;
extern const uint32_t nfc_single_first[];
extern const uint16_t nfc_single_entry[], nfc_single_low[];
extern const uint8_t nfc_single_high[]; /* bits from 16 up of the entries in low[] */

/* Ranges whose code points decompose to a and b; b has no parts. The table has the low 16 bits of
 * a; its other bits are equal to the code point's. For b the table has an index of nfc_seconds,
 * plus 128 if the pair does not compose. */
extern const unsigned nfc_n_pairs;
extern const uint32_t nfc_pair_first[];
extern const uint16_t nfc_pair_entry[], nfc_pair_a[];
extern const uint8_t nfc_pair_b[];

extern const unsigned nfc_n_seconds;
extern const uint32_t nfc_seconds[]; /* ascending */

#endif
