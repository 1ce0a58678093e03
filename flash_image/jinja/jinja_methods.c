/* Attributes, entries and methods of values. */
#include <string.h>

#include "flash_image/jinja/jinja_library.h"

/* ---- arguments ------------------------------------------------------------------------------- */

const struct jinja_value *jinja_argument(const struct jinja_args *args, size_t i, const char *name)
{
    if (i < args->list.n) {
        return &args->list.item[i];
    }
    return jinja_get_name(&args->named, jinja_text(name));
}

bool jinja_flag(const struct jinja_args *args, size_t i, const char *name, bool otherwise)
{
    const struct jinja_value *v = jinja_argument(args, i, name);

    return v != NULL ? jinja_truth(*v) : otherwise;
}

int64_t jinja_number(struct jinja *j, const struct jinja_args *args, size_t i, const char *name,
                     int64_t otherwise)
{
    const struct jinja_value *v = jinja_argument(args, i, name);

    if (v == NULL || v->kind == JINJA_NONE) {
        return otherwise;
    }
    if (v->kind == JINJA_BOOL) {
        return v->truth;
    }
    if (v->kind != JINJA_INT) {
        jinja_must_be_defined(j, *v);
        jinja_fail(j, "a whole number is needed, not a %s", jinja_kind_name(*v));
    }
    return v->integer;
}

struct jinja_text jinja_words_of(struct jinja *j, const struct jinja_args *args, size_t i,
                                 const char *name, const char *otherwise)
{
    const struct jinja_value *v = jinja_argument(args, i, name);

    if (v == NULL || v->kind == JINJA_NONE) {
        return jinja_text(otherwise);
    }
    if (v->kind != JINJA_STRING) {
        jinja_must_be_defined(j, *v);
        jinja_fail(j, "a text is needed, not a %s", jinja_kind_name(*v));
    }
    return v->text;
}

/* ---- dicts and lists ------------------------------------------------------------------------- */

static struct jinja_value call_dict(struct jinja *j, const struct jinja_dict *d,
                                    struct jinja_text name, const struct jinja_args *args)
{
    struct jinja_value out;

    if (jinja_text_is(name, "get")) {
        const struct jinja_value *key = jinja_argument(args, 0, "key"), *found = NULL;

        if (key != NULL) {
            found = jinja_get(j, d, *key);
        }
        if (found == NULL) {
            found = jinja_argument(args, 1, "default");
        }
        return found != NULL ? *found : jinja_none();
    }
    if (jinja_text_is(name, "copy")) {
        out = jinja_new_dict(j, JINJA_DICT);
        for (size_t i = 0; i < d->n; i++) {
            jinja_put(j, out.dict, d->key[i], d->value[i]);
        }
        return out;
    }
    out = jinja_new_list(j, JINJA_LIST);
    for (size_t i = 0; i < d->n; i++) {
        struct jinja_value pair = jinja_new_list(j, JINJA_TUPLE);

        if (jinja_text_is(name, "items")) {
            jinja_append(j, pair.list, d->key[i]);
            jinja_append(j, pair.list, d->value[i]);
            jinja_append(j, out.list, pair);
        } else {
            jinja_append(j, out.list, jinja_text_is(name, "keys") ? d->key[i] : d->value[i]);
        }
    }
    return out;
}

static struct jinja_value call_list(struct jinja *j, const struct jinja_list *list,
                                    struct jinja_text name, const struct jinja_args *args)
{
    const struct jinja_value *v = jinja_argument(args, 0, "value");
    int64_t n = 0;

    if (v == NULL) {
        jinja_fail(j, "index() and count() take a value");
    }
    for (size_t i = 0; i < list->n; i++) {
        bool same = jinja_equal(j, list->item[i], *v);

        if (same && jinja_text_is(name, "index")) {
            return jinja_int((int64_t)i);
        }
        n += same;
    }
    if (jinja_text_is(name, "index")) {
        jinja_fail(j, "index() does not find the value");
    }
    return jinja_int(n);
}

/* ---- by name --------------------------------------------------------------------------------- */

static bool is_one_of(struct jinja_text name, const char *const words[])
{
    for (size_t i = 0; words[i] != NULL; i++) {
        if (jinja_text_is(name, words[i])) {
            return true;
        }
    }
    return false;
}

/* True for Python's methods that change a value, which Transformers forbids. */
static bool changes(struct jinja_value of, struct jinja_text name)
{
    static const char *const dict[] = { "pop", "update", "setdefault", "clear", "popitem", NULL };
    static const char *const list[] = { "append", "extend", "insert",  "pop", "remove",
                                        "clear",  "sort",   "reverse", NULL };

    return is_one_of(name, of.kind == JINJA_DICT ? dict : list);
}

bool jinja_has_method(struct jinja_value of, struct jinja_text name)
{
    static const char *const dict[] = { "get", "items", "keys", "values", "copy", NULL };
    static const char *const list[] = { "index", "count", NULL };

    switch (of.kind) {
    case JINJA_STRING: return jinja_is_text_method(name);
    case JINJA_DICT: return is_one_of(name, dict) || changes(of, name);
    case JINJA_LIST: return is_one_of(name, list) || changes(of, name);
    case JINJA_TUPLE: return is_one_of(name, list);
    default: return false;
    }
}

struct jinja_value jinja_call_method(struct jinja *j, const struct jinja_method *m,
                                     const struct jinja_args *args)
{
    jinja_walk_through(j, m->of);
    for (size_t i = 0; i < args->list.n; i++) {
        jinja_walk_through(j, args->list.item[i]);
    }
    if (m->of.kind == JINJA_STRING) {
        return jinja_call_text_method(j, m->of.text, m->name, args);
    }
    if (changes(m->of, m->name)) {
        jinja_fail(j, "%.*s() changes a value, which templates may not", (int)m->name.bytes,
                   m->name.data);
    }
    return m->of.kind == JINJA_DICT ? call_dict(j, m->of.dict, m->name, args)
                                    : call_list(j, m->of.list, m->name, args);
}

static struct jinja_value method(struct jinja *j, struct jinja_value of, struct jinja_text name)
{
    struct jinja_value v = { .kind = JINJA_METHOD };

    v.method = jinja_alloc(j, sizeof *v.method);
    *v.method = (struct jinja_method){ of, name };
    return v;
}

static const struct jinja_value *named(struct jinja_value of, struct jinja_text name)
{
    if (of.kind != JINJA_DICT && of.kind != JINJA_NAMESPACE) {
        return NULL;
    }
    return jinja_get_name(of.dict, name);
}

struct jinja_value jinja_attribute(struct jinja *j, struct jinja_value of, struct jinja_text name)
{
    const struct jinja_value *found;

    jinja_must_be_defined(j, of);
    if (jinja_has_method(of, name)) {
        return method(j, of, name);
    }
    jinja_walk_through(j, of);
    found = named(of, name);
    return found != NULL ? *found : jinja_undefined(name);
}

static struct jinja_value at(struct jinja *j, struct jinja_value of, int64_t i)
{
    int64_t n = (int64_t)jinja_length(j, of);

    if (i < 0) {
        i += n;
    }
    if (i < 0 || i >= n) {
        return jinja_undefined(jinja_text("an index is beyond the end"));
    }
    if (of.kind == JINJA_STRING) {
        size_t start = jinja_character_start(of.text, (size_t)i);

        return jinja_string(
            (struct jinja_text){ of.text.data + start, jinja_character(of.text, start) });
    }
    return of.list->item[i];
}

struct jinja_value jinja_index(struct jinja *j, struct jinja_value of, struct jinja_value key)
{
    const struct jinja_value *found = NULL;

    jinja_must_be_defined(j, of);
    if (of.kind == JINJA_DICT || of.kind == JINJA_NAMESPACE) {
        found = jinja_get(j, of.dict, key);
    } else if ((of.kind == JINJA_STRING || jinja_is_list(of)) && key.kind == JINJA_INT) {
        return at(j, of, key.integer);
    }
    if (found != NULL) {
        return *found;
    }
    if (key.kind == JINJA_STRING) {
        return jinja_has_method(of, key.text) ? method(j, of, key.text) : jinja_undefined(key.text);
    }
    return jinja_undefined(jinja_text("an entry"));
}
