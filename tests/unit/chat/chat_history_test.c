/* Turns that are taken back, repeated and dropped. The cache must always equal that of the same
 * conversation computed from its beginning. */
#include "tests/unit/chat/chat_rig.h"

static bool begins_with_system(void)
{
    struct tokenizer_part parts[3] = { { "[O][S]", 6, true },
                                       { "fine", 4, false },
                                       { "[/S][U]", 7, true } };
    uint32_t ids[64];
    size_t n = 0;

    if (tokenizer_encode_parts(&rig.model.tokenizer, parts, 3, TOKENIZER_BOS, ids, 64, &n,
                               rig.session.scratch.memory, rig.session.scratch.bytes) != ERR_OK)
        rig_die("the text cannot be tokenized");
    return memcmp(ids, rig.session.ids, (n - 1) * sizeof *ids) == 0;
}

static unsigned prompt_tokens(void)
{
    const char *at = strstr(text, "[");

    for (; at != NULL && strstr(at + 1, " prompt + ") != NULL && strchr(at + 1, '[') != NULL &&
           strchr(at + 1, '[') < strstr(at + 1, " prompt + ");)
        at = strchr(at + 1, '[');
    return at != NULL ? (unsigned)strtoul(at + 1, NULL, 10) : 0;
}

/* With a template that is short enough for ten turns in the context. */
static void test_ten_turns(void)
{
    static const char *strings[INGOT_CHAT_STRINGS] = {
        [INGOT_CHAT_NAME] = "short",
        [INGOT_CHAT_USER_PREFIX] = "U",
        [INGOT_CHAT_REPLY_PREFIX] = "R",
        [INGOT_CHAT_REPLY_SUFFIX] = "/",
    };
    struct session *s = &rig.session;
    unsigned prefilled = 0, decoded = 0;

    put_template(strings);
    start_over(4);
    for (int i = 0; i < 10; i++) {
        if (say("bade gogo", true) != ERR_OK)
            rig_die("a turn failed");
        prefilled += prompt_tokens();
        decoded += 4;
    }
    /* Each reply's last token is prefilled with the next turn, except the last reply's. */
    OK(prefilled + decoded - 10 == s->n_cached && (rig.session.n_ids - rig.session.n_cached) == 1,
       "each token of ten turns is computed once: %u + %u - 10 = %u", prefilled, decoded,
       (unsigned)s->n_cached);
    OK(cache_is_true(), "the cache holds the ten turns");
}

/* Asks a prompt; its tokens and its reply are in ids[] and hash. */
static unsigned reply_of(const char *line, char reply[256])
{
    const char *at;

    if (say(line, true) != ERR_OK)
        rig_die("a turn failed");
    at = strstr(text, "ids:");
    snprintf(reply, 256, "%s", at != NULL ? at : "none");
    return prompt_tokens();
}

/* A new conversation does not compute the system prompt again, and answers like one that does. */
static void test_system_once(void)
{
    char first[256], again[256];
    unsigned n, other;

    put_template(test_template);
    start_over(4);
    n = reply_of("bade gogo", first);
    chat_clear(&chat);
    (void)reply_of("gogo", again);
    chat_clear(&chat);
    OK(chat.opening.prefix.n > 5 && reply_of("bade gogo", again) == n - chat.opening.prefix.n &&
           strcmp(first, again) == 0,
       "%u tokens of a new conversation are computed already, and its reply is the same",
       chat.opening.prefix.n);
    OK(begins_with_system() && cache_is_true(), "the cache is true after the new conversation");
    (void)options_set_quoted(&options, "system", "bade", NULL);
    chat_clear(&chat);
    other = reply_of("bade gogo", again);
    (void)session_cut(chat.session, 0);
    session_forget_prefix(chat.session);
    chat_clear(&chat);
    n = reply_of("bade gogo", first);
    OK(other > n - chat.opening.prefix.n && n > other && strcmp(first, again) == 0,
       "another system prompt computes only the difference: %u tokens instead of %u", other, n);
}

static void test_undo(void)
{
    struct session *s = &rig.session;
    uint32_t ids[512], length;

    start_over(5);
    OK(!chat_undo(&chat) && chat_retry(&chat) == ERR_NOT_FOUND, "there is no turn to take back");
    say("bade", true);
    say("gogo", true);
    length = s->n_cached + (rig.session.n_ids - rig.session.n_cached);
    memcpy(ids, s->ids, length * sizeof *ids);
    say("something else", true);
    OK(chat_undo(&chat), "the third turn is taken back");
    /* the end of the second reply was in the cache already, and stays there */
    OK(s->n_cached + (rig.session.n_ids - rig.session.n_cached) == length &&
           memcmp(ids, s->ids, length * sizeof *ids) == 0,
       "the two turns before the third are as they were");
    say("something else", true);
    OK(cache_is_true(), "the conversation continues after the two turns");
    memcpy(ids, s->ids, (s->n_cached + 1) * sizeof *ids);
    length = s->n_cached + 1;
    text_bytes = 0;
    OK(chat_retry(&chat) == ERR_OK && s->n_cached + 1 == length &&
           memcmp(ids, s->ids, length * sizeof *ids) == 0,
       "at temp 0 the same turn gets the same reply again");
    OK(chat_undo(&chat) && chat_undo(&chat) && chat_undo(&chat) && !chat_undo(&chat) &&
           s->n_cached == 0 && !chat.started,
       "the whole conversation is taken back");
    OK(say("bade", true) == ERR_OK && begins_with_system(),
       "a new first turn has its system prompt");
}

/* More turns than the context holds. */
static void test_overflow(void)
{
    struct session *s = &rig.session;
    unsigned drops = 0, wrong = 0, failed = 0;

    start_over(9);
    for (int i = 0; i < 120; i++) {
        failed += say(i % 3 == 0 ? "bade gogo and a longer line of it" : "bade", true) != ERR_OK;
        drops += strstr(text, "oldest turn") != NULL;
        wrong += !begins_with_system() || (i % 10 == 0 && !cache_is_true());
        failed += s->n_cached > s->context;
    }
    OK(drops > 2 && failed == 0,
       "120 turns are computed in %u tokens, and turns dropped %u times (%u failed)",
       (unsigned)s->context, drops, failed);
    OK(wrong == 0, "the system prompt stays, and the cache is true (%u wrong)", wrong);
    OK(chat.turns.n > 1 && chat_undo(&chat) && say("gogo", true) == ERR_OK && cache_is_true(),
       "the last turn can still be taken back");
}

/* A reply that fills the context. */
static void test_overflow_in_reply(void)
{
    struct session *s = &rig.session;
    unsigned n;

    start_over(20);
    for (int i = 0; i < 4; i++)
        say("bade", true);
    options.reply.n = s->context;
    text_bytes = 0;
    OK(say("gogo", true) == ERR_OK && strstr(text, "oldest turns of the conversation are dropped"),
       "the oldest turns give way in the middle of a reply");
    n = chat.turns.n;
    OK(n == 1 && strstr(text, "the context of") != NULL && s->n_cached == s->context &&
           begins_with_system(),
       "the oldest turns are dropped until the reply itself fills the context");
    (void)session_cut(s, s->n_cached - 10);
    OK(cache_is_true(), "the cache is true after a full context");
    OK(!strstr(text, "error"), "the reply that ended with the context is not an error");
}

/* The counts in the error message about a prompt that is too long. */
static bool counted(unsigned *has, unsigned *room)
{
    const char *at = strstr(text, "it has ");

    return at != NULL &&
           sscanf(at, "it has %u tokens, and there is room for %u of", has, room) == 2;
}

/* A prompt that cannot fit is refused before anything is dropped for it: the conversation
 * continues. */
static void check_refused(const char *what)
{
    static char line[2000];
    static uint32_t ids[4096];
    struct session *s = &rig.session;
    uint32_t n = s->n_ids;
    unsigned turns = chat.turns.n, has = 0, room = 0, most;

    memcpy(ids, s->ids, n * sizeof *ids);
    memset(line, '$', sizeof line - 1);
    OK(say(line, true) == ERR_TOO_LONG && strstr(text, "dropped") == NULL && counted(&has, &room) &&
           has > room && room > 0 && room < s->context,
       "%s: a turn of %u tokens is refused, because there is room for %u of %u", what, has, room,
       (unsigned)s->context);
    OK(chat.turns.n == turns && s->n_ids >= n && memcmp(ids, s->ids, n * sizeof *ids) == 0,
       "%s: the conversation of %u turns stays", what, turns);
    OK(say(line, false) == ERR_TOO_LONG && counted(&has, &most) && chat.turns.n == turns &&
           memcmp(ids, s->ids, n * sizeof *ids) == 0,
       "%s: a text that is not a turn is refused as well", what);
    OK(say("gogo", true) == ERR_OK && chat.turns.n != 0,
       "%s: the conversation continues after the refusal", what);
    memset(line, '\0', sizeof line);
    memset(line, '$', room); /* a token each */
    OK(say(line, true) == ERR_OK, "%s: a turn of %u tokens fits, once the others have gone", what,
       room);
    if (options.reply.overflow != OVERFLOW_SINKS)
        OK(chat.reply_start == s->context - 1,
           "%s: the reply to that turn has the one token that is left: %u", what,
           (unsigned)chat.reply_start);
    (void)counted(&has, &most);
    memset(line, '$', room + 1);
    OK(say(line, true) == ERR_TOO_LONG && counted(&has, &most) && has == room + 1 && most == room,
       "%s: a turn of a token more does not fit", what);
}

static void test_too_long(void)
{
    start_over(4);
    say("bade gogo", true);
    say("fine", true);
    check_refused("turns");
    start_over(4);
    options.reply.turns = 2;
    say("bade gogo", true);
    say("fine", true);
    check_refused("turns=2");
    start_over(4);
    (void)options_set(&options, "overflow", "sinks", NULL);
    for (int i = 0; i < 12; i++)
        say("bade gogo fine", true);
    check_refused("sinks");
    start_over(4);
    (void)options_set_quoted(&options, "system", "fine fine fine fine", NULL);
    say("bade gogo", true);
    (void)chat_branch(&chat, "other");
    check_refused("a branch under a system prompt");
}

int main(void)
{
    rig_alone();
    rig_compute(false);
    rig_make_model("tiny", INGOT_Q8_0);
    test_ten_turns();
    test_system_once();
    put_template(test_template);
    test_undo();
    test_overflow();
    test_overflow_in_reply();
    test_too_long();
    return tap_done();
}
