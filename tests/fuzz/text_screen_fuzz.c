/* Any bytes, in portions, to a text screen whose size the first bytes give: the cursor stays on it, its
 * cells are printable, and a cell that is not marked as changed is the same as before, `moved` rows
 * further down. The cells do not depend on the cuts. */
#include <stdlib.h>
#include <string.h>

#include "runtime/screen/glyphs.h"
#include "runtime/screen/text_screen.h"
#include "runtime/text/shown_text.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void must(bool condition)
{
    if (!condition) {
        abort();
    }
}

static void check(const struct text_screen *t)
{
    struct text_place at = text_screen_cursor(t);

    must(at.row < t->rows && at.column < t->columns && t->at.column <= t->columns &&
         t->moved <= t->rows);
    must(t->word <= t->at.column);
    for (uint32_t row = 0; row < t->rows; row++) {
        for (uint32_t column = 0; column < t->columns; column++) {
            const struct text_cell *cell = text_screen_cell(t, row, column);

            must(cell->front < TEXT_COLOURS && cell->back < TEXT_COLOURS && cell->code <= 0x10ffff);
            must(cell->code == 0 || !char_is_control(cell->code));
            must(glyph_rows(cell->code) != NULL);
        }
    }
}

/* The screen of a caller that draws only changes. */
static void draw_changes(struct text_screen *t, struct text_cell *seen)
{
    memmove(seen, seen + (size_t)t->moved * t->columns,
            (size_t)(t->rows - t->moved) * t->columns * sizeof *seen);
    t->moved = 0;
    for (uint32_t row = 0; row < t->rows; row++) {
        struct text_row *changed = text_screen_changed(t, row);

        must(changed->from <= changed->to && changed->to <= t->columns);
        for (uint32_t column = changed->from; column < changed->to; column++) {
            seen[row * t->columns + column] = *text_screen_cell(t, row, column);
        }
        changed->from = changed->to = 0;
        for (uint32_t column = 0; column < t->columns; column++) {
            const struct text_cell *a = text_screen_cell(t, row, column),
                                   *b = &seen[row * t->columns + column];

            must(a->code == b->code && a->front == b->front && a->back == b->back);
        }
    }
}

static struct text_cell *shown(const uint8_t *data, size_t size, size_t portion, uint32_t columns,
                               uint32_t rows)
{
    size_t cells = (size_t)columns * rows;
    struct text_cell *memory = malloc(text_screen_bytes(columns, rows));
    struct text_cell *seen = calloc(cells, sizeof *seen);
    struct text_screen t;

    must(memory != NULL && seen != NULL);
    text_screen_open(&t, columns, rows, memory);
    for (size_t i = 0; i < size; i += portion) {
        text_screen_put(&t, (const char *)data + i, size - i < portion ? size - i : portion);
        draw_changes(&t, seen);
    }
    draw_changes(&t, seen);
    check(&t);
    free(memory);
    return seen;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct text_cell *whole, *cut;
    uint32_t columns, rows;

    if (size < 3 || size > 4096) {
        return 0;
    }
    columns = TEXT_SCREEN_MIN_COLUMNS + data[0] % 40u;
    rows = 1 + data[1] % 12u;
    whole = shown(data + 2, size - 2, size, columns, rows);
    cut = shown(data + 2, size - 2, 1 + data[2] % 9u, columns, rows);
    for (size_t i = 0; i < (size_t)columns * rows; i++) {
        must(whole[i].code == cut[i].code && whole[i].front == cut[i].front &&
             whole[i].back == cut[i].back);
    }
    free(whole);
    free(cut);
    return 0;
}
