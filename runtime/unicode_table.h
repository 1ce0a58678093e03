/* What toolchain/unicode_tables.py generates; runtime/unicode_class.c alone includes it. */
#ifndef INGOT_RUNTIME_UNICODE_TABLE_H
#define INGOT_RUNTIME_UNICODE_TABLE_H

#include <stdint.h>

extern const uint8_t unicode_pages[];
extern const uint16_t unicode_blocks[];
extern const uint8_t unicode_classes[];

#endif
