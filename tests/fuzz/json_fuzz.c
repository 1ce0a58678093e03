/* A line of any bytes to the reader of JSON: what it returns is inside the line, ended by NUL, and
 * UTF-8; written again with json_escape() and read again it is the same. */
#include <stdlib.h>
#include <string.h>

#include "runtime/text/json.h"
#include "runtime/text/utf8.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { MOST = 4096 };

static void must(bool condition)
{
    if (!condition) {
        abort();
    }
}

static bool is_utf8(const char *text, size_t n)
{
    int bytes;

    for (size_t i = 0; i < n; i += (size_t)bytes) {
        bytes = utf8_check((const uint8_t *)text + i, n - i);
        if (bytes <= 0) {
            return false;
        }
    }
    return true;
}

static char *put_text(char *out, const char *text, size_t n)
{
    int bytes;

    *out++ = '"';
    for (size_t i = 0; i < n; i += (size_t)bytes) {
        bytes = utf8_check((const uint8_t *)text + i, n - i);
        out += json_escape(out, text + i, (size_t)bytes);
    }
    *out++ = '"';
    return out;
}

/* {"key":value} of one member. */
static size_t write_again(char *out, const struct json_value *v)
{
    static const char *const words[] = {
        [JSON_TRUE] = "true", [JSON_FALSE] = "false", [JSON_NULL] = "null"
    };
    char *start = out;

    *out++ = '{';
    out = put_text(out, v->key, strlen(v->key));
    *out++ = ':';
    if (v->kind == JSON_TEXT) {
        out = put_text(out, v->text, v->bytes);
    } else {
        const char *bare = v->kind == JSON_NUMBER || v->kind >= JSON_LIST ? v->text
                                                                          : words[v->kind];

        memcpy(out, bare, strlen(bare));
        out += strlen(bare);
    }
    *out++ = '}';
    *out = '\0';
    return (size_t)(out - start);
}

static void check_again(const struct json_value *v)
{
    size_t room = JSON_ESCAPE_BYTES * (strlen(v->key) + v->bytes) + 16;
    char *text = malloc(room);
    struct json_value w;
    struct json j;

    must(text != NULL);
    json_open(&j, text, write_again(text, v));
    must(json_member(&j, &w) == v->kind && strcmp(w.key, v->key) == 0);
    must(v->kind != JSON_TEXT || (w.bytes == v->bytes && memcmp(w.text, v->text, v->bytes) == 0));
    must((v->kind != JSON_NUMBER && v->kind < JSON_LIST) || strcmp(w.text, v->text) == 0);
    must(json_member(&j, &w) == JSON_END);
    free(text);
}

static void check_value(const struct json *j, const struct json_value *v)
{
    must(v->key > j->text && v->key + strlen(v->key) < j->text + j->n);
    must(is_utf8(v->key, strlen(v->key)));
    must(v->column >= 1 && v->column <= j->n);
    if (v->kind == JSON_TEXT || v->kind == JSON_NUMBER || v->kind >= JSON_LIST) {
        must(v->text > j->text && v->text + v->bytes <= j->text + j->n);
        must(strlen(v->text) == v->bytes && is_utf8(v->text, v->bytes));
    }
    check_again(v);
}

/* Reads the contents of a list or an object, down to its leaves: each is inside what contains
 * it. */
static void check_nested(const struct json_value *outer, unsigned depth)
{
    struct json_value v;
    struct json j;

    must(depth <= 8);
    json_open(&j, outer->text, outer->bytes);
    while ((outer->kind == JSON_LIST ? json_item(&j, &v) : json_member(&j, &v)) > JSON_END) {
        must(v.text == NULL ||
             (v.text > outer->text && v.text + v.bytes < outer->text + outer->bytes));
        if (v.kind >= JSON_LIST) {
            check_nested(&v, depth + 1);
        }
    }
    must(v.kind != JSON_BAD || (j.error_message != NULL && j.column >= 1));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    size_t n = size < MOST ? size : MOST;
    char *line = malloc(n + 1);
    struct json_value v, first = { .kind = JSON_END };
    struct json j;

    must(line != NULL);
    memcpy(line, data, n);
    line[n] = '\0';
    json_open(&j, line, n);
    while (json_member(&j, &v) > JSON_END) {
        check_value(&j, &v);
        first = first.kind == JSON_END && v.kind < JSON_LIST ? v : first;
        if (v.kind >= JSON_LIST) {
            check_nested(&v, 1);
        }
    }
    if (v.kind == JSON_BAD) {
        must(j.error_message != NULL && j.column >= 1 && j.column <= n + 1);
    }
    if (first.kind != JSON_END) {
        check_value(&j, &first); /* later values have left it alone */
    }
    free(line);
    return 0;
}
