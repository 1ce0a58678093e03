/* Experience on a card: another start chooses with the same bits; lost power at a save leaves the
 * earlier experience or the new one; a contradictory file is refused, and none of it is
 * believed. */
#include "runtime/features/policy/chat_policy.h"

#include "tests/unit/chat/chat_rig.h"
#include "tests/unit/chat/saved_chat_rig.h"

enum { SAVES = 60 };

static unsigned draws = 1;

static unsigned draw(unsigned below)
{
    draws = draws * 1103515245u + 12345u;
    return (draws >> 16) % below;
}

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
       "%s", saved.error_message);
    OK(load_seen() == ERR_NOT_FOUND, "%s", saved.error_message);
    for (unsigned i = 0; i < 9; i++)
        turn(i);
    OK(save_seen() == ERR_OK && experience()->totals.turns == 9 && !experience()->is_open,
       "nine turns are saved, the last is judged before");
    before = seen();
    chat_clear(&chat);
    turn(9);
    experience_settle(experience());
    after = seen();
    open_policy();
    OK(seen() != before && load_seen() == ERR_OK && seen() == before,
       "another start has it, to the bit");
    turn(9);
    experience_settle(experience());
    OK(seen() == after, "the next turn has the same bits as without the restart");
    OK(chat_policy_bytes(&chat) > 2 * (uint64_t)PATTERNS_MOST * experience()->patterns.dim * 4,
       "the file is for all patterns there can be");
}

/* The card's data contradicts itself, with right CRCs. */
static void test_strange(void)
{
    enum { COUNTS = sizeof(struct experience_totals), WEIGHTS = COUNTS + 12 };
    static const struct {
        size_t at;
        uint32_t value;
        const char *what;
    } rows[] = {
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
    struct saved_chat_header *h = (void *)card_data;

    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        insert_blank_card();
        open_policy();
        for (unsigned k = 0; k < 4; k++)
            turn(k);
        if (save_seen() != ERR_OK)
            rig_die(saved.error_message);
        memmove(card_data, card_data + FILE_BYTES / 2, FILE_BYTES / 2);
        memset(card_data + FILE_BYTES / 2, 0, FILE_BYTES / 2);
        change_saved(rows[i].at, rows[i].value, h->version);
        OK(load_seen() == ERR_BAD_MODEL &&
               strstr(saved.error_message, "contradicts itself") != NULL &&
               saved.before == SAVED_CHAT_LOST && experience()->patterns.n == 0 &&
               experience()->totals.turns == 0,
           "%s: %s", rows[i].what, saved.error_message);
    }
    memcpy(card_data, "INGOTLRN", 8);
    change_saved(WEIGHTS, 0, h->version);
    OK(load_seen() == ERR_NOT_FOUND, "lessons are not policy: %s", saved.error_message);
}

/* Turns and saves, with lost power at any sector. */
static void test_power(void)
{
    unsigned cut = 0, old = 0, new = 0, wrong = 0;
    uint32_t kept = 0;
    bool any = false;

    insert_blank_card();
    open_policy();
    for (unsigned i = 0; i < SAVES; i++) {
        uint32_t now;
        enum err e;

        chat_clear(&chat);
        turn(draw(100));
        experience_settle(experience());
        now = seen();
        insert_card(FILE_BYTES);
        if (draw(2) == 0) {
            card.sectors_left = (long)draw(80);
            cut++;
        }
        e = save_seen();
        insert_card(FILE_BYTES);
        open_policy();
        if (e != ERR_OK && !any && load_seen() == ERR_NOT_FOUND)
            continue;
        wrong += load_seen() != ERR_OK;
        if (seen() == now) {
            kept = now;
            any = true;
            new ++;
        } else if (any && seen() == kept && e != ERR_OK)
            old++;
        else
            wrong++;
    }
    OK(wrong == 0 && cut > 20 && old > 5 && new > 20,
       "power lost %u times: %u times what was before, %u times what is new (%u wrong)", cut, old,
       new, wrong);
}

int main(void)
{
    rig_alone();
    rig_compute(false);
    rig_make_model("tiny", INGOT_Q8_0);
    put_template(test_template);
    test_there_and_back();
    test_strange();
    test_power();
    return tap_done();
}
