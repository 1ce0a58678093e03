/* Filters (`value | filter`) of texts and single values; jinja_filters_list.c has those of
 * lists. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "flash_image/jinja/jinja_library.h"

typedef struct jinja_value filter(struct jinja *j, struct jinja_value v,
                                  const struct jinja_args *args);

static struct jinja_value filter_default(struct jinja *j, struct jinja_value v,
                                         const struct jinja_args *args)
{
    const struct jinja_value *other = jinja_argument(args, 0, "default_value");

    (void)j;
    if (v.kind != JINJA_UNDEFINED && (!jinja_flag(args, 1, "boolean", false) || jinja_truth(v))) {
        return v;
    }
    return other != NULL ? *other : jinja_words("");
}

static struct jinja_value filter_trim(struct jinja *j, struct jinja_value v,
                                      const struct jinja_args *args)
{
    return jinja_string(
        jinja_strip(jinja_to_text(j, v), jinja_words_of(j, args, 0, "chars", ""), true, true));
}

static struct jinja_value filter_upper(struct jinja *j, struct jinja_value v,
                                       const struct jinja_args *args)
{
    (void)args;
    return jinja_string(jinja_map_case(j, jinja_to_text(j, v), 'u'));
}

static struct jinja_value filter_lower(struct jinja *j, struct jinja_value v,
                                       const struct jinja_args *args)
{
    (void)args;
    return jinja_string(jinja_map_case(j, jinja_to_text(j, v), 'l'));
}

static struct jinja_value filter_capitalize(struct jinja *j, struct jinja_value v,
                                            const struct jinja_args *args)
{
    (void)args;
    return jinja_string(jinja_map_case(j, jinja_to_text(j, v), 'c'));
}

static struct jinja_value filter_title(struct jinja *j, struct jinja_value v,
                                       const struct jinja_args *args)
{
    struct jinja_text t = jinja_map_case(j, jinja_to_text(j, v), 'l');
    char *out = jinja_alloc(j, t.bytes + 1);

    (void)args;
    for (size_t i = 0; i < t.bytes; i++) { /* words begin after white space or one of -({[< */
        bool begins = i == 0 || jinja_is_space(t.data[i - 1]) ||
                      strchr("-({[<", t.data[i - 1] != '\0' ? t.data[i - 1] : 'x') != NULL;

        out[i] = begins && t.data[i] >= 'a' && t.data[i] <= 'z' ? (char)(t.data[i] - 'a' + 'A')
                                                                : t.data[i];
    }
    return jinja_string((struct jinja_text){ out, t.bytes });
}

static struct jinja_value filter_string(struct jinja *j, struct jinja_value v,
                                        const struct jinja_args *args)
{
    (void)args;
    return jinja_string(jinja_to_text(j, v));
}

static struct jinja_value filter_replace(struct jinja *j, struct jinja_value v,
                                         const struct jinja_args *args)
{
    return jinja_string(jinja_replace(j, jinja_to_text(j, v), jinja_words_of(j, args, 0, "old", ""),
                                      jinja_words_of(j, args, 1, "new", ""),
                                      jinja_number(j, args, 2, "count", -1)));
}

static struct jinja_value filter_indent(struct jinja *j, struct jinja_value v,
                                        const struct jinja_args *args)
{
    struct jinja_text t = jinja_to_text(j, v);
    const struct jinja_value *width = jinja_argument(args, 0, "width");
    bool first = jinja_flag(args, 1, "first", false), blank = jinja_flag(args, 2, "blank", false);
    struct jinja_buffer out = { 0 };
    struct jinja_text by = { "", 0 };
    int64_t n = 4;

    if (width != NULL && width->kind == JINJA_STRING) {
        by = width->text;
        n = 1;
    } else {
        n = jinja_number(j, args, 0, "width", 4);
        by = jinja_text(" ");
    }
    for (size_t at = 0; at <= t.bytes;) {
        size_t end = jinja_find(t, jinja_text("\n"), at);

        end = end == SIZE_MAX ? t.bytes : end;
        if (at == 0 ? first : end > at || blank) {
            for (int64_t i = 0; i < n; i++) {
                jinja_write(j, &out, by);
            }
        }
        jinja_write(j, &out, (struct jinja_text){ t.data + at, end - at });
        if (end < t.bytes) {
            jinja_write_char(j, &out, '\n');
        }
        at = end + 1;
    }
    return jinja_string(jinja_written(&out));
}

static struct jinja_value filter_escape(struct jinja *j, struct jinja_value v,
                                        const struct jinja_args *args)
{
    static const struct {
        char c;
        const char *text;
    } marks[] = {
        { '&', "&amp;" }, { '<', "&lt;" }, { '>', "&gt;" }, { '\'', "&#39;" }, { '"', "&#34;" }
    };
    struct jinja_text t = jinja_to_text(j, v);
    struct jinja_buffer out = { 0 };

    (void)args;
    for (size_t i = 0; i < t.bytes; i++) {
        const char *text = NULL;

        for (size_t k = 0; k < sizeof marks / sizeof marks[0]; k++) {
            text = marks[k].c == t.data[i] ? marks[k].text : text;
        }
        if (text != NULL) {
            jinja_write_words(j, &out, text);
        } else {
            jinja_write_char(j, &out, t.data[i]);
        }
    }
    return jinja_string(jinja_written(&out));
}

static struct jinja_value filter_safe(struct jinja *j, struct jinja_value v,
                                      const struct jinja_args *args)
{
    return filter_string(j, v, args);
}

static struct jinja_value filter_format(struct jinja *j, struct jinja_value v,
                                        const struct jinja_args *args)
{
    struct jinja_value values = { .kind = JINJA_TUPLE };
    struct jinja_list copy = args->list;

    values.list = &copy;
    return jinja_percent(j, jinja_to_text(j, v), values);
}

static struct jinja_value filter_wordcount(struct jinja *j, struct jinja_value v,
                                           const struct jinja_args *args)
{
    struct jinja_text t = jinja_to_text(j, v);
    int64_t n = 0;

    (void)args;
    for (size_t i = 0; i < t.bytes; i++) {
        n += !jinja_is_space(t.data[i]) && (i == 0 || jinja_is_space(t.data[i - 1]));
    }
    return jinja_int(n);
}

/* ---- numbers --------------------------------------------------------------------------------- */

/* Read the number in a text; false: there is none. */
static bool read_number(struct jinja *j, struct jinja_value v, double *real, int64_t *integer)
{
    struct jinja_text t;
    char *text, *end;

    if (jinja_is_number(v, real)) {
        *integer = v.kind == JINJA_INT ? v.integer : (int64_t)fmax(-9e18, fmin(9e18, *real));
        return !isnan(*real);
    }
    if (v.kind != JINJA_STRING) {
        return false;
    }
    t = jinja_strip(v.text, (struct jinja_text){ "", 0 }, true, true);
    text = jinja_alloc(j, t.bytes + 1);
    memcpy(text, t.data, t.bytes);
    *real = strtod(text, &end);
    *integer = (int64_t)fmax(-9e18, fmin(9e18, *real));
    return t.bytes != 0 && end == text + t.bytes && !isnan(*real);
}

static struct jinja_value filter_int(struct jinja *j, struct jinja_value v,
                                     const struct jinja_args *args)
{
    double real;
    int64_t integer;

    if (!read_number(j, v, &real, &integer)) {
        return jinja_int(jinja_number(j, args, 0, "default", 0));
    }
    return jinja_int(integer);
}

static struct jinja_value filter_float(struct jinja *j, struct jinja_value v,
                                       const struct jinja_args *args)
{
    const struct jinja_value *other = jinja_argument(args, 0, "default");
    double real;
    int64_t integer;

    if (!read_number(j, v, &real, &integer)) {
        return other != NULL ? *other : jinja_float(0);
    }
    return jinja_float(real);
}

static struct jinja_value filter_abs(struct jinja *j, struct jinja_value v,
                                     const struct jinja_args *args)
{
    (void)args;
    if (v.kind == JINJA_FLOAT) {
        return jinja_float(fabs(v.real));
    }
    if (v.kind == JINJA_INT && v.integer == INT64_MIN) {
        jinja_fail(j, "a whole number has more than 64 bits");
    }
    if (v.kind != JINJA_INT) {
        jinja_fail(j, "abs takes a number, not a %s", jinja_kind_name(v));
    }
    return jinja_int(v.integer < 0 ? -v.integer : v.integer);
}

static struct jinja_value filter_round(struct jinja *j, struct jinja_value v,
                                       const struct jinja_args *args)
{
    int64_t places = jinja_number(j, args, 0, "precision", 0);
    struct jinja_text how = jinja_words_of(j, args, 1, "method", "common");
    double real, scale;

    if (!jinja_is_number(v, &real) || places > 15 || places < -15) {
        jinja_fail(j, "round takes a number and up to 15 decimals");
    }
    scale = pow(10, (double)places);
    if (jinja_text_is(how, "ceil")) {
        return jinja_float(ceil(real * scale) / scale);
    }
    if (jinja_text_is(how, "floor")) {
        return jinja_float(floor(real * scale) / scale);
    }
    return jinja_float(nearbyint(real * scale) / scale);
}

/* ---- by name --------------------------------------------------------------------------------- */

static struct jinja_value filter_length(struct jinja *j, struct jinja_value v,
                                        const struct jinja_args *args)
{
    (void)args;
    return jinja_int((int64_t)jinja_length(j, v));
}

static struct jinja_value filter_attr(struct jinja *j, struct jinja_value v,
                                      const struct jinja_args *args)
{
    return jinja_attribute(j, v, jinja_words_of(j, args, 0, "name", ""));
}

static const struct {
    const char *name;
    filter *run;
} filters[] = {
    { "default", filter_default }, { "d", filter_default },     { "trim", filter_trim },
    { "upper", filter_upper },     { "lower", filter_lower },   { "capitalize", filter_capitalize },
    { "title", filter_title },     { "string", filter_string }, { "replace", filter_replace },
    { "indent", filter_indent },   { "escape", filter_escape }, { "e", filter_escape },
    { "safe", filter_safe },       { "format", filter_format }, { "wordcount", filter_wordcount },
    { "int", filter_int },         { "float", filter_float },   { "abs", filter_abs },
    { "round", filter_round },     { "length", filter_length }, { "count", filter_length },
    { "attr", filter_attr },       { "tojson", jinja_to_json },
};

struct jinja_value jinja_filter(struct jinja *j, struct jinja_text name, struct jinja_value v,
                                const struct jinja_args *args)
{
    bool found;

    jinja_walk_through(j, v);
    for (size_t i = 0; i < sizeof filters / sizeof filters[0]; i++) {
        if (jinja_text_is(name, filters[i].name)) {
            return filters[i].run(j, v, args);
        }
    }
    v = jinja_list_filter(j, name, v, args, &found);
    if (!found) {
        jinja_fail(j, "the filter '%.*s' is not known", (int)(name.bytes < 40 ? name.bytes : 40),
                   name.data);
    }
    return v;
}
