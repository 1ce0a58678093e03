/* Lessons in a conversation: an answer is taught, kept and taken back; the current conversation
 * stays. */
#include "runtime/features/lessons/chat_learn.h"

#include "runtime/features/lessons/chat_learn_private.h"
#include "tests/unit/chat/chat_rig.h"

static const char *const QUESTION = "who is it?", *const ANSWER = "it is me";

static void open_learning(uint32_t how)
{
    rig.learns = how != LEARN_OFF;
    start_over(12);
    options.load.learn = how;
    if (rig.learns && !chat_learn_open(&chat))
        rig_die("the head is in memory, and learning does not begin");
}

static enum err teach(const char *question, const char *answer, struct chat_lesson *lesson)
{
    return chat_learn_teach(&chat, question, strlen(question), answer, strlen(answer), lesson);
}

static bool answers(const char *question, const char *answer)
{
    chat_clear(&chat);
    return say(question, true) == ERR_OK && strncmp(text, answer, strlen(answer)) == 0;
}

static uint64_t hash_of(const char *line)
{
    chat_clear(&chat);
    if (say(line, true) != ERR_OK)
        rig_die(rig.session.error_message);
    return rig.session.hash.value;
}

static void test_teach(uint32_t how, const char *name)
{
    struct chat_lesson lesson;
    static float once[1 << 16];
    size_t bytes;
    uint64_t before, other, there;
    uint32_t turns, n_ids;

    open_learning(LEARN_OFF);
    before = hash_of(QUESTION);
    open_learning(how);
    bytes = lessons_of(&chat)->lessons.learner.ewc.n * sizeof(float);
    OK(hash_of(QUESTION) == before,
       "%s: before a lesson every logit is the same as without learning", name);
    OK(!answers(QUESTION, ANSWER), "before the lesson the model answers something else");
    other = hash_of("something else");
    turns = chat.turns.n;
    n_ids = rig.session.n_ids;
    OK(teach(QUESTION, ANSWER, &lesson) == ERR_OK && lesson.wins && lesson.steps != 0,
       "the answer wins after %u rounds, %u steps", lesson.rounds, lesson.steps);
    OK(chat.turns.n == turns && rig.session.n_ids == n_ids && rig.session.hash.value == other,
       "the conversation is still there");
    OK(say("and then?", true) == ERR_OK && chat.turns.n == turns + 1 && cache_is_true(),
       "the conversation continues after lessons");
    OK(answers(QUESTION, ANSWER), "a fresh conversation has the answer");
    there = rig.session.hash.value;
    memcpy(once, lessons_of(&chat)->lessons.learner.lora.weights, bytes);
    OK(teach("what now?", "nothing", &lesson) == ERR_OK && lesson.wins &&
           answers(QUESTION, ANSWER) && answers("what now?", "nothing"),
       "a second lesson leaves the first answer");
    OK(lessons_undo(&lessons_of(&chat)->lessons) && answers(QUESTION, ANSWER) &&
           rig.session.hash.value == there &&
           memcmp(once, lessons_of(&chat)->lessons.learner.lora.weights, bytes) == 0,
       "taking back the second lesson leaves the first, to the bit");
    OK(!lessons_undo(&lessons_of(&chat)->lessons), "one lesson can be taken back");
    OK(teach(QUESTION, "nothing", &lesson) == ERR_OK && !lesson.wins && lesson.lost != 0 &&
           lesson.lost < lesson.examples,
       "two answers to one question cannot both win: %u of %u tokens do not", lesson.lost,
       lesson.examples);
    open_learning(how);
    (void)hash_of("something else");
    OK(teach(QUESTION, ANSWER, &lesson) == ERR_OK &&
           memcmp(once, lessons_of(&chat)->lessons.learner.lora.weights, bytes) == 0,
       "the same lesson at another start has the same bits");
    if (how == LEARN_ON)
        OK(lessons_of(&chat)->lessons.learner.ewc.tasks == 1, "the packed data is the first task");
}

/* Good: the reply's first token is likelier afterwards. */
static void test_good(void)
{
    struct chat_lesson lesson;
    struct micro_lora_choice choice;
    float p[2], *logits;

    open_learning(LEARN_ON);
    OK(chat_learn_rate(&chat, true, &lesson) == ERR_NOT_FOUND,
       "nothing can be rated before anything was said");
    (void)say("hello", true);
    OK(chat_learn_rate(&chat, true, &lesson) == ERR_OK && lesson.steps != 0 && cache_is_true(),
       "/good is learnt in %u steps", lesson.steps);
    for (int i = 1; i >= 0; i--) {
        (void)transformer_logits_of(&rig.model.transformer, lessons_of(&chat)->lessons.hidden, 1,
                                    &logits);
        micro_lora_choose(&choice, &lessons_of(&chat)->lessons.head, logits,
                          rig.model.image.header->params.vocab, rig.session.ids[chat.reply_start]);
        p[i] = choice.loss_p;
        (void)learner_undo(&lessons_of(&chat)->lessons.learner);
    }
    OK(p[1] > p[0], "the reply's first token goes from %.6f to %.6f", (double)p[0], (double)p[1]);
}

/* Ctrl-C while the first /teach prepares leaves an earlier /good. */
static void test_stopped(void)
{
    struct lessons *l = &lessons_of(&chat)->lessons;
    struct chat_lesson lesson;
    static float once[1 << 16];
    size_t bytes;

    open_learning(LEARN_ON);
    bytes = l->learner.ewc.n * sizeof(float);
    (void)say("hello", true);
    (void)chat_learn_rate(&chat, true, &lesson);
    memcpy(once, l->learner.lora.weights, bytes);
    stop_after = 0;
    OK(teach(QUESTION, ANSWER, &lesson) == ERR_ABORTED && l->learner.totals.lessons == 1 &&
           l->n_notes == 1 && l->learner.ewc.tasks == 0 &&
           memcmp(once, l->learner.lora.weights, bytes) == 0,
       "a lesson that was stopped takes no earlier one with it");
    console.input.aborted = false;
    OK(teach(QUESTION, ANSWER, &lesson) == ERR_OK && lesson.wins, "it can be taught again");
}

static uint32_t reply[4096], n_reply;

static void keep_reply(void)
{
    n_reply = rig.session.n_ids - chat.reply_start;
    memcpy(reply, rig.session.ids + chat.reply_start, n_reply * sizeof *reply);
}

/* A fresh conversation gives the reply that was kept. */
static bool replies_so(const char *line)
{
    chat_clear(&chat);
    return say(line, true) == ERR_OK && rig.session.n_ids - chat.reply_start == n_reply &&
           memcmp(reply, rig.session.ids + chat.reply_start, n_reply * sizeof *reply) == 0;
}

/* Bad: another token wins in few places, so the reply changes; when that is taken back, the old one
 * returns. */
static void test_bad(void)
{
    struct chat_lesson lesson;

    open_learning(LEARN_ON);
    (void)say("hello", true);
    keep_reply();
    OK(n_reply != 0 && replies_so("hello"), "the same question has the same reply");
    OK(chat_learn_rate(&chat, false, &lesson) == ERR_OK && lesson.tokens != 0 &&
           lesson.tokens <= 8 && cache_is_true(),
       "/bad changes %u places", lesson.tokens);
    OK(!replies_so("hello"), "the reply changes after /bad");
    OK(lessons_undo(&lessons_of(&chat)->lessons) && replies_so("hello"),
       "the old reply comes after the lesson is taken back");
}

/* Other tokens in the place of the last reply, as a hot sampler might choose them. */
static bool put_other_reply(void)
{
    uint32_t n = rig.session.n_ids - chat.reply_start, vocab = rig.model.image.header->params.vocab;

    keep_reply();
    for (uint32_t i = 0; i < n; i++)
        reply[i] = 3 + (reply[i] + 5 * i) % (vocab - 3);
    (void)session_cut(&rig.session, chat.reply_start);
    return n != 0 && session_append(&rig.session, reply, n, NULL) == ERR_OK;
}

/* Another reply to the taught question is called good again and again. At the same hidden states
 * its tokens and the taught ones compete: without a bound the taught answer is lost. */
static void test_good_often(void)
{
    struct chat_lesson lesson;
    uint32_t steps = 0;
    bool all;

    open_learning(LEARN_ON);
    OK(teach(QUESTION, ANSWER, &lesson) == ERR_OK && answers(QUESTION, ANSWER), "a fact is taught");
    all = put_other_reply();
    for (int i = 0; i < 60; i++) {
        all = all && chat_learn_rate(&chat, true, &lesson) == ERR_OK && cache_is_true() &&
              !lesson.taken_back;
        steps += lesson.steps;
    }
    OK(all && steps != 0, "another reply is called good 60 times, in %u steps", steps);
    OK(answers(QUESTION, ANSWER), "the taught answer is as before");
}

/* Replies that were called good are watched, but not against themselves: a person may think
 * differently of one later. */
static void test_bad_after_good(void)
{
    static const char *const lines[] = { "hello", "who is it?", "1234567", "and you", "what now?" };
    struct chat_lesson lesson;
    uint32_t changed = 0, stuck = 0;

    for (int i = 0; i < 5; i++) {
        open_learning(LEARN_ON);
        (void)say(lines[i], true);
        OK(chat_learn_rate(&chat, true, &lesson) == ERR_OK && !lesson.taken_back,
           "%s: the reply is called good", lines[i]);
        keep_reply();
        (void)chat_learn_rate(&chat, false, &lesson);
        stuck += lesson.taken_back;
        changed += lesson.tokens != 0 && !replies_so(lines[i]);
    }
    OK(stuck == 0 && changed >= 3,
       "%u of 5 good replies change when they are called bad, and %u would lose themselves",
       changed, stuck);
}

static void test_others_stay(void)
{
    struct chat_lesson lesson;
    bool same = true;

    open_learning(LEARN_ON);
    (void)say("who is it?", true);
    (void)chat_learn_rate(&chat, true, &lesson);
    (void)replies_so("who is it?");
    keep_reply();
    for (int i = 0; i < 20; i++) {
        chat_clear(&chat);
        (void)say(i % 2 == 0 ? "hello" : "who is he?", true);
        (void)chat_learn_rate(&chat, false, &lesson);
        same = same && replies_so("who is it?");
    }
    OK(same, "a reply that was called good does not change by 20 times /bad for others");
}

/* Bad again and again: each time only a token wins that the model might say there. */
static void test_bad_often(void)
{
    static const char *const lines[] = { "hello", "who is it?", "1234567", "hello", "hello" };
    struct chat_lesson lesson;
    uint32_t strange = 0, most = 0, places = 0;
    bool all = true;

    open_learning(LEARN_ON);
    for (int i = 0; i < 40; i++) {
        chat_clear(&chat);
        all = all && say(lines[i % 5], true) == ERR_OK;
        all = all && chat_learn_rate(&chat, false, &lesson) == ERR_OK && cache_is_true();
        all = all && chat_learn_count_strange(&chat, &strange) == ERR_OK;
        most = strange > most ? strange : most;
        places += lesson.taken_back ? 0 : lesson.tokens;
    }
    OK(all && places != 0 && lessons_of(&chat)->lessons.n != 0, "/bad works 40 times, at %u places",
       places);
    OK(most == 0, "%u tokens win that the model would not say there", most);
}

/* Fill the room with lessons as /good makes them, and ask for one more. */
static bool fill_room(struct chat_lesson *lesson)
{
    struct lessons *l = &lessons_of(&chat)->lessons;

    for (int i = 0; l->n < l->room; i++) {
        uint32_t n = l->room - l->n < 12 ? l->room - l->n : 12;
        char line[40];

        snprintf(line, sizeof line, "%d and %d?", i, 7 * i);
        lessons_begin(l, n, LESSON_GOOD, line, strlen(line), 0);
        while (n-- != 0)
            lessons_add(l, 5 | LESSONS_SAID);
    }
    chat_clear(&chat);
    return say("hello", true) == ERR_OK && chat_learn_rate(&chat, true, lesson) == ERR_NO_SPACE;
}

/* The room for examples fills: what would go is said before it goes, and what was taught stays. */
static void test_room(void)
{
    const struct lessons *l = &lessons_of(&chat)->lessons;
    struct chat_lesson lesson;
    uint32_t most, n, notes, next;
    char named[8];

    open_learning(LEARN_ON);
    OK(teach(QUESTION, ANSWER, &lesson) == ERR_OK && lesson.to_go == 0, "a fact is taught");
    most = lessons_most(l);
    OK(fill_room(&lesson) && lesson.to_go == 1 && l->n <= l->room,
       "a /good without room is refused: %u lesson would go", lesson.to_go);
    n = l->n;
    notes = l->n_notes;
    next = lessons_next_to_go(l, UINT32_MAX);
    memcpy(named, l->notes[next].text, sizeof named);
    OK(next == 1 && memcmp(named, "0 and 0?", 8) == 0,
       "the oldest of the rated lessons is named: %.8s", named);
    OK(chat_learn_rate(&chat, false, &lesson) == ERR_NO_SPACE && l->n == n,
       "another command does not confirm that a lesson may go");
    OK(chat_learn_rate(&chat, true, &lesson) == ERR_NO_SPACE && l->n == n && l->n_notes == notes,
       "no lesson has gone yet");
    OK(chat_learn_rate(&chat, true, &lesson) == ERR_OK && lessons_most(l) == most &&
           l->notes[0].kind == LESSON_TAUGHT && memcmp(l->notes[1].text, named, sizeof named) != 0,
       "the same command again drops the named lesson, and the taught one stays");
    n = l->notes[0].used;
    chat_clear(&chat);
    OK(say(QUESTION, true) == ERR_OK && l->notes[0].used == n + 1,
       "a reply counts as a use of what was taught: %u", l->notes[0].used);
}

/* The least used goes first. */
static void test_least_used(void)
{
    struct lessons *l = &lessons_of(&chat)->lessons;
    struct chat_lesson lesson;

    open_learning(LEARN_ON);
    for (int i = 0; i < 3; i++) {
        char line[] = { (char)('a' + i), '?', '\0' };

        chat_clear(&chat);
        (void)say(line, true);
        (void)chat_learn_rate(&chat, true, &lesson);
    }
    l->notes[0].used = l->notes[1].used = 2;
    OK(l->n_notes == 3 && lessons_next_to_go(l, UINT32_MAX) == 2 && lessons_next_to_go(l, 2) == 0 &&
           lessons_next_to_go(l, 0) == 1 && lessons_next_to_go(l, 1) == 3,
       "the least used lesson goes first, then the oldest, and then none");
}

static void test_rows(void)
{
    rig.learns = true;
    OK(rig_start(0, 1, false) == ERR_OK && rig.model.plan.logits_rows == 2,
       "with lessons, passes of one token leave room for the two rows that /bad compares");
    rig.learns = false;
    OK(rig_start(0, 1, false) == ERR_OK && rig.model.plan.logits_rows == 1 &&
           rig.model.plan.chunk == 1,
       "without lessons one row is enough");
}

static void test_refused(void)
{
    struct chat_lesson lesson;
    char long_answer[600];
    struct rig_limits limits;

    open_learning(LEARN_ON);
    memset(long_answer, 'x', sizeof long_answer);
    for (size_t i = 0; i < sizeof long_answer; i++)
        long_answer[i] = (char)('a' + i * 7 % 26);
    long_answer[sizeof long_answer - 1] = '\0';
    OK(teach(QUESTION, long_answer, &lesson) == ERR_TOO_LONG && lessons_of(&chat)->lessons.n == 0,
       "an answer of too many tokens is refused");
    OK(teach(QUESTION, "", &lesson) == ERR_BAD_ARGUMENT, "a question without an answer is refused");
    OK(lessons_of(&chat)->lessons.learner.ewc.tasks == 0,
       "they are refused before the preparation, which takes long");
    stop_after = 0;
    OK(teach(QUESTION, ANSWER, &lesson) == ERR_ABORTED && lessons_of(&chat)->lessons.n == 0 &&
           lessons_of(&chat)->lessons.learner.totals.steps == 0,
       "after Ctrl-C nothing is learnt");
    rig.learns = false;
    limits = rig_limits();
    rig.learns = true;
    if (rig_start(limits.least, 0, false) == ERR_OK && rig.model.plan.head.tiled) {
        chat_open(&chat, &console, &rig.session, NULL, &options, NULL);
        OK(!chat_learn_open(&chat), "a head in tiles learns nothing");
    } else
        OK(false, "a head in tiles is planned");
}

int main(void)
{
    rig_alone();
    rig_compute(false);
    rig_make_model("tiny", INGOT_Q8_0);
    put_template(test_template);
    test_teach(LEARN_ON, "on");
    test_teach(LEARN_LOOSE, "loose");
    test_good();
    test_stopped();
    test_good_often();
    test_bad();
    test_bad_after_good();
    test_others_stay();
    test_bad_often();
    test_room();
    test_least_used();
    test_rows();
    test_refused();
    return tap_done();
}
