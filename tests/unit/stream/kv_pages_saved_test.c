/* A conversation whose keys and values are in a file on a card: saved, loaded to the card and to
 * memory, and stopped at every step. */
#include "runtime/saved/saved_chat.h"
#include "tests/unit/stream/kv_pages_rig.h"

enum { SAVE_BYTES = 2 << 20 };

static struct fake_block save_device;
static struct file save_file;
static _Alignas(64) uint8_t save_data[SAVE_BYTES];
static struct saved_chat saved;
static struct turns turns;

/* A token that the session knows and has not computed. */
static void add_pending(void)
{
    uint32_t id = 5;

    (void)session_put(&rig.session, &id, 1);
}

static void test_saved(void)
{
    struct session *s = &rig.session;
    struct saved_chat_state state = {
        .session = s, .reply_start = 9, .started = true, .turns = &turns
    };
    struct saved_chat_state other = {
        .session = &reference, .reply_start = 9, .started = true, .turns = &turns
    };

    fill_two_pages();
    add_pending();
    open_device(&save_device, &save_file, save_data, SAVE_BYTES, "saves/chat.sav");
    OK(saved_chat_write(&saved, &save_file, &state, NULL, NULL) == ERR_OK && append_both(1),
       "a conversation is saved from the card, and goes on %s", saved.error_message);
    session_clear(s);
    append_both(90);
    OK(saved_chat_read(&saved, &save_file, &state, NULL, NULL) == ERR_OK && s->n_cached == 150 &&
           append_both(2),
       "the conversation is loaded to the card");
    session_clear(&reference);
    memset(reference.kv.layers[0].place, 0x11, 5000);
    OK(saved_chat_read(&saved, &save_file, &other, NULL, NULL) == ERR_OK &&
           reference.n_cached == 150,
       "the conversation is loaded to memory");
    (void)session_cut(s, 150);
    OK(append_both(3), "both conversations have the same logits");
    (void)session_cut(s, 20);
    OK(append_both(3), "both conversations agree from the first page on");
    session_clear(s);
    OK(saved_chat_read(&saved, &save_file, &state, NULL, NULL) == ERR_OK && append_both(1),
       "the conversation is loaded once more %s", saved.error_message);
    (void)session_cut(s, 150);
    stream_reset(&s->model->stream);
    card_data[100] ^= 1;
    OK(saved_chat_write(&saved, &save_file, &state, NULL, NULL) == ERR_BAD_CHECKSUM &&
           s->n_cached == 0 && strstr(saved.error_message, "keys and values of layer 0") != NULL,
       "a page that is lost during a save is reported: %s", saved.error_message);
}

enum { MOST_STEPS = 1000 };
static unsigned steps_left;

static bool step(void *context, const char *doing, uint64_t done, uint64_t total)
{
    (void)context, (void)doing, (void)done, (void)total;
    return steps_left-- > 0;
}

/* Continues from its state; some tokens may be pending. */
static bool goes_on(void)
{
    struct session *s = &rig.session;

    return session_run(s, NULL) == ERR_OK && s->n_cached == 151 && append_both(1);
}

/* Ctrl-C at every step of a save. */
static void test_save_stops(void)
{
    struct session *s = &rig.session;
    struct saved_chat_state state = {
        .session = s, .reply_start = 9, .started = true, .turns = &turns
    };
    bool right = true;
    unsigned steps = 0;
    enum err result;

    fill_two_pages();
    add_pending();
    open_device(&save_device, &save_file, save_data, SAVE_BYTES, "saves/chat.sav");
    OK(saved_chat_write(&saved, &save_file, &state, NULL, NULL) == ERR_OK,
       "a conversation is saved");
    do {
        steps_left = steps;
        result = saved_chat_write(&saved, &save_file, &state, step, NULL);
        right = right && s->n_cached == 150 && append_both(1);
        (void)session_cut(s, 150);
    } while (result == ERR_ABORTED && ++steps < MOST_STEPS);
    OK(result == ERR_OK && steps > 1 && right,
       "the chat goes on as it was after Ctrl-C at any of %u steps of a save", steps);
}

static enum err load_stopped(unsigned n, bool by_card)
{
    struct session *s = &rig.session;
    struct saved_chat_state state = {
        .session = s, .reply_start = 9, .started = true, .turns = &turns
    };

    (void)session_cut(s, 150);
    add_pending();
    steps_left = by_card ? MOST_STEPS : n;
    save_device.reads_left = by_card ? (long)n * 61 : -1;
    return saved_chat_read(&saved, &save_file, &state, step, NULL);
}

/* Ctrl-C at every step of a load, or an error of the card. */
static void test_load_stops(bool by_card)
{
    struct session *s = &rig.session;
    bool right = true;
    unsigned loads = 0, n_kept = 0;
    enum err result;

    fill_two_pages();
    for (;;) {
        result = load_stopped(loads, by_card);
        if (result == ERR_OK || ++loads == MOST_STEPS)
            break;
        n_kept += s->n_cached == 150;
        right = right && s->n_ids == 151 && (s->n_cached == 150 || s->n_cached == 0) && goes_on();
    }
    save_device.reads_left = -1;
    OK(result == ERR_OK && loads > n_kept && n_kept > 0 && right && s->n_cached == 150,
       "the chat goes on after %s at any of %u steps of a load, at %u of them as it was",
       by_card ? "an error" : "Ctrl-C", loads, n_kept);
}

static void test_model(unsigned i)
{
    rig.kv = i == 0 ? kv_both(KV_F32) : kv_both(KV_F16);
    test_saved();
    test_save_stops();
    test_load_stops(i == 1);
}

int main(void)
{
    kv_rig_models(test_model);
    return tap_done();
}
