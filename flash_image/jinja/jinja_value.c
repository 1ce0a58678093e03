#include "flash_image/jinja/jinja_value.h"

#include <string.h>

#include "flash_image/jinja/jinja_text.h"

struct jinja_text jinja_text(const char *s)
{
    return (struct jinja_text){ s, strlen(s) };
}

enum { ENTRY_BYTES = 8 }; /* an entry counts as this many bytes of text */

void jinja_walk_through(struct jinja *j, struct jinja_value v)
{
    switch (v.kind) {
    case JINJA_STRING: jinja_look_through(j, v.text.bytes); break;
    case JINJA_LIST:
    case JINJA_TUPLE: jinja_look_through(j, v.list->n * ENTRY_BYTES); break;
    case JINJA_DICT:
    case JINJA_NAMESPACE: jinja_look_through(j, v.dict->n * ENTRY_BYTES); break;
    default: break;
    }
}

bool jinja_text_equal(struct jinja_text a, struct jinja_text b)
{
    return a.bytes == b.bytes && (a.bytes == 0 || memcmp(a.data, b.data, a.bytes) == 0);
}

bool jinja_text_is(struct jinja_text t, const char *s)
{
    return jinja_text_equal(t, jinja_text(s));
}

struct jinja_value jinja_undefined(struct jinja_text name)
{
    return (struct jinja_value){ .kind = JINJA_UNDEFINED, .text = name };
}

struct jinja_value jinja_none(void)
{
    return (struct jinja_value){ .kind = JINJA_NONE };
}

struct jinja_value jinja_bool(bool truth)
{
    return (struct jinja_value){ .kind = JINJA_BOOL, .truth = truth };
}

struct jinja_value jinja_int(int64_t n)
{
    return (struct jinja_value){ .kind = JINJA_INT, .integer = n };
}

struct jinja_value jinja_float(double real)
{
    return (struct jinja_value){ .kind = JINJA_FLOAT, .real = real };
}

struct jinja_value jinja_string(struct jinja_text t)
{
    return (struct jinja_value){ .kind = JINJA_STRING, .text = t };
}

struct jinja_value jinja_words(const char *s)
{
    return jinja_string(jinja_text(s));
}

struct jinja_value jinja_new_list(struct jinja *j, enum jinja_kind kind)
{
    struct jinja_value v = { .kind = kind };

    v.list = jinja_alloc(j, sizeof *v.list);
    return v;
}

struct jinja_value jinja_new_dict(struct jinja *j, enum jinja_kind kind)
{
    struct jinja_value v = { .kind = kind };

    v.dict = jinja_alloc(j, sizeof *v.dict);
    return v;
}

void jinja_append(struct jinja *j, struct jinja_list *to, struct jinja_value v)
{
    if (to->n == to->room) {
        to->room = to->room * 2 + 4;
        to->item = jinja_grow(j, to->item, to->n * sizeof *to->item, to->room * sizeof *to->item);
    }
    to->item[to->n++] = v;
}

static struct jinja_value *find(struct jinja *j, const struct jinja_dict *d, struct jinja_value key)
{
    for (size_t i = 0; i < d->n; i++) {
        jinja_step(j);
        if (jinja_equal(j, d->key[i], key)) {
            return &d->value[i];
        }
    }
    return NULL;
}

void jinja_put(struct jinja *j, struct jinja_dict *d, struct jinja_value key, struct jinja_value v)
{
    struct jinja_value *old = find(j, d, key);

    if (old != NULL) {
        *old = v;
        return;
    }
    if (d->n == d->room) {
        size_t bytes = d->n * sizeof *d->key;

        d->room = d->room * 2 + 4;
        d->key = jinja_grow(j, d->key, bytes, d->room * sizeof *d->key);
        d->value = jinja_grow(j, d->value, bytes, d->room * sizeof *d->value);
    }
    d->key[d->n] = key;
    d->value[d->n++] = v;
}

void jinja_put_name(struct jinja *j, struct jinja_dict *d, const char *name, struct jinja_value v)
{
    jinja_put(j, d, jinja_words(name), v);
}

const struct jinja_value *jinja_get(struct jinja *j, const struct jinja_dict *d,
                                    struct jinja_value key)
{
    if (jinja_is_list(key) || key.kind == JINJA_DICT) {
        jinja_fail(j, "a %s cannot be a key of a dict", jinja_kind_name(key));
    }
    return find(j, d, key);
}

const struct jinja_value *jinja_get_name(const struct jinja_dict *d, struct jinja_text name)
{
    for (size_t i = 0; i < d->n; i++) {
        if (d->key[i].kind == JINJA_STRING && jinja_text_equal(d->key[i].text, name)) {
            return &d->value[i];
        }
    }
    return NULL;
}

bool jinja_is_list(struct jinja_value v)
{
    return v.kind == JINJA_LIST || v.kind == JINJA_TUPLE;
}

bool jinja_is_number(struct jinja_value v, double *real)
{
    switch (v.kind) {
    case JINJA_BOOL: *real = v.truth; return true;
    case JINJA_INT: *real = (double)v.integer; return true;
    case JINJA_FLOAT: *real = v.real; return true;
    default: return false;
    }
}

bool jinja_truth(struct jinja_value v)
{
    switch (v.kind) {
    case JINJA_UNDEFINED:
    case JINJA_NONE: return false;
    case JINJA_BOOL: return v.truth;
    case JINJA_INT: return v.integer != 0;
    case JINJA_FLOAT: return v.real != 0;
    case JINJA_STRING: return v.text.bytes != 0;
    case JINJA_LIST:
    case JINJA_TUPLE: return v.list->n != 0;
    case JINJA_DICT: return v.dict->n != 0;
    default: return true;
    }
}

static bool equal_lists(struct jinja *j, const struct jinja_list *a, const struct jinja_list *b)
{
    if (a->n != b->n) {
        return false;
    }
    for (size_t i = 0; i < a->n; i++) {
        jinja_look_through(j, ENTRY_BYTES);
        if (!jinja_equal(j, a->item[i], b->item[i])) {
            return false;
        }
    }
    return true;
}

static bool equal_dicts(struct jinja *j, const struct jinja_dict *a, const struct jinja_dict *b)
{
    if (a->n != b->n) {
        return false;
    }
    for (size_t i = 0; i < a->n; i++) {
        const struct jinja_value *other = find(j, b, a->key[i]);

        if (other == NULL || !jinja_equal(j, a->value[i], *other)) {
            return false;
        }
    }
    return true;
}

static bool equal_same_kind(struct jinja *j, struct jinja_value a, struct jinja_value b)
{
    switch (a.kind) {
    case JINJA_UNDEFINED:
    case JINJA_NONE: return true;
    case JINJA_STRING:
        jinja_look_through(j, a.text.bytes == b.text.bytes ? a.text.bytes : 0);
        return jinja_text_equal(a.text, b.text);
    case JINJA_LIST:
    case JINJA_TUPLE: return equal_lists(j, a.list, b.list);
    case JINJA_DICT: return equal_dicts(j, a.dict, b.dict);
    case JINJA_FUNCTION: return a.function == b.function;
    default: return a.dict == b.dict; /* true if both are the same object */
    }
}

bool jinja_equal(struct jinja *j, struct jinja_value a, struct jinja_value b)
{
    double x, y;
    bool same;

    if (a.kind == JINJA_INT && b.kind == JINJA_INT) {
        return a.integer == b.integer;
    }
    if (jinja_is_number(a, &x) && jinja_is_number(b, &y)) {
        return x == y;
    }
    if (a.kind != b.kind) {
        return false;
    }
    jinja_enter(j);
    same = equal_same_kind(j, a, b);
    jinja_leave(j);
    return same;
}

static int sign(bool below, bool above)
{
    return below ? -1 : above;
}

static int compare_lists(struct jinja *j, const struct jinja_list *a, const struct jinja_list *b)
{
    for (size_t i = 0; i < a->n && i < b->n; i++) {
        jinja_look_through(j, ENTRY_BYTES);
        if (!jinja_equal(j, a->item[i], b->item[i])) {
            return jinja_compare(j, a->item[i], b->item[i]);
        }
    }
    return sign(a->n<b->n, a->n> b->n);
}

int jinja_compare(struct jinja *j, struct jinja_value a, struct jinja_value b)
{
    double x, y;
    int order = 0;

    jinja_must_be_defined(j, a);
    jinja_must_be_defined(j, b);
    if (a.kind == JINJA_INT && b.kind == JINJA_INT) {
        return sign(a.integer<b.integer, a.integer> b.integer);
    }
    if (jinja_is_number(a, &x) && jinja_is_number(b, &y)) {
        return sign(x<y, x> y);
    }
    if (a.kind == JINJA_STRING && b.kind == JINJA_STRING) {
        size_t n = a.text.bytes < b.text.bytes ? a.text.bytes : b.text.bytes;
        int first = n != 0 ? memcmp(a.text.data, b.text.data, n) : 0;

        jinja_look_through(j, n);
        return first != 0 ? first : sign(a.text.bytes<b.text.bytes, a.text.bytes> b.text.bytes);
    }
    if (a.kind != b.kind || !jinja_is_list(a)) {
        jinja_fail(j, "a %s and a %s cannot be ordered", jinja_kind_name(a), jinja_kind_name(b));
    }
    jinja_enter(j);
    order = compare_lists(j, a.list, b.list);
    jinja_leave(j);
    return order;
}

static bool list_contains(struct jinja *j, const struct jinja_list *list, struct jinja_value v)
{
    for (size_t i = 0; i < list->n; i++) {
        jinja_step(j);
        if (jinja_equal(j, list->item[i], v)) {
            return true;
        }
    }
    return false;
}

bool jinja_contains(struct jinja *j, struct jinja_value in, struct jinja_value v)
{
    switch (in.kind) {
    case JINJA_STRING:
        if (v.kind != JINJA_STRING) {
            jinja_must_be_defined(j, v);
            jinja_fail(j, "'in <string>' takes a string, not a %s", jinja_kind_name(v));
        }
        jinja_walk_through(j, in);
        return jinja_find(in.text, v.text, 0) != SIZE_MAX;
    case JINJA_LIST:
    case JINJA_TUPLE: return list_contains(j, in.list, v);
    case JINJA_DICT: return jinja_get(j, in.dict, v) != NULL;
    case JINJA_UNDEFINED: return false;
    default: jinja_fail(j, "a %s contains nothing", jinja_kind_name(in));
    }
}

size_t jinja_length(struct jinja *j, struct jinja_value v)
{
    switch (v.kind) {
    case JINJA_UNDEFINED: return 0;
    case JINJA_STRING: jinja_walk_through(j, v); return jinja_characters(v.text);
    case JINJA_LIST:
    case JINJA_TUPLE: return v.list->n;
    case JINJA_DICT: return v.dict->n;
    default: jinja_fail(j, "a %s has no length", jinja_kind_name(v));
    }
}

struct jinja_list *jinja_items(struct jinja *j, struct jinja_value v)
{
    struct jinja_value out;

    if (jinja_is_list(v)) {
        return v.list;
    }
    out = jinja_new_list(j, JINJA_LIST);
    if (v.kind == JINJA_DICT) {
        for (size_t i = 0; i < v.dict->n; i++) {
            jinja_append(j, out.list, v.dict->key[i]);
        }
    } else if (v.kind == JINJA_STRING) {
        for (size_t at = 0, n; at < v.text.bytes; at += n) {
            n = jinja_character(v.text, at);
            jinja_append(j, out.list, jinja_string((struct jinja_text){ v.text.data + at, n }));
        }
    } else if (v.kind != JINJA_UNDEFINED) {
        jinja_fail(j, "a %s is not iterable", jinja_kind_name(v));
    }
    return out.list;
}

const char *jinja_kind_name(struct jinja_value v)
{
    static const char *const names[] = {
        [JINJA_UNDEFINED] = "Undefined", [JINJA_NONE] = "None",
        [JINJA_BOOL] = "bool",           [JINJA_INT] = "int",
        [JINJA_FLOAT] = "float",         [JINJA_STRING] = "str",
        [JINJA_LIST] = "list",           [JINJA_TUPLE] = "tuple",
        [JINJA_DICT] = "dict",           [JINJA_NAMESPACE] = "Namespace",
        [JINJA_MACRO] = "macro",         [JINJA_METHOD] = "method",
        [JINJA_FUNCTION] = "function",   [JINJA_LOOP] = "loop",
    };

    return names[v.kind];
}

void jinja_must_be_defined(struct jinja *j, struct jinja_value v)
{
    if (v.kind == JINJA_UNDEFINED) {
        jinja_fail(j, "'%.*s' is undefined", (int)(v.text.bytes < 60 ? v.text.bytes : 60),
                   v.text.data);
    }
}
