/* JSON lines: what the reader returns, where it finds an error, and the escapes. */
#include <stdlib.h>
#include <string.h>

#include "runtime/text/json.h"
#include "runtime/text/utf8.h"
#include "tests/unit/tap.h"

/* A copy of exactly its size, so that ASan sees a byte too much. */
static char *line;
static struct json json;

static void open_bytes(const char *text, size_t n)
{
    free(line);
    line = malloc(n + 1);
    if (line == NULL) {
        exit(1);
    }
    memcpy(line, text, n);
    line[n] = '\0';
    json_open(&json, line, n);
}

static void open_text(const char *text)
{
    open_bytes(text, strlen(text));
}

/* Reads the one member of {"k":...}, and that it is the only one. */
static struct json_value only(const char *value)
{
    struct json_value v, end;
    char text[256];

    snprintf(text, sizeof text, "{\"k\":%s}", value);
    open_text(text);
    if (json_member(&json, &v) != JSON_BAD && json_member(&json, &end) != JSON_END) {
        v.kind = JSON_BAD;
    }
    return v;
}

static bool gives(const char *value, const char *expected)
{
    struct json_value v = only(value);

    return v.kind == JSON_TEXT && strcmp(v.key, "k") == 0 && v.bytes == strlen(expected) &&
           strcmp(v.text, expected) == 0;
}

static void test_values(void)
{
    struct json_value v;

    OK(gives("\"\"", ""), "an empty text is read");
    OK(gives("\"a b/\"", "a b/"), "a text is read");
    OK(gives("\"\\\"\\\\\\/\\b\\f\\n\\r\\t\"", "\"\\/\b\f\n\r\t"),
       "every escape of a letter is read");
    OK(gives("\"\\u0041\\u00e9\\u20AC\\ud83d\\uDE00\"", "A\xc3\xa9\xe2\x82\xac\xf0\x9f\x98\x80"),
       "escapes by number are read, a surrogate pair among them");
    OK(gives("\"\xc3\xa9\xf0\x9f\x98\x80\"", "\xc3\xa9\xf0\x9f\x98\x80"),
       "UTF-8 is read as it stands");
    v = only("-12.5e+3");
    OK(v.kind == JSON_NUMBER && strcmp(v.text, "-12.5e+3") == 0 && v.bytes == 8,
       "a number is read");
    OK(only("true").kind == JSON_TRUE && only("false").kind == JSON_FALSE &&
           only("null").kind == JSON_NULL,
       "words are read");
    OK(only(" \t\"x\" ").kind == JSON_TEXT && json.error_message == NULL,
       "white space around a value is skipped");
}

static void test_members(void)
{
    static const char text[] = " { \"a\" : 1,\"b\":\"x\" , \"\\u0063\":2,\"d\":true,\"a\":0 }\r ";
    static const struct {
        const char *key, *text;
        enum json_kind kind;
    } expected[] = {
        { "a", "1", JSON_NUMBER }, { "b", "x", JSON_TEXT },   { "c", "2", JSON_NUMBER },
        { "d", NULL, JSON_TRUE },  { "a", "0", JSON_NUMBER },
    };
    struct json_value all[5], v;
    bool same = true;

    open_text(text);
    for (unsigned i = 0; i < 5; i++) {
        (void)json_member(&json, &all[i]);
    }
    OK(json_member(&json, &v) == JSON_END && json_member(&json, &v) == JSON_END,
       "the end is returned again and again");
    for (unsigned i = 0; i < 5; i++) { /* earlier ones are still there */
        same = same && all[i].kind == expected[i].kind &&
               strcmp(all[i].key, expected[i].key) == 0 &&
               (expected[i].text == NULL || strcmp(all[i].text, expected[i].text) == 0);
    }
    OK(same, "members come in their order, until the end");
    OK(all[0].column == 10 && all[3].column == (size_t)(strstr(text, "true") - text) + 1,
       "values have their columns");
    open_text("{}");
    OK(json_member(&json, &v) == JSON_END, "an empty object ends");
}

static void test_error_messages(void)
{
    static const struct {
        const char *text;
        size_t column;
        const char *says;
    } bad[] = {
        { "", 1, "ends too early" },
        { "   ", 4, "ends too early" },
        { "[1]", 1, "begin with {" },
        { "\"x\"", 1, "begin with {" },
        { "{", 2, "ends too early" },
        { "{\"a\"", 5, "ends too early" },
        { "{\"a\":", 6, "ends too early" },
        { "{\"a\":1", 7, "ends too early" },
        { "{\"a\":\"x", 8, "ends too early" },
        { "{\"a\" 1}", 6, "colon" },
        { "{a:1}", 2, "quote" },
        { "{\"a\":1 \"b\":2}", 8, "comma" },
        { "{\"a\":1,}", 8, "quote" },
        { "{,}", 2, "quote" },
        { "{\"a\":1}x", 8, "follows" },
        { "{}{}", 3, "follows" },
        { "{\"a\":[1}", 8, "does not match the open one" },
        { "{\"a\":{]}", 7, "does not match the open one" },
        { "{\"a\":[\x01]}", 7, "leave it out" },
        { "{\"a\":[[[[[[[[[", 14, "too deep" },
        { "{\"a\":[\"x]}", 11, "ends too early" },
        { "{\"a\":[1", 8, "ends too early" },
        { "{\"a\":[1]x", 9, "comma" },
        { "{\"a\":tru}", 6, "missing" },
        { "{\"a\":truer}", 6, "missing" },
        { "{\"a\":'x'}", 6, "missing" },
        { "{\"a\":\"\\x\"}", 8, "escape" },
        { "{\"a\":\"\\u12g4\"}", 11, "escape" },
        { "{\"a\":\"\\u0000\"}", 13, "escape" },
        { "{\"a\":\"\\ud83d\"}", 13, "escape" },
        { "{\"a\":\"\\ud83d\\u0041\"}", 19, "escape" },
        { "{\"a\":\"\\ud83d\\ud83d\"}", 19, "escape" },
        { "{\"a\":\"\\ude00\"}", 13, "escape" },
        { "{\"a\":\"x\ty\"}", 8, "control" },
        { "{\"a\":\"\xff\"}", 7, "UTF-8" },
        { "{\"a\":\"\xc3\"}", 7, "UTF-8" },
        { "{\"a\":\"\xed\xa0\xbd\"}", 7, "UTF-8" },
    };
    struct json_value v;

    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        open_text(bad[i].text);
        while (json_member(&json, &v) != JSON_END && v.kind != JSON_BAD) {
        }
        OK(v.kind == JSON_BAD && json.column == bad[i].column &&
               strstr(json.error_message, bad[i].says) != NULL,
           "%s is refused: %s, column %zu", bad[i].text,
           json.error_message != NULL ? json.error_message : "fine", json.column);
    }
    OK(json_member(&json, &v) == JSON_BAD && json.column == 7, "an error stays");
    open_bytes("{\"a\":\"\0\"}", 9);
    OK(json_member(&json, &v) == JSON_BAD && json.column == 7, "NUL is refused");
}

/* Inner lists and objects are returned unread, and read by readers of their own, before what
 * follows them or after it. */
static void test_nested(void)
{
    static const char text[] =
        "{\"a\":[1,\"x]\\\"\" , {\"b\":[]},[[ ]] ],\"c\":{\"d\":\"}\",\"e\":2},\"f\":3}";
    struct json_value list, object, v;
    struct json inner, deep;

    open_text(text);
    OK(json_member(&json, &list) == JSON_LIST && list.column == 6 &&
           list.bytes == strlen(list.text) && list.text[0] == '[' &&
           list.text[list.bytes - 1] == ']' && list.text[list.bytes] == '\0',
       "a list is returned as it stands: %s", list.text);
    OK(json_member(&json, &object) == JSON_OBJECT && strcmp(object.key, "c") == 0,
       "an object is returned as it stands: %s", object.text);
    json_open(&inner, list.text, list.bytes);
    OK(json_item(&inner, &v) == JSON_NUMBER && strcmp(v.text, "1") == 0 && v.key == NULL,
       "a number is read");
    OK(json_item(&inner, &v) == JSON_TEXT && strcmp(v.text, "x]\"") == 0,
       "a text of a list is read: %s", v.text);
    OK(json_item(&inner, &v) == JSON_OBJECT, "an object of a list is read: %s", v.text);
    json_open(&deep, v.text, v.bytes);
    OK(json_member(&deep, &v) == JSON_LIST && strcmp(v.text, "[]") == 0 &&
           json_member(&deep, &v) == JSON_END,
       "a list within an object is read");
    OK(json_item(&inner, &v) == JSON_LIST && strcmp(v.text, "[[ ]]") == 0 &&
           json_item(&inner, &v) == JSON_END && json_item(&inner, &v) == JSON_END,
       "another list is skipped, and the end follows");
    OK(json_member(&json, &v) == JSON_NUMBER && strcmp(v.text, "3") == 0 &&
           json_member(&json, &v) == JSON_END,
       "the number after an object is read");
    json_open(&inner, object.text, object.bytes);
    OK(json_member(&inner, &v) == JSON_TEXT && strcmp(v.text, "}") == 0 &&
           json_member(&inner, &v) == JSON_NUMBER && json_member(&inner, &v) == JSON_END,
       "the object that was returned is still there");
    for (size_t i = 0; i < 5; i++) {
        static const struct {
            const char *text, *says;
        } bad[] = { { "{}", "begin with [" },
                    { "[1 2]", "comma or ]" },
                    { "[1,]", "missing" },
                    { "[1]x", "follows the ]" },
                    { "[", "ends too early" } };

        open_text(bad[i].text);
        while (json_item(&json, &v) > JSON_END) {
        }
        OK(v.kind == JSON_BAD && strstr(json.error_message, bad[i].says) != NULL,
           "%s is refused: %s", bad[i].text, json.error_message);
    }
    open_text("[]");
    OK(json_item(&json, &v) == JSON_END, "an empty list ends");
}

static bool escapes(const char *character, const char *expected)
{
    char out[JSON_ESCAPE_BYTES];
    size_t n = json_escape(out, character, strlen(character));

    return n == strlen(expected) && memcmp(out, expected, n) == 0;
}

static void test_escapes(void)
{
    char out[JSON_ESCAPE_BYTES];
    bool good = true;

    for (uint32_t code = 1; code < 0x2100; code++) {
        char text[32], expected[5] = "";
        size_t n = json_escape(out, expected, utf8_encode(expected, code));

        snprintf(text, sizeof text, "\"%.*s\"", (int)n, out);
        good = good && n <= JSON_ESCAPE_BYTES && gives(text, expected);
    }
    OK(good, "every character comes back from its escape");
    OK(escapes("\n", "\\n") && escapes("\t", "\\t"), "a character that has a short escape gets it");
    OK(escapes("\33", "\\u001b") && escapes("\177", "\\u007f"),
       "control characters are escaped by number");
    OK(escapes("\302\233", "\\u009b") && escapes("\342\200\256", "\\u202e") &&
           escapes("\342\201\251", "\\u2069"),
       "C1 and marks that turn the direction are escaped by number, too");
    OK(escapes("/", "/") && escapes("\303\251", "\303\251"), "a slash and an e stay as they are");
}

int main(void)
{
    test_values();
    test_members();
    test_error_messages();
    test_nested();
    test_escapes();
    free(line);
    return tap_done();
}
