/* JSON with the spacing of Python's json.dumps(), and the arguments of Transformers' tojson. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "flash_image/jinja/jinja_library.h"
#include "runtime/text/utf8.h"

struct dump {
    struct jinja *j;
    struct jinja_buffer out;
    struct jinja_text between, colon;
    int64_t indent; /* spaces per level; below 0: all on one line */
    bool ascii, sorts;
};

static void write_escaped(struct dump *d, uint32_t code)
{
    char text[16];

    if (code >= 0x10000) {
        snprintf(text, sizeof text, "\\u%04x\\u%04x", 0xd7c0u + (code >> 10),
                 0xdc00u + (code & 0x3ff));
    } else {
        snprintf(text, sizeof text, "\\u%04x", code);
    }
    jinja_write_words(d->j, &d->out, text);
}

static void write_string(struct dump *d, struct jinja_text t)
{
    static const char special[] = "\"\\\n\r\t\b\f", letters[] = "\"\\nrtbf";

    jinja_write_char(d->j, &d->out, '"');
    for (size_t i = 0, n; i < t.bytes; i += n) {
        unsigned char c = (unsigned char)t.data[i];
        const char *at = c != '\0' ? strchr(special, c) : NULL;

        n = jinja_character(t, i);
        if (at != NULL) {
            jinja_write_char(d->j, &d->out, '\\');
            jinja_write_char(d->j, &d->out, letters[at - special]);
        } else if (c < 0x20) {
            write_escaped(d, c);
        } else if (d->ascii && n > 1) {
            write_escaped(d, utf8_decode((const uint8_t *)t.data + i, (int)n));
        } else {
            jinja_write(d->j, &d->out, (struct jinja_text){ t.data + i, n });
        }
    }
    jinja_write_char(d->j, &d->out, '"');
}

static void write_json(struct dump *d, struct jinja_value v, unsigned level);

static void new_line(struct dump *d, unsigned level)
{
    if (d->indent < 0) {
        return;
    }
    jinja_write_char(d->j, &d->out, '\n');
    for (int64_t i = 0; i < d->indent * level; i++) {
        jinja_write_char(d->j, &d->out, ' ');
    }
}

static void write_list(struct dump *d, const struct jinja_list *list, unsigned level)
{
    jinja_write_char(d->j, &d->out, '[');
    for (size_t i = 0; i < list->n; i++) {
        if (i != 0) {
            jinja_write(d->j, &d->out, d->between);
        }
        new_line(d, level + 1);
        write_json(d, list->item[i], level + 1);
    }
    if (list->n != 0) {
        new_line(d, level);
    }
    jinja_write_char(d->j, &d->out, ']');
}

/* Keys that are not strings become strings. */
static void write_key(struct dump *d, struct jinja_value key)
{
    struct jinja_buffer own = { 0 }, out = d->out;

    if (key.kind == JINJA_STRING) {
        write_string(d, key.text);
        return;
    }
    if (key.kind > JINJA_FLOAT || key.kind == JINJA_UNDEFINED) {
        jinja_fail(d->j, "a %s cannot be a key in JSON", jinja_kind_name(key));
    }
    d->out = own;
    write_json(d, key, 0);
    own = d->out;
    d->out = out;
    write_string(d, jinja_written(&own));
}

static void write_dict(struct dump *d, const struct jinja_dict *dict, unsigned level)
{
    struct jinja_value keys = jinja_new_list(d->j, JINJA_LIST);

    for (size_t i = 0; i < dict->n; i++) {
        jinja_append(d->j, keys.list, dict->key[i]);
    }
    if (d->sorts) {
        jinja_sort(d->j, keys.list, jinja_text(""), false, false);
    }
    jinja_write_char(d->j, &d->out, '{');
    for (size_t i = 0; i < dict->n; i++) {
        if (i != 0) {
            jinja_write(d->j, &d->out, d->between);
        }
        new_line(d, level + 1);
        write_key(d, keys.list->item[i]);
        jinja_write(d->j, &d->out, d->colon);
        write_json(d, *jinja_get(d->j, dict, keys.list->item[i]), level + 1);
    }
    if (dict->n != 0) {
        new_line(d, level);
    }
    jinja_write_char(d->j, &d->out, '}');
}

static void write_number(struct dump *d, double real)
{
    if (isnan(real)) {
        jinja_write_words(d->j, &d->out, "NaN");
    } else if (isinf(real)) {
        jinja_write_words(d->j, &d->out, real < 0 ? "-Infinity" : "Infinity");
    } else {
        jinja_write_float(d->j, &d->out, real);
    }
}

static void write_json(struct dump *d, struct jinja_value v, unsigned level)
{
    jinja_enter(d->j);
    switch (v.kind) {
    case JINJA_NONE: jinja_write_words(d->j, &d->out, "null"); break;
    case JINJA_BOOL: jinja_write_words(d->j, &d->out, v.truth ? "true" : "false"); break;
    case JINJA_INT: jinja_write_value(d->j, &d->out, v); break;
    case JINJA_FLOAT: write_number(d, v.real); break;
    case JINJA_STRING: write_string(d, v.text); break;
    case JINJA_LIST:
    case JINJA_TUPLE: write_list(d, v.list, level); break;
    case JINJA_DICT: write_dict(d, v.dict, level); break;
    default: jinja_fail(d->j, "a %s cannot be written as JSON", jinja_kind_name(v));
    }
    jinja_leave(d->j);
}

struct jinja_value jinja_to_json(struct jinja *j, struct jinja_value v,
                                 const struct jinja_args *args)
{
    const struct jinja_value *separators = jinja_argument(args, 2, "separators");
    struct dump d = { .j = j,
                      .ascii = jinja_flag(args, 0, "ensure_ascii", false),
                      .indent = jinja_number(j, args, 1, "indent", -1),
                      .sorts = jinja_flag(args, 3, "sort_keys", false) };

    if (d.indent > 64) {
        jinja_fail(j, "JSON is indented by 64 at most");
    }
    d.between = jinja_text(d.indent >= 0 ? "," : ", ");
    d.colon = jinja_text(": ");
    if (separators != NULL && separators->kind != JINJA_NONE) {
        struct jinja_list *pair = jinja_items(j, *separators);

        if (pair->n != 2) {
            jinja_fail(j, "separators= takes two texts");
        }
        d.between = jinja_to_text(j, pair->item[0]);
        d.colon = jinja_to_text(j, pair->item[1]);
    }
    write_json(&d, v, 0);
    return jinja_string(jinja_written(&d.out));
}
