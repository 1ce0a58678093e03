#include "runtime/text/json.h"

#include <stdint.h>
#include <string.h>

#include "runtime/text/shown_text.h"
#include "runtime/text/utf8.h"

enum { JSON_DEEPEST = 8 };

/* Characters, in the order of their escapes. */
static const char escaped[] = "\"\\/\b\f\n\r\t", letters[] = "\"\\/bfnrt";

static enum json_kind fail(struct json *j, const char *error_message)
{
    if (j->error_message != NULL) {
        return JSON_BAD;
    }
    j->error_message = error_message;
    if (j->at >= j->n) {
        j->error_message = "the line ends too early";
    }
    j->column = j->at + 1;
    return JSON_BAD;
}

void json_open(struct json *j, char *text, size_t n)
{
    int bytes = 1;

    *j = (struct json){ .text = text, .n = n };
    for (; j->at < n; j->at += (size_t)bytes) {
        bytes = utf8_check((const uint8_t *)text + j->at, n - j->at);
        if (bytes <= 0 || text[j->at] == '\0') {
            (void)fail(j, "a byte that is not UTF-8");
            return;
        }
    }
    j->at = 0;
}

/* Skip white space, but never the NUL at the end; returns the next character. */
static char look(struct json *j)
{
    char c = j->held;

    if (c == '\0') {
        c = j->text[j->at];
    }
    while (c == ' ' || c == '\t' || c == '\r' || c == '\n') {
        j->held = '\0';
        c = j->text[++j->at];
    }
    return c;
}

static bool pass(struct json *j, char c)
{
    if (look(j) != c) {
        return false;
    }
    j->held = '\0';
    j->at++;
    return true;
}

static bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

/* ---- values ---- */

/* Return the value of a hexadecimal digit, or -1. */
static int32_t digit_value(char c)
{
    char lower = (char)(c | 0x20);

    if (is_digit(c)) {
        return c - '0';
    }
    if (lower >= 'a' && lower <= 'f') {
        return lower - 'a' + 10;
    }
    return -1;
}

/* Read four hexadecimal digits, or return -1. */
static int32_t read_hex(struct json *j)
{
    int32_t code = 0;

    for (unsigned i = 0; i < 4; i++, j->at++) {
        int32_t digit = digit_value(j->text[j->at]);

        if (digit < 0) {
            return -1;
        }
        code = code << 4 | digit;
    }
    return code;
}

/* Read the code after \u; a character above U+FFFF has two escapes (RFC 8259, section 7). Return 0
 * if the code is not valid. */
static uint32_t read_code(struct json *j)
{
    int32_t low, code = read_hex(j);

    if (code <= 0) {
        return 0;
    }
    if (code >> 11 != 0xd800 >> 11) {
        return (uint32_t)code;
    }
    if (code >= 0xdc00 || j->text[j->at] != '\\' || j->text[j->at + 1] != 'u') {
        return 0;
    }
    j->at += 2;
    low = read_hex(j);
    if (low >> 10 != 0xdc00 >> 10) {
        return 0;
    }
    return 0x10000u + (((uint32_t)code & 0x3ff) << 10 | ((uint32_t)low & 0x3ff));
}

/* Read an escape, after its backslash. Returns the number of bytes written, fewer than the escape
 * has; 0 if the escape is not valid. */
static size_t read_escape(struct json *j, char *out)
{
    char c = j->text[j->at];
    const char *letter;
    uint32_t code;

    if (c == '\0') {
        return 0;
    }
    letter = strchr(letters, c);
    if (letter != NULL) {
        j->at++;
        *out = escaped[letter - letters];
        return 1;
    }
    if (c != 'u') {
        return 0;
    }
    j->at++;
    code = read_code(j);
    if (code == 0) {
        return 0;
    }
    return utf8_encode(out, code);
}

/* Read a text from its opening quote on. NULL: an error. */
static char *read_text(struct json *j, size_t *bytes)
{
    char *start = j->text + j->at, *out = start;

    if (!pass(j, '"')) {
        (void)fail(j, "a quote is missing");
        return NULL;
    }
    while ((uint8_t)j->text[j->at] >= ' ') {
        char c = j->text[j->at++];
        size_t n = 1;

        if (c == '"') {
            *out = '\0';
            *bytes = (size_t)(out - start);
            return start;
        }
        if (c == '\\') {
            n = read_escape(j, out);
        } else {
            *out = c;
        }
        if (n == 0) {
            (void)fail(j, "an escape that stands for no character");
            return NULL;
        }
        out += n;
    }
    (void)fail(j, "a control character in a text: write it as an escape");
    return NULL;
}

/* Read a number or a word; a NUL replaces the character after it. */
static enum json_kind read_bare(struct json *j, struct json_value *v)
{
    static const char words[3][6] = { "true", "false", "null" };
    char c;

    v->text = j->text + j->at;
    for (c = *v->text;
         is_digit(c) || (c >= 'a' && c <= 'z') || c == '-' || c == '+' || c == '.' || c == 'E';
         c = v->text[v->bytes]) {
        v->bytes++;
    }
    if (v->text[0] == '-' || is_digit(v->text[0])) {
        j->at += v->bytes;
        j->held = c;
        v->text[v->bytes] = '\0';
        return JSON_NUMBER;
    }
    for (unsigned i = 0; i < 3; i++) {
        if (v->bytes == strlen(words[i]) && memcmp(v->text, words[i], v->bytes) == 0) {
            j->at += v->bytes;
            return (enum json_kind)(JSON_TRUE + i);
        }
    }
    return fail(j, "a text, a number, true, false or null is missing");
}

/* Skip a text, with its closing quote. */
static bool skip_text(struct json *j)
{
    for (j->at++; (uint8_t)j->text[j->at] >= ' '; j->at++) {
        if (j->text[j->at] == '"') {
            j->at++;
            return true;
        }
        if (j->text[j->at] == '\\' && j->text[j->at + 1] != '\0') {
            j->at++;
        }
    }
    return false;
}

/* Read from an opening bracket through the bracket that closes it. */
static enum json_kind read_nested(struct json *j, struct json_value *v)
{
    char closes[JSON_DEEPEST], c;
    unsigned depth = 0;

    v->text = j->text + j->at;
    do {
        c = j->text[j->at];
        if (c == '"' && !skip_text(j)) {
            return fail(j, "a text that does not end");
        }
        if (c == '"') {
            continue;
        }
        if ((c == '[' || c == '{') && depth == JSON_DEEPEST) {
            return fail(j, "lists and objects nested too deeply");
        }
        if (c == '[' || c == '{') {
            closes[depth++] = c == '[' ? ']' : '}';
        } else if ((c == ']' || c == '}') && closes[--depth] != c) {
            return fail(j, "a bracket that does not match the open one");
        } else if ((uint8_t)c < ' ' && c != '\t') {
            return fail(j, "a control character: leave it out, or write it as an escape in a text");
        }
        j->at++;
    } while (depth != 0);
    v->bytes = (size_t)(j->text + j->at - v->text);
    j->held = j->text[j->at];
    j->text[j->at] = '\0';
    return v->text[0] == '[' ? JSON_LIST : JSON_OBJECT;
}

static enum json_kind read_value(struct json *j, struct json_value *v)
{
    char c = look(j);

    v->column = j->at + 1;
    if (c == '[' || c == '{') {
        return read_nested(j, v);
    }
    if (c != '"') {
        return read_bare(j, v);
    }
    v->text = read_text(j, &v->bytes);
    if (v->text == NULL) {
        return JSON_BAD;
    }
    return JSON_TEXT;
}

/* ---- the object, or the list ---- */

struct brackets {
    char opens, closes;
    const char *not_begun, *followed, *no_comma;
};
static const struct brackets of_object = { '{', '}', "the line does not begin with {",
                                           "something follows the }", "a comma or } is missing" };
static const struct brackets of_list = { '[', ']', "the list does not begin with [",
                                         "something follows the ]", "a comma or ] is missing" };

/* Go to the next key or value; returns JSON_TEXT if there is one. */
static enum json_kind go_on(struct json *j, const struct brackets *b)
{
    bool first = !j->open;

    if (j->error_message != NULL) {
        return JSON_BAD;
    }
    if (first && !pass(j, b->opens)) {
        return fail(j, b->not_begun);
    }
    j->open = true;
    if (!j->closed && pass(j, b->closes)) {
        j->closed = true;
    }
    if (j->closed && look(j) != '\0') {
        return fail(j, b->followed);
    }
    if (j->closed) {
        return JSON_END;
    }
    if (!first && !pass(j, ',')) {
        return fail(j, b->no_comma);
    }
    (void)look(j);
    return JSON_TEXT;
}

static enum json_kind read_member(struct json *j, struct json_value *v)
{
    size_t bytes;
    enum json_kind kind = go_on(j, &of_object);

    if (kind != JSON_TEXT) {
        return kind;
    }
    v->key = read_text(j, &bytes);
    if (v->key == NULL || !pass(j, ':')) {
        return fail(j, "a colon is missing");
    }
    return read_value(j, v);
}

enum json_kind json_member(struct json *j, struct json_value *v)
{
    *v = (struct json_value){ 0 };
    return v->kind = read_member(j, v);
}

enum json_kind json_item(struct json *j, struct json_value *v)
{
    *v = (struct json_value){ 0 };
    v->kind = go_on(j, &of_list);
    if (v->kind == JSON_TEXT) {
        v->kind = read_value(j, v);
    }
    return v->kind;
}

/* ---- writing ---- */

/* Return the short escape of a character, if it has one. "/" also has one, which is never
 * needed. */
static const char *find_escaped(char c)
{
    if (c == '\0' || c == '/') {
        return NULL;
    }
    return strchr(escaped, c);
}

/* Write \u and four digits for a code below U+10000. */
static size_t write_code(char out[JSON_ESCAPE_BYTES], uint32_t code)
{
    out[0] = '\\';
    out[1] = 'u';
    for (unsigned i = 0; i < 4; i++) {
        out[2 + i] = "0123456789abcdef"[code >> (12 - 4 * i) & 15];
    }
    return 6;
}

size_t json_escape(char out[JSON_ESCAPE_BYTES], const char *character, size_t bytes)
{
    const char *at = find_escaped(*character);
    uint32_t code = utf8_decode((const uint8_t *)character, (int)bytes);

    if (at != NULL) {
        out[0] = '\\';
        out[1] = letters[at - escaped];
        return 2;
    }
    if (char_is_control(code)) {
        return write_code(out, code);
    }
    memcpy(out, character, bytes);
    return bytes;
}
