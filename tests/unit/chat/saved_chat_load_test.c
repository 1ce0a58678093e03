/* Loads that fail: the current conversation continues as if nobody had tried. */
#include "tests/unit/chat/saved_chat_rig.h"

enum { AT_WORK = 90, MOST_PLACES = 1000 };

/* Returns the next text, and the hash of all logits since the conversation began. */
static uint64_t hash_going_on(void)
{
    uint32_t ids[] = { 5, 9 };

    for (int i = 0; i < 2; i++) {
        if (session_append(&rig.session, ids + i, 1, NULL) != ERR_OK)
            rig_die("the rig does not go on");
    }
    return rig.session.hash.value;
}

static uint64_t undisturbed;

static bool goes_on(enum saved_chat_before before)
{
    return saved.before == before && rig.session.n_ids == AT_WORK && turns_are(2, AT_WORK / 10) &&
           hash_going_on() == undisturbed;
}

/* ---- files that are refused ----------------------------------------------------------------- */

static void blank(void)
{
    memset(card_data, 0, sizeof card_data);
}

static void damage(void)
{
    card_data[2000] ^= 1;
}

static void damage_last_byte(void)
{
    const struct saved_chat_header *h = (const void *)card_data;

    card_data[SECTOR_BYTES + h->payload_bytes - 1] ^= 1;
}

static void other_version(void)
{
    change_saved(TURNS, 0, 2);
}

static void other_model(void)
{
    struct saved_chat_header *h = (void *)card_data;

    h->model_crc ^= 1;
    change_saved(TURNS, 0, 4);
}

static void other_keys(void)
{
    struct saved_chat_header *h = (void *)card_data;

    h->kv_keys = KV_Q8;
    change_saved(TURNS, 0, 4);
}

static void too_long(void)
{
    struct saved_chat_header *h = (void *)card_data;

    h->n_ids = rig.session.context + 1;
    change_saved(TURNS, 0, 4);
}

/* Like a save from before the first turn. */
static void nothing_said(void)
{
    struct saved_chat_header *h = (void *)card_data;

    h->n_ids = h->n_cached = h->reply_start = h->started = h->n_turns = h->text_bytes = 0;
    h->payload_bytes = 0;
    change_saved(TURNS, 0, 4);
}

static void wrong_turn(void)
{
    change_saved(TURNS + 9 * 16 + 4, 101, 4);
}

static void wrong_first_token(void)
{
    change_saved(TOKENS, rig.model.image.header->params.vocab, 4);
}

static void wrong_last_token(void)
{
    change_saved(TOKENS + 99 * 4, rig.model.image.header->params.vocab, 4);
}

static void unreadable(void)
{
    card.fail_sector = 20;
    card.fail_times = 1000;
}

static void of_a_prefix(void)
{
    struct saved_chat_header *h = (void *)card_data;

    memcpy(h->magic, "INGOTPRE", sizeof h->magic);
    saved_set_crcs(h);
}

static void of_a_model(void)
{
    memset(card_data, 0, sizeof card_data);
    memcpy(card_data, INGOT_MAGIC, 8);
}

static void damaged_header(void)
{
    card_data[100] ^= 1;
}

static void few_words(void)
{
    memset(card_data, 0, sizeof card_data);
    memcpy(card_data + 64, "words", 5);
}

static void unreadable_header(void)
{
    card.fail_sector = 0;
    card.fail_times = 1000;
}

static void test_refused(void)
{
    static const struct {
        const char *what;
        void (*spoil)(void);
        enum err expected;
        const char *error_message;
    } rows[] = {
        { "a blank file", blank, ERR_NOT_FOUND, "is empty" },
        { "a saved prefix", of_a_prefix, ERR_BAD_MODEL,
          "is a saved system prompt, not a conversation" },
        { "a model", of_a_model, ERR_BAD_MODEL, "is a model, not a conversation" },
        { "a damaged header", damaged_header, ERR_BAD_CHECKSUM, "is damaged" },
        { "zeros with a few words after them", few_words, ERR_NOT_FOUND, "is empty" },
        { "a damaged one", damage, ERR_BAD_CHECKSUM, "is damaged" },
        { "damage in its last byte", damage_last_byte, ERR_BAD_CHECKSUM, "is damaged" },
        { "another version", other_version, ERR_BAD_MODEL, "another version of Ingot (2)" },
        { "another model", other_model, ERR_BAD_MODEL, "another model" },
        { "another kv=", other_keys, ERR_BAD_MODEL, "kv=q8" },
        { "a longer context", too_long, ERR_BAD_MODEL, "ctx=" },
        { "an empty conversation", nothing_said, ERR_NOT_FOUND, "is empty" },
        { "a turn beyond its tokens", wrong_turn, ERR_BAD_MODEL, "contradicts" },
        { "a token of no vocabulary", wrong_first_token, ERR_BAD_MODEL, "contradicts" },
        { "the last token of no vocabulary", wrong_last_token, ERR_BAD_MODEL, "contradicts" },
        { "a sector that cannot be read", unreadable, ERR_IO, "cannot read at sector" },
        { "a header that cannot be read", unreadable_header, ERR_IO, "cannot read at sector 0" },
    };
    static uint8_t good[FILE_BYTES];
    struct saved_chat_state state;
    enum err e;

    put_one_saved();
    memcpy(good, card_data, sizeof good);
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        memcpy(card_data, good, sizeof good);
        insert_card(FILE_BYTES);
        rows[i].spoil();
        talk(2, AT_WORK);
        state = state_of(AT_WORK);
        e = saved_chat_read(&saved, &file, &state, NULL, NULL);
        OK(e == rows[i].expected && strstr(saved.error_message, rows[i].error_message) != NULL &&
               rig.session.n_cached == AT_WORK && goes_on(SAVED_CHAT_GOES_ON),
           "%s leaves the conversation as it was: %s", rows[i].what, saved.error_message);
    }
}

/* ---- stopped half-way ----------------------------------------------------------------------- */

/* Loads, with all of the current conversation at risk. */
static enum err load_over(saved_chat_progress_fn *progress)
{
    struct saved_chat_state state;

    talk(2, AT_WORK);
    state = state_of(AT_WORK);
    return saved_chat_read(&saved, &file, &state, progress, NULL);
}

static void test_errors(void)
{
    unsigned wrong = 0, untouched = 0, pending = 0, n = 0;

    put_one_saved();
    for (; n < MOST_PLACES; n++) {
        insert_card(FILE_BYTES);
        card.reads_left = (long)n;
        if (load_over(NULL) == ERR_OK)
            break;
        untouched += saved.before == SAVED_CHAT_GOES_ON && rig.session.n_cached == AT_WORK;
        pending += saved.before == SAVED_CHAT_PENDING && rig.session.n_cached == 0;
        wrong += !goes_on(saved.before) || strstr(saved.error_message, "cannot read") == NULL;
    }
    OK(n > 50 && n < MOST_PLACES && wrong == 0 && untouched + pending == n,
       "the conversation goes on after an error at any of %u sectors (%u wrong)", n, wrong);
    OK(untouched > n / 2 && pending > 10,
       "the conversation is untouched during the look (%u), then computed from its tokens (%u)",
       untouched, pending);
    OK(rig.session.n_ids == 100 && turns_are(1, 10),
       "a load that is not stopped loads the conversation");
}

static unsigned steps_left;

static bool step(void *context, const char *label, uint64_t done, uint64_t total)
{
    (void)context, (void)label, (void)done, (void)total;
    return steps_left-- != 0;
}

static void test_ctrl_c(void)
{
    unsigned wrong = 0, n = 0;

    put_one_saved();
    insert_card(FILE_BYTES);
    for (; n < MOST_PLACES; n++) {
        steps_left = n;
        if (load_over(step) != ERR_ABORTED)
            break;
        wrong += !goes_on(saved.before) || strstr(saved.error_message, "Ctrl-C") == NULL;
    }
    OK(n > 3 && n < MOST_PLACES && wrong == 0 && rig.session.n_ids == 100,
       "the conversation goes on after Ctrl-C at any of %u steps (%u wrong)", n, wrong);
}

/* The second read gives other bytes than the first, whose CRC was right. */
static void change_while_loading(uint64_t sector, uint8_t *out)
{
    static unsigned n_reads;

    memcpy(out, card_data + sector * SECTOR_BYTES, SECTOR_BYTES);
    if (sector == 30 && ++n_reads == 2)
        out[17] ^= 1;
}

static void test_changes(void)
{
    put_one_saved();
    insert_card(FILE_BYTES);
    card.make = change_while_loading;
    OK(load_over(NULL) == ERR_BAD_CHECKSUM && goes_on(SAVED_CHAT_PENDING),
       "a card that changes while it is loaded is noticed: %s", saved.error_message);
}

/* There is no memory for what must be kept: a message says that the conversation is lost. */
static void test_lost(void)
{
    size_t bytes = rig.session.scratch.bytes;
    const size_t needed = sizeof(struct turns) + AT_WORK * sizeof(uint32_t);

    put_one_saved();
    for (unsigned i = 0; i < 2; i++) {
        insert_card(FILE_BYTES);
        rig.session.scratch.bytes = needed - i;
        steps_left = 3;
        OK(load_over(step) == ERR_ABORTED, "a load is stopped in its second pass");
        if (i == 0)
            OK(goes_on(SAVED_CHAT_PENDING),
               "the conversation goes on if there is just room for its tokens");
        else
            OK(saved.before == SAVED_CHAT_LOST && rig.session.n_ids == 0 && turns.n == 0,
               "the conversation is lost if there is no room for its tokens, and that is told");
    }
    rig.session.scratch.bytes = bytes;
}

/* ---- which half ----------------------------------------------------------------------------- */

/* Two conversations: the older one of seed 3 in the first half, the newest of seed 1 in the
 * second. */
static void put_two_saved(void)
{
    insert_blank_card();
    talk(5, 20);
    if (save(20) != ERR_OK)
        rig_die("no save");
    talk(3, 50);
    if (save(50) != ERR_OK)
        rig_die("no save");
    talk(1, 100);
    if (save(100) != ERR_OK)
        rig_die("no save");
}

static void test_older(void)
{
    static const long places[] = { HALF_SECTORS, HALF_SECTORS + 1, HALF_SECTORS + 20 };

    put_two_saved();
    insert_card(FILE_BYTES);
    OK(load_over(NULL) == ERR_OK && turns_are(1, 10) && !saved.is_older,
       "the newest of two is loaded");
    for (size_t i = 0; i < sizeof places / sizeof places[0]; i++) {
        insert_card(FILE_BYTES);
        card.fail_sector = places[i];
        card.fail_times = 1000;
        OK(load_over(NULL) == ERR_OK && turns_are(3, 5) && saved.is_older,
           "the save before it is loaded if the newest cannot be read at its sector %ld",
           places[i] - HALF_SECTORS);
    }
    insert_card(FILE_BYTES);
    card_data[FILE_BYTES / 2 + 3000] ^= 1;
    OK(load_over(NULL) == ERR_OK && turns_are(3, 5) && saved.is_older,
       "the save before it is loaded if the newest is damaged");
}

/* ---- files of 96d4f7d8 ---- */

static void put32(uint8_t *at, uint32_t value)
{
    memcpy(at, &value, sizeof value); /* little-endian, like the test's computer */
}

/* A conversation of three tokens and one turn without saved states, byte by byte as version 4 wrote
 * it. */
static void test_old_file(void)
{
    static const char said[] = "who?";
    static const uint32_t ids[] = { 7, 9, 11 };
    uint8_t *header = card_data, *payload = card_data + SECTOR_BYTES;
    uint32_t bytes = 4 * sizeof(uint32_t) + sizeof said + sizeof ids;
    struct saved_chat_state state;
    uint32_t model;

    put_one_saved();
    memcpy(&model, card_data + 36, sizeof model);
    insert_blank_card();
    put32(payload + 4, 2);            /* the reply's first token */
    put32(payload + 12, sizeof said); /* what was said, at 0 */
    memcpy(payload + 16, said, sizeof said);
    memcpy(payload + 16 + sizeof said, ids, sizeof ids);
    memcpy(header, "INGOTSAV", 8);
    put32(header + 8, 4);  /* version */
    put32(header + 16, 1); /* sequence */
    put32(header + 24, bytes);
    put32(header + 32, crc32c(0, payload, bytes));
    put32(header + 36, model);
    header[40] = rig.session.kv.types.keys;
    header[42] = rig.session.kv.types.values;
    put32(header + 48, 3); /* ids */
    put32(header + 52, 2); /* reply_start */
    put32(header + 56, 1); /* started */
    put32(header + 60, 1); /* turns */
    put32(header + 64, sizeof said);
    put32(header + 12, crc32c(0, header, SECTOR_BYTES));
    OK(load(&state) == ERR_OK && rig.session.n_ids == 3 && rig.session.n_cached == 0 &&
           memcmp(rig.session.ids, ids, sizeof ids) == 0 && turns.n == 1 &&
           strcmp(turns.text, said) == 0 && state.reply_start == 2 && state.started,
       "a file of version 4 is read byte by byte: %s", saved.error_message);
}

int main(void)
{
    rig_alone();
    rig_compute(false);
    rig_make_model("tiny", INGOT_Q8_0);
    if (rig_start(0, 0, false) != ERR_OK)
        rig_die(rig.model.error_message);
    talk(2, AT_WORK);
    undisturbed = hash_going_on();
    test_refused();
    test_errors();
    test_ctrl_c();
    test_changes();
    test_lost();
    test_older();
    test_old_file();
    return tap_done();
}
