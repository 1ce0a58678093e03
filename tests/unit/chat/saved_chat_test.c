/* Conversations saved on and loaded from a card whose power fails after any number of sectors. */
#include "tests/unit/chat/saved_chat_rig.h"

enum { ALL = 1 << 30 };

static void test_round_trip(void)
{
    struct saved_chat_state state;
    uint64_t hash;

    insert_blank_card();
    OK(load(&state) == ERR_NOT_FOUND && strstr(saved.error_message, "is empty: /save") != NULL,
       "a blank file is empty: %s", saved.error_message);
    talk(1, 100);
    hash = next_hash();
    OK(save(101) == ERR_OK, "a conversation is saved");
    talk(2, 30);
    OK(load(&state) == ERR_OK && rig.session.n_cached == 100 && rig.session.n_ids == 101 &&
           state.reply_start == 50 && state.started && rig.session.ids[100] == 5,
       "a conversation is loaded over another");
    OK(next_hash() == hash, "the next token's logits are the same bits");
    OK(turns_are(1, 10), "the ten turns are there, with their texts");
    talk(3, 70);
    hash = next_hash();
    OK(save(71) == ERR_OK && load(&state) == ERR_OK && rig.session.n_ids == 71 &&
           next_hash() == hash,
       "a second save replaces the first");
    talk(4, 5);
    hash = next_hash();
    OK(save(5) == ERR_OK && load(&state) == ERR_OK && rig.session.n_ids == 5 && next_hash() == hash,
       "a third save replaces the second");
}

static void test_cost(void)
{
    struct saved_chat_state state = state_of(101);
    long payload;

    insert_blank_card();
    talk(1, 100);
    payload = (long)(saved_chat_bytes(&state) / 2 / SECTOR_BYTES - 1);
    if (save(100) != ERR_OK)
        rig_die("no save");
    card.reads_left = card.sectors_left = ALL;
    OK(save(100) == ERR_OK && ALL - card.sectors_left == 1 + payload &&
           ALL - card.reads_left == 2 + payload + payload + 1,
       "a save writes its %ld sectors, and reads as many of the last one and of itself", payload);
    card.reads_left = ALL;
    OK(load(&state) == ERR_OK && ALL - card.reads_left == 2 + 2 * payload,
       "a load reads the sectors twice");
}

static unsigned steps_left;
static uint64_t told;

static bool step(void *context, const char *label, uint64_t done, uint64_t total)
{
    (void)context;
    OK(done > told && done <= total, "%s: the progress ascends, %llu of %llu", label,
       (unsigned long long)done, (unsigned long long)total);
    told = done;
    return steps_left-- != 0;
}

/* Ctrl-C during a save leaves the earlier save; during a load it leaves nothing of the state. */
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
               strstr(saved.error_message, "Ctrl-C") != NULL,
           "saving stops after %u steps", i + 1);
    }
    OK(load(&state) == ERR_OK && rig.session.n_ids == 101 && next_hash() == hash,
       "the previous save is still there");
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
       "a second load goes through to its end");
}

/* At every sector the old conversation or the new one is there. */
static void test_power_cuts(void)
{
    struct saved_chat_state state;
    uint64_t old_hash, new_hash;
    unsigned olds = 0, news = 0, wrong = 0;
    long sectors;
    static uint8_t before[FILE_BYTES];

    insert_blank_card();
    talk(9, 40);
    if (save(40) != ERR_OK)
        rig_die("no first save");
    talk(1, 60);
    old_hash = next_hash();
    if (save(61) != ERR_OK)
        rig_die("no second save");
    memcpy(before, card_data, sizeof before);
    talk(2, 90);
    new_hash = next_hash();
    if (save(91) != ERR_OK)
        rig_die("no third save");
    card.sectors_left = ALL;
    talk(2, 90);
    if (save(91) != ERR_OK)
        rig_die("no fourth save");
    sectors = ALL - card.sectors_left;
    for (long cut = 0; cut <= sectors; cut++) {
        memcpy(card_data, before, sizeof before);
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
       "the old save is there until the last sector, then the new one (%u, %u)", olds, news);
}

static void test_damage(void)
{
    struct saved_chat_state state;
    uint64_t hash;
    unsigned wrong = 0, older = 0, lost = 0;

    insert_blank_card();
    talk(1, 60);
    hash = next_hash();
    if (save(60) != ERR_OK)
        rig_die("no save");
    talk(2, 60);
    if (save(60) != ERR_OK)
        rig_die("no save");
    for (size_t at = 0; at < 20000; at += 197) { /* of the newer one, which is in the first half */
        card_data[at] ^= 4;
        if (load(&state) == ERR_OK) {
            older += next_hash() == hash;
            wrong += next_hash() != hash;
        }
        card_data[at] ^= 4;
    }
    OK(wrong == 0 && older > 90, "a flipped bit anywhere gives the older save (%u, %u wrong)",
       older, wrong);
    card_data[1000] ^= 1;
    card_data[FILE_BYTES / 2 + 1000] ^= 1;
    lost = load(&state) == ERR_BAD_CHECKSUM;
    OK(lost == 1 && rig.session.n_cached == 0, "two damaged saves are refused: %s",
       saved.error_message);
}

static enum err load_changed(size_t payload_at, uint32_t value, uint32_t version)
{
    static uint8_t before[FILE_BYTES];
    struct saved_chat_state state;
    enum err e;

    memcpy(before, card_data, sizeof before);
    change_saved(payload_at, value, version);
    e = load(&state);
    memcpy(card_data, before, sizeof before);
    return e;
}

static void test_contradictions(void)
{
    struct saved_chat_state state;

    put_one_saved();
    OK(load_changed(TURNS + 16, 10, 4) == ERR_OK && turns_are(1, 10),
       "a header that was not changed is loaded");
    OK(load_changed(TOKENS, 1 << 30, 4) == ERR_BAD_MODEL && turns.n == 0 &&
           rig.session.n_cached == 0,
       "a token beyond the vocabulary is refused: %s", saved.error_message);
    OK(load_changed(TURNS + 16, 3, 4) == ERR_BAD_MODEL && turns.n == 0,
       "a turn that begins before the one before it is refused");
    OK(load_changed(TURNS + 16 + 4, 101, 4) == ERR_BAD_MODEL,
       "a reply beyond the tokens is refused");
    OK(load_changed(TURNS + 16 + 8, 0, 4) == ERR_BAD_MODEL,
       "a text at the place of another text is refused");
    OK(load_changed(TURNS + 9 * 16 + 12, UINT32_MAX, 4) == ERR_BAD_MODEL,
       "a text beyond the texts is refused");
    OK(load_changed(TURNS + 16, 10, 2) == ERR_BAD_MODEL &&
           strstr(saved.error_message, "another version of Ingot (2): save again") != NULL,
       "a file of an earlier version is refused: %s", saved.error_message);
    OK(load(&state) == ERR_OK, "the conversation is unchanged");
}

/* A file of any size: the tokens are saved, and as many states as there is room for. When the
 * missing tokens are computed, the conversation continues with the same logits. */
static void test_sizes(void)
{
    uint32_t kept = 0, parts = 0, wrong = 0;
    struct saved_chat_state state;
    uint64_t hash;

    talk(1, 150);
    hash = next_hash();
    for (size_t bytes = 8192; kept < 150 && bytes <= FILE_BYTES; bytes += 8192) {
        uint32_t n;

        memset(card_data, 0, sizeof card_data);
        insert_card(bytes);
        talk(1, 150);
        wrong += save(150) != ERR_OK || saved.n_kept < kept;
        n = saved.n_kept;
        wrong += load(&state) != ERR_OK || !turns_are(1, 15) || rig.session.n_ids != 150 ||
                 rig.session.n_cached != n;
        wrong += n != 150 && session_run(&rig.session, NULL) != ERR_OK;
        wrong += next_hash() != hash;
        parts += n != 0 && n != 150;
        kept = n;
    }
    OK(kept == 150 && parts != 0 && wrong == 0,
       "files have room for none, some (%u) or all of the states (%u wrong)", (unsigned)parts,
       (unsigned)wrong);
}

static void test_refusals(void)
{
    struct saved_chat_state state;

    insert_card(2048);
    talk(1, 100);
    OK(save(100) == ERR_NO_SPACE && strstr(saved.error_message, "`make card SAVE=1`") != NULL,
       "a file that is too small is refused: %s", saved.error_message);
    session_clear(&rig.session);
    insert_card(FILE_BYTES);
    OK(save(0) == ERR_BAD_ARGUMENT && strstr(saved.error_message, "nothing has been said") != NULL,
       "a conversation with nothing said is not saved: %s", saved.error_message);
    talk(1, 100);
    insert_card(100);
    OK(load(&state) == ERR_BAD_CHECKSUM &&
           strstr(saved.error_message, "is cut off: it has 100 bytes") != NULL &&
           strstr(saved.error_message, "copy it whole; /save overwrites it if it is large") != NULL,
       "a file smaller than its headers is refused: %s", saved.error_message);
    OK(save(100) == ERR_NO_SPACE, "it is too small to be overwritten: %s", saved.error_message);
    insert_blank_card();
    talk(1, 100);
    card.dev.writable = false;
    OK(save(100) == ERR_UNSUPPORTED, "a card that takes no writes is reported: %s",
       saved.error_message);
    card.dev.writable = true;
    if (save(100) != ERR_OK)
        rig_die("no save");
    rig.session.kv.types.keys = KV_Q8;
    OK(load(&state) == ERR_BAD_MODEL && strstr(saved.error_message, "kv=f16") != NULL,
       "a save with another kv= is refused: %s", saved.error_message);
    rig.session.kv.types.keys = KV_F16;
    rig.session.context = 99;
    OK(load(&state) == ERR_BAD_MODEL && strstr(saved.error_message, "ctx=") != NULL,
       "a save with a larger ctx= is refused: %s", saved.error_message);
    if (rig_start(0, 0, false) != ERR_OK)
        rig_die("the rig does not start");
    ((struct ingot_header *)(uintptr_t)rig.model.image.header)->header_crc32c ^= 1;
    OK(load(&state) == ERR_BAD_MODEL && strstr(saved.error_message, "another model") != NULL,
       "a save of another model is refused: %s", saved.error_message);
}

int main(void)
{
    rig_alone();
    rig_compute(false);
    rig_make_model("tiny", INGOT_Q8_0);
    if (rig_start(0, 0, false) != ERR_OK)
        rig_die(rig.model.error_message);
    test_round_trip();
    test_cost();
    test_stopped();
    test_power_cuts();
    test_damage();
    test_contradictions();
    test_sizes();
    test_refusals();
    return tap_done();
}
