/* Any bytes, in portions whose lengths the first of them give, on their way to a terminal: valid
 * UTF-8 without a control character comes out, the same however it was cut, and showing it again
 * changes nothing. The escapes of JSON leave printable ASCII and characters that are none of
 * these. */
#include <stdlib.h>
#include <string.h>

#include "runtime/text/json.h"
#include "runtime/text/shown_text.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

struct text {
    char *bytes;
    size_t n;
};

static void must(bool condition)
{
    if (!condition) {
        abort();
    }
}

static void check(const char *text, size_t n, bool newlines)
{
    must(utf8_check((const uint8_t *)text, n) == (int)n);
    must(!char_is_control(utf8_decode((const uint8_t *)text, (int)n)));
    must(newlines || (uint8_t)*text >= ' ');
}

static void keep(void *context, const char *text, size_t bytes)
{
    struct text *to = context;

    check(text, bytes, true);
    memcpy(to->bytes + to->n, text, bytes);
    to->n += bytes;
}

static void keep_escaped(void *context, const char *text, size_t bytes)
{
    char out[JSON_ESCAPE_BYTES];
    size_t n = json_escape(out, text, bytes);
    int character = 1;

    (void)context;
    for (size_t i = 0; i < n; i += (size_t)character) {
        character = utf8_check((const uint8_t *)out + i, n - i);
        must(character > 0);
        check(out + i, (size_t)character, false);
    }
}

static struct text shown(const uint8_t *data, size_t size, size_t portion)
{
    struct text to = { malloc(3 * size + 1), 0 };
    struct shown_text t = { .write = keep, .context = &to };

    must(to.bytes != NULL);
    for (size_t i = 0; i < size; i += portion) {
        shown_text_put(&t, (const char *)data + i, size - i < portion ? size - i : portion);
    }
    shown_text_flush(&t);
    return to;
}

static void must_equal(struct text a, struct text b)
{
    must(a.n == b.n && memcmp(a.bytes, b.bytes, a.n) == 0);
    free(b.bytes);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct utf8_writer json = { .write = keep_escaped };
    struct text whole;

    if (size == 0) {
        return 0;
    }
    whole = shown(data, size, size);
    must_equal(whole, shown(data, size, 1));
    must_equal(whole, shown(data, size, 1u + data[0] % 7));
    must_equal(whole, shown((const uint8_t *)whole.bytes, whole.n, 1 + whole.n));
    utf8_writer_put(&json, (const char *)data, size);
    utf8_writer_flush(&json);
    free(whole.bytes);
    return 0;
}
