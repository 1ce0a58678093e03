/* A conversation under a policy: a policy that only watches changes no bit; one that is obeyed sets
 * thoughts, temperature and context as it chose, for that turn alone; turns are judged by the ratings
 * and by how they ended. */
#include "runtime/chat/chat_private.h"
#include "runtime/features/policy/chat_policy.h"

#include "tests/unit/chat/chat_rig.h"

enum { LINES = 5 };

static const char *const lines[LINES] = { "hello there", "what is 1 + 1?", "tell me of it", "again",
                                          "what is 22 + 33?" };

static struct experience *experience(void)
{
    return &policy_of(&chat)->experience;
}

static void open_policy(uint32_t how, uint32_t n)
{
    rig.watches = how != POLICY_OFF;
    start_over(n);
    options.load.policy = how;
    if (how != POLICY_OFF)
        chat_policy_open(&chat);
}

/* Acts as if it had learnt to choose so, whatever is asked. */
static void prefer(enum policy_head head, uint8_t choice)
{
    memset(experience()->policy.weights.v, 0, sizeof experience()->policy.weights.v);
    memset(experience()->policy.weights.vb, 0, sizeof experience()->policy.weights.vb);
    experience()->policy.weights.vb[head][choice] = 6.0f;
}

/* Returns ids and hash of the last reply, and the tokens of its prompt. */
struct said {
    char ids[4096];
    unsigned prompt;
};

static struct said said_of(const char *line)
{
    struct said s = { "", 0 };
    const char *ids, *figures;

    enum err e = say(line, true);

    if (e != ERR_OK)
        rig_die(err_text(e));
    ids = strstr(text, "ids:");
    figures = strstr(text, "\n[");
    if (ids == NULL || figures == NULL || sscanf(figures + 2, "%u prompt", &s.prompt) != 1)
        rig_die(text);
    snprintf(s.ids, sizeof s.ids, "%s", ids);
    return s;
}

static bool same(const struct said *a, const struct said *b)
{
    return strcmp(a->ids, b->ids) == 0 && a->prompt == b->prompt;
}

static void test_watched(void)
{
    struct said plain[LINES], watched;
    unsigned n = 0;

    open_policy(POLICY_OFF, 12);
    for (unsigned i = 0; i < LINES; i++)
        plain[i] = said_of(lines[i]);
    OK(rig.model.plan.memory.learn == 0, "no memory is planned for a policy that is off");
    open_policy(POLICY_WATCH, 12);
    for (unsigned i = 0; i < LINES; i++) {
        watched = said_of(lines[i]);
        n += same(&watched, &plain[i]);
    }
    OK(n == LINES && cache_is_true(),
       "%u of %d turns are the same, to the bit, if the policy only watches", n, LINES);
    OK(experience()->totals.turns == LINES - 1 && experience()->patterns.n != 0 &&
           experience()->totals.steps != 0,
       "all turns but the last are judged, %u patterns", experience()->patterns.n);
    OK(rig.model.arena.regions[ARENA_LEARN].high_water != 0,
       "the experience lies in the region that is planned");
    chat_clear(&chat);
    OK(experience()->totals.turns == LINES, "a conversation that ends judges its last turn");
}

/* Counts how often a text is in the session's tokens. */
static unsigned count(const char *what)
{
    const struct tokenizer *t = &rig.model.tokenizer;
    static char all[1 << 16];
    size_t at = 0, bytes;
    unsigned n = 0;

    for (uint32_t i = 0; i < rig.session.n_ids; i++) {
        const char *piece = tokenizer_piece(t, rig.session.ids[i], INGOT_NO_TOKEN, &bytes);

        memcpy(all + at, piece, bytes);
        at += bytes;
    }
    all[at] = '\0';
    for (const char *p = strstr(all, what); p != NULL; p = strstr(p + 1, what))
        n++;
    return n;
}

static void test_thoughts(void)
{
    const char *strings[INGOT_CHAT_STRINGS];

    memcpy(strings, test_template, sizeof strings);
    strings[INGOT_CHAT_NO_THINKING] = "[no thoughts]";
    put_template(strings);
    open_policy(POLICY_ON, 6);
    (void)said_of(lines[0]);
    OK(count("[no thoughts]") == 0, "a model may think by default");
    prefer(POLICY_THOUGHTS, 1);
    (void)said_of(lines[1]);
    OK(count("[no thoughts]") == 1 && policy_of(&chat)->took[POLICY_THOUGHTS] == 1 &&
           cache_is_true(),
       "the policy asks for a reply without thoughts: %u", count("[no thoughts]"));
    prefer(POLICY_THOUGHTS, 0);
    (void)said_of(lines[2]);
    OK(count("[no thoughts]") == 0 && cache_is_true(),
       "the earlier turns do not have [no thoughts]");
    open_policy(POLICY_WATCH, 6);
    prefer(POLICY_THOUGHTS, 1);
    (void)said_of(lines[1]);
    OK(count("[no thoughts]") == 0 && policy_of(&chat)->choice.choice[POLICY_THOUGHTS] == 1,
       "a policy that only watches chooses, and is not obeyed");
    put_template(test_template);
    open_policy(POLICY_ON, 6);
    prefer(POLICY_THOUGHTS, 1);
    (void)said_of(lines[1]);
    OK(policy_of(&chat)->took[POLICY_THOUGHTS] == 0 &&
           experience()->open.choice[POLICY_THOUGHTS] == 0,
       "a template without a turn of that kind makes none");
}

static struct said at_temp(uint32_t how, float temp, int choice)
{
    struct said s;

    open_policy(how, 12);
    chat.sampler.params.temp = temp;
    if (how != POLICY_OFF)
        prefer(POLICY_WARMTH, (uint8_t)choice);
    s = said_of(lines[0]);
    OK(chat.sampler.params.temp == temp, "the temperature is restored after the turn");
    return s;
}

static void test_temperature(void)
{
    struct said warm = at_temp(POLICY_ON, 0.8f, 2), cool = at_temp(POLICY_ON, 0.8f, 1);
    struct said as_set = at_temp(POLICY_ON, 0.8f, 0), plain = at_temp(POLICY_OFF, 0.8f, 0);
    struct said warm_plain = at_temp(POLICY_OFF, 0.8f * 1.25f, 0);
    struct said cool_plain = at_temp(POLICY_OFF, 0.4f, 0);

    OK(same(&warm, &warm_plain) && same(&cool, &cool_plain) && same(&as_set, &plain) &&
           !same(&warm, &cool),
       "the temperature is halved and raised");
}

static void test_context(void)
{
    char long_line[30];
    uint32_t turns, n;

    memset(long_line, 'x', sizeof long_line - 1);
    long_line[sizeof long_line - 1] = '\0';
    open_policy(POLICY_ON, 12);
    while (rig.session.n_ids < rig.session.context / 3)
        (void)said_of(long_line);
    turns = chat.turns.n;
    prefer(POLICY_CONTEXT, 2);
    (void)said_of("short");
    n = chat.turns.n;
    (void)said_of("and then");
    OK(n == turns + 1 && chat.turns.n < n && rig.session.n_ids < rig.session.context / 4 + 60 &&
           cache_is_true(),
       "a quarter of the context is kept: %u turns, then %u", n, chat.turns.n);
    prefer(POLICY_CONTEXT, 0);
    policy_of(&chat)->took[POLICY_CONTEXT] = 0;
    OK(chat_room(&chat) == rig.session.context / 4 * 3,
       "three quarters of the context are the default");
    rig.session.n_ids = rig.session.context - 2;
    OK(chat_room(&chat) == rig.session.context / 4,
       "a context that is full leaves a quarter of itself");
    options.load.policy = POLICY_WATCH;
    OK(chat_room(&chat) == rig.session.context / 4 * 3,
       "a policy that only watches does not make the context smaller");
}

static void test_judged(void)
{
    uint32_t n_ids;

    open_policy(POLICY_ON, 6);
    OK(!chat_policy_rate(&chat, true), "nothing was said yet, so nothing is rated");
    (void)said_of(lines[0]);
    OK(chat_policy_rate(&chat, true), "a good rating is taken");
    (void)said_of(lines[1]);
    OK(experience()->totals.good == 1 && experience()->totals.last > 0.99f,
       "a turn that was rated is judged good");
    OK(chat_undo(&chat) && experience()->signs.undone, "/undo is noted for the turn");
    (void)said_of(lines[2]);
    OK(experience()->totals.undone == 1, "a turn that was undone is judged with the next turn");
    n_ids = rig.session.n_ids;
    stop_after = 0;
    OK(say(lines[3], true) == ERR_ABORTED && rig.model.transformer.watches == NULL &&
           rig.session.n_ids <= n_ids && !experience()->is_open,
       "Ctrl-C in the question opens no turn");
    stop_after = -1;
    console.input.aborted = false; /* as the next line makes it */
    (void)said_of(lines[3]);
    OK(cache_is_true() && experience()->is_open, "the turn after Ctrl-C in the question continues");
    OK(say("as it stands", false) == ERR_OK && experience()->totals.turns == 4 &&
           !policy_of(&chat)->works,
       "a text without a template is not a turn");
}

static void test_explored(void)
{
    unsigned others = 0;

    open_policy(POLICY_EXPLORE, 4);
    for (unsigned i = 0; i < 32; i++) {
        (void)said_of(lines[i % LINES]);
        for (int k = 0; k < POLICY_HEADS; k++)
            others += policy_of(&chat)->took[k] != policy_of(&chat)->choice.choice[k];
    }
    OK(others >= 4 && others <= 8, "one turn of four tries something: %u of 32", others);
}

static void test_streamed(void)
{
    struct rig_limits limits;
    struct said plain, watched;

    rig.watches = true;
    limits = rig_limits();
    for (int i = 0; i < 2; i++) {
        if (rig_start(limits.least, 0, false) != ERR_OK)
            rig_die(rig.model.error_message);
        chat_open(&chat, &console, &rig.session, NULL, &options, NULL);
        options.load.policy = i == 0 ? POLICY_OFF : POLICY_WATCH;
        if (i == 1)
            chat_policy_open(&chat);
        (void)said_of(lines[0]);
        *(i == 0 ? &plain : &watched) = said_of(lines[1]);
    }
    OK(rig.model.plan.head.tiled && same(&plain, &watched) && experience()->patterns.n == 1,
       "a streamed model with its head in tiles gives the same bits, and is seen");
}

int main(void)
{
    rig_compute(false);
    rig_alone();
    rig_make_model("tiny", INGOT_Q8_0);
    put_template(test_template);
    test_watched();
    test_thoughts();
    test_temperature();
    test_context();
    test_judged();
    test_explored();
    test_streamed();
    return tap_done();
}
