/* Reference of the checksum: the shift register as RFC 3720 has it, a bit at a time. */
#include "kernels/kernels.h"

void crc32c_u8_ref(uint32_t *crc, const void *data, size_t n)
{
    const uint8_t *p = data;
    uint32_t c = *crc;

    for (size_t i = 0; i < n; i++) {
        c ^= p[i];
        for (int bit = 0; bit < 8; bit++) {
            c = c >> 1 ^ ((c & 1) != 0 ? 0x82f63b78u : 0u);
        }
    }
    *crc = c;
}
