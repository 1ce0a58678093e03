/* Rows of a streamed embedding: a row that arrived wrong is not kept, and the row that was there
 * before it is not taken for it. */
#include "tests/unit/rig_expected.h"

static uint64_t row_sector(uint32_t token)
{
    uint64_t offset;
    size_t bytes;

    plan_embedding_range(&rig.model.image, token, &offset, &bytes);
    return (offset + bytes / 2) / SECTOR_BYTES; /* whole in the row, whatever bit of it flips */
}

/* The first token again, after another one's row came wrong into the only place there is. */
static void test_place(void)
{
    const struct stream_stats *f = &rig.model.stream.stats;
    uint64_t kept, read;

    if (rig_start(rig_limits().least, 0, false) != ERR_OK)
        rig_die(rig.model.error_message);
    rig.model.plan.rows.n = 1;
    OK(row_sector(ids[0]) != row_sector(ids[1]), "the rows of two tokens lie apart");
    OK(append(0), "the first token is appended");
    session_clear(&rig.session);
    kept = f->rows_kept;
    OK(append(0) && f->rows_kept == kept + 1, "the first token again uses the kept row");
    rig.flip_sector = (long)row_sector(ids[1]);
    rig.flip_times = 1000;
    OK(rig_append(&ids[1], 1, NULL) == ERR_BAD_CHECKSUM,
       "a row of the second token that is wrong is an error");
    rig.flip_times = 0;
    session_clear(&rig.session);
    read = f->rows_read;
    OK(append(0) && f->rows_read == read + 1,
       "the row of the first token is read again, and is right");
    OK(append(1), "the second token's row is read anew, and is right");
}

/* A row that arrives wrong three times is right at the fourth; one more is an error. */
static void test_rereads(void)
{
    const struct stream_stats *f = &rig.model.stream.stats;

    (void)rig_start(rig_limits().least, 0, false);
    rig.flip_sector = (long)row_sector(ids[0]);
    rig.flip_times = 3;
    OK(append(0) && f->reread == 3 && rig.flip_times == 0,
       "a flipped bit is read again three times");
    (void)rig_start(rig_limits().least, 0, false);
    rig.flip_sector = (long)row_sector(ids[0]);
    rig.flip_times = 5;
    OK(rig_append(&ids[0], 1, NULL) == ERR_BAD_CHECKSUM && rig.flip_times == 1,
       "a flipped bit is read no more than three times");
}

int main(void)
{
    rig_alone();
    rig_compute(false);
    rig_make_model("untied", INGOT_Q8_0);
    set_expected();
    test_place();
    test_rereads();
    return tap_done();
}
