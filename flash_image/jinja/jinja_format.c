/* "%s" % value and "{}".format(value), for values that are inserted unchanged. */
#include <stdio.h>
#include <string.h>

#include "flash_image/jinja/jinja_library.h"

enum { MOST_PLACES = 64 };

static struct jinja_value next_of(struct jinja *j, const struct jinja_list *values, size_t *i)
{
    if (*i >= values->n) {
        jinja_fail(j, "a format takes more values than there are");
    }
    return values->item[(*i)++];
}

/* Write a number with `places` digits after its point or, if places is below 0, unchanged. */
static void write_number(struct jinja *j, struct jinja_buffer *out, struct jinja_value v, char kind,
                         int places)
{
    char text[MOST_PLACES + 330];
    double real;

    if (!jinja_is_number(v, &real)) {
        jinja_must_be_defined(j, v);
        jinja_fail(j, "a format takes a number, not a %s", jinja_kind_name(v));
    }
    if (places > MOST_PLACES) {
        jinja_fail(j, "a format has more than %u decimal places", (unsigned)MOST_PLACES);
    }
    if (kind == 'd') {
        if (real >= 9e18 || real <= -9e18) {
            jinja_fail(j, "a whole number has more than 64 bits");
        }
        snprintf(text, sizeof text, "%lld", (long long)real);
    } else {
        snprintf(text, sizeof text, "%.*f", places >= 0 ? places : 6, real);
    }
    jinja_write_words(j, out, text);
}

static int take_places(struct jinja_text f, size_t *i)
{
    int places = -1;

    if (*i < f.bytes && f.data[*i] == '.') {
        places = 0;
        for ((*i)++; *i < f.bytes && f.data[*i] >= '0' && f.data[*i] <= '9' && places < 1000;
             (*i)++) {
            places = places * 10 + (f.data[*i] - '0');
        }
    }
    return places;
}

struct jinja_value jinja_percent(struct jinja *j, struct jinja_text f, struct jinja_value v)
{
    struct jinja_buffer out = { 0 };
    struct jinja_list one = { &v, 1, 1 };
    const struct jinja_list *values = v.kind == JINJA_TUPLE ? v.list : &one;
    size_t used = 0;

    for (size_t i = 0; i < f.bytes; i++) {
        char kind;
        int places;

        if (f.data[i] != '%') {
            jinja_write_char(j, &out, f.data[i]);
            continue;
        }
        i++;
        places = take_places(f, &i);
        kind = i < f.bytes ? f.data[i] : '\0';
        if (kind == '%') {
            jinja_write_char(j, &out, '%');
        } else if (kind == 's') {
            jinja_write_value(j, &out, next_of(j, values, &used));
        } else if (kind == 'r') {
            jinja_write_repr(j, &out, next_of(j, values, &used));
        } else if (kind == 'd' || kind == 'i' || kind == 'f') {
            write_number(j, &out, next_of(j, values, &used), kind == 'f' ? 'f' : 'd', places);
        } else {
            jinja_fail(j, "a format supports %%s, %%r, %%d and %%f, with decimal places or "
                          "without");
        }
    }
    if (used != values->n) {
        jinja_fail(j, "a format takes fewer values than there are");
    }
    return jinja_string(jinja_written(&out));
}

/* Find the value of a field: {}, {0} or {name}, perhaps with .name after it. */
static struct jinja_value find_field(struct jinja *j, struct jinja_text field,
                                     const struct jinja_args *args, size_t *used)
{
    size_t dot = jinja_find(field, jinja_text("."), 0), n = 0;
    struct jinja_text head = { field.data, dot < field.bytes ? dot : field.bytes };
    const struct jinja_value *named = jinja_get_name(&args->named, head);
    struct jinja_value v;

    if (head.bytes == 0) {
        v = next_of(j, &args->list, used);
    } else if (head.data[0] >= '0' && head.data[0] <= '9') {
        for (size_t i = 0; i < head.bytes && n < 1000; i++) {
            n = n * 10 + (size_t)(head.data[i] - '0');
        }
        v = next_of(j, &args->list, &n);
    } else if (named != NULL) {
        v = *named;
    } else {
        jinja_fail(j, "a format names a value that does not exist");
    }
    if (head.bytes == field.bytes) {
        return v;
    }
    return jinja_attribute(j, v,
                           (struct jinja_text){ field.data + dot + 1, field.bytes - dot - 1 });
}

static void write_field(struct jinja *j, struct jinja_buffer *out, struct jinja_text field,
                        const struct jinja_args *args, size_t *used)
{
    size_t colon = jinja_find(field, jinja_text(":"), 0);
    struct jinja_text spec = { "", 0 };
    struct jinja_value v;
    size_t i = 0;
    int places;

    if (colon != SIZE_MAX) {
        spec = (struct jinja_text){ field.data + colon + 1, field.bytes - colon - 1 };
        field.bytes = colon;
    }
    if (field.bytes >= 2 && memcmp(field.data + field.bytes - 2, "!r", 2) == 0) {
        field.bytes -= 2;
        jinja_write_repr(j, out, find_field(j, field, args, used));
        return;
    }
    v = find_field(j, field, args, used);
    if (spec.bytes == 0) {
        jinja_write_value(j, out, v);
        return;
    }
    places = take_places(spec, &i);
    if (i + 1 != spec.bytes || (spec.data[i] != 'f' && spec.data[i] != 'd')) {
        jinja_fail(j, "a format supports {:d} and {:.2f}, not this one");
    }
    write_number(j, out, v, spec.data[i], places);
}

struct jinja_value jinja_format(struct jinja *j, struct jinja_text f, const struct jinja_args *args)
{
    struct jinja_buffer out = { 0 };
    size_t used = 0;

    for (size_t i = 0; i < f.bytes; i++) {
        char c = f.data[i];
        size_t close;

        if (c != '{' && c != '}') {
            jinja_write_char(j, &out, c);
            continue;
        }
        if (i + 1 < f.bytes && f.data[i + 1] == c) {
            jinja_write_char(j, &out, c);
            i++;
            continue;
        }
        close = jinja_find(f, jinja_text("}"), i);
        if (c == '}' || close == SIZE_MAX) {
            jinja_fail(j, "a format has a single brace");
        }
        write_field(j, &out, (struct jinja_text){ f.data + i + 1, close - i - 1 }, args, &used);
        i = close;
    }
    return jinja_string(jinja_written(&out));
}
