/* The system prompt's state in a file of the card: the power fails at any sector of the save, the
 * file is damaged, or it belongs to another model, prompt, cache or context. A reply always equals
 * that of a conversation that computes everything. */
#include "runtime/features/prefix/chat_prefix.h"

#include "tests/unit/chat/chat_rig.h"
#include "tests/unit/chat/saved_chat_rig.h"

enum { REPLY_BYTES = 256 };

static const char *const prompts[] = { "fine", "bade gogo", "gogo fine bade" };
enum { N_PROMPTS = sizeof prompts / sizeof prompts[0] };
static char expected[N_PROMPTS][REPLY_BYTES]; /* to "bade" under each */

static void use(unsigned prompt)
{
    chat_clear(&chat);
    session_forget_prefix(chat.session);
    (void)options_set(&options, "system", prompts[prompt], NULL);
}

static const char *reply(void)
{
    const char *at;

    if (say("bade", true) != ERR_OK)
        rig_die("a turn failed");
    at = strstr(text, "ids:");
    return at != NULL ? at : "none";
}

static bool answers(unsigned prompt)
{
    return strncmp(reply(), expected[prompt], REPLY_BYTES - 1) == 0;
}

static enum err save_prefix(unsigned prompt)
{
    use(prompt);
    return chat_prefix_save(&chat, &saved, &file, NULL, NULL);
}

static enum err load_prefix(unsigned prompt)
{
    use(prompt);
    memset(rig.session.kv.layers[0].place, 0x11, 1000); /* the earlier contents are gone */
    return chat_prefix_load(&chat, &saved, &file, NULL, NULL);
}

static void open_chat(void)
{
    start_over(4);
    for (unsigned i = 0; i < N_PROMPTS; i++) {
        use(i);
        snprintf(expected[i], REPLY_BYTES, "%s", reply());
    }
}

/* For the first half. */
static struct saved_chat_header *header(void)
{
    return (void *)card_data;
}

static void set_crcs(void)
{
    struct saved_chat_header *h = header();

    if (h->payload_bytes <= FILE_BYTES / 2 - SECTOR_BYTES)
        h->payload_crc = crc32c(0, card_data + SECTOR_BYTES, (size_t)h->payload_bytes);
    h->header_crc = 0;
    h->header_crc = crc32c(0, h, sizeof *h);
}

/* Writes one prefix, in the first half. */
static void put_one(unsigned prompt)
{
    insert_blank_card();
    if (save_prefix(prompt) != ERR_OK || save_prefix(prompt) != ERR_OK)
        rig_die(saved.error_message);
    memmove(card_data, card_data + FILE_BYTES / 2, FILE_BYTES / 2);
    memset(card_data + FILE_BYTES / 2, 0, FILE_BYTES / 2);
}

static void test_saved(void)
{
    insert_blank_card();
    OK(load_prefix(0) == ERR_NOT_FOUND && strstr(saved.error_message, "is empty") != NULL,
       "a blank file is empty: %s", saved.error_message);
    OK(save_prefix(1) == ERR_OK && chat.session->n_ids == 0 && answers(1),
       "a prefix is saved, and serves the conversation after it");
    OK(load_prefix(1) == ERR_OK && chat.opening.prefix.n > 8 && chat.session->n_ids == 0,
       "a prefix of %u tokens is loaded", (unsigned)chat.opening.prefix.n);
    OK(answers(1) && chat.turns.n == 1,
       "the reply is the same as after a prompt that was computed");
    OK(chat_prefix_save(&chat, &saved, &file, NULL, NULL) == ERR_BAD_ARGUMENT &&
           strstr(saved.error_message, "/reset") != NULL && cache_is_true(),
       "a prefix is not saved within a conversation: %s", saved.error_message);
    chat_clear(&chat);
    OK(answers(1), "the next conversation does not compute the prompt again either");
}

/* ---- the power goes ------------------------------------------------------------------------- */

static uint8_t good[FILE_BYTES];

static void test_power(void)
{
    unsigned olds = 0, news = 0, wrong = 0;
    long cut = 0;

    insert_blank_card();
    if (save_prefix(2) != ERR_OK || save_prefix(0) != ERR_OK)
        rig_die(saved.error_message);
    memcpy(good, card_data, sizeof good);
    for (bool done = false; !done; cut++) {
        bool old, new;

        memcpy(card_data, good, sizeof good);
        insert_card(FILE_BYTES);
        card.sectors_left = cut;
        done = save_prefix(1) == ERR_OK;
        insert_card(FILE_BYTES);
        old = load_prefix(0) == ERR_OK && answers(0);
        new = load_prefix(1) == ERR_OK &&answers(1);
        wrong += old == new || load_prefix(2) == ERR_OK || !answers(2);
        olds += old;
        news += new;
    }
    OK(wrong == 0 && cut > 20 && olds >= (unsigned)cut - 2 && news >= 1,
       "a power loss at any of %ld sectors leaves the old prefix (%u times) or the new one (%u, %u "
       "wrong)",
       cut, olds, news, wrong);
}

/* ---- what differs --------------------------------------------------------------------------- */

static bool is_refused(enum err e, const char *why)
{
    bool said = load_prefix(1) == e && strstr(saved.error_message, why) != NULL;

    return said && chat.session->n_ids == 0 && chat.opening.prefix.n == 0 && answers(1);
}

static void change(void (*how)(struct saved_chat_header *h))
{
    memcpy(card_data, good, sizeof good);
    how(header());
    set_crcs();
}

static void of_other_model(struct saved_chat_header *h)
{
    h->model_crc ^= 1;
}

static void of_other_version(struct saved_chat_header *h)
{
    h->version++;
}

static void of_other_keys(struct saved_chat_header *h)
{
    h->kv_keys = KV_Q8;
}

static void of_other_values(struct saved_chat_header *h)
{
    h->kv_values = KV_F32;
}

static void too_long(struct saved_chat_header *h)
{
    h->n_ids = h->n_cached = chat.session->context + 1;
}

static void with_turns(struct saved_chat_header *h)
{
    h->n_turns = 1;
}

static void not_all_cached(struct saved_chat_header *h)
{
    h->n_cached--;
}

static void of_a_chat(struct saved_chat_header *h)
{
    memcpy(h->magic, "INGOTSAV", sizeof h->magic);
}

static void test_other(void)
{
    put_one(1);
    memcpy(good, card_data, sizeof good);
    change(of_other_model);
    OK(is_refused(ERR_BAD_MODEL, "another model"), "a prefix of another model is refused: %s",
       saved.error_message);
    change(of_other_version);
    OK(is_refused(ERR_BAD_MODEL, "another version"), "a prefix of another version is refused: %s",
       saved.error_message);
    change(of_other_keys);
    OK(is_refused(ERR_BAD_MODEL, "kv=q8,f16"), "a prefix of other keys is refused: %s",
       saved.error_message);
    change(of_other_values);
    OK(is_refused(ERR_BAD_MODEL, "kv=f16,f32"), "a prefix of other values is refused: %s",
       saved.error_message);
    change(too_long);
    OK(is_refused(ERR_BAD_MODEL, "larger ctx="),
       "a prefix that is longer than the context is refused: %s", saved.error_message);
    change(with_turns);
    OK(is_refused(ERR_BAD_MODEL, "contradicts itself"), "a prefix with turns is refused: %s",
       saved.error_message);
    change(not_all_cached);
    OK(is_refused(ERR_BAD_MODEL, "contradicts itself"), "tokens without a state are refused");
    change(of_a_chat);
    OK(is_refused(ERR_BAD_MODEL, "is a saved conversation, not the system prompt's state"),
       "a conversation is not a prefix: %s", saved.error_message);
    put_one(2);
    OK(is_refused(ERR_BAD_MODEL, "another system prompt"),
       "a prefix of another system prompt is refused: %s", saved.error_message);
}

static void test_damaged(void)
{
    unsigned wrong = 0, n = 0;

    put_one(1);
    memcpy(good, card_data, sizeof good);
    for (size_t at = SECTOR_BYTES; at < SECTOR_BYTES + header()->payload_bytes; at += 333, n++) {
        memcpy(card_data, good, sizeof good);
        card_data[at] ^= 0x40;
        wrong += !is_refused(ERR_BAD_CHECKSUM, "is damaged");
    }
    OK(wrong == 0 && n > 20,
       "each of %u damaged bytes is found, and the prompt computed (%u wrong)", n, wrong);
    memcpy(card_data, good, sizeof good);
    card.fail_sector = 3;
    card.fail_times = 100;
    OK(is_refused(ERR_IO, "cannot read at sector"), "a card that gives errors is reported: %s",
       saved.error_message);
    insert_card(FILE_BYTES);
    if (save_prefix(1) != ERR_OK)
        rig_die(saved.error_message);
    card_data[FILE_BYTES / 2 + 700] ^= 1;
    OK(load_prefix(1) == ERR_OK && saved.is_older && answers(1),
       "the older prefix serves if the newer one is damaged");
}

/* A file that was cut off, at any place, is reported; it is blank behind its first save. */
static void test_cut(void)
{
    static const uint64_t sizes[] = {
        SECTOR_BYTES,       2 * SECTOR_BYTES,         4096,
        FILE_BYTES / 4,     FILE_BYTES / 2,           FILE_BYTES / 2 + 4096,
        FILE_BYTES / 4 * 3, FILE_BYTES - SECTOR_BYTES
    };

    for (unsigned saves = 1; saves <= 2; saves++) {
        for (size_t i = 0; i < sizeof sizes / sizeof sizes[0]; i++) {
            insert_blank_card();
            if (save_prefix(1) != ERR_OK || (saves == 2 && save_prefix(1) != ERR_OK))
                rig_die(saved.error_message);
            insert_card(sizes[i]);
            OK(is_refused(ERR_BAD_CHECKSUM, "is cut off"),
               "a file of %u saves that is cut to %u bytes is refused: %s", saves,
               (unsigned)sizes[i], saved.error_message);
        }
    }
    insert_card(FILE_BYTES);
}

/* Tries headers that nobody wrote, with a right CRC. */
static void test_hostile(void)
{
    uint32_t seed = 7;
    unsigned wrong = 0, loaded = 0;

    put_one(1);
    memcpy(good, card_data, sizeof good);
    for (unsigned i = 0; i < 1500; i++) {
        memcpy(card_data, good, sizeof good);
        for (unsigned k = 0; k <= i % 3; k++) {
            seed = seed * 1664525u + 1013904223u;
            card_data[8 + (seed >> 8) % 64] ^= (uint8_t)(1u << (seed >> 28) % 8);
        }
        if (i % 4 == 0) /* and ids */
            card_data[SECTOR_BYTES + (seed >> 8) % 40] ^= (uint8_t)(seed >> 24);
        set_crcs();
        loaded += load_prefix(1) == ERR_OK;
        wrong += i % 16 == 0 && !answers(1);
    }
    OK(wrong == 0 && loaded > 10,
       "the reply stays with 1500 strange files, of which %u are loaded (%u wrong)", loaded, wrong);
}

int main(void)
{
    rig_alone();
    rig_compute(false);
    rig_make_model("tiny", INGOT_Q8_0);
    put_template(test_template);
    open_chat();
    test_saved();
    test_power();
    test_other();
    test_damaged();
    test_cut();
    test_hostile();
    return tap_done();
}
