/* The checksum of runtime/storage/crc32c.h by all cores. */
#ifndef INGOT_RUNTIME_TEAM_CRC32C_H
#define INGOT_RUNTIME_TEAM_CRC32C_H

#include "runtime/compute/team.h"
#include "runtime/storage/crc32c.h"

enum { TEAM_CRC32C_LEAST = 2 * CRC32C_PIECE }; /* bytes; fewer are core 0's alone */

/* crc32c(crc, data, bytes), to which each core of the team gives its part. Core 0 only, outside
 * team_run. */
uint32_t team_crc32c(struct team *team, uint32_t crc, const void *data, size_t bytes);

#endif
