#include "runtime/api/api_json.h"

#include <string.h>

#include "runtime/text/hex_digit.h"
#include "runtime/text/utf8.h"

struct reader {
    char *at, *text;
    struct api_memory *memory;
    bool full, deep;
    unsigned depth;
};

/* ---- texts ----------------------------------------------------------------------------------- */

/* Return true if the body is UTF-8 without NUL and \u0000, which would end a text early. */
static bool is_text(const char *body, size_t bytes)
{
    if (utf8_whole_bytes(body, bytes) != bytes || memchr(body, '\0', bytes) != NULL) {
        return false;
    }
    for (size_t at = 0; at < bytes; at++) {
        if (body[at] != '\\') {
            continue;
        }
        if (bytes - at >= 6 && memcmp(body + at, "\\u0000", 6) == 0) {
            return false;
        }
        at++; /* a second backslash is not an escape */
    }
    return true;
}

/* Return the UTF-16 unit of the four digits, or -1 if they are not digits. */
static int32_t read_unit(const char *s)
{
    int32_t unit = 0;

    for (unsigned i = 0; i < 4; i++) {
        int digit = hex_digit(s[i]);

        if (digit < 0) {
            return -1;
        }
        unit = unit << 4 | digit;
    }
    return unit;
}

/* Read an escape at its u. Returns how many bytes were written, always fewer than the escape has,
 * or 0 if the escape is wrong. */
static size_t read_code(struct reader *r, char *out)
{
    int32_t unit = read_unit(r->at + 1), low;

    if (unit <= 0) {
        return 0;
    }
    r->at += 5;
    if (unit < 0xd800 || unit >= 0xe000) {
        return utf8_encode(out, (uint32_t)unit);
    }
    low = unit < 0xdc00 && r->at[0] == '\\' && r->at[1] == 'u' ? read_unit(r->at + 2) : -1;
    if (low < 0xdc00 || low >= 0xe000) { /* half of a surrogate pair */
        memcpy(out, UTF8_REPLACEMENT, 3);
        return 3;
    }
    r->at += 6;
    return utf8_encode(out, 0x10000u + (((uint32_t)unit & 0x3ff) << 10 | ((uint32_t)low & 0x3ff)));
}

/* Read an escape after its backslash. */
static size_t read_escape(struct reader *r, char *out)
{
    static const char letters[] = "\"\\/bfnrt", escaped[] = "\"\\/\b\f\n\r\t";
    const char *letter = *r->at != '\0' ? strchr(letters, *r->at) : NULL;

    if (letter != NULL) {
        *out = escaped[letter - letters];
        r->at++;
        return 1;
    }
    return *r->at == 'u' ? read_code(r, out) : 0;
}

/* Read a text from its opening quote. Returns NULL if the text is wrong. */
static char *read_text(struct reader *r, size_t *bytes)
{
    char *start = ++r->at, *out = start;

    while (*r->at != '\0' && *r->at != '"') {
        size_t n = 1;

        if (*r->at == '\\') {
            r->at++;
            n = read_escape(r, out);
            if (n == 0) {
                return NULL;
            }
        } else {
            *out = *r->at++;
        }
        out += n;
    }
    if (*r->at == '\0') {
        return NULL;
    }
    r->at++;
    *out = '\0';
    *bytes = (size_t)(out - start);
    return start;
}

/* ---- values ---------------------------------------------------------------------------------- */

static void skip_space(struct reader *r)
{
    r->at += strspn(r->at, " \t\r\n");
}

static bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

/* Step over digits. Returns how many there are. */
static size_t skip_digits(struct reader *r)
{
    size_t n = strspn(r->at, "0123456789");

    r->at += n;
    return n;
}

/* Step over a number by the grammar of RFC 8259, up to the byte that breaks it. A reader that also
 * took "2.69.5" would pass broken JSON on to a client, because numbers are passed on unchanged. */
static bool skip_number(struct reader *r)
{
    const char *first;

    r->at += *r->at == '-';
    first = r->at;
    if (skip_digits(r) == 0 || (*first == '0' && r->at > first + 1)) {
        return false;
    }
    if (*r->at == '.') {
        r->at++;
        if (skip_digits(r) == 0) {
            return false;
        }
    }
    if (*r->at == 'e' || *r->at == 'E') {
        r->at += r->at[1] == '+' || r->at[1] == '-' ? 2 : 1;
        return skip_digits(r) != 0;
    }
    return true;
}

static bool read_number(struct reader *r, struct api_json *v)
{
    v->kind = JSON_NUMBER;
    v->text = r->at;
    if (!skip_number(r)) {
        return false;
    }
    v->bytes = (size_t)(r->at - v->text);
    return true;
}

/* Read a text, a number or a word, or the bracket that opens a list or an object. */
static bool read_value(struct reader *r, struct api_json *v)
{
    static const struct {
        const char *word;
        enum json_kind kind;
    } words[] = { { "true", JSON_TRUE },
                  { "false", JSON_FALSE },
                  { "null", JSON_NULL },
                  { "{", JSON_OBJECT },
                  { "[", JSON_LIST } };

    if (*r->at == '"') {
        v->kind = JSON_TEXT;
        v->text = read_text(r, &v->bytes);
        return v->text != NULL;
    }
    if (*r->at == '-' || is_digit(*r->at)) {
        return read_number(r, v);
    }
    for (size_t i = 0; i < sizeof words / sizeof words[0]; i++) {
        if (strncmp(r->at, words[i].word, strlen(words[i].word)) == 0) {
            r->at += strlen(words[i].word);
            v->kind = words[i].kind;
            return true;
        }
    }
    return false;
}

static bool read_key(struct reader *r, struct api_json *v)
{
    size_t bytes;

    if (*r->at != '"') {
        return false;
    }
    v->key = read_text(r, &bytes);
    skip_space(r);
    if (v->key == NULL || *r->at != ':') {
        return false;
    }
    r->at++;
    skip_space(r);
    return true;
}

/* Add a value inside `up` (NULL for the root), after `last` (NULL for a first value). */
static struct api_json *add(struct reader *r, struct api_json *up, struct api_json *last)
{
    struct api_json *v = api_memory_take(r->memory, sizeof *v);

    if (v == NULL) {
        r->full = true;
        return NULL;
    }
    *v = (struct api_json){ .up = up };
    if (last != NULL) {
        last->next = v;
    } else if (up != NULL) {
        up->child = v;
    }
    if (up != NULL) {
        up->n++;
    }
    if ((up != NULL && up->kind == JSON_OBJECT && !read_key(r, v)) || !read_value(r, v)) {
        return NULL;
    }
    return v;
}

static bool opens(const struct api_json *v)
{
    return v->kind == JSON_OBJECT || v->kind == JSON_LIST;
}

/* Go on after a value, past the brackets that close here and a comma. The next value belongs in
 * *up, after *last. *up is NULL if the outermost value has ended. */
static bool go_on(struct reader *r, struct api_json **up, struct api_json **last)
{
    for (;;) {
        skip_space(r);
        if (*up == NULL) {
            return true;
        }
        if (*r->at == ((*up)->kind == JSON_OBJECT ? '}' : ']')) {
            r->at++;
            r->depth--;
            *last = *up;
            *up = (*up)->up;
            continue;
        }
        if (*last == NULL) {
            return true; /* the first */
        }
        if (*r->at != ',') {
            return false;
        }
        r->at++;
        skip_space(r);
        return true;
    }
}

/* Read the whole tree, without recursion, so that depth takes no stack. */
static bool read_all(struct reader *r, struct api_json **root)
{
    struct api_json *up = NULL, *last = NULL, *v;

    skip_space(r);
    do {
        v = add(r, up, last);
        *root = *root == NULL ? v : *root;
        if (v == NULL) {
            return false;
        }
        last = v;
        if (opens(v)) {
            up = v;
            last = NULL;
            r->deep = r->depth++ == API_JSON_DEEPEST;
            if (r->deep) {
                return false;
            }
        }
        if (!go_on(r, &up, &last)) {
            return false;
        }
    } while (up != NULL);
    return *r->at == '\0';
}

enum api_json_result api_json_read(struct api_json **root, char *text, size_t n,
                                   struct api_memory *m, size_t *at)
{
    struct reader r = { .at = text, .text = text, .memory = m };

    *root = NULL;
    *at = 0;
    if (!is_text(text, n)) {
        return API_JSON_BYTES;
    }
    r.at += utf8_mark_bytes(text, n);
    if (read_all(&r, root)) {
        return API_JSON_GOOD;
    }
    *at = (size_t)(r.at - text);
    if (r.deep) {
        return API_JSON_DEEP;
    }
    return r.full ? API_JSON_MEMORY : API_JSON_WRONG;
}

/* ---- look ------------------------------------------------------------------------------------ */

const struct api_json *api_json_get(const struct api_json *object, const char *name)
{
    const struct api_json *v;

    api_json_each(v, object)
    {
        if (v->key != NULL && strcmp(v->key, name) == 0) {
            return v;
        }
    }
    return NULL;
}

const char *api_json_text(const struct api_json *v)
{
    return api_json_is(v, JSON_TEXT) ? v->text : NULL;
}

const char *api_json_text_of(const struct api_json *object, const char *name)
{
    return api_json_text(api_json_get(object, name));
}

/* Return 10^n, which is exact in a double for n from 0 to 22. */
static double power_of_ten(int32_t n)
{
    double power = 1;

    while (n-- > 0) {
        power *= 10;
    }
    return power;
}

/* Return digits * 10^exponent, in exact steps. */
static double scale(uint64_t digits, int32_t exponent)
{
    double value = (double)digits;

    while (exponent > 0 && value != 0 && !__builtin_isinf(value)) {
        int32_t step = exponent < 22 ? exponent : 22;

        value *= power_of_ten(step);
        exponent -= step;
    }
    while (exponent < 0 && value > 0) {
        int32_t step = exponent > -22 ? -exponent : 22;

        value /= power_of_ten(step);
        exponent += step;
    }
    return value;
}

/* Read the number after e or E, bounded so that additions do not overflow. */
static int32_t read_exponent(const char *s, const char *end)
{
    int32_t n = 0;
    bool less = s != end && *s == '-';

    for (s += s != end && (*s == '-' || *s == '+'); s != end && is_digit(*s) && n < 10000; s++) {
        n = n * 10 + (*s - '0');
    }
    return less ? -n : n;
}

/* At least the first 19 digits count. Digits up to 2^53 with up to 22 places give the nearest
 * double (Clinger). Otherwise the result is at most one double away. */
bool api_json_is_text(const struct api_json *value, const char *text)
{
    const char *own = api_json_text(value);

    return own != NULL && strcmp(own, text) == 0;
}

bool api_json_has_text(const struct api_json *list, const char *text)
{
    const struct api_json *one;

    api_json_each(one, list)
    {
        if (api_json_is_text(one, text)) {
            return true;
        }
    }
    return false;
}

double api_json_number(const struct api_json *v)
{
    const char *s, *end;
    uint64_t digits = 0;
    int32_t exponent = 0;
    bool less, point = false;

    if (!api_json_is(v, JSON_NUMBER)) {
        return (double)__builtin_nanf("");
    }
    end = v->text + v->bytes;
    less = *v->text == '-';
    for (s = v->text + less; s != end && (is_digit(*s) || (*s == '.' && !point)); s++) {
        if (*s == '.') {
            point = true;
        } else if (digits < UINT64_MAX / 10 - 1) {
            digits = digits * 10 + (uint64_t)(*s - '0');
            exponent -= point;
        } else {
            exponent += !point;
        }
    }
    if (s != end && (*s == 'e' || *s == 'E')) {
        exponent += read_exponent(s + 1, end);
    }
    return less ? -scale(digits, exponent) : scale(digits, exponent);
}

/* ---- put ------------------------------------------------------------------------------------- */

static void put_begin(struct api_text *to, const struct api_json *v)
{
    static const char *const words[] = {
        [JSON_TRUE] = "true", [JSON_FALSE] = "false", [JSON_NULL] = "null",
        [JSON_LIST] = "[",    [JSON_OBJECT] = "{",
    };

    if (v->key != NULL) {
        api_text_quoted(to, v->key, strlen(v->key));
        api_text_put(to, ":", 1);
    }
    if (v->kind == JSON_TEXT) {
        api_text_quoted(to, v->text, v->bytes);
    } else if (v->kind == JSON_NUMBER) {
        api_text_put(to, v->text, v->bytes);
    } else {
        api_text_put(to, words[v->kind], strlen(words[v->kind]));
    }
}

void api_json_put(struct api_text *to, const struct api_json *v)
{
    const struct api_json *at = v;
    struct api_json whole = *v;

    whole.key = NULL; /* the printed value's own name is left out */
    put_begin(to, &whole);
    while (at != NULL) {
        if (at->child != NULL) { /* down */
            at = at->child;
            put_begin(to, at);
            continue;
        }
        if (opens(at)) {
            api_text_put(to, at->kind == JSON_LIST ? "]" : "}", 1);
        }
        while (at != v && at->next == NULL) { /* go up, past all lists and objects that end here */
            at = at->up;
            api_text_put(to, at->kind == JSON_LIST ? "]" : "}", 1);
        }
        if (at == v) {
            return;
        }
        at = at->next;
        api_text_put(to, ",", 1);
        put_begin(to, at);
    }
}
