/* All layers stay in memory and only tiles of the head stream: a failure or damage there is named,
 * whole tokens are kept, and the next request is right. */
#include "tests/unit/rig_expected.h"

enum { MOST_TRIES = 4, BACK = 2 }; /* of a request and of a part; tokens before the fault */

/* The least limit with which all layers stay and tiles stream, and the greatest; 0: there is none.
 * Without rates layers come first, and the head gets the rest. */
struct head_limits {
    size_t least, most;
};

static bool is_head_alone(void)
{
    const struct plan *plan = &rig.model.plan;

    return plan->residency == PLAN_STREAMED && plan->layers.n_streamed == 0 && plan->head.tiled;
}

static struct head_limits find_limits(void)
{
    struct head_limits l = { 0 };

    for (size_t limit = SECTOR_BYTES; limit < rig.packed_bytes; limit += SECTOR_BYTES) {
        if (rig_open(limit, 0, false) != ERR_OK || !is_head_alone())
            continue;
        if (l.least == 0)
            l.least = limit;
        l.most = limit;
    }
    return l;
}

static void start(size_t limit)
{
    if (rig_start(limit, 0, false) != ERR_OK || !is_head_alone())
        rig_die("the head does not stream alone");
}

/* The first tokens are right. */
static bool begin(size_t limit)
{
    bool equal = true;

    start(limit);
    for (uint32_t i = 0; i < BACK; i++)
        equal = append(i) && equal;
    return equal;
}

static bool goes_on(void)
{
    bool equal = true;

    for (uint32_t i = BACK; i < N_TOKENS; i++)
        equal = append(i) && equal;
    return equal;
}

/* Runs once more from an empty session, all tokens in one request; checks the last one's logits. */
static bool prompt_is_right(void)
{
    return session_cut(&rig.session, 0) == ERR_OK && rig_append(ids, N_TOKENS, NULL) == ERR_OK &&
           memcmp(rig.session.logits, expected[N_TOKENS - 1], rig_logits_bytes()) == 0;
}

/* A sector of the middle of tile number i. */
static long sector_of(uint32_t i)
{
    struct plan_tile tile;

    plan_head_tile(&rig.model.plan, &rig.model.image, i, &tile);
    return (long)((tile.offset + tile.bytes / 2) / SECTOR_BYTES);
}

/* The error message names the file and the part, and a sector where the device knows it. */
static bool is_named(bool with_sector)
{
    const struct session *s = &rig.session;
    bool tied = s->model->image.header->params.tied;
    char part[32];

    image_segment_name(&s->model->image, tied ? 0 : s->model->image.header->params.n_layers + 1,
                       part, sizeof part);
    return strstr(s->error_message, "models/made-up.ingot: ") == s->error_message &&
           strstr(s->error_message, part) != NULL &&
           (strstr(s->error_message, "sector ") != NULL) == with_sector;
}

static bool is_left(void)
{
    return rig.session.n_cached == BACK && rig.session.logits == NULL && rig.fake.n_pending == 0;
}

static void test_failing(size_t limit, const char *form, uint32_t tile)
{
    const struct stream_stats *f = &rig.model.stream.stats;
    bool right = begin(limit);

    rig.fake.fail_sector = sector_of(tile);
    rig.fake.fail_times = FILE_READ_RETRIES;
    OK(right && goes_on() && f->retries == FILE_READ_RETRIES && rig.fake.fail_times == 0,
       "%s, tile %u that fails three times is read again, and is right", form, (unsigned)tile);
    right = begin(limit);
    rig.fake.fail_sector = sector_of(tile);
    rig.fake.fail_times = 1000;
    OK(right && rig_append(&ids[BACK], 1, NULL) == ERR_IO && is_left() && is_named(true),
       "a tile that always fails is reported: %s", rig.session.error_message);
    OK(rig_append(&ids[BACK], 1, NULL) == ERR_IO && is_left() && is_named(true),
       "the next request fails in the same way");
    rig.fake.fail_times = 0;
    OK(goes_on() && prompt_is_right(),
       "the logits are those of an undisturbed run when the card is well again");
}

static void test_damaged(size_t limit, const char *form, uint32_t tile)
{
    const struct stream_stats *f = &rig.model.stream.stats;
    bool right = begin(limit);

    rig.flip_sector = sector_of(tile);
    rig.flip_times = MOST_TRIES - 1;
    OK(right && goes_on() && f->reread == MOST_TRIES - 1 && rig.flip_times == 0,
       "%s, a bit of tile %u that flips three times is read again, and is right", form,
       (unsigned)tile);
    right = begin(limit);
    rig.flip_sector = sector_of(tile);
    rig.flip_times = MOST_TRIES;
    OK(right && rig_append(&ids[BACK], 1, NULL) == ERR_BAD_CHECKSUM && is_left() &&
           is_named(false) && rig.flip_times == 0,
       "a bit that flips four times is reported: %s", rig.session.error_message);
    OK(goes_on() && prompt_is_right(), "the next request is right");
}

/* The device falls silent and its reset does not help. */
static void test_silent(size_t limit, const char *form)
{
    bool right;

    rig.patience = 2000;
    right = begin(limit);
    rig.fake.silent = true;
    OK(right && rig_append(&ids[BACK], 1, NULL) == ERR_TIMEOUT && is_left() && is_named(true),
       "%s: a silent card is reported: %s", form, rig.session.error_message);
    rig.fake.silent = false;
    OK(goes_on() && prompt_is_right(), "the tokens after the error are right");
    rig.patience = 0;
}

/* A prompt passes the tiles once: none of its tokens stays, and its logits are right the second
 * time. */
static void test_prompt(size_t limit, const char *form)
{
    start(limit);
    rig.fake.fail_sector = sector_of(rig.model.plan.head.n_tiles - 1);
    rig.fake.fail_times = 1000;
    OK(rig_append(ids, N_TOKENS, NULL) == ERR_IO && is_named(true) && rig.session.logits == NULL &&
           rig.fake.n_pending == 0,
       "%s: an error in a prompt is reported: %s", form, rig.session.error_message);
    rig.fake.fail_times = 0;
    OK(prompt_is_right(), "the next prompt is right");
}

static void test_form(size_t limit, const char *form)
{
    uint32_t n;

    start(limit);
    n = rig.model.plan.head.n_tiles;
    for (uint32_t i = 0; i<n; i += n> 1 ? n - 1 : 1) {
        test_failing(limit, form, i);
        test_damaged(limit, form, i);
    }
    test_silent(limit, form);
    test_prompt(limit, form);
}

static void test_model(const char *shape)
{
    struct head_limits limits;
    char form[64];

    rig_make_model(shape, INGOT_Q8_0);
    set_expected();
    limits = find_limits();
    start(limits.most);
    OK(limits.least < limits.most && rig.model.plan.head.first_row != 0,
       "%s: only the head streams from %u to %u bytes, in the end beside %u rows that stay", shape,
       (unsigned)limits.least, (unsigned)limits.most, (unsigned)rig.model.plan.head.first_row);
    start(limits.least);
    snprintf(form, sizeof form, "%s, %u tiles", shape, (unsigned)rig.model.plan.head.n_tiles);
    test_form(limits.least, form);
    start(limits.most);
    snprintf(form, sizeof form, "%s, %u rows stay, %u tiles", shape,
             (unsigned)rig.model.plan.head.first_row, (unsigned)rig.model.plan.head.n_tiles);
    test_form(limits.most, form);
}

int main(void)
{
    rig_alone();
    rig_compute(false);
    test_model("headed");
    return tap_done();
}
