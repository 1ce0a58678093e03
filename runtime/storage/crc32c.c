/* CRC-32C by the CPU's instruction, else by eight tables (slicing-by-8): portable, about one byte a
 * cycle. The tables are 8 KiB, built at the first call, so that the image does not carry them; only
 * core 0 checks sums. */
#include "runtime/storage/crc32c.h"

#include <string.h>

static struct {
    void (*update)(uint32_t *crc, const void *data, size_t n); /* NULL: tables */
    uint32_t table[8][256]; /* [k][b]: the register's byte b, pushed out by k + 1 bytes of zeros */
} state;

/* Table 0 by shifts with the reflected polynomial, each other one from the one before it. */
static void build_tables(void)
{
    for (uint32_t b = 0; b < 256; b++) {
        uint32_t crc = b;

        for (int bit = 0; bit < 8; bit++) {
            crc = crc >> 1 ^ ((crc & 1) != 0 ? 0x82f63b78u : 0u);
        }
        state.table[0][b] = crc;
    }
    for (int k = 1; k < 8; k++) {
        for (uint32_t b = 0; b < 256; b++) {
            uint32_t before = state.table[k - 1][b];

            state.table[k][b] = before >> 8 ^ state.table[0][before & 255];
        }
    }
}

static uint32_t add_byte(uint32_t crc, uint8_t byte)
{
    return crc >> 8 ^ state.table[0][(crc ^ byte) & 255];
}

void crc32c_use(const struct kernels *k)
{
    state.update = k->crc32c_u8 != crc32c_u8_ref ? k->crc32c_u8 : NULL;
}

uint32_t crc32c(uint32_t crc, const void *data, size_t bytes)
{
    const uint32_t (*table)[256] = (const uint32_t (*)[256])state.table;
    const uint8_t *p = data;

    if (state.update != NULL) {
        crc = ~crc;
        state.update(&crc, data, bytes);
        return ~crc;
    }
    if (table[7][255] == 0) { /* the last entry that is made, and not 0 then */
        build_tables();
    }
    crc = ~crc;
    for (; bytes > 0 && (uintptr_t)p % 8 != 0; bytes--) {
        crc = add_byte(crc, *p++);
    }
    for (; bytes >= 8; bytes -= 8, p += 8) { /* one load where a compiler may not read unaligned */
        uint64_t word;
        uint32_t low, high;

        memcpy(&word, __builtin_assume_aligned(p, 8), sizeof word); /* little-endian, as all ISAs */
        low = crc ^ (uint32_t)word;
        high = (uint32_t)(word >> 32);
        crc = table[7][low & 255] ^ table[6][low >> 8 & 255] ^ table[5][low >> 16 & 255] ^
              table[4][low >> 24] ^ table[3][high & 255] ^ table[2][high >> 8 & 255] ^
              table[1][high >> 16 & 255] ^ table[0][high >> 24];
    }
    for (; bytes > 0; bytes--) {
        crc = add_byte(crc, *p++);
    }
    return ~crc;
}
