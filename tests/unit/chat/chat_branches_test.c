/* Lines of a conversation kept by name: random turns, branches, switches, retries and undos against
 * a record of every line's tokens, and the cache against the same tokens computed afresh. */
#include "runtime/features/branches/chat_branches.h"

#include "tests/unit/chat/chat_rig.h"

enum { N_BRANCHES = 3, LINES = N_BRANCHES + 1, STEPS = 10000, MOST_IDS = 512, MOST_TILES = 8 };

/* Makes the expected contents of a line. */
struct line {
    char name[CHAT_BRANCH_NAME_BYTES]; /* "": none */
    uint32_t ids[MOST_IDS], n;
    unsigned turns;
};

static struct line lines[LINES]; /* the first is the current line */
static uint32_t seed = 20261123;
static unsigned n_refused, n_kept, n_switched, n_pending, n_dropped, n_shared;

static uint32_t draw(uint32_t n)
{
    seed ^= seed << 13;
    seed ^= seed >> 17;
    seed ^= seed << 5;
    return seed % n;
}

static struct line *line_of(const char *name)
{
    for (unsigned i = 0; i < LINES; i++) {
        if (strcmp(lines[i].name, name) == 0)
            return &lines[i];
    }
    return NULL;
}

static void record(void)
{
    lines[0].n = rig.session.n_ids;
    lines[0].turns = chat.turns.n;
    memcpy(lines[0].ids, rig.session.ids, lines[0].n * sizeof *lines[0].ids);
}

static bool has(const struct line *l, const uint32_t *ids, uint32_t n, unsigned turns)
{
    return l != NULL && l->n == n && l->turns == turns && memcmp(l->ids, ids, n * sizeof *ids) == 0;
}

/* Checks that every line is as recorded, and that no line is without a record. */
static bool all_right(void)
{
    unsigned n = 0, recorded = 0;

    if (strcmp(branches_of(&chat)->current, lines[0].name) != 0 ||
        !has(&lines[0], rig.session.ids, rig.session.n_ids, chat.turns.n))
        return false;
    for (unsigned i = 1; i < LINES; i++)
        recorded += lines[i].name[0] != '\0';
    for (unsigned i = 0; i < branches_of(&chat)->n; i++) {
        const struct chat_branch *b = branches_of(&chat)->list[i];

        if (b->name[0] == '\0')
            continue;
        n++;
        if (!has(line_of(b->name), b->sequence.ids, b->sequence.n_ids, b->turns.n))
            return false;
    }
    return n == recorded;
}

/* Checks that each place of keys and values has as many holders as it counts, or is on the free
 * list once. */
static bool places_right(void)
{
    const struct kv_pool *p = rig.session.kv.pool;
    uint32_t holders[MOST_TILES] = { 0 }, n_free[MOST_TILES] = { 0 };

    for (uint32_t i = 0; i < p->n_tables; i++) {
        for (uint32_t j = 0; j < p->tables[i].n; j++)
            holders[p->tables[i].slots[j]]++;
        n_shared += i != 0 && p->tables[i].n != 0;
    }
    for (uint32_t i = 0; i < p->n_free; i++)
        n_free[p->free[i]]++;
    for (uint32_t i = 0; i < p->n_slots; i++) {
        if (holders[i] != p->owners[i] || n_free[i] != (holders[i] == 0))
            return false;
    }
    return true;
}

static void turn(void)
{
    static const char *const said[] = { "bade", "gogo", "fine bade" };

    if (rig.session.n_ids > 150)
        chat_clear(&chat);
    if (say(said[draw(3)], true) != ERR_OK)
        rig_die("a turn failed");
    record();
}

static void branch(void)
{
    char name[CHAT_BRANCH_NAME_BYTES];
    struct line *slot = line_of("");

    snprintf(name, sizeof name, "b%u", (unsigned)draw(8));
    if (chat_branch(&chat, name) != ERR_OK) {
        n_refused++;
        return;
    }
    *slot = lines[0];
    memcpy(lines[0].name, name, sizeof name);
}

static void change(void)
{
    struct line *to = &lines[draw(LINES)], was = lines[0];
    uint32_t pending;
    char name[CHAT_BRANCH_NAME_BYTES];

    memcpy(name, to->name, sizeof name);
    if (chat_switch(&chat, name, &pending) != ERR_OK) {
        n_refused++;
        return;
    }
    n_switched++;
    n_pending += pending != 0;
    lines[0] = *to;
    *to = was;
}

static void retry(void)
{
    struct line before = lines[0], *gone, *slot;
    const char *name = NULL;

    if (chat.turns.n == 0)
        return;
    name = chat_branch_retried(&chat);
    if (name != NULL) {
        n_kept++;
        slot = line_of("");
        for (unsigned i = 1; i < LINES && slot == NULL; i++) { /* whose name no longer exists */
            gone = &lines[i];
            for (unsigned k = 0; k < branches_of(&chat)->n; k++) {
                if (strcmp(branches_of(&chat)->list[k]->name, lines[i].name) == 0)
                    gone = NULL;
            }
            slot = gone;
        }
        *slot = before;
        memcpy(slot->name, name, strlen(name) + 1);
    }
    if (chat_retry(&chat) != ERR_OK)
        rig_die("a retry failed");
    record();
}

static void drop(void)
{
    struct line *l = &lines[draw(LINES)];
    char name[CHAT_BRANCH_NAME_BYTES];

    memcpy(name, l->name, sizeof name);
    if (chat_branch_drop(&chat, name) != ERR_OK) {
        n_refused++;
        return;
    }
    n_dropped++;
    l->name[0] = '\0';
}

static void step(void)
{
    switch (draw(10)) {
    case 0: branch(); break;
    case 1: retry(); break;
    case 2: drop(); break;
    case 3:
        (void)chat_undo(&chat);
        record();
        break;
    case 4: turn(); break;
    default: change();
    }
}

static void test_random(void)
{
    unsigned wrong = 0, untrue = 0, compared = 0, misplaced = 0;

    for (unsigned i = 0; i < STEPS; i++) {
        step();
        wrong += !all_right();
        misplaced += !places_right();
        if (i % 50 == 0 && rig.session.n_cached != 0) {
            compared++;
            untrue += !cache_is_true();
            record();
        }
    }
    OK(wrong == 0, "%u steps: every line keeps its tokens and turns", (unsigned)STEPS);
    OK(misplaced == 0 && n_shared > STEPS, "no place is lost, or shared by more than it counts");
    OK(untrue == 0 && compared > 150,
       "the cache is that of the branches, but for %u of %u compared", untrue, compared);
    OK(n_refused > 100 && n_kept > 50 && n_switched > 500 && n_pending > 100 && n_dropped > 50,
       "%u commands are refused, %u retries kept, %u switches (%u compute tokens), %u dropped",
       n_refused, n_kept, n_switched, n_pending, n_dropped);
}

static void test_names(void)
{
    static const char *const bad[] = { "", "a b", "x/y", "123456789012345678901234", "\xc3\xa4" };
    uint32_t pending;
    unsigned refused = 0;

    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++)
        refused += chat_branch(&chat, bad[i]) == ERR_BAD_ARGUMENT;
    OK(refused == sizeof bad / sizeof bad[0], "names that cannot be typed again are refused");
    OK(chat_branch(&chat, "main") == ERR_BUSY && chat_branch(&chat, "a") == ERR_OK &&
           chat_branch(&chat, "main") == ERR_BUSY,
       "the name of an existing branch is refused");
    OK(chat_branch(&chat, "b") == ERR_OK && chat_branch(&chat, "c") == ERR_OK &&
           chat_branch(&chat, "d") == ERR_NO_SPACE && chat_branch_retried(&chat) == NULL,
       "there is room for three, which /retry does not take");
    OK(chat_switch(&chat, "", &pending) == ERR_NOT_FOUND &&
           chat_branch_drop(&chat, "") == ERR_NOT_FOUND && chat_branch_drop(&chat, "c") == ERR_BUSY,
       "a branch that does not exist, or is at work, is neither taken nor dropped");
}

int main(void)
{
    rig_alone();
    rig_compute(false);
    rig.kept_sequences = N_BRANCHES;
    rig.line_bytes = chat_branch_bytes();
    rig_make_model("tiny", INGOT_Q8_0);
    put_template(test_template);
    start_over(3);
    test_names();
    start_over(3);
    memcpy(lines[0].name, "main", sizeof "main");
    test_random();
    return tap_done();
}
