/* Show the progress of a wait: one redrawn line on a terminal, otherwise a new line now and
 * then. */
#include <string.h>

#include "board/min_max.h"
#include "runtime/console/console_json.h"
#include "runtime/console/console_private.h"
#include "runtime/text/char_width.h"
#include "runtime/text/format_text.h"

enum {
    PROGRESS_FIRST_MS = 500,
    PROGRESS_STEP_MS = 100,
    PROGRESS_BYTES = 120,
    PLAIN_FIRST_MS = 1000,
    PLAIN_STEP_MS = 5000,
    PLAIN_STEP_PART = 8, /* the next line comes after 1 / 8 of the elapsed time */
};

static unsigned percent_of(uint64_t done, uint64_t total)
{
    if (done >= total) {
        return 100;
    }
    if (total < UINT64_MAX / 100) {
        return (unsigned)(done * 100 / total);
    }
    return (unsigned)(done / (total / 100));
}

static void progress_text(const struct console_wait *w, uint64_t ms, char line[PROGRESS_BYTES])
{
    char done[FORMAT_NUMBER_BYTES];
    char total[FORMAT_NUMBER_BYTES];
    uint64_t waited = ms - w->start_ms;
    size_t width = format_text(line, PROGRESS_BYTES, "[%5llu.%03u] %.40s: %u %%",
                               (unsigned long long)(ms / 1000), (unsigned)(ms % 1000), w->label,
                               percent_of(w->done, w->total));

    if (w->counts_bytes) {
        width += format_text(line + width, PROGRESS_BYTES - width, ", %s of %s",
                             format_bytes(done, w->done), format_bytes(total, w->total));
        width += format_text(line + width, PROGRESS_BYTES - width, ", %s MB/s",
                             format_ratio(done, w->done, waited * 1000, 1));
    }
    if (w->done > 0 && w->done < w->total) {
        uint64_t left = waited * (w->total - w->done) / w->done;

        format_text(line + width, PROGRESS_BYTES - width, ", %s s left",
                    format_milli(done, left, 0));
    }
}

static void tell_event(struct console *c)
{
    console_event_begin(c, "'progress','percent':%u,'text':'",
                        percent_of(c->wait.done, c->wait.total));
    console_write(c, c->wait.label, strlen(c->wait.label));
    console_event_end(c);
}

/* The text of one row of the terminal, cut at its width. */
struct row {
    struct console *console;
    size_t width, most;
};

/* Add one whole character to the row. */
static void put_in_row(void *context, const char *text, size_t bytes)
{
    struct row *row = context;
    unsigned width = char_width(utf8_decode((const uint8_t *)text, (int)bytes));

    if (*text == '\n' || row->width + width > row->most) {
        row->most = 0;
        return;
    }
    console_put(row->console, text, bytes);
    row->width += width;
}

static size_t put_row(struct console *c, const char *line, size_t most)
{
    struct row row = { c, 0, most };
    struct shown_text shown = { .write = put_in_row, .context = &row };

    shown_text_put(&shown, line, strlen(line));
    return row.width;
}

static void draw_line(struct console *c, uint64_t ms)
{
    enum console_style style = c->style;
    char line[PROGRESS_BYTES];

    progress_text(&c->wait, ms, line);
    console_progress_erase(c);
    if (c->in_line) {
        console_put(c, "\n", 1);
    }
    console_to_log(c, true);
    console_style(c, CONSOLE_DIM);
    if (console_is_terminal(c)) {
        c->wait.drawn_width = put_row(c, line, line_editor_columns(&c->input.editor) - 1);
        c->wait.drawn = true;
        console_style(c, style);
    } else {
        (void)put_row(c, line, SIZE_MAX);
        console_style(c, style);
        console_put(c, "\n", 1);
        c->wait.told = true;
    }
    console_to_log(c, false);
}

static void show(struct console *c, uint64_t ms)
{
    if (c->json.on) {
        tell_event(c);
        c->wait.told = true;
    } else {
        draw_line(c, ms);
    }
    c->wait.drawn_ms = ms;
}

static bool is_due(const struct console *c, uint64_t ms)
{
    const struct console_wait *w = &c->wait;
    uint64_t waited = ms - w->start_ms;

    if (console_is_terminal(c)) {
        return waited >= PROGRESS_FIRST_MS && ms - w->drawn_ms >= PROGRESS_STEP_MS;
    }
    return waited >= PLAIN_FIRST_MS &&
           (!w->told || ms - w->drawn_ms >= max_u64(waited / PLAIN_STEP_PART, PLAIN_STEP_MS));
}

static void step(struct console *c, const char *label, uint64_t done, uint64_t total,
                 bool counts_bytes)
{
    struct console_wait *w = &c->wait;
    uint64_t ms = console_millis(c);

    if (w->waiting && label != w->label && done < w->done) {
        console_progress_end(c);
    }
    if (!w->waiting) {
        w->waiting = true;
        w->start_ms = ms;
        w->drawn_ms = 0;
        w->told = false;
    }
    w->label = label;
    w->done = done;
    w->total = total;
    w->counts_bytes = counts_bytes;
    if (is_due(c, ms)) {
        show(c, ms);
    }
}

void console_progress(struct console *c, const char *label, uint64_t done, uint64_t total)
{
    step(c, label, done, total, true);
}

bool console_progress_step(void *context, const char *label, uint64_t done, uint64_t total)
{
    console_progress(context, label, done, total);
    return !console_aborted(context);
}

void console_progress_share(struct console *c, const char *label, uint64_t done, uint64_t total)
{
    step(c, label, done, total, false);
}

void console_progress_end(struct console *c)
{
    struct console_wait *w = &c->wait;

    console_progress_erase(c);
    if (w->told) {
        show(c, console_millis(c));
    }
    w->told = false;
    w->waiting = false;
}
