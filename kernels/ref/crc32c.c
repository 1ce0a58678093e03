/* Reference of the checksum CRC-32C, as in RFC 3720 (12.1).
 *
 * The register is the remainder of a division of polynomials over GF(2).
 * Each bit of data shifts the register by one; if a one is shifted out, the divisor 0x1edc6f41
 * (here with its bits reversed) is subtracted. */
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
