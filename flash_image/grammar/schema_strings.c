/* Strings with lengths, patterns, and forms that `format` names; and the names of members. */
#include <stdlib.h>
#include <string.h>

#include "flash_image/grammar/schema.h"
#include "flash_image/grammar/schema_pattern.h"

#define HOUR "(?:[01]\\d|2[0-3])"
#define DAY \
    "(?:(?:0[13578]|1[02])-(?:0[1-9]|[12]\\d|3[01])|(?:0[469]|11)-(?:0[1-9]|[12]\\d|30)|02-(?:0[1-9]|1\\d|2[0-8]))"
#define DATE "[12]\\d{3}-" DAY
#define TIME HOUR ":[0-5]\\d:[0-5]\\d(?:\\.\\d{1,6})?(?:Z|[+-]" HOUR ":[0-5]\\d)"
#define OCTET "(?:25[0-5]|2[0-4]\\d|1\\d\\d|[1-9]?\\d)"
#define LABEL "[A-Za-z0-9](?:[A-Za-z0-9-]{0,20}[A-Za-z0-9])?"
#define GROUP "[0-9a-fA-F]{1,4}"

/* Values of `format` that are enforced; others are annotations (Validation, section 7). Years have
 * four digits, from 1000 on. */
static const struct {
    const char *name, *pattern;
} formats[] = {
    { "date", "^" DATE "$" },
    { "time", "^" TIME "$" },
    { "date-time", "^" DATE "T" TIME "$" },
    { "duration",
      "^P(?:\\d{1,4}W|(?:\\d{1,4}Y)?\\d{1,3}M(?:\\d{1,3}D)?|\\d{1,4}D(?:T\\d{1,4}H)?|T(?:\\d{1,4}H(?:\\d{1,4}M)?|\\d{1,4}M"
      "(?:\\d{1,4}S)?|\\d{1,4}S))$" },
    { "uuid", "^[0-9a-fA-F]{8}-[0-9a-fA-F]{4}-[0-9a-fA-F]{4}-[0-9a-fA-F]{4}-[0-9a-fA-F]{12}$" },
    { "email",
      "^[A-Za-z0-9_]+(?:[.+-][A-Za-z0-9_]+)*@" LABEL "(?:\\." LABEL ")*\\.[A-Za-z]{2,8}$" },
    { "ipv4", "^" OCTET "\\." OCTET "\\." OCTET "\\." OCTET "$" },
    { "ipv6",
      "^(?:" GROUP ":){7}" GROUP "$|^::1?$|^(?:" GROUP ":){1,3}:" GROUP "(?::" GROUP "){0,3}$" },
    { "hostname", "^" LABEL "(?:\\." LABEL ")*$" },
    { "uri", "^[a-z][a-z0-9+.-]*://" LABEL "(?:\\." LABEL
             ")*(?::\\d{1,4})?(?:/[A-Za-z0-9._~%!$&'()*+,;=:@-]*)*"
             "(?:\\?[A-Za-z0-9._~%!$&'()*+,;=:@/-]*)?$" },
};

unsigned schema_most(struct schema_maker *m, const struct conj *c, const char *name,
                     unsigned otherwise)
{
    bool some = false;
    unsigned most = 0;

    for (unsigned i = 0; i < c->n; i++) {
        const cJSON *item = schema_get(c->parts[i], name);

        if (item == NULL) {
            continue;
        }
        if (!cJSON_IsNumber(item) || item->valuedouble < 0) {
            schema_note(m, c->parts[i], name, false);
        } else {
            unsigned value = item->valuedouble > 1e9 ? 1000000000 : (unsigned)item->valuedouble;

            most = !some || value > most ? value : most;
            some = true;
        }
    }
    return some ? most : otherwise;
}

unsigned schema_least(struct schema_maker *m, const struct conj *c, const char *name,
                      unsigned otherwise)
{
    bool some = false;
    unsigned least = 0;

    for (unsigned i = 0; i < c->n; i++) {
        const cJSON *item = schema_get(c->parts[i], name);

        if (item == NULL) {
            continue;
        }
        if (!cJSON_IsNumber(item) || item->valuedouble < 0) {
            schema_note(m, c->parts[i], name, false);
        } else {
            unsigned value = item->valuedouble > 1e9 ? 1000000000 : (unsigned)item->valuedouble;

            least = !some || value < least ? value : least;
            some = true;
        }
    }
    return some ? least : otherwise;
}

/* The patterns that one string owns. */
struct own {
    struct pattern *made[STRING_LIMITS_MOST];
    unsigned n;
};

static void free_own(struct own *o)
{
    for (unsigned i = 0; i < o->n; i++) {
        pattern_free(o->made[i]);
    }
}

/* Add a pattern, and its look-aheads. False: a pattern is not supported, or there are too
 * many. */
static bool add_pattern(struct string_limits *l, struct own *o, const char *text, bool absent)
{
    struct pattern *p = pattern_new(text);

    if (p == NULL || o->n == STRING_LIMITS_MOST) {
        pattern_free(p);
        return false;
    }
    o->made[o->n++] = p;
    if (absent && p->also != NULL) {
        return false;
    }
    for (; p != NULL; p = p->also) {
        if (l->n == STRING_LIMITS_MOST) {
            return false;
        }
        l->absent[l->n] = absent || p->absent;
        l->patterns[l->n++] = p;
    }
    return true;
}

static void add_patterns(struct schema_maker *m, const struct conj *c, struct string_limits *l,
                         struct own *o)
{
    for (unsigned i = 0; i < c->n; i++) {
        const cJSON *pattern = schema_get(c->parts[i], "pattern");

        if (pattern != NULL &&
            (!cJSON_IsString(pattern) || !add_pattern(l, o, pattern->valuestring, false))) {
            schema_note(m, c->parts[i], "pattern", false);
        }
    }
}

/* Add formats after the other limits, because formats are dropped if all limits together are too
 * large or allow no string. */
static void add_formats(const struct conj *c, struct string_limits *l, struct own *o)
{
    for (unsigned i = 0; i < c->n; i++) {
        const char *name = cJSON_GetStringValue(schema_get(c->parts[i], "format"));

        for (unsigned j = 0; name != NULL && j < sizeof formats / sizeof formats[0]; j++) {
            if (strcmp(formats[j].name, name) == 0) {
                (void)add_pattern(l, o, formats[j].pattern, false);
            }
        }
    }
}

/* Write `least` to `most` characters of any kind. If the schema sets no maximum (`most` is
 * UINT_MAX), the maximum is GRAMMAR_STRING_MOST or, if that is more, `least`. A repetition cannot
 * exceed GRAMMAR_TIMES_LIMIT, so a longer minimum is only checked on the finished text. */
static void put_any_text(struct schema_maker *m, struct text *t, const struct conj *c,
                         unsigned least, unsigned most)
{
    if (least > GRAMMAR_TIMES_LIMIT) {
        schema_note_each(m, c, "minLength");
        schema_note_each(m, c, "maxLength");
        text_format(t, "\"\\\"\" char{%d,} \"\\\"\"", GRAMMAR_TIMES_LIMIT);
        return;
    }
    if (most == UINT_MAX) {
        most = least > GRAMMAR_STRING_MOST ? least : GRAMMAR_STRING_MOST;
    }
    most = most > GRAMMAR_TIMES_LIMIT ? GRAMMAR_TIMES_LIMIT : most;
    text_format(t, "\"\\\"\" char{%u,%u} \"\\\"\"", least, most);
}

/* If the rules of a string are too large, try them without its formats, then without its length,
 * then without its patterns. The limits from n_patterns on are formats, which programs that
 * generate schemas add to patterns; if a format contradicts a pattern, the pattern wins. */
static bool put_limited(struct schema_maker *m, struct text *t, const struct conj *c,
                        struct string_limits *l, unsigned n_patterns)
{
    unsigned least = l->least, most = l->most;
    struct text body = { 0 };
    enum string_result r = string_put(&body, &m->out, &m->n_extra, l);

    if (r != STRING_PUT && n_patterns != 0 && n_patterns < l->n) {
        l->n = n_patterns;
        r = string_put(&body, &m->out, &m->n_extra, l);
    }
    if (r == STRING_TOO_LARGE && (l->least != 0 || l->most != UINT_MAX)) {
        l->least = 0;
        l->most = UINT_MAX;
        r = string_put(&body, &m->out, &m->n_extra, l);
        if (r == STRING_PUT) {
            schema_note_each(m, c, "minLength");
            schema_note_each(m, c, "maxLength");
        }
    }
    if (r == STRING_PUT) {
        text_put(t, "\"\\\"\" (");
        text_put(t, body.s);
        text_put(t, ") \"\\\"\"");
    } else if (r == STRING_TOO_LARGE) {
        schema_note_each(m, c, "pattern");
        put_any_text(m, t, c, least, most);
    }
    free(body.s);
    return r != STRING_NEVER;
}

bool schema_put_string(struct schema_maker *m, struct text *t, const struct conj *c)
{
    struct string_limits l = { .least = schema_most(m, c, "minLength", 0),
                               .most = schema_least(m, c, "maxLength", UINT_MAX),
                               .steps = &m->string_steps };
    struct own o = { .n = 0 };
    unsigned n_patterns;
    bool some = true;

    if (l.most < l.least) {
        return false;
    }
    add_patterns(m, c, &l, &o);
    n_patterns = l.n;
    add_formats(c, &l, &o);
    if (l.n != 0) {
        some = put_limited(m, t, c, &l, n_patterns);
    } else if (l.least == 0 && l.most == UINT_MAX) {
        text_put(t, "string");
    } else {
        put_any_text(m, t, c, l.least, l.most);
    }
    free_own(&o);
    return some;
}

/* ---- names of members -------------------------------------------------------------------------- */

/* Write a pattern that matches these names: ^(?:a|b)$. */
static void put_names(struct text *t, const struct schema_names *names)
{
    text_put(t, "^(?:");
    for (unsigned i = 0; i < names->n; i++) {
        text_put(t, i != 0 ? "|" : "");
        for (const char *s = names->names[i]; *s != '\0'; s++) {
            if (strchr("\\^$.|?*+()[]{}/-", *s) != NULL) {
                text_put(t, "\\");
            }
            text_add(t, s, 1);
        }
    }
    text_put(t, ")$");
}

bool schema_put_name(struct schema_maker *m, struct text *t, const struct conj *c,
                     const struct schema_names *names)
{
    struct string_limits l = { .least = schema_most(m, c, "minLength", 0),
                               .most = schema_least(m, c, "maxLength", UINT_MAX),
                               .steps = &m->string_steps };
    struct own o = { .n = 0 };
    struct text all = { 0 };
    bool some = true, good = true;

    if ((schema_types(m, c) & TYPE_STRING) == 0 || l.most < l.least) {
        return false;
    }
    add_patterns(m, c, &l, &o);
    if (l.n == 0) {
        add_formats(c, &l, &o);
    }
    for (unsigned i = 0; i < names->n_patterns; i++) {
        good = add_pattern(&l, &o, names->patterns[i], names->absent[i]) && good;
    }
    if (names->n != 0) {
        put_names(&all, names);
        good = !all.failed && add_pattern(&l, &o, all.s, true) && good;
    }
    if (!good) {
        schema_note_each(m, c, "patternProperties");
    }
    if (l.n == 0 && l.least == 0 && l.most == UINT_MAX) {
        text_put(t, "string");
    } else {
        some = put_limited(m, t, c, &l, l.n);
    }
    free(all.s);
    free_own(&o);
    return some;
}
