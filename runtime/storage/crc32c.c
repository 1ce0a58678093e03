/* CRC-32C by the kernel that the CPU has for it, else by the reference. */
#include "runtime/storage/crc32c.h"

static struct {
    void (*update)(uint32_t *crc, const void *data, size_t n); /* NULL: the reference */
} state;

void crc32c_use(const struct kernels *k)
{
    state.update = k->crc32c_u8;
}

uint32_t crc32c(uint32_t crc, const void *data, size_t bytes)
{
    crc = ~crc;
    if (state.update != NULL) {
        state.update(&crc, data, bytes);
    } else {
        crc32c_u8_ref(&crc, data, bytes);
    }
    return ~crc;
}
