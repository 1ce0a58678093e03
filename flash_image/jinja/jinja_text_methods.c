/* Methods of texts: split, strip, replace and others. */
#include <string.h>

#include "flash_image/jinja/jinja_library.h"

static bool in_set(struct jinja_text set, struct jinja_text c)
{
    if (set.bytes == 0) {
        return c.bytes == 1 && jinja_is_space(c.data[0]);
    }
    return jinja_find(set, c, 0) != SIZE_MAX;
}

struct jinja_text jinja_strip(struct jinja_text t, struct jinja_text set, bool left, bool right)
{
    size_t n;

    while (left && t.bytes != 0 &&
           in_set(set, (struct jinja_text){ t.data, n = jinja_character(t, 0) })) {
        t.data += n;
        t.bytes -= n;
    }
    while (right && t.bytes != 0) {
        for (n = 1; n < 4 && n < t.bytes && (t.data[t.bytes - n] & 0xc0) == 0x80;) {
            n++;
        }
        if (!in_set(set, (struct jinja_text){ t.data + t.bytes - n, n })) {
            break;
        }
        t.bytes -= n;
    }
    return t;
}

struct jinja_text jinja_replace(struct jinja *j, struct jinja_text t, struct jinja_text old,
                                struct jinja_text new_text, int64_t most)
{
    struct jinja_buffer out = { 0 };
    size_t at = 0;

    for (; most != 0; most--) {
        size_t found = jinja_find(t, old, at);

        jinja_step(j);
        if (found == SIZE_MAX) {
            break;
        }
        if (old.bytes == 0) { /* insert new_text before each character, and at the end */
            jinja_write(j, &out, new_text);
            if (at == t.bytes) {
                break;
            }
            found = at + jinja_character(t, at);
            jinja_write(j, &out, (struct jinja_text){ t.data + at, found - at });
            at = found;
            continue;
        }
        jinja_write(j, &out, (struct jinja_text){ t.data + at, found - at });
        jinja_write(j, &out, new_text);
        at = found + old.bytes;
    }
    jinja_write(j, &out, (struct jinja_text){ t.data + at, t.bytes - at });
    return jinja_written(&out);
}

static bool is_letter(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (unsigned char)c >= 0x80;
}

/* Change the case; `how`: u(pper), l(ower), c(apitalize) or t(itle). Only ASCII letters change. */
struct jinja_text jinja_map_case(struct jinja *j, struct jinja_text t, char how)
{
    char *out = jinja_alloc(j, t.bytes + 1);

    for (size_t i = 0; i < t.bytes; i++) {
        char c = t.data[i];
        bool begins = how == 't' ? i == 0 || !is_letter(t.data[i - 1]) : i == 0;
        bool up = how == 'u' || (how != 'l' && begins);

        if (up && c >= 'a' && c <= 'z') {
            c = (char)(c - 'a' + 'A');
        } else if (!up && c >= 'A' && c <= 'Z') {
            c = (char)(c - 'A' + 'a');
        }
        out[i] = c;
    }
    return (struct jinja_text){ out, t.bytes };
}

static void append_text(struct jinja *j, struct jinja_list *to, const char *data, size_t bytes)
{
    jinja_append(j, to, jinja_string((struct jinja_text){ data, bytes }));
}

/* Split at white space; several such characters count as one. */
static struct jinja_value split_words(struct jinja *j, struct jinja_text t, int64_t most)
{
    struct jinja_value out = jinja_new_list(j, JINJA_LIST);
    struct jinja_text nothing = { "", 0 };

    for (;; most--) {
        size_t n = 0;

        t = jinja_strip(t, nothing, true, false);
        if (t.bytes == 0) {
            return out;
        }
        while (n < t.bytes && (most == 0 || !jinja_is_space(t.data[n]))) {
            n++;
        }
        append_text(j, out.list, t.data, n);
        t.data += n;
        t.bytes -= n;
    }
}

static struct jinja_value split(struct jinja *j, struct jinja_text t, const struct jinja_args *args)
{
    struct jinja_text by = jinja_words_of(j, args, 0, "sep", "");
    int64_t most = jinja_number(j, args, 1, "maxsplit", -1);
    struct jinja_value out;
    size_t at = 0;

    if (by.bytes == 0) {
        return split_words(j, t, most);
    }
    out = jinja_new_list(j, JINJA_LIST);
    for (;; most--) {
        size_t found = most == 0 ? SIZE_MAX : jinja_find(t, by, at);

        if (found == SIZE_MAX) {
            append_text(j, out.list, t.data + at, t.bytes - at);
            return out;
        }
        append_text(j, out.list, t.data + at, found - at);
        at = found + by.bytes;
    }
}

static size_t find_last(struct jinja_text t, struct jinja_text what)
{
    size_t last = SIZE_MAX;

    for (size_t at = 0; (at = jinja_find(t, what, at)) != SIZE_MAX; at++) {
        last = at;
    }
    return last;
}

static struct jinja_value rsplit(struct jinja *j, struct jinja_text t,
                                 const struct jinja_args *args)
{
    struct jinja_text by = jinja_words_of(j, args, 0, "sep", "");
    int64_t most = jinja_number(j, args, 1, "maxsplit", -1);
    struct jinja_value back = jinja_new_list(j, JINJA_LIST);
    struct jinja_value out = jinja_new_list(j, JINJA_LIST);
    size_t found;

    if (by.bytes == 0) {
        if (most >= 0) {
            jinja_fail(j, "rsplit() with a count needs a separator");
        }
        return split_words(j, t, most);
    }
    for (; most != 0 && (found = find_last(t, by)) != SIZE_MAX; most--) {
        jinja_step(j);
        append_text(j, back.list, t.data + found + by.bytes, t.bytes - found - by.bytes);
        t.bytes = found;
    }
    append_text(j, out.list, t.data, t.bytes);
    for (size_t i = back.list->n; i-- != 0;) {
        jinja_append(j, out.list, back.list->item[i]);
    }
    return out;
}

static struct jinja_value split_lines(struct jinja *j, struct jinja_text t, bool keep)
{
    struct jinja_value out = jinja_new_list(j, JINJA_LIST);

    while (t.bytes != 0) {
        size_t n = 0, end;

        while (n < t.bytes && t.data[n] != '\n' && t.data[n] != '\r') {
            n++;
        }
        end = n;
        if (n < t.bytes) {
            n += n + 1 < t.bytes && t.data[n] == '\r' && t.data[n + 1] == '\n' ? 2 : 1;
        }
        append_text(j, out.list, t.data, keep ? n : end);
        t.data += n;
        t.bytes -= n;
    }
    return out;
}

static struct jinja_value partition(struct jinja *j, struct jinja_text t, struct jinja_text by,
                                    bool last)
{
    struct jinja_value out = jinja_new_list(j, JINJA_TUPLE);
    size_t at = last ? find_last(t, by) : jinja_find(t, by, 0);

    if (by.bytes == 0) {
        jinja_fail(j, "partition() needs a separator");
    }
    if (at == SIZE_MAX) {
        append_text(j, out.list, t.data, last ? 0 : t.bytes);
        append_text(j, out.list, t.data, 0);
        append_text(j, out.list, t.data, last ? t.bytes : 0);
        return out;
    }
    append_text(j, out.list, t.data, at);
    append_text(j, out.list, by.data, by.bytes);
    append_text(j, out.list, t.data + at + by.bytes, t.bytes - at - by.bytes);
    return out;
}

static bool begins_with(struct jinja_text t, struct jinja_text with, bool at_end)
{
    return with.bytes <= t.bytes &&
           jinja_text_equal((struct jinja_text){ t.data + (at_end ? t.bytes - with.bytes : 0),
                                                 with.bytes },
                            with);
}

/* True if the text begins (or ends) with the argument, or with any text of a tuple. */
static struct jinja_value begins(struct jinja *j, struct jinja_text t,
                                 const struct jinja_args *args, bool at_end)
{
    const struct jinja_value *v = jinja_argument(args, 0, "prefix");

    if (v != NULL && v->kind == JINJA_TUPLE) {
        for (size_t i = 0; i < v->list->n; i++) {
            if (begins_with(t, jinja_to_text(j, v->list->item[i]), at_end)) {
                return jinja_bool(true);
            }
        }
        return jinja_bool(false);
    }
    if (v == NULL || v->kind != JINJA_STRING) {
        jinja_fail(j, "a text is needed to compare with");
    }
    return jinja_bool(begins_with(t, v->text, at_end));
}

static struct jinja_text without(struct jinja_text t, struct jinja_text part, bool at_end)
{
    if (begins_with(t, part, at_end)) {
        t.bytes -= part.bytes;
        t.data += at_end ? 0 : part.bytes;
    }
    return t;
}

static struct jinja_value join_all(struct jinja *j, struct jinja_text t,
                                   const struct jinja_args *args)
{
    const struct jinja_value *v = jinja_argument(args, 0, "iterable");
    struct jinja_list *items = jinja_items(j, v != NULL ? *v : jinja_none());
    struct jinja_buffer out = { 0 };

    for (size_t i = 0; i < items->n; i++) {
        if (items->item[i].kind != JINJA_STRING) {
            jinja_fail(j, "join() takes texts, not a %s", jinja_kind_name(items->item[i]));
        }
        if (i != 0) {
            jinja_write(j, &out, t);
        }
        jinja_write(j, &out, items->item[i].text);
    }
    return jinja_string(jinja_written(&out));
}

static struct jinja_value find_in(struct jinja *j, struct jinja_text t, struct jinja_text what,
                                  bool last, bool must)
{
    size_t at = last ? find_last(t, what) : jinja_find(t, what, 0);

    if (at == SIZE_MAX) {
        if (must) {
            jinja_fail(j, "index() does not find the text");
        }
        return jinja_int(-1);
    }
    return jinja_int((int64_t)jinja_characters((struct jinja_text){ t.data, at }));
}

static struct jinja_value count_in(struct jinja_text t, struct jinja_text what)
{
    int64_t n = 0;

    if (what.bytes == 0) {
        return jinja_int((int64_t)jinja_characters(t) + 1);
    }
    for (size_t at = 0; (at = jinja_find(t, what, at)) != SIZE_MAX; at += what.bytes) {
        n++;
    }
    return jinja_int(n);
}

/* Compute isdigit() and similar methods, for ASCII only. */
static bool all_are(struct jinja_text t, char what)
{
    for (size_t i = 0; i < t.bytes; i++) {
        char c = t.data[i];
        bool digit = c >= '0' && c <= '9';
        bool holds = what == 'd'   ? digit
                     : what == 'a' ? is_letter(c)
                     : what == 'n' ? digit || is_letter(c)
                                   : jinja_is_space(c);

        if (!holds) {
            return false;
        }
    }
    return t.bytes != 0;
}

enum text_method {
    STRIP,
    LSTRIP,
    RSTRIP,
    SPLIT,
    RSPLIT,
    SPLITLINES,
    PARTITION,
    RPARTITION,
    STARTSWITH,
    ENDSWITH,
    REPLACE,
    UPPER,
    LOWER,
    CAPITALIZE,
    TITLE,
    JOIN,
    FIND,
    RFIND,
    INDEX,
    COUNT,
    FORMAT,
    REMOVEPREFIX,
    REMOVESUFFIX,
    ISDIGIT,
    ISALPHA,
    ISALNUM,
    ISSPACE,
    N_TEXT_METHODS
};

static const char *const text_methods[] = {
    "strip",        "lstrip",       "rstrip",   "split",   "rsplit",  "splitlines", "partition",
    "rpartition",   "startswith",   "endswith", "replace", "upper",   "lower",      "capitalize",
    "title",        "join",         "find",     "rfind",   "index",   "count",      "format",
    "removeprefix", "removesuffix", "isdigit",  "isalpha", "isalnum", "isspace",
};

static enum text_method text_method(struct jinja_text name)
{
    unsigned i = 0;

    while (i < N_TEXT_METHODS && !jinja_text_is(name, text_methods[i])) {
        i++;
    }
    return (enum text_method)i;
}

bool jinja_is_text_method(struct jinja_text name)
{
    return text_method(name) != N_TEXT_METHODS;
}

static struct jinja_value part_of_text(struct jinja *j, struct jinja_text t, enum text_method which,
                                       const struct jinja_args *args)
{
    struct jinja_text first = { "", 0 };

    if (which != STARTSWITH && which != ENDSWITH && which != FORMAT) {
        first = jinja_words_of(j, args, 0, "sep", "");
    }
    switch (which) {
    case STRIP: return jinja_string(jinja_strip(t, first, true, true));
    case LSTRIP: return jinja_string(jinja_strip(t, first, true, false));
    case RSTRIP: return jinja_string(jinja_strip(t, first, false, true));
    case SPLIT: return split(j, t, args);
    case RSPLIT: return rsplit(j, t, args);
    case PARTITION: return partition(j, t, first, false);
    case RPARTITION: return partition(j, t, first, true);
    case STARTSWITH: return begins(j, t, args, false);
    case ENDSWITH: return begins(j, t, args, true);
    case REPLACE:
        return jinja_string(jinja_replace(j, t, first, jinja_words_of(j, args, 1, "new", ""),
                                          jinja_number(j, args, 2, "count", -1)));
    case FIND: return find_in(j, t, first, false, false);
    case RFIND: return find_in(j, t, first, true, false);
    case INDEX: return find_in(j, t, first, false, true);
    case COUNT: return count_in(t, first);
    case REMOVEPREFIX: return jinja_string(without(t, first, false));
    case REMOVESUFFIX: return jinja_string(without(t, first, true));
    default: return jinja_format(j, t, args);
    }
}

struct jinja_value jinja_call_text_method(struct jinja *j, struct jinja_text t,
                                          struct jinja_text name, const struct jinja_args *args)
{
    enum text_method which = text_method(name);

    switch (which) {
    case UPPER: return jinja_string(jinja_map_case(j, t, 'u'));
    case LOWER: return jinja_string(jinja_map_case(j, t, 'l'));
    case CAPITALIZE: return jinja_string(jinja_map_case(j, t, 'c'));
    case TITLE: return jinja_string(jinja_map_case(j, t, 't'));
    case JOIN: return join_all(j, t, args);
    case SPLITLINES: return split_lines(j, t, jinja_flag(args, 0, "keepends", false));
    case ISDIGIT: return jinja_bool(all_are(t, 'd'));
    case ISALPHA: return jinja_bool(all_are(t, 'a'));
    case ISALNUM: return jinja_bool(all_are(t, 'n'));
    case ISSPACE: return jinja_bool(all_are(t, 's'));
    default: return part_of_text(j, t, which, args);
    }
}
