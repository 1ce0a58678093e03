/* Conversations in a file of a card that loses its power, drops or changes writes, or returns
 * errors. */
#ifndef INGOT_TESTS_UNIT_SAVED_CHAT_RIG_H
#define INGOT_TESTS_UNIT_SAVED_CHAT_RIG_H

#include "runtime/saved/saved_chat.h"

#include "runtime/base/crc32c.h"
#include "tests/unit/rig.h"

enum { FILE_BYTES = 1 << 20, HALF_SECTORS = FILE_BYTES / 2 / SECTOR_BYTES };

static struct fake_block card;
static _Alignas(64) uint8_t card_data[FILE_BYTES];
static struct file file;
static struct saved_chat saved;

/* The card keeps its contents and has no more faults. */
static inline void insert_card(size_t bytes)
{
    fake_init(&card, card_data, FILE_BYTES / SECTOR_BYTES);
    card.written = card_data;
    card.dev.name = "a card";
    card.dev.max_sectors = 16;
    card.dev.writable = true;
    if (file_open_device(&file, &card.dev, bytes, NULL) != ERR_OK)
        rig_die("the card does not open");
    file_set_name(&file, "saves/chat.sav");
}

static inline void insert_blank_card(void)
{
    memset(card_data, 0, sizeof card_data);
    insert_card(FILE_BYTES);
}

static struct turns turns;

static inline struct saved_chat_state state_of(uint32_t n_ids)
{
    return (struct saved_chat_state){
        .session = &rig.session, .reply_start = n_ids / 2, .started = true, .turns = &turns
    };
}

/* Makes n turns of ten tokens, whose texts the seed tells apart. */
static inline void take_turns(uint32_t seed, uint32_t n)
{
    char line[40];

    memset(&turns, 0, sizeof turns);
    for (uint32_t i = 0; i < n; i++) {
        snprintf(line, sizeof line, "turn %u of seed %u", (unsigned)i, (unsigned)seed);
        turns_push(&turns, i * 10, i * 10 + 4, line, strlen(line) + 1);
    }
}

static inline bool turns_are(uint32_t seed, uint32_t n)
{
    static struct turns loaded;
    bool same;

    loaded = turns;
    take_turns(seed, n);
    same = loaded.n == n && loaded.text_bytes == turns.text_bytes &&
           memcmp(loaded.list, turns.list, n * sizeof turns.list[0]) == 0 &&
           memcmp(loaded.text, turns.text, turns.text_bytes) == 0;
    turns = loaded;
    return same;
}

/* Makes a conversation of n tokens, different for every seed. */
static inline void talk(uint32_t seed, uint32_t n)
{
    uint32_t ids[200];

    session_clear(&rig.session);
    take_turns(seed, n / 10);
    rig_ids(ids, n);
    for (uint32_t i = 0; i < n; i++)
        ids[i] = 3 + (ids[i] + seed) % (rig.model.image.header->params.vocab - 3);
    memcpy(rig.session.ids, ids, n * sizeof *ids);
    if (rig_append(ids, n, NULL) != ERR_OK)
        rig_die("the rig does not run");
}

/* Returns the logits of one more token: they depend on every key and value. */
static inline uint64_t next_hash(void)
{
    uint32_t id = 5; /* which then ends the reply and is not in the cache */
    uint64_t hash = 14695981039346656037u;

    if (rig_append(&id, 1, NULL) != ERR_OK)
        rig_die("the rig does not go on");
    for (size_t i = 0; i < rig_logits_bytes(); i++)
        hash = (hash ^ ((const uint8_t *)rig.session.logits)[i]) * 1099511628211u;
    (void)session_cut(&rig.session, rig.session.n_cached - 1);
    (void)session_put(&rig.session, &id, 1);
    return hash;
}

static inline enum err save(uint32_t n_ids)
{
    struct saved_chat_state state = state_of(n_ids);
    uint32_t id = 5;

    (void)session_cut(&rig.session, n_ids);
    if (rig.session.n_ids < n_ids)
        (void)session_put(&rig.session, &id, 1);
    return saved_chat_write(&saved, &file, &state, NULL, NULL);
}

static inline enum err load(struct saved_chat_state *state)
{
    *state = state_of(0);
    session_clear(&rig.session);
    memset(rig.session.kv.layers[0].place, 0x11, 1000); /* the old ones are gone */
    memset(&turns, 0, sizeof turns);
    return saved_chat_read(&saved, &file, state, NULL, NULL);
}

/* Offsets in the payload of put_one_saved. */
enum { TURNS = 0, TOKENS = 10 * sizeof(struct turn) + 10 * sizeof "turn 0 of seed 1" };

/* A card with one conversation in the first half, of 100 tokens of seed 1 and ten turns. */
static inline void put_one_saved(void)
{
    insert_blank_card();
    talk(1, 100);
    if (save(100) != ERR_OK || save(100) != ERR_OK)
        rig_die("no save");
    memmove(card_data, card_data + FILE_BYTES / 2, FILE_BYTES / 2);
    memset(card_data + FILE_BYTES / 2, 0, FILE_BYTES / 2);
}

/* Loads a half whose payload or header was changed. */
static inline void saved_set_crcs(struct saved_chat_header *h)
{
    if (h->payload_bytes <= FILE_BYTES / 2 - SECTOR_BYTES)
        h->payload_crc = crc32c(0, (uint8_t *)h + SECTOR_BYTES, (size_t)h->payload_bytes);
    h->header_crc = 0;
    h->header_crc = crc32c(0, h, sizeof *h);
}

/* Finds the half that was written, on a card with one save. */
static inline struct saved_chat_header *saved_written(void)
{
    struct saved_chat_header *h = (void *)card_data;

    return h->version != 0 ? h : (void *)(card_data + FILE_BYTES / 2);
}

/* Changes its payload and its version, and makes the CRCs right again. */
static inline void change_saved(size_t payload_at, uint32_t value, uint32_t version)
{
    struct saved_chat_header *h = (void *)card_data;

    memcpy(card_data + SECTOR_BYTES + payload_at, &value, sizeof value);
    h->version = version;
    saved_set_crcs(h);
}

#endif
