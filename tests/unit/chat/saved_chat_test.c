/* Conversations saved and loaded over a card whose power goes after any number of sectors. */
#include "runtime/chat/saved_chat.h"

#include "runtime/base/crc32c.h"
#include "tests/unit/rig.h"

enum { FILE_BYTES = 1 << 20, ALL = 1 << 30 };

static struct card {
    struct block_device dev;
    uint8_t data[FILE_BYTES];
    long sectors_left; /* that are written before the power goes */
} card;

static struct file file;
static struct saved_chat saved;

static enum err card_submit(struct block_device *dev, struct block_request *r)
{
    enum err e = block_request_check(dev, r);

    if (e != ERR_OK)
        return e;
    r->status = ERR_OK;
    for (uint32_t i = 0; i < r->n_sectors; i++) {
        uint8_t *memory = (uint8_t *)r->buffer + (size_t)i * SECTOR_BYTES;
        uint8_t *place = card.data + (r->sector + i) * SECTOR_BYTES;

        if (!r->write)
            memcpy(memory, place, SECTOR_BYTES);
        else if (card.sectors_left-- > 0)
            memcpy(place, memory, SECTOR_BYTES);
        else
            r->status = ERR_IO;
    }
    r->done = true;
    return ERR_OK;
}

static enum err card_poll(struct block_device *dev)
{
    (void)dev;
    return ERR_OK;
}

static void insert_card(size_t bytes)
{
    card.dev = (struct block_device){ .name = "a card",
                                      .n_sectors = FILE_BYTES / SECTOR_BYTES,
                                      .max_sectors = 16,
                                      .queue_depth = 4,
                                      .writable = true,
                                      .submit = card_submit,
                                      .poll = card_poll };
    card.sectors_left = ALL;
    if (file_open_device(&file, &card.dev, bytes, NULL) != ERR_OK)
        rig_die("the card does not open");
    file_set_name(&file, "saves/chat.sav");
}

static struct turns turns;

static struct saved_chat_state state_of(uint32_t n_ids)
{
    return (struct saved_chat_state){ &rig.session, n_ids / 2, true, &turns };
}

/* n turns of ten tokens, whose texts are told apart by the seed. */
static void take_turns(uint32_t seed, uint32_t n)
{
    char text[40];

    memset(&turns, 0, sizeof turns);
    for (uint32_t i = 0; i < n; i++) {
        snprintf(text, sizeof text, "turn %u of seed %u", (unsigned)i, (unsigned)seed);
        turns_push(&turns, i * 10, i * 10 + 4, text, strlen(text) + 1);
    }
}

static bool turns_are(uint32_t seed, uint32_t n)
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

/* A conversation of n tokens, different for every seed. */
static void talk(uint32_t seed, uint32_t n)
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

/* The logits of one more token: they depend on every key and value. */
static uint64_t next_hash(void)
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

static enum err save(uint32_t n_ids)
{
    struct saved_chat_state state = state_of(n_ids);
    uint32_t id = 5;

    (void)session_cut(&rig.session, n_ids);
    if (rig.session.n_ids < n_ids)
        (void)session_put(&rig.session, &id, 1);
    return saved_chat_write(&saved, &file, &state, NULL, NULL);
}

static enum err load(struct saved_chat_state *state)
{
    *state = state_of(0);
    session_clear(&rig.session);
    memset(rig.session.kv.keys, 0x11, 1000); /* the old ones are gone */
    memset(&turns, 0, sizeof turns);
    return saved_chat_read(&saved, &file, state, NULL, NULL);
}

static void test_round_trip(void)
{
    struct saved_chat_state state;
    uint64_t hash;

    insert_card(FILE_BYTES);
    OK(load(&state) == ERR_NOT_FOUND && strstr(saved.problem, "/save") != NULL,
       "an empty file has nothing saved: %s", saved.problem);
    talk(1, 100);
    hash = next_hash();
    OK(save(101) == ERR_OK, "a conversation is saved");
    talk(2, 30);
    OK(load(&state) == ERR_OK && rig.session.n_cached == 100 && rig.session.n_ids == 101 &&
           state.reply_start == 50 && state.started && rig.session.ids[100] == 5,
       "and loaded over another");
    OK(next_hash() == hash, "the next token's logits are the same bits");
    OK(turns_are(1, 10), "and the ten turns are there, with what was said");
    talk(3, 70);
    hash = next_hash();
    OK(save(71) == ERR_OK && load(&state) == ERR_OK && rig.session.n_ids == 71 &&
           next_hash() == hash,
       "a second one replaces it");
    talk(4, 5);
    hash = next_hash();
    OK(save(5) == ERR_OK && load(&state) == ERR_OK && rig.session.n_ids == 5 && next_hash() == hash,
       "and a third one that");
}

static unsigned steps_left;
static uint64_t told;

static bool step(void *context, const char *label, uint64_t done, uint64_t total)
{
    (void)context;
    OK(done > told && done <= total, "%s: %llu of %llu", label, (unsigned long long)done,
       (unsigned long long)total);
    told = done;
    return steps_left-- != 0;
}

/* Ctrl-C while saving leaves what was saved; while loading, nothing of the state. */
static void test_stopped(void)
{
    struct saved_chat_state state;
    uint64_t hash;

    insert_card(FILE_BYTES);
    talk(1, 100);
    hash = next_hash();
    OK(save(101) == ERR_OK, "a conversation is saved");
    talk(2, 150);
    for (unsigned i = 0; i < 2; i++) {
        state = state_of(150);
        steps_left = i;
        told = 0;
        OK(saved_chat_write(&saved, &file, &state, step, NULL) == ERR_ABORTED &&
               strstr(saved.problem, "Ctrl-C") != NULL,
           "saving stops after %u steps", i + 1);
    }
    OK(load(&state) == ERR_OK && rig.session.n_ids == 101 && next_hash() == hash,
       "and the one before is there");
    for (unsigned i = 0; i < 3; i++) {
        steps_left = i;
        told = 0;
        OK(saved_chat_read(&saved, &file, &state, step, NULL) == ERR_ABORTED,
           "loading stops after %u steps", i + 1);
    }
    steps_left = 1000;
    told = 0;
    OK(saved_chat_read(&saved, &file, &state, step, NULL) == ERR_OK && steps_left < 1000 &&
           next_hash() == hash,
       "and goes through to its end another time");
}

/* At every sector: the old conversation or the new one. */
static void test_power_cuts(void)
{
    struct saved_chat_state state;
    uint64_t old_hash, new_hash;
    unsigned olds = 0, news = 0, wrong = 0;
    long sectors;
    static uint8_t before[FILE_BYTES];

    insert_card(FILE_BYTES);
    memset(card.data, 0, sizeof card.data);
    talk(9, 40);
    if (save(40) != ERR_OK)
        rig_die("no first save");
    talk(1, 60);
    old_hash = next_hash();
    if (save(61) != ERR_OK)
        rig_die("no second save");
    memcpy(before, card.data, sizeof before);
    talk(2, 90);
    new_hash = next_hash();
    if (save(91) != ERR_OK)
        rig_die("no third save");
    sectors = ALL - card.sectors_left;
    card.sectors_left = ALL;
    talk(2, 90);
    if (save(91) != ERR_OK)
        rig_die("no fourth save");
    sectors = ALL - card.sectors_left;
    for (long cut = 0; cut <= sectors; cut++) {
        memcpy(card.data, before, sizeof before);
        talk(2, 90);
        card.sectors_left = cut;
        (void)save(91);
        card.sectors_left = ALL;
        if (load(&state) != ERR_OK)
            wrong++;
        else if (rig.session.n_ids == 61 && next_hash() == old_hash && turns_are(1, 6))
            olds++;
        else if (rig.session.n_ids == 91 && next_hash() == new_hash && turns_are(2, 9))
            news++;
        else
            wrong++;
    }
    OK(wrong == 0, "power lost after any of %ld sectors leaves a whole conversation (%u wrong)",
       sectors, wrong);
    OK(olds == (unsigned)sectors && news == 1,
       "the old one until the last sector, then the new "
       "(%u, %u)",
       olds, news);
}

static void test_damage(void)
{
    struct saved_chat_state state;
    uint64_t hash;
    unsigned wrong = 0, older = 0, lost = 0;

    insert_card(FILE_BYTES);
    memset(card.data, 0, sizeof card.data);
    talk(1, 60);
    hash = next_hash();
    if (save(60) != ERR_OK)
        rig_die("no save");
    talk(2, 60);
    if (save(60) != ERR_OK)
        rig_die("no save");
    for (size_t at = 0; at < 20000; at += 197) { /* of the newer, the first half */
        card.data[at] ^= 4;
        if (load(&state) == ERR_OK) {
            older += next_hash() == hash;
            wrong += next_hash() != hash;
        }
        card.data[at] ^= 4;
    }
    OK(wrong == 0 && older > 90, "a flipped bit anywhere gives the older one (%u, %u wrong)", older,
       wrong);
    card.data[1000] ^= 1;
    card.data[FILE_BYTES / 2 + 1000] ^= 1;
    lost = load(&state) == ERR_BAD_CHECKSUM;
    OK(lost == 1 && rig.session.n_cached == 0, "both damaged: %s", saved.problem);
}

static uint32_t crc_of(const void *p, size_t bytes)
{
    return crc32c(0, p, bytes);
}

/* Change the saved turns or the header of the first half, and make its CRCs right again. */
static enum err load_changed(size_t payload_at, uint32_t value, uint32_t version)
{
    static uint8_t before[FILE_BYTES];
    struct saved_chat_header *h = (void *)card.data;
    struct saved_chat_state state;
    enum err e;

    memcpy(before, card.data, sizeof before);
    memcpy(card.data + SECTOR_BYTES + payload_at, &value, sizeof value);
    h->version = version;
    h->payload_crc = crc_of(card.data + SECTOR_BYTES, (size_t)h->payload_bytes);
    h->header_crc = 0;
    h->header_crc = crc_of(h, sizeof *h);
    e = load(&state);
    memcpy(card.data, before, sizeof before);
    return e;
}

static void test_contradictions(void)
{
    enum { TURNS = 0, TOKENS = 10 * sizeof(struct turn) + 10 * sizeof "turn 0 of seed 1" };
    struct saved_chat_state state;

    insert_card(FILE_BYTES);
    memset(card.data, 0, sizeof card.data);
    talk(1, 100);
    if (save(100) != ERR_OK || save(100) != ERR_OK)
        rig_die("no save");
    memset(card.data, 0, SECTOR_BYTES); /* the older one */
    memmove(card.data, card.data + FILE_BYTES / 2, FILE_BYTES / 2);
    memset(card.data + FILE_BYTES / 2, 0, FILE_BYTES / 2);
    OK(load_changed(TURNS + 16, 10, 3) == ERR_OK && turns_are(1, 10), "nothing changed");
    OK(load_changed(TOKENS, 1 << 30, 3) == ERR_BAD_MODEL && turns.n == 0 &&
           rig.session.n_cached == 0,
       "a token of no vocabulary: %s", saved.problem);
    OK(load_changed(TURNS + 16, 3, 3) == ERR_BAD_MODEL && turns.n == 0,
       "a turn before the one before it");
    OK(load_changed(TURNS + 16 + 4, 101, 3) == ERR_BAD_MODEL, "a reply beyond the tokens");
    OK(load_changed(TURNS + 16 + 8, 0, 3) == ERR_BAD_MODEL, "a text at another's place");
    OK(load_changed(TURNS + 9 * 16 + 12, UINT32_MAX, 3) == ERR_BAD_MODEL,
       "a text beyond the texts");
    OK(load_changed(TURNS + 16, 10, 2) == ERR_BAD_MODEL &&
           strstr(saved.problem, "another version of Ingot (2): save anew") != NULL,
       "a file of before: %s", saved.problem);
    OK(load(&state) == ERR_OK, "and all is as it was");
}

static void test_refusals(void)
{
    struct saved_chat_state state;

    insert_card(8192);
    talk(1, 100);
    OK(save(100) == ERR_NO_SPACE && strstr(saved.problem, "SAVE=") != NULL, "too small: %s",
       saved.problem);
    insert_card(100);
    OK(save(100) == ERR_NO_SPACE && load(&state) == ERR_NOT_FOUND, "smaller than its headers");
    insert_card(FILE_BYTES);
    memset(card.data, 0, sizeof card.data);
    talk(1, 100);
    card.dev.writable = false;
    OK(save(100) == ERR_UNSUPPORTED, "no writes: %s", saved.problem);
    card.dev.writable = true;
    if (save(100) != ERR_OK)
        rig_die("no save");
    rig.session.kv.type = KV_Q8;
    OK(load(&state) == ERR_BAD_MODEL && strstr(saved.problem, "kv=f16") != NULL, "kv=: %s",
       saved.problem);
    rig.session.kv.type = KV_F16;
    rig.session.context = 99;
    OK(load(&state) == ERR_BAD_MODEL && strstr(saved.problem, "ctx=") != NULL, "ctx=: %s",
       saved.problem);
    if (rig_start(0, 0, false) != ERR_OK)
        rig_die("the rig does not start");
    ((struct ingot_header *)(uintptr_t)rig.model.image.header)->header_crc32c ^= 1;
    OK(load(&state) == ERR_BAD_MODEL && strstr(saved.problem, "another model") != NULL,
       "another model: %s", saved.problem);
}

int main(void)
{
    rig_alone();
    rig_compute(false);
    rig_make_model("tiny", INGOT_Q8_0);
    if (rig_start(0, 0, false) != ERR_OK)
        rig_die(rig.model.problem);
    test_round_trip();
    test_stopped();
    test_power_cuts();
    test_damage();
    test_contradictions();
    test_refusals();
    return tap_done();
}
