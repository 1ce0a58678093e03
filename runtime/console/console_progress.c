/* The progress of a wait: one line drawn over itself on a terminal, a line now and then elsewhere. */
#include <string.h>

#include "board/min_max.h"
#include "runtime/console/console_json.h"
#include "runtime/console/console_private.h"
#include "runtime/text/format_text.h"

enum {
    PROGRESS_FIRST_MS = 500,
    PROGRESS_STEP_MS = 100,
    PROGRESS_BYTES = 120,
    PLAIN_FIRST_MS = 1000,
    PLAIN_STEP_MS = 5000,
    PLAIN_STEP_PART = 8, /* of the time waited */
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

static size_t progress_text(const struct console_wait *w, uint64_t ms, char line[PROGRESS_BYTES])
{
    char done[FORMAT_NUMBER_BYTES];
    char total[FORMAT_NUMBER_BYTES];
    uint64_t waited = ms - w->start_ms;
    size_t width = format_text(line, PROGRESS_BYTES, "[%5llu.%03u] %.40s %u %%",
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

        width += format_text(line + width, PROGRESS_BYTES - width, ", %s s left",
                             format_milli(done, left, 0));
    }
    return width;
}

static void tell_event(struct console *c)
{
    console_event_begin(c, "'progress','percent':%u,'text':'",
                        percent_of(c->wait.done, c->wait.total));
    console_write(c, c->wait.label, strlen(c->wait.label));
    console_event_end(c);
}

/* Over the old text, with spaces where that was longer. */
static void draw_over(struct console *c, const char *line, size_t width)
{
    console_put(c, "\r", 1);
    console_put(c, line, strlen(line));
    for (size_t i = width; i < c->wait.drawn_width && c->wait.drawn; i++) {
        console_put(c, " ", 1);
    }
    c->wait.drawn = true;
    c->wait.drawn_width = width;
}

static void draw_line(struct console *c, uint64_t ms)
{
    enum console_style style = c->style;
    char line[PROGRESS_BYTES];
    size_t width = progress_text(&c->wait, ms, line);

    if (c->in_line && !c->wait.drawn) {
        console_put(c, "\n", 1);
    }
    console_to_log(c, true);
    console_style(c, CONSOLE_DIM);
    if (console_is_terminal(c)) {
        draw_over(c, line, width);
        console_style(c, style);
    } else {
        console_put(c, line, strlen(line));
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

    if (w->drawn || w->told) {
        show(c, console_millis(c));
    }
    if (w->drawn) {
        console_to_log(c, true);
        console_put(c, "\n", 1);
        console_to_log(c, false);
    }
    w->drawn = false;
    w->told = false;
    w->waiting = false;
}
