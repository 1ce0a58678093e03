/* Tables that toolchain/unicode_tables.py generates; only runtime/text/unicode_class.c includes
 * them. */
#ifndef INGOT_RUNTIME_UNICODE_TABLE_H
#define INGOT_RUNTIME_UNICODE_TABLE_H

#include <stdint.h>

extern const uint8_t unicode_ascii[128];
extern const unsigned unicode_n_starts;
extern const uint32_t unicode_starts[];
extern const uint16_t unicode_offsets[];
extern const uint8_t unicode_runs[];

#endif
