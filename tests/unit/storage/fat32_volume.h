/* The upper four bits of an entry are reserved; they are set here, so that a reader has to mask
 * them. */
#ifndef INGOT_TESTS_UNIT_FAT32_VOLUME_H
#define INGOT_TESTS_UNIT_FAT32_VOLUME_H

#include <stdint.h>
#include <string.h>

enum {
    VOLUME_RESERVED = 32,
    VOLUME_FAT = 80, /* sectors: 10240 entries */
    VOLUME_CLUSTERS = 10000,
    VOLUME_DATA = VOLUME_RESERVED + VOLUME_FAT,
    VOLUME_SECTORS = VOLUME_DATA + VOLUME_CLUSTERS,
    VOLUME_END = 0x0fffffff,
};

static uint8_t volume[VOLUME_SECTORS * 512];
static unsigned volume_entries; /* of the root folder */

static inline void put_le(uint8_t *p, uint64_t value, int bytes)
{
    for (int i = 0; i < bytes; i++)
        p[i] = (uint8_t)(value >> (8 * i));
}

static inline uint8_t *volume_cluster(uint32_t cluster)
{
    return volume + (VOLUME_DATA + (uint64_t)cluster - 2) * 512;
}

/* The upper four bits of an entry are reserved: set here, so that a reader has to mask them. */
static inline void volume_link(uint32_t cluster, uint32_t next)
{
    put_le(volume + VOLUME_RESERVED * 512 + cluster * 4, next | 0xf0000000u, 4);
}

static inline void volume_chain(uint32_t first, uint32_t n)
{
    for (uint32_t i = 0; i + 1 < n; i++)
        volume_link(first + i, first + i + 1);
    volume_link(first + n - 1, VOLUME_END);
}

static inline void volume_format(void)
{
    memset(volume, 0, sizeof volume);
    memcpy(volume,
           "\xeb\x58\x90"
           "TESTTEST",
           11);
    put_le(volume + 11, 512, 2);
    volume[13] = 1;
    put_le(volume + 14, VOLUME_RESERVED, 2);
    volume[16] = 1;
    volume[21] = 0xf8;
    put_le(volume + 32, VOLUME_SECTORS, 4);
    put_le(volume + 36, VOLUME_FAT, 4);
    put_le(volume + 44, 2, 4);
    volume[510] = 0x55;
    volume[511] = 0xaa;
    volume_link(2, VOLUME_END);
    volume_entries = 0;
    for (uint32_t i = 3; i < VOLUME_CLUSTERS + 2; i++) /* each cluster contains its number */
        put_le(volume_cluster(i), i, 4);
}

/* Adds 32 bytes to the root folder, which grows over clusters 9000 and on. */
static inline uint8_t *volume_new_entry(void)
{
    unsigned nth = volume_entries++;
    uint32_t cluster = nth < 16 ? 2 : 9000 + nth / 16;

    if (nth > 0 && nth % 16 == 0) {
        volume_link(nth == 16 ? 2 : cluster - 1, cluster);
        volume_link(cluster, VOLUME_END);
        memset(volume_cluster(cluster), 0, 512);
    }
    return volume_cluster(cluster) + nth % 16 * 32;
}

static inline uint8_t *volume_add(const char *name83, uint8_t attributes, uint32_t cluster,
                                  uint32_t bytes)
{
    uint8_t *e = volume_new_entry();

    memcpy(e, name83, 11);
    e[11] = attributes;
    put_le(e + 20, cluster >> 16, 2);
    put_le(e + 26, cluster & 0xffff, 2);
    put_le(e + 28, bytes, 4);
    return e;
}

static inline uint8_t volume_checksum(const char *name83)
{
    uint8_t sum = 0;

    for (int i = 0; i < 11; i++)
        sum = (uint8_t)((uint8_t)(sum << 7 | sum >> 1) + (uint8_t)name83[i]);
    return sum;
}

/* Writes the pieces of a long name of n units, last first, as they precede their short entry. */
static inline void volume_add_long(const uint16_t *units, unsigned n, uint8_t checksum)
{
    static const uint8_t offsets[13] = { 1, 3, 5, 7, 9, 14, 16, 18, 20, 22, 24, 28, 30 };
    unsigned pieces = (n + 12) / 13;

    for (unsigned p = pieces; p > 0; p--) {
        uint8_t *e = volume_new_entry();
        e[0] = (uint8_t)(p | (p == pieces ? 0x40 : 0));
        e[11] = 0x0f;
        e[13] = checksum;
        for (unsigned i = 0; i < 13; i++) {
            unsigned at = (p - 1) * 13 + i;
            put_le(e + offsets[i], at < n ? units[at] : at == n ? 0 : 0xffff, 2);
        }
    }
}

#endif
