/* A card image: an MBR or a GPT, and a partition with FAT32 or exFAT. Its folders and files are
 * in the order in which they were added, and each is contiguous. A second partition, with FAT32,
 * may precede this one for a loader that cannot read exFAT. Host only. Sources: Microsoft's FAT32
 * File System Specification 1.03 and exFAT file system specification; UEFI Specification 2.10,
 * section 5.3. */
#ifndef INGOT_FLASH_IMAGE_CARD_IMAGE_H
#define INGOT_FLASH_IMAGE_CARD_IMAGE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "board/err.h"

enum { CARD_SECTOR = 512, CARD_SHORT_NAME = 11, CARD_MOST_CLUSTER = 32768, CARD_MOST_UNITS = 255 };
enum card_format { CARD_FAT32, CARD_EXFAT };
enum card_table { CARD_MBR, CARD_GPT };

/* The longest file on FAT32: its size, rounded up to whole clusters, must fit 32 bits. */
#define CARD_MOST_FILE_BYTES ((1ull << 32) - CARD_MOST_CLUSTER)
/* The largest card, because an MBR counts sectors in 32 bits. */
#define CARD_MOST_BYTES ((1ull << 41) - (1ull << 20))

struct card_entry {
    char *name;      /* UTF-8, a single part of a path; "" for the root */
    uint32_t folder; /* index of the folder that contains it */
    bool is_folder;
    char *path; /* path of the host's file with its contents, or ... */
    char *text; /* ... the contents themselves; if neither: zeros */
    uint64_t bytes;
    uint8_t short_name[CARD_SHORT_NAME];
    unsigned n_slots; /* its entries of 32 bytes in the folder, including those of the long name */
    uint32_t cluster, n_clusters; /* cluster is 0 if the entry has no clusters */
};

struct card_image {
    enum card_format format;
    struct card_entry *entries; /* [0] is the root */
    uint32_t n, room;
    char error_message[768]; /* one error message, set after an error */
};

/* Positions and sizes in sectors; positions count from the start of the card or of the
 * partition. */
struct card_layout {
    enum card_format format;
    uint64_t sectors;    /* of the card */
    uint64_t start, n;   /* first sector of the partition, and number of its sectors */
    uint32_t reserved;   /* before the first FAT */
    uint32_t fat;        /* sectors of each FAT: FAT32 has two, exFAT one */
    uint32_t heap;       /* before the first cluster */
    uint32_t n_own;      /* clusters at the start for exFAT's bitmap and up-case table */
    uint32_t cluster;    /* sectors of a cluster */
    uint32_t n_clusters; /* all clusters ... */
    uint32_t n_used;     /* ... and those in use */
};

/* A file on the host, which a loader will read from a partition without a file system. This
 * partition is the last in the GPT. */
struct card_payload {
    const char *path;
    uint64_t bytes;
    uint8_t type[16]; /* type of the partition, as in the table */
};

struct card_options {
    uint64_t bytes;    /* size of the card; 0: as large as the contents need, at least 40 MiB */
    bool power_of_two; /* round the size up to a power of two, which QEMU requires */
    int64_t time;      /* time of every file, in seconds since 1970, UTC */
    enum card_table table;
    bool efi; /* EFI firmware boots from the card; in a GPT the first partition is an EFI system
                 partition */
    struct card_image
        *boot;     /* contents of another FAT32 partition, before the first; NULL: there is none */
    unsigned slot; /* number of the first partition in the table, from 1; 0 also means 1 */
    const struct card_payload *payload; /* only in a GPT; NULL: there is none */
};

/* Start an empty card; card_image_close frees it. Running out of memory ends the program. */
void card_image_open(struct card_image *c, enum card_format format);
void card_image_close(struct card_image *c);

/* Add a file under a name such as "models/x.ingot", and create the folders in this name. Its
 * contents are those of the host's file at path, a copy of text, or zeros. ERR_NOT_FOUND, ERR_IO,
 * ERR_BAD_ARGUMENT (FAT32 does not allow the name, or the card already has it, perhaps with other
 * capitals), ERR_NO_SPACE (longer than CARD_MOST_FILE_BYTES on FAT32). */
enum err card_add_file(struct card_image *c, const char *name, const char *path);
enum err card_add_text(struct card_image *c, const char *name, const char *text, size_t bytes);
enum err card_add_room(struct card_image *c, const char *name, uint64_t bytes);

/* Write the card under a temporary name, then rename it (output_file.h). Equal entries, options and
 * files give equal bytes; zeros become holes if the file system supports them. ERR_NO_SPACE:
 * o->bytes is too small, and error_message says how many bytes are needed; ERR_IO. On an error the
 * file `out` does not change. *layout describes c, not o->boot. */
enum err card_image_write(struct card_image *c, const struct card_options *o, const char *out,
                          struct card_layout *layout);

/* ---- card_names.c ---- */

/* Return the reason why FAT32 does not allow a name, or NULL if the name is allowed. */
const char *card_name_error_message(const char *name);

/* True if two names are equal when ASCII capitals are ignored, as on FAT32. */
bool card_names_equal(const char *a, const char *b);

/* Set n_slots and short_name of entry i; the short name differs from those of all earlier
 * entries of its folder. */
void card_name_entry(struct card_image *c, uint32_t i);

/* Write a name as UTF-16 to units[CARD_MOST_UNITS + 1] and return its length. If the length is
 * above CARD_MOST_UNITS, the name is too long. */
unsigned card_name_units(const char *name, uint16_t *units);

/* Write the parts of the long name of e, the last part first: (n_slots - 1) * 32 bytes. */
void card_put_long_name(const struct card_entry *e, uint8_t *out);

/* ---- card_layout.c ---- */

/* Lay out the partition, and the partition of o->boot if there is one, and assign clusters to every
 * entry. The errors are those of card_image_write. */
enum err card_lay_out(struct card_image *c, const struct card_options *o, struct card_layout *l,
                      struct card_layout *boot);

/* ---- card_folder.c ---- */

/* Write folder i to out, which has n_clusters whole clusters of zeros. Dates and times have FAT's
 * form. FAT32 only. */
void card_put_folder(const struct card_image *c, uint32_t i, int64_t time, uint8_t *out);

/* ---- little-endian numbers ---- */

static inline void card_put_u16(uint8_t *p, uint32_t value)
{
    p[0] = (uint8_t)value;
    p[1] = (uint8_t)(value >> 8);
}

static inline void card_put_u32(uint8_t *p, uint32_t value)
{
    card_put_u16(p, value);
    card_put_u16(p + 2, value >> 16);
}

static inline void card_put_u64(uint8_t *p, uint64_t value)
{
    card_put_u32(p, (uint32_t)value);
    card_put_u32(p + 4, (uint32_t)(value >> 32));
}

#endif
