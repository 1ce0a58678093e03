/* A conversation whose keys and values lie on a card, in a file: saved, loaded to the card and to
 * memory, and stopped at every step. */
#include "runtime/chat/saved_chat.h"
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
    struct saved_chat_state state = { s, 9, true, &turns };
    struct saved_chat_state other = { &reference, 9, true, &turns };

    fill_two_pages();
    add_pending();
    open_device(&save_device, &save_file, save_data, SAVE_BYTES, "saves/chat.sav");
    OK(saved_chat_write(&saved, &save_file, &state, NULL, NULL) == ERR_OK && append_both(1),
       "saved from the card, and it goes on %s", saved.problem);
    session_clear(s);
    append_both(90);
    OK(saved_chat_read(&saved, &save_file, &state, NULL, NULL) == ERR_OK && s->n_cached == 150 &&
           append_both(2),
       "loaded to the card");
    session_clear(&reference);
    memset(reference.kv.keys, 0x11, 5000);
    OK(saved_chat_read(&saved, &save_file, &other, NULL, NULL) == ERR_OK &&
           reference.n_cached == 150,
       "and to memory");
    (void)session_cut(s, 150);
    OK(append_both(3), "which is the same");
    (void)session_cut(s, 20);
    OK(append_both(3), "from its first page on");
    session_clear(s);
    OK(saved_chat_read(&saved, &save_file, &state, NULL, NULL) == ERR_OK && append_both(1),
       "and once more %s", saved.problem);
    (void)session_cut(s, 150);
    stream_reset(&s->model->stream);
    card_data[100] ^= 1;
    OK(saved_chat_write(&saved, &save_file, &state, NULL, NULL) == ERR_BAD_CHECKSUM &&
           s->n_cached == 0 && strstr(saved.problem, "keys and values of layer 0") != NULL,
       "a lost page while saving: %s", saved.problem);
}

enum { MOST_STEPS = 1000 };
static unsigned steps_left;

static bool step(void *context, const char *doing, uint64_t done, uint64_t total)
{
    (void)context, (void)doing, (void)done, (void)total;
    return steps_left-- > 0;
}

/* Ctrl-C at every step of a save and of a load. */
static void test_saved_stops(void)
{
    struct session *s = &rig.session;
    struct saved_chat_state state = { s, 9, true, &turns };
    bool goes_on = true;
    unsigned saves = 0, loads = 0, n_kept = 0;
    enum err result;

    fill_two_pages();
    add_pending();
    open_device(&save_device, &save_file, save_data, SAVE_BYTES, "saves/chat.sav");
    OK(saved_chat_write(&saved, &save_file, &state, NULL, NULL) == ERR_OK,
       "a conversation is saved");
    do {
        steps_left = saves;
        result = saved_chat_write(&saved, &save_file, &state, step, NULL);
        goes_on = goes_on && s->n_cached == 150 && append_both(1);
        (void)session_cut(s, 150);
    } while (result == ERR_ABORTED && ++saves < MOST_STEPS);
    OK(result == ERR_OK && saves > 1 && goes_on,
       "Ctrl-C at each of %u steps of a save: the chat goes on as it was", saves);
    do {
        uint32_t length = s->n_cached;

        steps_left = loads;
        result = saved_chat_read(&saved, &save_file, &state, step, NULL);
        n_kept += s->n_cached == length && result != ERR_OK;
        goes_on = goes_on && (s->n_cached == length || s->n_cached == 0 || result == ERR_OK) &&
                  append_both(1);
    } while (result == ERR_ABORTED && ++loads < MOST_STEPS);
    OK(result == ERR_OK && loads > n_kept && n_kept > 0 && goes_on && s->n_cached == 151,
       "at %u of %u of a load, too; at the others it is empty; then it is the one saved", n_kept,
       loads);
}

static void test_model(unsigned i)
{
    rig.kv_type = i == 0 ? KV_F32 : KV_F16;
    test_saved();
    test_saved_stops();
}

int main(void)
{
    kv_rig_models(test_model);
    return tap_done();
}
