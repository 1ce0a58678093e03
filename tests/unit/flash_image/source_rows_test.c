/* The place of the rows of a source tensor: one after another, in runs, transposed, and in a stack
 * of matrices with others between them. */
#include "flash_image/quantize/source_rows.h"

#include <string.h>

#include "flash_image/quantize/rows.h"
#include "flash_image/source/source.h"
#include "tests/unit/tap.h"

enum { COLS = 64, ROWS = 24, BLOCK_BYTES = 34, ROW_BYTES = COLS / 32 * BLOCK_BYTES };

static uint8_t floats[ROWS * COLS * 4], blocks[ROWS * ROW_BYTES];

/* Row r of both has r + 1 in its first column and zeros after it; in blocks this is 1 times a
 * scale. */
static void fill(void)
{
    for (unsigned r = 0; r < ROWS; r++) {
        float first = (float)(r + 1);
        uint8_t *block = blocks + (size_t)r * ROW_BYTES;

        memcpy(floats + (size_t)r * COLS * 4, &first, 4);
        block[0] = 0x00;
        block[1] = 0x3c; /* 1.0 as fp16 */
        block[2] = (uint8_t)(r + 1);
    }
}

static unsigned first_of(const struct source_tensor *t, uint32_t row)
{
    float out[COLS];

    source_read_row(t, row, out);
    return (unsigned)out[0];
}

/* Heads of 4 rows, query and gate in turn. */
static void test_runs(const uint8_t *data, enum source_type type)
{
    struct source_tensor query = {
        .data = data, .rows = ROWS / 2, .cols = COLS, .type = type, .run = 4, .run_step = 8
    };
    struct source_tensor gate = query;

    gate.data += source_type_bytes(type, (uint64_t)4 * COLS);
    OK(first_of(&query, 0) == 1 && first_of(&query, 3) == 4, "the rows of the first run are found");
    OK(first_of(&query, 4) == 9 && first_of(&query, 11) == 20,
       "the rows of the next runs are found");
    OK(first_of(&gate, 0) == 5 && first_of(&gate, 4) == 13 && first_of(&gate, 11) == 24,
       "rows of the other matrix are read");
    /* The end is the last row's, and not that of a run which is missing. */
    OK(source_row_data(&gate, gate.rows) == data + source_type_bytes(type, ROWS * COLS),
       "the end of a matrix is the end of its last row");
}

/* Packed in the file's own type: rows of one group come from two runs. */
static void test_packed_runs(void)
{
    static float row[256];
    static uint8_t space[8 * ROW_BYTES], group[8 * 256 * 4];
    const struct rows_buffers b = { .row = row, .blocks = space, .group = group };
    struct source_tensor query = {
        .data = blocks, .rows = ROWS / 2, .cols = COLS, .type = SOURCE_Q8_0, .run = 4, .run_step = 8
    };
    struct source_tensor plain = { .rows = 8, .cols = COLS, .type = SOURCE_Q8_0 };
    uint8_t together[8 * ROW_BYTES], expected[sizeof group];
    const char *error_message = NULL;
    size_t n;

    memcpy(together, blocks, 4 * ROW_BYTES);
    memcpy(together + 4 * ROW_BYTES, blocks + 8 * ROW_BYTES, 4 * ROW_BYTES);
    plain.data = together;
    n = rows_pack_group(&plain, INGOT_Q8_0, 0, &b, &error_message);
    memcpy(expected, group, n);
    OK(n != 0 && rows_pack_group(&query, INGOT_Q8_0, 0, &b, &error_message) == n,
       "a group is packed from two runs");
    OK(memcmp(group, expected, n) == 0,
       "a group of two runs has the bytes of rows that follow each other");
}

/* Two matrices of 3 rows for each of 4 experts. */
static void test_stacks(const uint8_t *data, enum source_type type)
{
    struct source_tensor gates = {
        .data = data, .rows = 3, .cols = COLS, .type = type, .stack = 4, .stack_step = 6
    };
    struct source_tensor alone = {
        .data = data, .rows = 6, .cols = COLS, .type = type, .stack = 4
    };
    struct source_tensor one = source_expert(&gates, 3), other = source_expert(&alone, 2);

    OK(one.stack == 0 && one.stack_step == 0 && one.rows == 3, "a matrix of a stack stands alone");
    OK(first_of(&one, 0) == 19 && first_of(&one, 2) == 21, "one expert of fused ones is read");
    OK(first_of(&other, 0) == 13 && first_of(&other, 5) == 18,
       "an expert is found among those that follow each other");
}

static void test_transposed(void)
{
    struct source_tensor t = { .data = floats, .rows = COLS, .cols = ROWS, .stride = COLS };
    float out[ROWS];

    source_read_row(&t, 0, out);
    OK((unsigned)out[0] == 1 && (unsigned)out[ROWS - 1] == ROWS, "a transposed row is read");
}

int main(void)
{
    fill();
    test_runs(floats, SOURCE_F32);
    test_runs(blocks, SOURCE_Q8_0);
    test_packed_runs();
    test_stacks(floats, SOURCE_F32);
    test_stacks(blocks, SOURCE_Q8_0);
    test_transposed();
    return tap_done();
}
