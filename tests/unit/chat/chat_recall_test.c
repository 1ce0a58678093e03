/* Memories in front of a turn: how long they may be, and when a turn stays as it is. */
#include "runtime/features/fabric/chat_fabric.h"

#include "runtime/features/lessons/chat_learn.h"
#include "tests/unit/chat/chat_rig.h"

static void open_learning(void)
{
    rig.learns = true;
    start_over(12);
    options.load.learn = LEARN_ON;
    if (!chat_learn_open(&chat))
        rig_die("the head is in memory, and learning does not begin");
    chat_fabric_open(&chat);
}

static enum err remember(const char *line, struct chat_lesson *lesson)
{
    return chat_fabric_remember(&chat, FABRIC_WIKI, line, strlen(line), lesson);
}

static void begin_with(const char *line)
{
    chat_clear(&chat);
    if (say(line, true) != ERR_OK)
        rig_die(rig.session.error_message);
}

static bool answers(const char *question, const char *answer)
{
    begin_with(question);
    return strncmp(text, answer, strlen(answer)) == 0;
}

/* Memories that fill their budget in front of the longest turn stay within their room. */
static void test_longest(void)
{
    static const uint16_t lengths[] = {
        150, 150, 147
    }; /* with everything around them, to the last byte and beyond */
    struct chat_recall *r;
    struct fabric *f;
    static char turn[RECALL_TOLD_BYTES];
    uint32_t context;
    size_t told = 0, most = 0;

    open_learning();
    r = &fabric_of(&chat)->recall;
    f = &fabric_of(&chat)->fabric;
    context = rig.session.context;
    rig.session.context = 4 * RECALL_NOTE_BYTES; /* not what limits them */
    for (uint32_t i = 0; i < 3; i++) {
        struct fabric_note *n = &f->notes[i];

        *n = (struct fabric_note){ .space = FABRIC_CONTESTED,
                                   .bytes = lengths[i],
                                   .strength = 1.0f };
        memset(n->text, 'a' + (int)i, sizeof n->text);
        memcpy(n->text, "zebra9 ", 7);
    }
    f->n_notes = 3;
    memset(turn, ' ', sizeof turn);
    memcpy(turn, "zebra9", 6);
    for (size_t n = sizeof turn - 560; n < sizeof turn; n++)
        if (chat_recall(&chat, turn, n, &told) != NULL)
            most = told > most ? told : most;
    OK(most > RECALL_TOLD_BYTES - 600 && most <= sizeof r->told,
       "the memories that are told take %zu of %zu bytes", most, sizeof r->told);
    rig.session.context = context;
    fabric_clear(f);
}

/* A memory with words of a taught question does not hide the taught answer. */
static void test_taught(void)
{
    static const char question[] = "where is the red house?";
    struct chat_lesson lesson;
    struct fabric *f;

    open_learning();
    f = &fabric_of(&chat)->fabric;
    OK(chat_learn_teach(&chat, question, strlen(question), "no, here", 8, &lesson) == ERR_OK &&
           remember("the red house is at the lake", &lesson) == ERR_OK &&
           answers(question, "no, here") && f->notes[0].used == 0,
       "the taught answer is said: %s", text);
    OK(say(question, true) == ERR_OK && f->notes[0].used == 1,
       "in a later turn the memory is used");
    begin_with("where is the house, the red one?");
    OK(f->notes[0].used == 2, "and for the question in other words");
    OK(remember("where is the red house? = at the lake", &lesson) == ERR_OK &&
           answers(question, "at the lake"),
       "a memory of the same question takes precedence: %s", text);
}

/* While a memory fades, its answer is right or, when it no longer wins, it is found by its words. */
static void test_faded(void)
{
    static const char question[] = "where is the red house?", answer[] = "no, at the lake";
    struct chat_lesson lesson;
    unsigned heart = 0, words = 0, wrong = 0;
    struct fabric_note *n;
    char line[80];

    open_learning();
    chat_fabric_set_time(&chat, 1795527000);
    n = &fabric_of(&chat)->fabric.notes[0];
    snprintf(line, sizeof line, "%s = %s", question, answer);
    if (chat_fabric_remember(&chat, FABRIC_SCHEDULE, line, strlen(line), &lesson) != ERR_OK)
        rig_die("nothing is remembered");
    chat_fabric_set_time(&chat, chat_fabric_now(&chat) + 3600);
    while (n->strength > 0.6f) {
        bool right = answers(question, answer);

        heart += fabric_of(&chat)->recall.by_heart;
        words += !fabric_of(&chat)->recall.by_heart;
        wrong += fabric_of(&chat)->recall.by_heart && !right;
        chat_fabric_set_time(&chat, chat_fabric_now(&chat) + 3600);
    }
    OK(heart != 0 && words != 0 && wrong == 0,
       "%u times by heart, %u of them wrong, then %u times by its words", heart, wrong, words);
    OK(chat_fabric_remember(&chat, FABRIC_SCHEDULE, "WHEN IS IT? = noon", 18, &lesson) == ERR_OK &&
           n->wins && n->strength == 1.0f && answers(question, answer),
       "after the practice of another memory it is known by heart again");
}

int main(void)
{
    rig_alone();
    rig_compute(false);
    rig_make_model("tiny", INGOT_Q8_0);
    put_template(test_template);
    test_longest();
    test_taught();
    test_faded();
    return tap_done();
}
