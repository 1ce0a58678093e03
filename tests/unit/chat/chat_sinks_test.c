/* overflow=sinks: a conversation far beyond its context keeps its first tokens and the newest ones,
 * reports what went, and computes nothing again. Turns are taken back; and models that cannot do
 * that say so. */
#include "tests/unit/chat/chat_rig.h"

static unsigned count(const char *what)
{
    unsigned n = 0;

    for (const char *at = text; (at = strstr(at, what)) != NULL; at++) {
        n++;
    }
    return n;
}

static void start(uint32_t n)
{
    start_over(n);
    options.show.ids = false;
    (void)options_set(&options, "overflow", "sinks", NULL);
}

/* Turns are one after the other, and the last one's reply is where the chat says. */
static bool turns_are_true(void)
{
    const struct turns *t = &chat.turns;
    bool good = true;

    for (unsigned i = 0; i < t->n; i++) {
        uint32_t end = i + 1 < t->n ? t->list[i + 1].start : rig.session.n_ids;

        good = good && t->list[i].start <= t->list[i].reply && t->list[i].reply <= end;
    }
    return good && (t->n == 0 || chat.reply_start == t->list[t->n - 1].reply);
}

static void test_conversation(void)
{
    struct session *s = &rig.session;
    uint32_t first[KV_TILE], drops = 0, tokens = 0;
    bool good = true;

    start(30);
    for (unsigned i = 0; i < 120; i++) {
        uint32_t before;

        good = good && say(i % 3 != 0 ? "bade gogo" : "fine bade fine", true) == ERR_OK;
        if (i == 0)
            memcpy(first, s->ids, s->n_ids < KV_TILE ? s->n_ids * sizeof *first : sizeof first);
        before = count("tokens after the first 64 are dropped");
        drops += before;
        good = good && before <= 1 && turns_are_true() && s->n_ids <= s->context &&
               s->ids[0] == first[0] && s->ids[20] == first[20];
        tokens += chat.totals.turns == i + 1;
    }
    OK(good && drops >= 6 && tokens == 120 && count("turn") == 0,
       "120 turns pass through a context of 256: tokens went %u times, the first ones are there",
       drops);
    OK(chat.totals.prompt_tokens < 120 * 25, "no turn is computed again: the prompts had %u tokens",
       (unsigned)chat.totals.prompt_tokens);
}

/* A single reply of several contexts, and then the next turn. */
static void test_reply(void)
{
    struct session *s = &rig.session;

    start(1000);
    options.show.ids = true;
    options.sampler.temp = chat.sampler.params.temp = 2.0f; /* it never repeats itself */
    OK(say("bade", true) == ERR_OK && count("are dropped") >= 4 && count("is full)") == 0 &&
           s->n_ids <= s->context && turns_are_true(),
       "a reply may be longer than its context, here %u times", count("are dropped"));
    options.reply.n = 5;
    OK(say("gogo", true) == ERR_OK && turns_are_true() && chat.turns.n == 2,
       "the turn after the long reply is right");
    OK(chat_undo(&chat) && chat.turns.n == 1 && turns_are_true() && chat_retry(&chat) == ERR_OK &&
           turns_are_true(),
       "a later turn is taken back, and the rest of the long one is answered again");
    options.reply.n = 600;
    for (unsigned i = 0; i < 20 && (count("are dropped") < 2 || count("is full)") != 0); i++)
        (void)say("bade", false);
    OK(count("are dropped") >= 2, "a text without a template is dropped, too");
}

/* With the option reset, the oldest turns go as before. */
static void test_turns(void)
{
    start(4);
    for (unsigned i = 0; i < 10; i++)
        (void)say("bade gogo fine", true);
    options.reply.overflow = OVERFLOW_TURNS;
    for (unsigned i = 0; i < 20; i++)
        (void)say("bade gogo fine", true);
    OK(cache_is_true() && turns_are_true(),
       "overflow=turns computes the rest again if it is set in the middle");
}

static void test_error_message(void)
{
    start(30);
    ((struct ingot_layer *)(uintptr_t)rig.model.image.layers)[1].features |= INGOT_QK_NORM_LATE;
    (void)say("bade gogo", true);
    for (unsigned i = 0; i < 60 && count("dropped") == 0; i++)
        (void)say("bade gogo", true);
    OK(count("overflow=sinks does not work with this model: its keys are normed") == 1 &&
           count("the oldest turn") == 1,
       "a model that cannot drop tokens drops turns, and says why");
}

int main(void)
{
    rig_compute(false);
    rig_alone();
    rig_make_model("tiny", INGOT_F32);
    put_template(test_template);
    test_conversation();
    test_reply();
    test_turns();
    test_error_message();
    return tap_done();
}
