/* Damage of a card of walk_card.h in one place: in its table, its boot sectors, the FAT, folders,
 * or exFAT's bitmap; as a flipped bit, an old sector, or by a program that also writes
 * checksums. */
#ifndef INGOT_TESTS_UNIT_WALK_DAMAGE_H
#define INGOT_TESTS_UNIT_WALK_DAMAGE_H

#include "tests/unit/storage/walk_card.h"

static uint64_t walk_state;

static inline uint32_t walk_random(uint32_t below)
{
    walk_state ^= walk_state << 13;
    walk_state ^= walk_state >> 7;
    walk_state ^= walk_state << 17;
    return (uint32_t)((walk_state * 0x2545f4914f6cdd1dull >> 32) % below);
}

/* A cluster that is likely to hurt: a file's, a folder's, any. */
static inline uint32_t walk_cluster(const struct card *c)
{
    switch (walk_random(6)) {
    case 0: return walk_random(CARD_CLUSTERS + 20);
    case 1: return c->folders[walk_random(c->n_folders)].first;
    case 2: return c->files[1 + walk_random(c->n_files)].first;
    case 3: return 2 + walk_random(c->next - 2);
    default: {
        uint32_t at = 2 + walk_random(c->next - 2);

        while (c->owner[at] == NOBODY)
            at = at + 1 == c->next ? 2 : at + 1;
        return at;
    }
    }
}

static inline uint32_t walk_value(const struct card *c)
{
    static const uint32_t odd[] = {
        0, 1, 2, 0x0fffffff, 0x0ffffff7, 0xffffffff, 0xfffffff7, 0x10000
    };

    return walk_random(3) == 0 ? odd[walk_random(8)] : walk_cluster(c);
}

static inline void damage_fat(struct card *c)
{
    uint32_t cluster = walk_cluster(c) % (CARD_CLUSTERS + 2), value = walk_value(c);
    unsigned only = walk_random(3);

    for (unsigned fat = 0; fat < card_fats(c); fat++)
        if (only == 2 || only == fat || card_fats(c) == 1)
            card_put(c->disk + card_fat_at(c, fat) + 4 * cluster, value, 4);
}

static inline void damage_fat_sector(struct card *c)
{
    unsigned fat = walk_random(card_fats(c));
    uint8_t *at = c->disk + card_fat_at(c, fat) + 512 * walk_random(CARD_FAT_SECTORS);

    if (walk_random(2) == 0)
        memset(at, walk_random(2) == 0 ? 0 : 0xff, 512);
    else
        memcpy(at, c->disk + card_fat_at(c, 0) + 512 * walk_random(CARD_FAT_SECTORS), 512);
}

static inline void damage_entry(struct card *c)
{
    const struct card_file *f = &c->files[1 + walk_random(c->n_files)];
    uint8_t *set = c->disk + f->entry, *last = set + f->entry_bytes - 32;
    uint8_t *at = c->is_exfat ? set + 32 : last;
    const struct card_file *other = &c->files[1 + walk_random(c->n_files)];
    uint32_t value = walk_random(2) == 0 ? other->first : walk_cluster(c);

    switch (walk_random(7)) {
    case 0: set[32 * walk_random(f->entry_bytes / 32)] = (uint8_t)walk_random(256); break;
    case 1: set[walk_random(f->entry_bytes)] ^= (uint8_t)(1 << walk_random(8)); break;
    case 2: (c->is_exfat ? set : last)[c->is_exfat ? 4 : 11] = (uint8_t)walk_random(64); break;
    case 3:
        card_put(at + (c->is_exfat ? 24 : 28),
                 walk_random(2) == 0 ? other->bytes : walk_random(200000), 4);
        break;
    case 4: set[c->is_exfat ? 33 : 0] ^= 2; break;
    default:
        card_put(at + (c->is_exfat ? 20 : 26), value & (c->is_exfat ? 0xffffffff : 0xffff),
                 c->is_exfat ? 4 : 2);
    }
    if (c->is_exfat && walk_random(4) != 0) {
        if (walk_random(2) == 0)
            memcpy(at + 8, at + 24, 8); /* ValidDataLength too */
        card_sign_set(set);
    }
}

static inline void damage_folder_entry(struct card *c)
{
    unsigned folder = walk_random(c->n_folders);
    uint32_t n = c->folders[folder].n * 512;
    uint8_t *base = c->disk + card_cluster_at(c, c->folders[folder].first);
    uint8_t *at = base + walk_random(n / 32) * 32;

    switch (walk_random(4)) {
    case 0: at[walk_random(32)] = (uint8_t)walk_random(256); break;
    case 1: card_put(at + (c->is_exfat ? 20 : 26), walk_cluster(c), 2); break;
    case 2: memcpy(at, base + walk_random(n / 32) * 32, 32); break;
    default: memset(at, 0, 32);
    }
}

static inline void damage_boot(struct card *c)
{
    static const uint8_t fat[] = { 11, 13, 14, 16, 17, 19, 21, 22, 32,
                                   33, 34, 36, 37, 40, 44, 45, 48, 50 };
    static const uint8_t exfat[] = { 72, 73, 80, 84, 88, 89, 92, 93, 96, 106, 108, 109, 110, 112 };
    uint8_t *boot = c->disk + c->start * 512;
    unsigned at = c->is_exfat ? exfat[walk_random(sizeof exfat)] : fat[walk_random(sizeof fat)];

    if (walk_random(2) == 0)
        boot[at] = (uint8_t)walk_random(256);
    else
        boot[at] = (uint8_t)(boot[at] + (walk_random(2) == 0 ? 1 : -1));
    if (c->is_exfat && walk_random(3) != 0)
        card_sign_boot(boot);
    if (c->is_exfat && walk_random(3) == 0)
        memcpy(boot + 12 * 512, boot, 12 * 512);
}

static inline void damage_info(struct card *c)
{
    uint8_t *info = c->disk + (c->start + 1) * 512;

    card_put(info + 484 + 4 * walk_random(4),
             walk_random(2) == 0 ? walk_random(70000) : 0xffffffffu, 4);
}

static inline void damage_table(struct card *c)
{
    bool gpt = c->table == CARD_GPT && walk_random(4) != 0;
    uint8_t *entry = gpt ? c->disk + CARD_GPT_TABLE * 512 + 128 * walk_random(3)
                         : c->disk + 446 + 16 * walk_random(3);
    uint32_t value = walk_random(3) == 0 ? walk_random(CARD_DISK + 100)
                                         : CARD_START + walk_random(2000);

    switch (walk_random(4)) {
    case 0: entry[gpt ? 0 : 4] = (uint8_t)walk_random(256); break;
    case 1: card_put(entry + (gpt ? 32 : 8), value, 4); break;
    default: card_put(entry + (gpt ? 40 : 12), value, 4);
    }
    if (gpt && walk_random(4) != 0)
        card_sign_gpt(c);
}

static inline void damage_bitmap(struct card *c)
{
    uint8_t *at = c->disk + card_cluster_at(c, c->bitmap);

    if (walk_random(3) == 0)
        memset(at + walk_random(300), walk_random(2) == 0 ? 0 : 0xff, 1 + walk_random(60));
    else
        at[walk_random(CARD_CLUSTERS / 8)] ^= (uint8_t)(1 << walk_random(8));
}

/* Something overwrites a part of the volume's front, like a program that writes to the wrong
 * place. */
static inline void damage_sector(struct card *c)
{
    uint8_t *to = c->disk + (c->start + walk_random(CARD_META + 40)) * 512;
    const uint8_t *from = c->disk + walk_random(CARD_DISK) * 512;

    memmove(to, from, 512);
}

static inline void damage_once(struct card *c)
{
    switch (walk_random(12)) {
    case 0: damage_table(c); break;
    case 1: damage_boot(c); break;
    case 2: damage_folder_entry(c); break;
    case 3: damage_fat_sector(c); break;
    case 4: damage_sector(c); break;
    case 5:
        if (c->is_exfat)
            damage_bitmap(c);
        else
            damage_info(c);
        break;
    case 6:
    case 7:
    case 8: damage_fat(c); break;
    default: damage_entry(c);
    }
}

#endif
