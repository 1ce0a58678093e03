/* Memories on a card: another start answers with the same bits; lost power at a save leaves the
 * earlier memories or the new ones; a contradictory file is refused, and none of it is believed; the
 * clock goes on. */
#include "runtime/features/fabric/chat_fabric.h"

#include "tests/unit/chat/saved_section_rig.h"

enum { SAVES = 60, DAY = 24 * 3600 };
#define NOON 1795521600u

static struct fabric *fabric(void)
{
    return &fabric_of(&chat)->fabric;
}

static void open_fabric(void)
{
    rig.learns = true;
    start_over(12);
    fabric_of(&chat)->epoch = 0;
    options.load.learn = LEARN_ON;
    if (!chat_learn_open(&chat))
        rig_die("learning does not begin");
    chat_fabric_open(&chat);
    /* Memories of the start before are gone. */
    memset(fabric()->hidden, 0x11, fabric()->room.examples * fabric()->dim * sizeof(float));
    memset(fabric()->lengths, 0x11, fabric()->room.examples * sizeof(float));
    memset(fabric()->notes, 0x11, fabric()->room.notes * sizeof *fabric()->notes);
}

static void remember(enum fabric_name space, unsigned i)
{
    char line[60];
    struct chat_lesson lesson;

    snprintf(line, sizeof line, "%u and %u = it is %u", i, i * 7 + 1, i % 10);
    if (chat_fabric_remember(&chat, space, line, strlen(line), &lesson) != ERR_OK)
        rig_die(rig.session.error_message);
}

/* Hashes everything that a reply depends on. */
static uint32_t known(void)
{
    const struct fabric *f = fabric();
    uint32_t crc = crc32c(0, f->hidden, (size_t)f->n_examples * f->dim * sizeof(float));

    for (int i = 0; i < FABRIC_SPACES; i++) {
        const struct fabric_space *s = &f->spaces[i];

        crc = crc32c(crc, s->gate, f->dim * sizeof(float));
        crc = crc32c(crc, &s->bias, sizeof s->bias);
        crc = crc32c(crc, s->lora.weights, micro_lora_floats(f->dim, s->lora.rank) * sizeof(float));
    }
    for (uint32_t i = 0; i < f->n_notes; i++) {
        crc = crc32c(crc, f->notes[i].text, f->notes[i].bytes);
        crc = crc32c(crc, &f->notes[i].strength, sizeof(float));
    }
    crc = crc32c(crc, f->lengths, f->n_examples * sizeof(float));
    return crc32c(crc, f->targets, f->n_examples * sizeof(uint32_t));
}

static enum err save_known(void)
{
    return chat_fabric_save(&chat, &saved, &file, NULL, NULL);
}

static enum err load_known(void)
{
    return chat_fabric_load(&chat, &saved, &file, NULL, NULL);
}

static uint64_t hash_of(const char *line)
{
    chat_clear(&chat);
    if (say(line, true) != ERR_OK)
        rig_die(rig.session.error_message);
    return rig.session.hash.value;
}

static void test_there_and_back(void)
{
    uint32_t before, after;
    uint64_t hash;

    insert_blank_card();
    open_fabric();
    OK(save_known() == ERR_BAD_ARGUMENT &&
           strstr(saved.error_message, "nothing has been learnt") != NULL,
       "nothing is saved if nothing was learnt: %s", saved.error_message);
    OK(load_known() == ERR_NOT_FOUND, "nothing is loaded from a blank file: %s",
       saved.error_message);
    remember(FABRIC_WIKI, 1234);
    remember(FABRIC_PERSONAL, 88);
    OK(save_known() == ERR_OK && fabric()->n_notes == 2, "two memories are saved");
    before = known();
    hash = hash_of("1234 and 8639");
    OK(strncmp(text, "it is 4", 7) == 0, "one of the memories is answered: %.9s", text);
    remember(FABRIC_SCHEDULE, 5);
    after = known();
    open_fabric();
    OK(known() != before && load_known() == ERR_OK && known() == before,
       "another start has the memories, to the bit");
    OK(fabric()->that == 0, "/forget forgets none, because no memory is the last that was told");
    OK(hash_of("1234 and 8639") == hash && strncmp(text, "it is 4", 7) == 0,
       "a loaded memory answers the same");
    remember(FABRIC_SCHEDULE, 5);
    OK(known() == after, "the next memory has the bits that it had without the start between");
    OK(save_known() == ERR_OK &&
           chat_fabric_bytes(&chat) > 2 * fabric_bytes(fabric()->dim, fabric()->room) / 3,
       "the file is for all there can be");
    chat_fabric_clear(&chat);
    OK(save_known() == ERR_OK, "no memory is left, and that is saved too");
    open_fabric();
    remember(FABRIC_WIKI, 3);
    OK(load_known() == ERR_OK && fabric()->n_notes == 0, "an empty memory is loaded");
}

static void test_clock(void)
{
    insert_blank_card();
    open_fabric();
    chat_fabric_set_time(&chat, NOON);
    remember(FABRIC_EPISODIC, 7);
    (void)save_known();
    open_fabric();
    OK(load_known() == ERR_OK && chat_fabric_now(&chat) >= NOON &&
           chat_fabric_now(&chat) < NOON + 5 && fabric()->notes[0].strength == 1.0f,
       "the clock goes on from the save, and nothing fades");
    chat_fabric_set_time(&chat, NOON + DAY);
    OK(fabric()->notes[0].strength < 0.63f && fabric()->notes[0].strength > 0.60f,
       "a memory has faded a day later: %.3f", (double)fabric()->notes[0].strength);
    open_fabric();
    chat_fabric_set_time(&chat, NOON + DAY);
    OK(load_known() == ERR_OK && fabric()->notes[0].strength < 0.63f &&
           chat_fabric_now(&chat) >= NOON + DAY,
       "a memory fades the same if the time is set before it is loaded");
    open_fabric();
    remember(FABRIC_EPISODIC, 7);
    (void)save_known();
    open_fabric();
    chat_fabric_set_time(&chat, NOON);
    OK(load_known() == ERR_OK && fabric()->notes[0].strength == 1.0f,
       "a memory that was saved without a clock has not faded");
}

/* Lessons have dates, too, and no clock of their own. */
static void test_clock_of_lessons(void)
{
    struct lessons *l;
    struct chat_lesson lesson;

    insert_blank_card();
    open_fabric();
    l = &lessons_of(&chat)->lessons;
    chat_fabric_set_time(&chat, NOON);
    (void)chat_learn_teach(&chat, "who is it?", 10, "it is me", 8, &lesson);
    OK(chat_learn_save(&chat, &saved, &file, NULL, NULL) == ERR_OK, "a dated lesson is saved");
    open_fabric();
    (void)chat_learn_load(&chat, &saved, &file, NULL, NULL);
    chat_fabric_set_time(&chat, NOON + DAY);
    OK(l->n_notes == 1 && l->notes[0].made >= NOON && l->notes[0].made < NOON + 5,
       "it is a day old if the clock is set a day later");
    open_fabric();
    (void)chat_learn_teach(&chat, "who is it?", 10, "it is me", 8, &lesson);
    l->notes[0].made += 1000;
    (void)chat_learn_save(&chat, &saved, &file, NULL, NULL);
    open_fabric();
    (void)chat_learn_load(&chat, &saved, &file, NULL, NULL);
    chat_fabric_set_time(&chat, NOON);
    OK(l->notes[0].made == NOON, "a lesson of an earlier start without a clock is new");
    open_fabric();
    chat_fabric_set_time(&chat, NOON);
    (void)chat_learn_load(&chat, &saved, &file, NULL, NULL);
    OK(l->notes[0].made >= NOON && l->notes[0].made < NOON + 5,
       "it is the same if the clock was set before the load");
}

/* A start with less memory has no room for all memories. */
static void test_smaller(void)
{
    insert_blank_card();
    open_fabric();
    for (unsigned i = 0; i < 5; i++)
        remember(FABRIC_WIKI, i * 11);
    (void)save_known();
    open_fabric();
    fabric()->room.notes = 4;
    OK(load_known() == ERR_BAD_MODEL &&
           strstr(saved.error_message, "give it more memory") != NULL &&
           saved.before != SAVED_CHAT_LOST,
       "more memories than there is room for are refused: %s", saved.error_message);
}

static void fill(void)
{
    remember(FABRIC_WIKI, 1234);
}

static bool is_empty(void)
{
    return fabric()->n_notes == 0;
}

static const struct section memories = { .open = open_fabric,
                                         .fill = fill,
                                         .hash = known,
                                         .save = save_known,
                                         .load = load_known,
                                         .is_empty = is_empty,
                                         .most_sectors = 400 };

static void test_strange(void)
{
    static const struct section_fault rows[] = {
        { 8, FABRIC_MOST_NOTES + 1, "more notes than there is room for" },
        { 8, 3, "other notes than the header's" },
        { 12, FABRIC_MOST_EXAMPLES + 1, "more examples than there is room for" },
        { 12, 1, "fewer examples than its notes have" },
        { 16, FABRIC_BACKGROUND + 1, "more of a background" },
        { 64, 0x7fc00000, "a bias that is not a number" },
        { 96, 0x7f800000, "a gate that is infinite" }
    };

    test_section_strange(&memories, rows, sizeof rows / sizeof rows[0]);
    test_section_of_another(&memories, "INGOTLRN", "is a file of lessons, not what is remembered");
}

/* Memories and saves, with lost power at any sector. */
static void test_power(void)
{
    struct section_power p = { 0 };

    insert_blank_card();
    open_fabric();
    for (unsigned i = 0; i < SAVES; i++) {
        remember((enum fabric_name)draw(FABRIC_SPACES), draw(1000));
        section_save_or_lose(&memories, &p);
    }
    OK(p.wrong == 0 && p.cut > 20 && p.old > 5 && p.new > 20,
       "after %u power losses the card has %u times the old memories, %u times the new (%u wrong)",
       p.cut, p.old, p.new, p.wrong);
}

int main(void)
{
    section_begin();
    test_there_and_back();
    test_clock();
    test_clock_of_lessons();
    test_smaller();
    test_strange();
    test_power();
    return tap_done();
}
