/* The checksum of runtime/base/crc32c.h, computed by all cores. */
#ifndef INGOT_RUNTIME_WORKERS_CRC32C_H
#define INGOT_RUNTIME_WORKERS_CRC32C_H

#include "runtime/compute/workers.h"
#include "runtime/base/crc32c.h"

enum { WORKERS_CRC32C_LEAST = 2 * CRC32C_STRIPE }; /* bytes; core 0 alone computes shorter data */

/* crc32c(crc, data, bytes), of which each core computes a part. Core 0 only, outside
 * workers_run. */
uint32_t workers_crc32c(struct workers *workers, uint32_t crc, const void *data, size_t bytes);

#endif
