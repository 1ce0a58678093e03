#include "runtime/compute/workers_crc32c.h"

struct parts {
    const uint8_t *data;
    size_t stripes; /* bytes that the cores share, in whole stripes */
    size_t rest;    /* bytes before these stripes, for core 0 */
    uint32_t before;
    _Atomic uint32_t sum;
};

static void check_part(void *arg, struct workers *workers, unsigned core)
{
    struct parts *p = arg;
    size_t first, last;
    uint32_t crc = 0;

    workers_share(workers, core, p->stripes, CRC32C_STRIPE, &first, &last);
    if (core == 0) {
        crc = p->before;
    } else {
        first += p->rest;
    }
    crc = crc32c(crc, p->data + first, p->rest + last - first);
    atomic_fetch_xor(&p->sum, crc32c_shift(crc, (p->stripes - last) / CRC32C_STRIPE));
}

uint32_t workers_crc32c(struct workers *workers, uint32_t crc, const void *data, size_t bytes)
{
    size_t rest = bytes % CRC32C_STRIPE;
    struct parts p = { data, bytes - rest, rest, crc, 0 };

    if (bytes < WORKERS_CRC32C_LEAST) {
        return crc32c(crc, data, bytes);
    }
    workers_run(workers, check_part, &p);
    return p.sum;
}
