/* Shared only by the files that write a card. card_write.c writes the file, FAT32 and the contents,
 * card_table.c the MBR or the GPT, and card_exfat.c the parts of exFAT. */
#ifndef INGOT_FLASH_IMAGE_CARD_WRITER_H
#define INGOT_FLASH_IMAGE_CARD_WRITER_H

#include "flash_image/card/card_image.h"

enum { CARD_MOST_VOLUMES = 2 };

struct card_writer {
    struct card_image *report; /* its `error_message` describes errors */
    struct card_image *card;   /* contents of the volume that is being written */
    const struct card_layout *layout;
    int64_t time;
    uint64_t number;  /* differs between cards with other files, so that a board tells them apart */
    bool efi;         /* as in struct card_options */
    const char *path; /* of the image */
    int fd;
    uint8_t *piece; /* buffer for a part of a file */
};

/* Set w->report->error_message, and return ERR_IO. */
__attribute__((format(printf, 2, 3))) enum err card_refuse(struct card_writer *w,
                                                           const char *format, ...);

/* Write bytes at an offset of the card; zeros remain holes. ERR_IO. */
enum err card_put(struct card_writer *w, uint64_t offset, const void *data, size_t bytes);

/* Add 8 bytes to a hash, FNV-1a with 64 bits. */
static inline uint64_t card_mix(uint64_t hash, uint64_t value)
{
    for (unsigned i = 0; i < 8; i++) {
        hash = (hash ^ (value >> 8 * i & 0xff)) * 0x100000001b3;
    }
    return hash;
}

/* The serial number of the card's volumes, and the signature of its MBR; not 0. */
static inline uint32_t card_volume_id(const struct card_writer *w)
{
    return (uint32_t)(w->number ^ w->number >> 32) | 1;
}

/* The offset of a cluster on the card. */
uint64_t card_cluster_offset(const struct card_layout *l, uint32_t cluster);

/* Write the partition table for n volumes on a card of `sectors` sectors. ERR_IO. */
enum err card_put_table(struct card_writer *w, const struct card_options *o,
                        const struct card_layout *const *volumes, unsigned n, uint64_t sectors);

/* Write exFAT's boot regions, FAT, bitmap and up-case table. ERR_IO. */
enum err card_put_exfat(struct card_writer *w);

/* Write the contents of folder i of an exFAT volume to out, which has n_clusters whole clusters of
 * zeros. */
void card_put_exfat_folder(const struct card_image *c, const struct card_layout *l, uint32_t i,
                           int64_t time, uint8_t *out);

/* Put the signature at the end of a boot sector. */
static inline void card_sign(uint8_t *sector)
{
    sector[510] = 0x55;
    sector[511] = 0xaa;
}

#endif
