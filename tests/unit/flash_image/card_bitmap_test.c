/* The allocation bitmap of an exFAT card against the volume's own folders, byte by byte as in Microsoft's
 * specification (sections 6 and 7): each cluster of a file, a folder and exFAT's own is marked, and no
 * other. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "flash_image/card/card_image.h"
#include "tests/unit/tap.h"

enum { SLOT = 32, MOST_CLUSTERS = 1 << 20, MOST_FOLDERS = 64 };

static struct card_image card;
static struct card_layout layout;
static uint8_t taken[MOST_CLUSTERS]; /* of cluster 2 + i */
static uint8_t *volume;
static size_t volume_bytes;

static uint32_t u32_at(const uint8_t *p)
{
    return p[0] | (uint32_t)p[1] << 8 | (uint32_t)p[2] << 16 | (uint32_t)p[3] << 24;
}

static uint64_t u64_at(const uint8_t *p)
{
    return u32_at(p) | (uint64_t)u32_at(p + 4) << 32;
}

/* Returns a number of the boot sector. */
static size_t cluster_bytes(void)
{
    return (size_t)512 << volume[109];
}

static uint8_t *cluster_at(uint32_t cluster)
{
    return volume + (size_t)u32_at(volume + 88) * 512 + (cluster - 2) * cluster_bytes();
}

static uint32_t fat_entry(uint32_t cluster)
{
    return u32_at(volume + (size_t)u32_at(volume + 80) * 512 + (size_t)cluster * 4);
}

/* False: two have it. */
static bool take(uint32_t cluster)
{
    uint32_t n = u32_at(volume + 92);

    return cluster >= 2 && cluster - 2 < n && !taken[cluster - 2]++;
}

/* Marks one piece, or the clusters of a chain. */
static bool take_all(uint32_t first, uint64_t bytes, bool by_fat)
{
    uint64_t n = (bytes + cluster_bytes() - 1) / cluster_bytes();
    uint32_t at = first;
    bool good = true;

    for (uint64_t i = 0; i < n && good; i++) {
        good = take(at);
        at = by_fat ? fat_entry(at) : at + 1;
    }
    return good;
}

struct folder {
    uint32_t first;
    uint64_t bytes;
};

/* Marks the clusters of a folder's entries; folders inside it come later. */
static bool walk(const struct folder *at, struct folder *later, unsigned *n)
{
    bool good = true;

    for (uint64_t i = 0; i < at->bytes / SLOT && good; i++) {
        const uint8_t *s = cluster_at(at->first) + i * SLOT;

        if (s[0] == 0)
            return true;
        if (s[0] == 0x81 || s[0] == 0x82)
            good = take_all(u32_at(s + 20), u64_at(s + 24), true);
        if (s[0] == 0x85 && u64_at(s + SLOT + 24) != 0) {
            struct folder in = { u32_at(s + SLOT + 20), u64_at(s + SLOT + 24) };

            good = take_all(in.first, in.bytes, (s[SLOT + 1] & 2) == 0);
            if ((s[4] & 0x10) != 0 && *n < MOST_FOLDERS)
                later[(*n)++] = in;
        }
    }
    return good;
}

static bool walk_all(void)
{
    struct folder later[MOST_FOLDERS];
    uint32_t root = u32_at(volume + 96);
    unsigned n = 1;
    bool good = true;

    later[0] = (struct folder){ root, 0 };
    for (uint32_t at = root; at >= 2 && at < 0xfffffff7 && good; at = fat_entry(at)) {
        good = take(at);
        later[0].bytes += cluster_bytes(); /* the packer's root is in one piece */
    }
    for (unsigned i = 0; i < n && good; i++)
        good = walk(&later[i], later, &n);
    return good;
}

/* The bitmap starts at cluster 2, as its entry says. */
static uint32_t differences(uint32_t *n_taken)
{
    const uint8_t *bits = cluster_at(2);
    uint32_t n = u32_at(volume + 92), wrong = 0;

    *n_taken = 0;
    for (uint32_t i = 0; i < n; i++) {
        wrong += (bits[i / 8] >> i % 8 & 1) != taken[i];
        *n_taken += taken[i];
    }
    for (uint32_t i = n; i % 8 != 0; i++)
        wrong += bits[i / 8] >> i % 8 & 1;
    return wrong;
}

static bool read_volume(const char *path)
{
    FILE *in = fopen(path, "rb");
    bool good = in != NULL && fseek(in, (long)(layout.start * 512), SEEK_SET) == 0;

    free(volume);
    volume_bytes = (size_t)layout.n * 512;
    volume = malloc(volume_bytes);
    good = good && volume != NULL && fread(volume, 1, volume_bytes, in) == volume_bytes;
    if (in != NULL)
        fclose(in);
    return good;
}

static void test_card(const char *path, unsigned n_files, unsigned *remainders)
{
    struct card_options o = { .time = 1735689600, .table = CARD_MBR };
    uint32_t wrong, n_taken;
    char name[64];
    bool good = true;

    card_image_open(&card, CARD_EXFAT);
    for (unsigned i = 0; i < n_files && good; i++) {
        snprintf(name, sizeof name, i % 3 == 0 ? "file-%u" : "folder/file-%u", i);
        good = card_add_text(&card, name, name, strlen(name)) == ERR_OK;
    }
    good = good && card_add_text(&card, "models/empty.ingot", "", 0) == ERR_OK &&
           card_add_room(&card, "saves/chat.sav", 3 * 32768 + 1) == ERR_OK &&
           card_image_write(&card, &o, path, &layout) == ERR_OK && read_volume(path);
    memset(taken, 0, sizeof taken);
    OK(good && layout.n_clusters <= MOST_CLUSTERS && walk_all(),
       "no cluster of %u files has two owners %s", n_files, card.error_message);
    wrong = good ? differences(&n_taken) : 1;
    OK(wrong == 0 && n_taken == layout.n_used,
       "the bitmap marks the %u clusters that are taken, and no other: %u differ", n_taken, wrong);
    OK(volume[112] == n_taken * 100 / layout.n_clusters, "the volume says that %u %% are in use",
       volume[112]);
    *remainders |= 1u << n_taken % 8;
    card_image_close(&card);
}

int main(void)
{
    const char *base = getenv("TMPDIR");
    unsigned remainders = 0;
    char path[256];

    snprintf(path, sizeof path, "%s/ingot-bitmap-%ld.img", base != NULL ? base : "/tmp",
             (long)getpid());
    for (unsigned n = 1; n <= 9; n++)
        test_card(path, n, &remainders);
    OK(remainders == 0xff, "the last byte of the bitmap has each number of bits once");
    unlink(path);
    free(volume);
    return tap_done();
}
