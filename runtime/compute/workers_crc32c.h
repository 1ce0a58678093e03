/* The checksum of runtime/base/crc32c.h, computed by all cores. */
#ifndef INGOT_RUNTIME_WORKERS_CRC32C_H
#define INGOT_RUNTIME_WORKERS_CRC32C_H

#include "runtime/compute/workers.h"
#include "runtime/base/crc32c.h"

enum { WORKERS_CRC32C_LEAST = 2 * CRC32C_STRIPE }; /* for fewer bytes, only core 0 computes */

/* Return what crc32c(crc, data, bytes) returns; each core computes a part. Call on
 * core 0, outside workers_run. */
uint32_t workers_crc32c(struct workers *workers, uint32_t crc, const void *data, size_t bytes);

#endif
