/* Lessons on a card: a thousand steps with Ctrl-C and lost power at saves leave the earlier lessons
 * or the new ones, never a mix; and another start continues with the same bits. */
#include "runtime/features/lessons/chat_learn.h"

#include "tests/unit/chat/saved_section_rig.h"

enum { LESSONS = 40 };

static void open_learning(void)
{
    rig.learns = true;
    start_over(12);
    options.load.learn = LEARN_ON;
    if (!chat_learn_open(&chat))
        rig_die("learning does not begin");
    /* Examples of the start before are gone. */
    memset(lessons_of(&chat)->lessons.hidden, 0x11,
           LESSONS_LEAST_ROOM * lessons_of(&chat)->lessons.dim * sizeof(float));
    memset(lessons_of(&chat)->lessons.lengths, 0x11, LESSONS_LEAST_ROOM * sizeof(float));
    memset(lessons_of(&chat)->lessons.targets, 0x11, LESSONS_LEAST_ROOM * sizeof(uint32_t));
}

static enum err teach(const char *question, const char *answer)
{
    struct chat_lesson lesson;

    return chat_learn_teach(&chat, question, strlen(question), answer, strlen(answer), &lesson);
}

/* Hashes everything that a logit or a later step depends on. */
static uint32_t learnt(void)
{
    const struct lessons *l = &lessons_of(&chat)->lessons;
    const struct ewc *ewc = &l->learner.ewc;
    const float *const vectors[] = { l->learner.lora.weights, ewc->fisher, ewc->anchor, ewc->mean,
                                     ewc->spread };
    uint32_t crc = crc32c(0, &l->learner.totals, sizeof l->learner.totals);

    for (size_t i = 0; i < sizeof vectors / sizeof vectors[0]; i++)
        crc = crc32c(crc, vectors[i], ewc->n * sizeof(float));
    crc = crc32c(crc, &ewc->tasks, sizeof ewc->tasks);
    crc = crc32c(crc, &ewc->samples, sizeof ewc->samples);
    crc = crc32c(crc, l->hidden, (size_t)l->n * l->dim * sizeof(float));
    crc = crc32c(crc, l->lengths, l->n * sizeof(float));
    crc = crc32c(crc, l->notes, l->n_notes * sizeof *l->notes);
    return crc32c(crc, l->targets, l->n * sizeof(uint32_t));
}

static enum err save_learnt(void)
{
    return chat_learn_save(&chat, &saved, &file, NULL, NULL);
}

static enum err load_learnt(void)
{
    return chat_learn_load(&chat, &saved, &file, NULL, NULL);
}

static void test_there_and_back(void)
{
    struct chat_lesson praise;
    uint32_t before, after;

    insert_blank_card();
    open_learning();
    OK(save_learnt() == ERR_BAD_ARGUMENT &&
           strstr(saved.error_message, "nothing has been learnt") != NULL,
       "nothing is saved if nothing was learnt: %s", saved.error_message);
    OK(load_learnt() == ERR_NOT_FOUND, "nothing is loaded from a blank file: %s",
       saved.error_message);
    OK(teach("who is it?", "it is me") == ERR_OK && say("hello", true) == ERR_OK &&
           chat_learn_rate(&chat, true, &praise) == ERR_OK && save_learnt() == ERR_OK,
       "two lessons are saved");
    before = learnt();
    (void)teach("and who else?", "nobody");
    after = learnt();
    open_learning();
    OK(learnt() != before && load_learnt() == ERR_OK && learnt() == before,
       "another start has the lesson, to the bit");
    OK(!lessons_undo(&lessons_of(&chat)->lessons), "a lesson that was loaded is not taken back");
    (void)teach("and who else?", "nobody");
    OK(learnt() == after, "the next lesson has the bits that it had without the start between");
    chat_clear(&chat);
    OK(say("who is it?", true) == ERR_OK && strncmp(text, "it is me", 8) == 0,
       "the first answer is there after the next lesson");
}

/* The only lesson was saved, and then taken back. */
static void test_undone(void)
{
    insert_blank_card();
    open_learning();
    OK(teach("who is it?", "it is me") == ERR_OK && save_learnt() == ERR_OK &&
           lessons_undo(&lessons_of(&chat)->lessons) && save_learnt() == ERR_OK,
       "a lesson that was undone after a save is taken out of the file: %s", saved.error_message);
    open_learning();
    OK(load_learnt() == ERR_OK && lessons_of(&chat)->lessons.learner.totals.lessons == 0 &&
           lessons_of(&chat)->lessons.n == 0,
       "another start does not have it");
    OK(teach("who is it?", "it is me") == ERR_OK && lessons_undo(&lessons_of(&chat)->lessons) &&
           save_learnt() == ERR_OK,
       "neither does it after a lesson that was not saved");
}

static void fill(void)
{
    if (teach("who is it?", "it is me") != ERR_OK)
        rig_die("nothing is learnt");
}

static bool is_empty(void)
{
    return lessons_of(&chat)->lessons.n == 0 &&
           lessons_of(&chat)->lessons.learner.totals.lessons == 0;
}

static const struct section taught = { .open = open_learning,
                                       .fill = fill,
                                       .hash = learnt,
                                       .save = save_learnt,
                                       .load = load_learnt,
                                       .is_empty = is_empty,
                                       .most_sectors = 160 };

static void test_strange(void)
{
    static const struct section_fault rows[] = {
        { 20, LESSONS_LEAST_ROOM + 1, "more examples than there is room for" },
        { 20, 3, "other examples than the header's" },
        { 20, 400, "more of them than its bytes" },
        { 12, 11, "too many tasks" },
        { 12, 1 | 200 << 16, "more notes than there is room for" },
        { 12, 1 | 2 << 16, "other notes than the header's" },
        { 24, 0x7fc00000, "a weight that is not a number" },
        { 28, 0x7f800000, "one that is infinite" },
        { 32, 0x44800000, "one of 1024" }
    };
    struct saved_chat_header *h = (void *)card_data;

    test_section_strange(&taught, rows, sizeof rows / sizeof rows[0]);
    section_put(&taught);
    open_learning();
    h->model_crc ^= 1;
    change_saved(24, 0, h->version);
    (void)teach("what now?", "nothing");
    OK(load_learnt() == ERR_BAD_MODEL && strstr(saved.error_message, "another model") != NULL &&
           lessons_of(&chat)->lessons.learner.totals.lessons == 1 &&
           saved.before == SAVED_CHAT_GOES_ON,
       "lessons of another model are refused, and what is at work stays: %s", saved.error_message);
    h->model_crc ^= 1;
    change_saved(24, 0, h->version + 1);
    OK(load_learnt() == ERR_BAD_MODEL && strstr(saved.error_message, "another version") != NULL,
       "lessons of another version are refused: %s", saved.error_message);
    test_section_of_another(&taught, "INGOTSAV", "is a saved conversation, not what was learnt");
}

/* A file of an earlier version has no notes: they are made for it, and what was taught stays taught. */
static void test_old(void)
{
    struct saved_chat_header *h = (void *)card_data;
    struct lessons *l = &lessons_of(&chat)->lessons;
    struct chat_lesson praise;
    uint32_t most;

    insert_blank_card();
    open_learning();
    OK(teach("who is it?", "it is me") == ERR_OK && say("hello", true) == ERR_OK &&
           chat_learn_rate(&chat, true, &praise) == ERR_OK && save_learnt() == ERR_OK,
       "two lessons are saved");
    most = lessons_most(l);
    memmove(card_data, card_data + FILE_BYTES / 2, FILE_BYTES / 2);
    memset(card_data + FILE_BYTES / 2, 0, FILE_BYTES / 2);
    h->n_notes = 0;
    h->payload_bytes -= 2 * sizeof(struct lessons_note);
    change_saved(12, l->learner.ewc.tasks, h->version);
    open_learning();
    OK(load_learnt() == ERR_OK && l->n_notes == 2 && l->notes[0].kind == LESSON_TAUGHT &&
           l->notes[1].kind == LESSON_GOOD && lessons_most(l) == most,
       "lessons of an earlier version have notes again: %s", saved.error_message);
}

/* Lessons one after the other, each with its chance of Ctrl-C, saved with lost power at any
 * sector. */
static void test_many(void)
{
    struct section_power p = { 0 };
    unsigned steps, aborted = 0;

    insert_blank_card();
    open_learning();
    for (unsigned i = 0; i < LESSONS || lessons_of(&chat)->lessons.learner.totals.steps < 1000;
         i++) {
        char question[40];

        if (i == 40 * LESSONS)
            rig_die("a thousand steps do not come");
        snprintf(question, sizeof question, "question %u?", i % LESSONS);
        if (draw(3) == 0) {
            uint32_t before = learnt();

            stop_after = 0;
            aborted++;
            p.wrong += teach(question, "never") != ERR_ABORTED;
            p.wrong += p.any && learnt() != before;
            continue;
        }
        (void)teach(question, i % 2 == 0 ? "yes it is" : "no, not me");
        section_save_or_lose(&taught, &p);
    }
    steps = lessons_of(&chat)->lessons.learner.totals.steps;
    OK(steps >= 1000 && p.wrong == 0 && aborted > 4 && p.cut > 4 && p.old > 2 && p.new > 4,
       "%u steps, %u stopped lessons, %u power losses leave the old lessons (%u times) or new (%u, "
       "%u wrong)",
       steps, aborted, p.cut, p.old, p.new, p.wrong);
}

int main(void)
{
    section_begin();
    test_there_and_back();
    test_undone();
    test_strange();
    test_old();
    test_many();
    return tap_done();
}
