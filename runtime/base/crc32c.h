/* CRC-32C: the checksum of the .ingot file. */
#ifndef INGOT_RUNTIME_CRC32C_H
#define INGOT_RUNTIME_CRC32C_H

#include <stddef.h>
#include <stdint.h>

#include "kernels/kernels.h"

/* Carry a CRC on over data[0 .. bytes): crc is that of the bytes before, 0 at the start. Data may be
 * cut into pieces anywhere. data has any alignment, and may be NULL where bytes is 0. Errors: none.
 * Castagnoli polynomial 0x1EDC6F41, reflected, all ones in and out (RFC 3720, 12.1). */
uint32_t crc32c(uint32_t crc, const void *data, size_t bytes);

/* Join two CRCs: of bytes A, and of n_pieces * CRC32C_PIECE bytes B that follow them, begun with 0. The
 * CRC of both is crc32c_shift(crc of A, n_pieces) ^ (crc of B). */
enum { CRC32C_PIECE = 32 * 1024 };
uint32_t crc32c_shift(uint32_t crc, size_t n_pieces);

/* Compute it by this kernel from now on; before, bit by bit. The choice is the process's, not an
 * engine's: every kernel gives the same sum, so nobody sees whose it is. Core 0, while no other core
 * computes a CRC. */
void crc32c_use(const struct kernels *k);

#endif
