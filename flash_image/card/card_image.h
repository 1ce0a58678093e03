/* A card image: an MBR, one FAT32 partition, and on it folders and files in the order in which they
 * were added, each in one piece. Host only. Source: Microsoft's FAT32 File System Specification 1.03. */
#ifndef INGOT_FLASH_IMAGE_CARD_IMAGE_H
#define INGOT_FLASH_IMAGE_CARD_IMAGE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "board/err.h"

enum { CARD_SECTOR = 512, CARD_SHORT_NAME = 11, CARD_MOST_CLUSTER = 32768 };

/* The longest file: its size is a number of 32 bits, and its last cluster is whole. */
#define CARD_MOST_FILE_BYTES ((1ull << 32) - CARD_MOST_CLUSTER)
/* An MBR counts sectors in 32 bits. */
#define CARD_MOST_BYTES ((1ull << 41) - (1ull << 20))

struct card_entry {
    char *name;      /* UTF-8, one part of a path; of the root: "" */
    uint32_t folder; /* number of the one that it lies in */
    bool is_folder;
    char *path; /* the host's file with its bytes, or ... */
    char *text; /* ... the bytes themselves; neither: zeros */
    uint64_t bytes;
    uint8_t short_name[CARD_SHORT_NAME];
    unsigned n_slots; /* entries of 32 bytes in its folder, those of the long name included */
    uint32_t cluster, n_clusters; /* cluster is 0 where there are none */
};

struct card_image {
    struct card_entry *entries; /* [0] is the root */
    uint32_t n, room;
    char problem[768]; /* one sentence, after an error */
};

/* Where things lie, in sectors: of the card, or of the partition. */
struct card_layout {
    uint64_t sectors;    /* of the card */
    uint32_t start, n;   /* the partition */
    uint32_t reserved;   /* in front of the first FAT */
    uint32_t fat;        /* of one of two */
    uint32_t cluster;    /* of one */
    uint32_t n_clusters; /* that there are ... */
    uint32_t n_used;     /* ... and that are taken */
};

struct card_options {
    uint64_t bytes;    /* of the card; 0: as much as the contents need, 40 MiB at least */
    bool power_of_two; /* round it up, as QEMU wants it of an SD card */
    int64_t time;      /* of every file, in seconds since 1970, UTC */
};

/* An empty card; card_image_close frees what it holds. Running out of memory ends the program. */
void card_image_open(struct card_image *c);
void card_image_close(struct card_image *c);

/* Add a file under a name such as "models/x.ingot", with its folders: bytes from the host's file at
 * path, a copy of text, or zeros. ERR_NOT_FOUND, ERR_IO, ERR_BAD_ARGUMENT (a name that FAT32 has not,
 * or has already, capitals or not), ERR_NO_SPACE (longer than CARD_MOST_FILE_BYTES). */
enum err card_add_file(struct card_image *c, const char *name, const char *path);
enum err card_add_text(struct card_image *c, const char *name, const char *text, size_t bytes);
enum err card_add_room(struct card_image *c, const char *name, uint64_t bytes);

/* Write the card as OUT.part, renamed when complete. Equal entries, options and files give equal
 * bytes; what is zero is left out where the file system has holes. ERR_NO_SPACE: o->bytes is too few,
 * and problem says how many are needed; ERR_IO. On an error out is left as it was. */
enum err card_image_write(struct card_image *c, const struct card_options *o, const char *out,
                          struct card_layout *layout);

/* ---- card_names.c ---- */

/* The reason why FAT32 has no such name; NULL: it has. */
const char *card_name_problem(const char *name);

/* Whether two names are one to FAT32, for the letters of ASCII. */
bool card_names_equal(const char *a, const char *b);

/* Set short_name of entry i, unlike that of every entry before it in its folder, and n_slots. */
void card_name_entry(struct card_image *c, uint32_t i);

/* The parts of the long name of e, the last part first: (n_slots - 1) * 32 bytes. */
void card_put_long_name(const struct card_entry *e, uint8_t *out);

/* ---- card_layout.c ---- */

/* Lay out the partition and give every entry its clusters. Errors as card_image_write. */
enum err card_lay_out(struct card_image *c, const struct card_options *o, struct card_layout *l);

/* ---- card_folder.c ---- */

/* The bytes of folder i to out, n_clusters whole ones, which is zero; date and time as FAT has them. */
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

#endif
