#include "runtime/console/line_editor.h"

#include <assert.h>
#include <string.h>

#include "board/min_max.h"
#include "runtime/console/line_keys.h"
#include "runtime/console/line_screen.h"
#include "runtime/console/line_text.h"

enum control {
    CTRL_A = 1,
    CTRL_B = 2,
    CTRL_C = 3,
    CTRL_D = 4,
    CTRL_E = 5,
    CTRL_F = 6,
    BACKSPACE = 8,
    TAB = 9,
    LINE_FEED = 10,
    CTRL_K = 11,
    CTRL_L = 12,
    RETURN = 13,
    CTRL_N = 14,
    CTRL_P = 16,
    CTRL_U = 21,
    CTRL_W = 23,
    ESCAPE = 27,
    SPACE = 32,
    DELETE = 127
};

/* Remove line[from, to); the cursor moves to `from`. A line that is too long has lost its end, so
 * only the whole line can be removed, and not the characters typed last. */
static void remove_text(struct line_editor *e, size_t from, size_t to)
{
    unsigned columns;

    if (e->too_long && !(from == 0 && to == e->n)) {
        return;
    }
    e->too_long = false;
    if (from == to) {
        return;
    }
    columns = line_text_columns(e->line + from, to - from);
    memmove(e->line + from, e->line + to, e->n - to + 1);
    e->n -= to - from;
    e->cursor = from;
    if (from == e->n) {
        line_screen_take_back(e, columns);
    } else {
        line_screen_change(e);
    }
}

/* Insert one whole character from the UTF-8 writer. */
static void insert(void *context, const char *text, size_t bytes)
{
    struct line_editor *e = context;
    uint32_t code = utf8_decode((const uint8_t *)text, (int)bytes);

    if (code >= 0x80 && code <= 0x9f) { /* C1 controls; controls below 0x20 do not come here */
        return;
    }
    if (e->too_long || bytes >= e->max - e->n) {
        e->too_long = true;
        return;
    }
    memmove(e->line + e->cursor + bytes, e->line + e->cursor, e->n - e->cursor + 1);
    memcpy(e->line + e->cursor, text, bytes);
    e->n += bytes;
    e->cursor += bytes;
    if (e->cursor == e->n) {
        line_screen_append(e, bytes);
    } else {
        line_screen_change(e);
    }
}

static void move_to(struct line_editor *e, size_t at)
{
    if (at != e->cursor) {
        e->cursor = at;
        line_screen_move(e);
    }
}

/* Show a line of the history; does nothing if text is NULL. */
static void show_line(struct line_editor *e, const char *text)
{
    size_t bytes;

    if (text == NULL) {
        return;
    }
    bytes = strlen(text);
    if (bytes >= e->max) {
        return;
    }
    memcpy(e->line, text, bytes + 1);
    e->n = bytes;
    e->cursor = bytes;
    e->too_long = false;
    line_screen_change(e);
}

/* Show the line before in the history, which keeps the text typed so far, unless that is too long
 * to be kept. */
static void show_older(struct line_editor *e)
{
    if (!e->too_long) {
        show_line(e, line_history_older(&e->history, e->line, e->n));
    }
}

/* ---- keys ---- */

static size_t character_before(const struct line_editor *e)
{
    return line_text_character_before(e->line, e->n, e->cursor);
}

static size_t character_after(const struct line_editor *e)
{
    return line_text_character_after(e->line, e->n, e->cursor);
}

static size_t word_before(const struct line_editor *e)
{
    return line_text_word_before(e->line, e->cursor);
}

static size_t word_after(const struct line_editor *e)
{
    return line_text_word_after(e->line, e->n, e->cursor);
}

static void ask_for_brackets(struct line_editor *e)
{
    line_screen_write(e, "\33[?2004h", 8); /* bracketed paste (xterm) makes pasted lines one turn */
}

/* Treat the far end as a terminal from now on, also for the current line. */
static void find_terminal(struct line_editor *e)
{
    e->terminal = true;
    ask_for_brackets(e);
    line_screen_draw(e);
}

/* Take a key that only terminals have; the first one shows that there is a terminal. */
static void press(struct line_editor *e, enum line_key key)
{
    if (e->plain) {
        return;
    }
    if (!e->terminal) {
        find_terminal(e);
    }
    switch (key) {
    case KEY_UP: show_older(e); break;
    case KEY_DOWN: show_line(e, line_history_newer(&e->history)); break;
    case KEY_LEFT: move_to(e, character_before(e)); break;
    case KEY_RIGHT: move_to(e, character_after(e)); break;
    case KEY_HOME: move_to(e, 0); break;
    case KEY_END: move_to(e, e->n); break;
    case KEY_WORD_LEFT: move_to(e, word_before(e)); break;
    case KEY_WORD_RIGHT: move_to(e, word_after(e)); break;
    case KEY_DELETE: remove_text(e, e->cursor, character_after(e)); break;
    case KEY_DELETE_WORD: remove_text(e, e->cursor, word_after(e)); break;
    default: break;
    }
}

/* The marks around pasted text are obeyed even if the far end is known not to be a terminal. Other
 * keys within it are not keys that somebody pressed. */
static void take_key(struct line_editor *e, enum line_key key)
{
    if (key == KEY_NONE || (e->pasting && key != KEY_PASTE_END)) {
        return;
    }
    press(e, key);
    if (key == KEY_PASTE || key == KEY_PASTE_END) {
        e->pasting = key == KEY_PASTE;
    }
}

bool line_editor_take_answer(struct line_editor *e, const char *text)
{
    uint32_t columns = line_keys_answered_column(text);

    if (columns == 0) {
        return false;
    }
    e->terminal = !e->plain;
    e->columns = columns;
    return true;
}

uint32_t line_editor_columns(const struct line_editor *e)
{
    uint32_t columns = e->columns != 0 ? e->columns : LINE_DEFAULT_COLUMNS;

    return e->most_columns != 0 ? min_u32(columns, e->most_columns) : columns;
}

static void take_sequence(struct line_editor *e)
{
    uint32_t columns = line_editor_columns(e);
    bool was_terminal = e->terminal;

    if (!line_editor_take_answer(e, e->sequence)) {
        take_key(e, line_keys_find(e->sequence));
        return;
    }
    if (e->terminal && !was_terminal) {
        find_terminal(e); /* nothing was typed yet */
    } else if (line_editor_columns(e) != columns && e->n != 0 && e->terminal) {
        line_screen_rewrap(e, columns);
    }
}

/* Take a byte after ESC. A key sends ESC and a letter, ESC O and a letter, or ESC [ with parameters
 * and a final byte from 0x40 on (ECMA-48, section 5.4). F1 to F5 of the Linux console send ESC [ [
 * and a letter. */
static void take_sequence_byte(struct line_editor *e, char byte)
{
    size_t n = e->n_sequence - 1u; /* without the ESC */
    bool opens = (n == 0 && (byte == '[' || byte == 'O')) ||
                 (n == 1 && byte == '[' && e->sequence[0] == '[');

    if (n < sizeof e->sequence - 1) {
        e->sequence[n] = byte;
        e->sequence[n + 1] = '\0';
        e->n_sequence++;
    } else {
        e->sequence[0] = '\0'; /* too long, so not a key */
    }
    if (opens || (n > 0 && e->sequence[0] != 'O' && byte < '@')) {
        return;
    }
    e->n_sequence = 0;
    take_sequence(e);
}

/* Return true if the history must not keep a line because it may have a PIN, even if /unlock was
 * mistyped. */
static bool is_secret(const char *line)
{
    line += strspn(line, " ");
    return strncmp(line, "/u", 2) == 0 && strncmp(line, "/undo", 5) != 0;
}

static enum line_event finish(struct line_editor *e, enum line_event event, const char *mark)
{
    if (event == LINE_FINISHED && e->too_long) {
        event = LINE_TOO_LONG;
    }
    line_screen_leave(e, mark);
    if (event == LINE_FINISHED && !is_secret(e->line)) {
        line_history_add(&e->history, e->line, e->n);
    }
    return event;
}

static enum line_event take_enter(struct line_editor *e)
{
    if (!e->pasting) {
        return finish(e, LINE_FINISHED, "");
    }
    insert(e, "\n", 1);
    return LINE_MORE;
}

/* Return true if a control byte is ignored. Within a paste, only the ends of lines, tabs, the start
 * of a sequence and Ctrl-C are taken; Ctrl-C leaves a paste whose end was lost. */
static bool is_ignored(const struct line_editor *e, int control)
{
    return e->pasting && control != RETURN && control != LINE_FEED && control != TAB &&
           control != ESCAPE && control != CTRL_C;
}

/* A tab is text that was pasted or comes from a file; the key of a terminal does nothing. */
static void take_tab(struct line_editor *e)
{
    if (e->pasting || !e->terminal) {
        insert(e, "\t", 1);
    }
}

static enum line_event take_control(struct line_editor *e, int control)
{
    utf8_writer_flush(&e->utf8);
    if (is_ignored(e, control)) {
        return LINE_MORE;
    }
    switch (control) {
    case TAB: take_tab(e); break;
    case RETURN: e->after_cr = true; return take_enter(e);
    case LINE_FEED: return take_enter(e);
    case CTRL_C: return finish(e, LINE_ABORTED, "^C");
    case CTRL_D:
        if (e->n == 0 && !e->too_long) {
            return finish(e, LINE_END, "");
        }
        remove_text(e, e->cursor, character_after(e));
        break;
    case BACKSPACE:
    case DELETE: remove_text(e, character_before(e), e->cursor); break;
    case CTRL_W: remove_text(e, word_before(e), e->cursor); break;
    case CTRL_U:
        e->cursor = e->n;
        remove_text(e, 0, e->n);
        break;
    case CTRL_K: remove_text(e, e->cursor, e->n); break;
    case CTRL_A: press(e, KEY_HOME); break;
    case CTRL_E: press(e, KEY_END); break;
    case CTRL_B: press(e, KEY_LEFT); break;
    case CTRL_F: press(e, KEY_RIGHT); break;
    case CTRL_P: press(e, KEY_UP); break;
    case CTRL_N: press(e, KEY_DOWN); break;
    case CTRL_L: line_editor_redraw(e); break;
    case ESCAPE:
        e->n_sequence = 1;
        e->sequence[0] = '\0';
        break;
    default: break; /* bell and the rest */
    }
    return LINE_MORE;
}

static enum line_event take_byte(struct line_editor *e, int byte)
{
    bool second = byte == LINE_FEED && e->after_cr;
    bool alt = e->n_sequence == 1;
    char c = (char)byte;

    e->after_cr = false;
    if (second) {
        return LINE_MORE;
    }
    if (byte < SPACE || byte == DELETE) { /* a control byte ends any sequence */
        e->n_sequence = 0;
        if (alt && (byte == BACKSPACE || byte == DELETE)) {
            byte = CTRL_W;
        }
        return take_control(e, byte);
    }
    if (e->n_sequence != 0 && byte < 0x80) {
        take_sequence_byte(e, c);
        return LINE_MORE;
    }
    e->n_sequence = 0;
    utf8_writer_put(&e->utf8, &c, 1);
    return LINE_MORE;
}

enum line_event line_editor_take(struct line_editor *e, int byte)
{
    enum line_event event = take_byte(e, byte);

    if (!e->more) {
        line_screen_catch_up(e);
    }
    return event;
}

void line_editor_begin(struct line_editor *e, const char *prompt, char *line, size_t max)
{
    assert(max >= 1);
    e->prompt = prompt;
    e->line = line;
    e->max = max;
    e->n = 0;
    e->cursor = 0;
    line[0] = '\0';
    e->too_long = false;
    e->pasting = false;
    e->n_sequence = 0;
    e->utf8 = (struct utf8_writer){ .write = insert, .context = e };
    line_history_rewind(&e->history);
    e->row = 0;
    e->behind = false;
    e->last_row = 0;
    e->last_column = (uint32_t)strlen(prompt);
    if (e->terminal) {
        ask_for_brackets(e);
    }
    line_screen_prompt(e);
}

enum line_event line_editor_close(struct line_editor *e)
{
    utf8_writer_flush(&e->utf8);
    if (e->too_long) {
        return LINE_TOO_LONG;
    }
    if (e->n == 0) {
        return LINE_END;
    }
    return LINE_FINISHED;
}

void line_editor_redraw(struct line_editor *e)
{
    if (e->plain) {
        line_screen_write(e, "\n", 1);
        line_screen_prompt(e);
        line_screen_text(e, e->line, e->n);
        return;
    }
    e->terminal = true;
    line_editor_ask_width(e);
    line_screen_write(e, "\33[H\33[2J", 7); /* go to the first row and erase all (CUP, ED) */
    e->row = 0;
    line_screen_draw(e);
}

void line_editor_leave(struct line_editor *e)
{
    line_screen_leave(e, "");
}

void line_editor_resume(struct line_editor *e)
{
    e->row = 0;
    if (e->terminal) {
        line_screen_draw(e);
        return;
    }
    line_screen_prompt(e);
    line_screen_text(e, e->line, e->n);
}

/* Save the cursor, move it far right, ask for its position, and restore it (DECSC, CUF, DSR 6,
 * DECRC). */
void line_editor_ask_width(struct line_editor *e)
{
    static const char question[] = "\33"
                                   "7\33[999C\33[6n\33"
                                   "8";

    line_screen_write(e, question, sizeof question - 1);
}
