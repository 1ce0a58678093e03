#include "runtime/console/line_editor.h"

#include <assert.h>
#include <string.h>

#include "runtime/console/line_screen.h"
#include "runtime/text/char_width.h"

enum control {
    CTRL_A = 1,
    CTRL_B = 2,
    CTRL_C = 3,
    CTRL_D = 4,
    CTRL_E = 5,
    CTRL_F = 6,
    BACKSPACE = 8,
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

enum key {
    KEY_UP,
    KEY_DOWN,
    KEY_LEFT,
    KEY_RIGHT,
    KEY_HOME,
    KEY_END,
    KEY_DELETE,
    KEY_WORD_LEFT,
    KEY_WORD_RIGHT,
    KEY_DELETE_WORD,
    KEY_PASTE,
    KEY_PASTE_END
};

/* What terminals send: VT220 and xterm (ECMA-48 final bytes; DECCKM's ESC O; xterm's modifiers
 * ";5" Ctrl and ";3" Alt), rxvt and the Linux console where they differ. */
static const struct key_sequence {
    const char *text;
    enum key key;
} key_sequences[] = {
    { "[A", KEY_UP },
    { "OA", KEY_UP },
    { "[B", KEY_DOWN },
    { "OB", KEY_DOWN },
    { "[D", KEY_LEFT },
    { "OD", KEY_LEFT },
    { "[C", KEY_RIGHT },
    { "OC", KEY_RIGHT },
    { "[H", KEY_HOME },
    { "OH", KEY_HOME },
    { "[1~", KEY_HOME },
    { "[7~", KEY_HOME },
    { "[F", KEY_END },
    { "OF", KEY_END },
    { "[4~", KEY_END },
    { "[8~", KEY_END },
    { "[3~", KEY_DELETE },
    { "b", KEY_WORD_LEFT },
    { "[1;5D", KEY_WORD_LEFT },
    { "[1;3D", KEY_WORD_LEFT },
    { "Od", KEY_WORD_LEFT },
    { "f", KEY_WORD_RIGHT },
    { "[1;5C", KEY_WORD_RIGHT },
    { "[1;3C", KEY_WORD_RIGHT },
    { "Oc", KEY_WORD_RIGHT },
    { "d", KEY_DELETE_WORD },
    { "[200~", KEY_PASTE },
    { "[201~", KEY_PASTE_END },
};

/* ---- the text and the cursor ---- */

static bool is_continuation(char c)
{
    return ((uint8_t)c & 0xc0) == 0x80;
}

static size_t code_after(const struct line_editor *e, size_t at)
{
    while (at < e->n && is_continuation(e->line[++at])) {
    }
    return at < e->n ? at : e->n;
}

/* Whether a mark stands at `at`, which then belongs to the character before it. */
static bool joins(const struct line_editor *e, size_t at)
{
    const uint8_t *text = (const uint8_t *)e->line + at;

    return at < e->n && *text >= 0x80 &&
           char_joins(utf8_decode(text, (int)(code_after(e, at) - at)));
}

static size_t character_before(const struct line_editor *e, size_t at)
{
    while (at > 0 && (is_continuation(e->line[--at]) || joins(e, at))) {
    }
    return at;
}

static size_t character_after(const struct line_editor *e, size_t at)
{
    do {
        at = code_after(e, at);
    } while (joins(e, at));
    return at;
}

static bool is_space(char c)
{
    return c == ' ' || c == '\n' || c == '\t';
}

static size_t word_before(const struct line_editor *e, size_t at)
{
    while (at > 0 && is_space(e->line[at - 1])) {
        at--;
    }
    while (at > 0 && !is_space(e->line[at - 1])) {
        at--;
    }
    return at;
}

static size_t word_after(const struct line_editor *e, size_t at)
{
    while (at < e->n && is_space(e->line[at])) {
        at++;
    }
    while (at < e->n && !is_space(e->line[at])) {
        at++;
    }
    return at;
}

static unsigned columns_between(const struct line_editor *e, size_t from, size_t to)
{
    unsigned columns = 0;

    while (from < to) {
        size_t next = code_after(e, from);

        columns += char_width(utf8_decode((const uint8_t *)e->line + from, (int)(next - from)));
        from = next;
    }
    return columns;
}

/* Take line[from, to) out; the cursor goes to `from`. Of a line that is too long only its beginning
 * is there, so taking back what seems its end would lie: starting afresh is all that remains. */
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
    columns = columns_between(e, from, to);
    memmove(e->line + from, e->line + to, e->n - to + 1);
    e->n -= to - from;
    e->cursor = from;
    if (from == e->n) {
        line_screen_take_back(e, columns);
    } else {
        line_screen_draw(e);
    }
}

/* One whole character, from the UTF-8 writer. */
static void insert(void *context, const char *text, size_t bytes)
{
    struct line_editor *e = context;
    uint32_t code = utf8_decode((const uint8_t *)text, (int)bytes);

    if (code >= 0x80 && code <= 0x9f) { /* C1 controls; those below 0x20 do not come here */
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
        line_screen_draw(e);
    }
}

static void move_to(struct line_editor *e, size_t at)
{
    if (at != e->cursor) {
        e->cursor = at;
        line_screen_move(e);
    }
}

/* ---- history ---- */

static size_t entry_bytes(const struct line_editor *e, size_t at)
{
    return strlen(e->history + at) + 1;
}

/* Lines of nothing, and the same line twice in a row, are not kept. */
static void remember(struct line_editor *e)
{
    size_t last = 0, bytes = e->n + 1;

    for (size_t at = 0; at < e->history_bytes; at += entry_bytes(e, at)) {
        last = at;
    }
    if (e->n == 0 || bytes > LINE_HISTORY_BYTES ||
        (e->history_bytes != 0 && strcmp(e->history + last, e->line) == 0)) {
        return;
    }
    while (e->history_bytes + bytes > LINE_HISTORY_BYTES) {
        size_t oldest = entry_bytes(e, 0);

        memmove(e->history, e->history + oldest, e->history_bytes - oldest);
        e->history_bytes -= oldest;
    }
    memcpy(e->history + e->history_bytes, e->line, bytes);
    e->history_bytes += bytes;
}

static void show_line(struct line_editor *e, const char *text)
{
    size_t bytes = strlen(text);

    if (bytes >= e->max) {
        return;
    }
    memcpy(e->line, text, bytes + 1);
    e->n = bytes;
    e->cursor = bytes;
    e->too_long = false;
    line_screen_draw(e);
}

/* What is typed is lost when an older line takes its place, as in a shell without an undo. */
static void recall_older(struct line_editor *e)
{
    size_t older = 0;

    if (e->recalled == 0) {
        return;
    }
    for (size_t at = 0; at < e->recalled; at += entry_bytes(e, at)) {
        older = at;
    }
    e->recalled = older;
    show_line(e, e->history + older);
}

static void recall_newer(struct line_editor *e)
{
    if (e->recalled == e->history_bytes) {
        return;
    }
    e->recalled += entry_bytes(e, e->recalled);
    show_line(e, e->recalled == e->history_bytes ? "" : e->history + e->recalled);
}

/* ---- keys ---- */

/* Whoever moves about in the line has a terminal. */
static void press(struct line_editor *e, enum key key)
{
    if (e->plain && key != KEY_PASTE && key != KEY_PASTE_END) {
        return;
    }
    if (!e->terminal && !e->plain) {
        e->terminal = true;
        line_screen_draw(e);
    }
    switch (key) {
    case KEY_UP: recall_older(e); break;
    case KEY_DOWN: recall_newer(e); break;
    case KEY_LEFT: move_to(e, character_before(e, e->cursor)); break;
    case KEY_RIGHT: move_to(e, character_after(e, e->cursor)); break;
    case KEY_HOME: move_to(e, 0); break;
    case KEY_END: move_to(e, e->n); break;
    case KEY_WORD_LEFT: move_to(e, word_before(e, e->cursor)); break;
    case KEY_WORD_RIGHT: move_to(e, word_after(e, e->cursor)); break;
    case KEY_DELETE: remove_text(e, e->cursor, character_after(e, e->cursor)); break;
    case KEY_DELETE_WORD: remove_text(e, e->cursor, word_after(e, e->cursor)); break;
    case KEY_PASTE: e->pasting = true; break;
    case KEY_PASTE_END: e->pasting = false; break;
    }
}

/* "[row;columnR": where the cursor is (CPR, ECMA-48 8.3.14). */
bool line_editor_take_answer(struct line_editor *e, const char *text)
{
    uint32_t numbers[2] = { 0, 0 };
    unsigned which = 0;

    if (*text++ != '[') {
        return false;
    }
    for (; *text != '\0' && *text != 'R'; text++) {
        if (*text == ';') {
            which++;
        } else if (*text < '0' || *text > '9') {
            return false;
        } else if (which < 2 && numbers[which] < 10000) {
            numbers[which] = numbers[which] * 10 + (uint32_t)(*text - '0');
        }
    }
    if (*text != 'R' || which != 1 || numbers[1] == 0) {
        return false;
    }
    e->terminal = !e->plain;
    e->columns = numbers[1];
    return true;
}

static void take_sequence(struct line_editor *e)
{
    const char *text = e->sequence;
    uint32_t columns = e->columns;

    if (line_editor_take_answer(e, text)) {
        if (e->columns != columns && e->n != 0 && e->terminal) {
            line_screen_draw(e);
        }
        return;
    }
    for (size_t i = 0; i < sizeof key_sequences / sizeof key_sequences[0]; i++) {
        if (strcmp(key_sequences[i].text, text) == 0) {
            press(e, key_sequences[i].key);
        }
    }
}

/* A byte behind ESC: one letter, ESC O and a letter, or ESC [ parameters and a final byte from 0x40
 * on (ECMA-48, section 5.4). */
static void take_sequence_byte(struct line_editor *e, char byte)
{
    size_t n = e->n_sequence - 1u; /* without the ESC */
    bool opens = n == 0 && (byte == '[' || byte == 'O');

    if (n < sizeof e->sequence - 1) {
        e->sequence[n] = byte;
        e->sequence[n + 1] = '\0';
        e->n_sequence++;
    } else {
        e->sequence[0] = '\0'; /* too long: no key */
    }
    if (opens || (n > 0 && e->sequence[0] != 'O' && byte < '@')) {
        return;
    }
    e->n_sequence = 0;
    take_sequence(e);
}

static enum line_event finish(struct line_editor *e, enum line_event event, const char *mark)
{
    if (event == LINE_FINISHED && e->too_long) {
        event = LINE_TOO_LONG;
    }
    line_screen_leave(e, mark);
    if (event == LINE_FINISHED) {
        remember(e);
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

static enum line_event take_control(struct line_editor *e, int control)
{
    utf8_writer_flush(&e->utf8);
    switch (control) {
    case RETURN: e->after_cr = true; return take_enter(e);
    case LINE_FEED: return take_enter(e);
    case CTRL_C: return finish(e, LINE_ABORTED, "^C");
    case CTRL_D:
        if (e->n == 0 && !e->too_long) {
            return finish(e, LINE_END, "");
        }
        remove_text(e, e->cursor, character_after(e, e->cursor));
        break;
    case BACKSPACE:
    case DELETE: remove_text(e, character_before(e, e->cursor), e->cursor); break;
    case CTRL_W: remove_text(e, word_before(e, e->cursor), e->cursor); break;
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
    default: break; /* tab, bell and the rest */
    }
    return LINE_MORE;
}

enum line_event line_editor_take(struct line_editor *e, int byte)
{
    bool second = byte == LINE_FEED && e->after_cr;
    char c = (char)byte;

    e->after_cr = false;
    if (second) {
        return LINE_MORE;
    }
    if (byte < SPACE || byte == DELETE) { /* a control byte ends any sequence */
        e->n_sequence = 0;
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
    e->recalled = e->history_bytes;
    e->row = 0;
    e->last_row = 0;
    e->last_column = (uint32_t)strlen(prompt);
    if (e->terminal) {
        line_screen_write(e, "\33[?2004h", 8); /* bracketed paste (xterm): one turn, not many */
    }
    line_screen_prompt(e);
}

enum line_event line_editor_close(struct line_editor *e)
{
    utf8_writer_flush(&e->utf8);
    return e->too_long ? LINE_TOO_LONG : e->n != 0 ? LINE_FINISHED : LINE_END;
}

void line_editor_redraw(struct line_editor *e)
{
    if (e->plain) {
        line_screen_write(e, "\n", 1);
        line_screen_prompt(e);
        line_screen_write(e, e->line, e->n);
        return;
    }
    e->terminal = true;
    line_editor_ask_width(e);
    line_screen_write(e, "\33[H\33[2J", 7); /* to the first row, erase all (CUP, ED) */
    e->row = 0;
    line_screen_draw(e);
}

/* Save the cursor, go far right, ask where it is, restore it (DECSC, CUF, DSR 6, DECRC). */
void line_editor_ask_width(struct line_editor *e)
{
    static const char question[] = "\33"
                                   "7\33[999C\33[6n\33"
                                   "8";

    line_screen_write(e, question, sizeof question - 1);
}
