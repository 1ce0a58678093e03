/* Experience on a card: another start chooses with the same bits; lost power at a save leaves the
 * earlier experience or the new one; a contradictory file is refused, and none of it is
 * believed. */
#include "runtime/features/policy/chat_policy.h"

#include "tests/unit/chat/saved_section_rig.h"

enum { SAVES = 60 };

static struct experience *experience(void)
{
    return &policy_of(&chat)->experience;
}

static void open_policy(void)
{
    rig.watches = true;
    start_over(4);
    options.load.policy = POLICY_ON;
    chat_policy_open(&chat);
    /* The experience of the start before is gone. */
    memset(experience()->turns, 0x11, EXPERIENCE_TURNS * sizeof(struct trajectory));
    memset(experience()->patterns.keys, 0x11,
           PATTERNS_MOST * experience()->patterns.dim * sizeof(float));
}

static void turn(unsigned i)
{
    char line[40];

    snprintf(line, sizeof line, i % 2 ? "what is %u?" : "tell me of number %u", i);
    if (say(line, true) != ERR_OK)
        rig_die(text);
    if (i % 3 != 0)
        (void)chat_policy_rate(&chat, i % 3 == 1);
}

/* Hashes everything that a choice depends on. */
static uint32_t seen(void)
{
    const struct experience *e = experience();
    uint32_t crc = crc32c(0, &e->totals, sizeof e->totals);

    crc = crc32c(crc, &e->policy.weights, sizeof e->policy.weights);
    crc = crc32c(crc, e->turns, e->n * sizeof *e->turns);
    crc = crc32c(crc, &e->next, sizeof e->next);
    crc = crc32c(crc, e->patterns.keys, (size_t)e->patterns.n * e->patterns.dim * sizeof(float));
    return crc32c(crc, e->patterns.list, e->patterns.n * sizeof *e->patterns.list);
}

static enum err save_seen(void)
{
    return chat_policy_save(&chat, &saved, &file, NULL, NULL);
}

static enum err load_seen(void)
{
    return chat_policy_load(&chat, &saved, &file, NULL, NULL);
}

static void test_there_and_back(void)
{
    uint32_t before, after;

    insert_blank_card();
    open_policy();
    OK(save_seen() == ERR_BAD_ARGUMENT &&
           strstr(saved.error_message, "nothing has been learnt") != NULL,
       "nothing is saved if nothing was learnt: %s", saved.error_message);
    OK(load_seen() == ERR_NOT_FOUND, "nothing is loaded from a blank file: %s",
       saved.error_message);
    for (unsigned i = 0; i < 9; i++)
        turn(i);
    OK(save_seen() == ERR_OK && experience()->totals.turns == 9 && !experience()->is_open,
       "nine turns are saved, and the last is judged before that");
    before = seen();
    chat_clear(&chat);
    turn(9);
    experience_settle(experience());
    after = seen();
    open_policy();
    OK(seen() != before && load_seen() == ERR_OK && seen() == before,
       "another start has the experience, to the bit");
    turn(9);
    experience_settle(experience());
    OK(seen() == after, "the next turn has the same bits as without the restart");
    OK(chat_policy_bytes(&chat) > 2 * (uint64_t)PATTERNS_MOST * experience()->patterns.dim * 4,
       "the file is for all patterns there can be");
}

static void fill(void)
{
    for (unsigned i = 0; i < 4; i++)
        turn(i);
}

static bool is_empty(void)
{
    return experience()->patterns.n == 0 && experience()->totals.turns == 0;
}

static const struct section judged = { .open = open_policy,
                                       .fill = fill,
                                       .hash = seen,
                                       .save = save_seen,
                                       .load = load_seen,
                                       .is_empty = is_empty,
                                       .most_sectors = 80 };

static void test_strange(void)
{
    enum { COUNTS = sizeof(struct experience_totals), WEIGHTS = COUNTS + 12 };
    static const struct section_fault rows[] = {
        { COUNTS, EXPERIENCE_TURNS + 1, "more turns than there is room for" },
        { COUNTS + 4, EXPERIENCE_TURNS, "a turn after the last" },
        { COUNTS + 8, PATTERNS_MOST + 1, "more patterns than there is room for" },
        { COUNTS + 8, 0, "other patterns than the header's" },
        { WEIGHTS, 0x7fc00000, "a weight that is not a number" },
        { WEIGHTS, 0x44800000, "one of 1024" },
        { WEIGHTS + sizeof(struct policy_weights), 0x7f800000, "an input that is infinite" },
        { WEIGHTS + sizeof(struct policy_weights) + offsetof(struct trajectory, choice), 0x00000007,
          "a choice that there is not" },
        { WEIGHTS + sizeof(struct policy_weights) + offsetof(struct trajectory, quality),
          0x40000000, "a quality of 2" },
        { WEIGHTS + sizeof(struct policy_weights) + EXPERIENCE_TURNS * sizeof(struct trajectory),
          0x41200000, "a direction that is long" }
    };

    test_section_strange(&judged, rows, sizeof rows / sizeof rows[0]);
    test_section_of_another(&judged, "INGOTLRN", "is a file of lessons, not ");
}

/* Turns and saves, with lost power at any sector. */
static void test_power(void)
{
    struct section_power p = { 0 };

    insert_blank_card();
    open_policy();
    for (unsigned i = 0; i < SAVES; i++) {
        chat_clear(&chat);
        turn(draw(100));
        experience_settle(experience());
        section_save_or_lose(&judged, &p);
    }
    OK(p.wrong == 0 && p.cut > 20 && p.old > 5 && p.new > 20,
       "after %u power losses the card has %u times the old experience, %u times the new (%u "
       "wrong)",
       p.cut, p.old, p.new, p.wrong);
}

int main(void)
{
    section_begin();
    test_there_and_back();
    test_strange();
    test_power();
    return tap_done();
}
