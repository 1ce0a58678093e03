/* CRC-32C: the checksum of the .ingot file. */
#ifndef INGOT_RUNTIME_CRC32C_H
#define INGOT_RUNTIME_CRC32C_H

#include <stddef.h>
#include <stdint.h>

#include "kernels/kernels.h"

/* Return the CRC of earlier bytes followed by `bytes` bytes of data. crc is the CRC of the earlier
 * bytes, or 0 if there are none; the bytes may be split anywhere between calls. data has any
 * alignment, and may be NULL if bytes is 0. Errors: none. Castagnoli polynomial 0x1EDC6F41,
 * reflected, all ones in and out (RFC 3720, 12.1). */
uint32_t crc32c(uint32_t crc, const void *data, size_t bytes);

/* Return the CRC of a header (bytes) that contains its own CRC in *field, which counts as
 * zero. */
uint32_t crc32c_of_header(const void *header, size_t bytes, const uint32_t *field);

/* Combine the CRCs of A and of B, which follows A in the data. A has any length, B has n_stripes
 * * CRC32C_STRIPE bytes; both CRCs were begun with 0. The CRC of A followed by B is
 * crc32c_shift(crc of A, n_stripes) ^ (crc of B). */
enum { CRC32C_STRIPE = 32 * 1024 };
uint32_t crc32c_shift(uint32_t crc, size_t n_stripes);

/* For B of any length, the CRC of A followed by B is crc32c_times(crc of A, crc32c_power(bytes of
 * B)) ^ (crc of B). */
uint32_t crc32c_power(uint64_t bytes);
uint32_t crc32c_times(uint32_t crc, uint32_t power);

/* Compute CRCs with this kernel from now on. Before the first call the reference computes CRCs. The
 * choice holds for the whole process, also with several models, because every kernel gives the same
 * CRC. Any thread may call this at any time. */
void crc32c_use(const struct kernels *k);

#endif
