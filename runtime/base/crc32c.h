/* CRC-32C: the checksum of the .ingot file. */
#ifndef INGOT_RUNTIME_CRC32C_H
#define INGOT_RUNTIME_CRC32C_H

#include <stddef.h>
#include <stdint.h>

#include "kernels/kernels.h"

/* The CRC of everything that gave `crc` followed by data[0..bytes). Start with 0; the pieces
 * may be cut anywhere. data has any alignment, and may be NULL where bytes is 0. Errors: none.
 * Castagnoli polynomial 0x1EDC6F41, reflected, all ones in and out (RFC 3720, 12.1). */
uint32_t crc32c(uint32_t crc, const void *data, size_t bytes);

/* What a CRC adds to that of everything up to n_pieces * CRC32C_PIECE bytes further on: this and the
 * CRC of those bytes alone, begun with 0, added without carries are the CRC of both. */
enum { CRC32C_PIECE = 32 * 1024 };
uint32_t crc32c_shift(uint32_t crc, size_t n_pieces);

/* Compute it by this kernel from now on; before, bit by bit. */
void crc32c_use(const struct kernels *k);

#endif
