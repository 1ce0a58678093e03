/* A conversation whose keys and values are on a card that changes in the middle of a reply: the
 * text stays, and lost parts are computed again. */
#include "tests/unit/chat/chat_rig.h"
#include "tests/unit/stream/kv_pages_rig.h"

enum { REPLY = 40 };

static uint32_t undisturbed[CONTEXT];
static int chars_left = -1; /* until the card changes */

/* Page 0 of layer 1: the whole conversation needs its keys. */
static void change_card(void)
{
    size_t page = kv_cache_page_bytes(&rig.model.image.layers[0], rig.kv);

    card_data[4 * page + 100] ^= 1;
}

static void put_char(void *context, char c)
{
    keep_char(context, c);
    if (chars_left == 0)
        change_card();
    chars_left -= chars_left >= 0;
}

static void open_conversation(void)
{
    struct console_rig terminal = {
        .putc = put_char, .getc = ctrl_c, .ticks = rig_file_ticks, .hz = 1000
    };

    console_rig_open(&terminal);
    if (open_pages(0, 0, layers()) != ERR_OK)
        rig_die(rig.model.error_message);
    options_init(&options);
    options.sampler.temp = 0.0f;
    options.reply.n = REPLY;
    options.show.quiet = true;
    options.load.spec = SPECULATIVE_OFF;
    chars_left = -1;
    chat_open(&chat, &console, &rig.session, NULL, &options, NULL);
    say("a text of some tokens that fills the first of the pages, and so it is the longer one",
        true);
}

static void test_reply(void)
{
    struct session *s = &rig.session;
    uint32_t n_before, n_all;
    unsigned wrong = 0, lost = 0;

    open_conversation();
    OK(s->n_cached > KV_TILE, "a conversation of %u tokens has a page on the card",
       (unsigned)s->n_cached);
    n_before = s->n_ids;
    say("and?", true);
    n_all = s->n_ids;
    memcpy(undisturbed, s->ids, n_all * sizeof *undisturbed);
    for (int at = 1; at < 30; at += 4) {
        enum err e;

        open_conversation();
        chars_left = at;
        e = say("and?", true);
        wrong += e != ERR_BAD_CHECKSUM || s->n_ids <= n_before || s->n_ids >= n_all ||
                 chat.reply_start >= s->n_ids ||
                 memcmp(s->ids, undisturbed, s->n_ids * sizeof *s->ids) != 0;
        lost += s->n_ids - s->n_cached > KV_TILE;
        wrong += session_run(s, NULL) != ERR_OK || !cache_is_true();
    }
    OK(wrong == 0 && lost == 8,
       "tokens stay if the card changes in a reply, and are pending %u times (%u wrong): %s", lost,
       wrong, s->error_message);
}

/* In a prompt the turn is dropped as if it had never begun. */
static void test_prompt(void)
{
    struct session *s = &rig.session;
    uint32_t n_before;

    open_conversation();
    n_before = s->n_ids;
    stream_reset(&s->model->stream);
    change_card();
    OK(say("and?", true) == ERR_BAD_CHECKSUM && s->n_ids == n_before && s->n_cached == 0,
       "a card that changes in a prompt costs only the turn, and %u tokens are pending",
       (unsigned)n_before);
    OK(say("and?", true) == ERR_OK && memcmp(s->ids, undisturbed, s->n_ids * sizeof *s->ids) == 0,
       "the same question gets the reply of an undisturbed card");
}

int main(void)
{
    static const char *strings[INGOT_CHAT_STRINGS] = {
        [INGOT_CHAT_NAME] = "short",
        [INGOT_CHAT_USER_PREFIX] = "U",
        [INGOT_CHAT_REPLY_PREFIX] = "R",
        [INGOT_CHAT_REPLY_SUFFIX] = "/",
    };

    workers_start(&crews[0], rig_platform(), 1);
    rig.workers = &crews[0];
    rig_compute(false);
    rig_make_model("tiny", INGOT_Q8_0);
    put_template(strings);
    limits = rig_limits();
    test_reply();
    test_prompt();
    return tap_done();
}
