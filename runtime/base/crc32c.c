/* CRC-32C by a kernel for this CPU, or by the reference if there is no such kernel. */
#include "runtime/base/crc32c.h"

#include <stdatomic.h>

#define POLY 0x82f63b78u
#define POWER 0xe2ea32dcu      /* x^(8 * CRC32C_STRIPE) modulo the polynomial, reflected as POLY */
#define POWER_BYTE 0x00800000u /* x^8 */
#define POWER_NONE 0x80000000u /* 1 */

/* The chosen kernel, or NULL for the reference. Atomic, because threads with different models may
 * choose and use it at the same time. Every choice gives the same CRC. */
static crc32c_u8_fn *_Atomic chosen;

void crc32c_use(const struct kernels *k)
{
    atomic_store_explicit(&chosen, k->crc32c_u8, memory_order_relaxed);
}

uint32_t crc32c(uint32_t crc, const void *data, size_t bytes)
{
    crc32c_u8_fn *update = atomic_load_explicit(&chosen, memory_order_relaxed);

    if (update == NULL) {
        update = crc32c_u8_ref;
    }
    crc = ~crc;
    update(&crc, data, bytes);
    return ~crc;
}

uint32_t crc32c_of_header(const void *header, size_t bytes, const uint32_t *field)
{
    static const uint32_t zero;
    const uint8_t *first = header, *after = (const uint8_t *)(field + 1);
    uint32_t crc = crc32c(0, first, (size_t)((const uint8_t *)field - first));

    crc = crc32c(crc, &zero, sizeof zero);
    return crc32c(crc, after, (size_t)(first + bytes - after));
}

/* A CRC is a polynomial. The loop starts at the highest power, which is the lowest bit of crc. */
uint32_t crc32c_times(uint32_t crc, uint32_t power)
{
    uint32_t product = 0;

    for (int bit = 0; bit < 32; bit++, crc >>= 1) {
        product = product >> 1 ^ (POLY & -(product & 1)) ^ (power & -(crc & 1));
    }
    return product;
}

/* Compute x^(8 * bytes) by squaring. */
uint32_t crc32c_power(uint64_t bytes)
{
    uint32_t power = POWER_NONE, square = POWER_BYTE;

    for (; bytes != 0; bytes >>= 1) {
        if ((bytes & 1) != 0) {
            power = crc32c_times(power, square);
        }
        square = crc32c_times(square, square);
    }
    return power;
}

/* Multiply by POWER for each stripe that follows. The inversions at the start and the end of both
 * CRCs cancel. */
uint32_t crc32c_shift(uint32_t crc, size_t n_stripes)
{
    for (; n_stripes != 0; n_stripes--) {
        crc = crc32c_times(crc, POWER);
    }
    return crc;
}
