/* The interpreter beside Python's Jinja: a snippet for each construct that it knows, and published
 * templates over conversations with tools. If Jinja fails, the interpreter must fail too. */
#include <cjson/cJSON.h>
#include <glob.h>
#include <time.h>

#include "flash_image/jinja/jinja.h"
#include "tests/unit/jinja/jinja_snippets.h"
#include "tests/unit/jinja/reference.h"
#include "tests/unit/tap.h"

enum { DAY = 1767312000, MOST_KEPT = REFERENCE_MOST };

static struct {
    char *text; /* "=" and what was written, or "!" and the problem */
    char what[120];
} own[MOST_KEPT];

static struct jinja_value value_of(struct jinja *j, const cJSON *v)
{
    struct jinja_value out = jinja_none();
    const cJSON *item;

    if (cJSON_IsBool(v))
        return jinja_bool(cJSON_IsTrue(v));
    if (cJSON_IsNumber(v)) {
        double whole = (double)(int64_t)v->valuedouble;

        return whole == v->valuedouble ? jinja_int((int64_t)whole) : jinja_float(v->valuedouble);
    }
    if (cJSON_IsString(v))
        return jinja_words(v->valuestring);
    if (cJSON_IsArray(v)) {
        out = jinja_new_list(j, JINJA_LIST);
        cJSON_ArrayForEach(item, v) jinja_append(j, out.list, value_of(j, item));
    } else if (cJSON_IsObject(v)) {
        out = jinja_new_dict(j, JINJA_DICT);
        cJSON_ArrayForEach(item, v) jinja_put_name(j, out.dict, item->string, value_of(j, item));
    }
    return out;
}

static void fill(struct jinja *j, struct jinja_dict *names, const void *context)
{
    const cJSON *item;

    cJSON_ArrayForEach(item, (const cJSON *)context)
    {
        if (strcmp(item->string, "now") != 0)
            jinja_put_name(j, names, item->string, value_of(j, item));
    }
}

static void ask(const char *what, const char *context, const char *text, size_t bytes)
{
    size_t i = reference_ask(context, text, bytes);
    cJSON *names = cJSON_Parse(context);
    const time_t day = DAY;
    struct tm tm = *gmtime(&day);
    struct jinja_request r = { fill, names, cJSON_HasObjectItem(names, "now") ? &tm : NULL };
    struct jinja_template t = { 0 };
    struct jinja_text out = { "", 0 };
    const char *error_message = NULL;

    if (!jinja_read(&t, text, bytes))
        error_message = t.memory.error_message;
    else if (!jinja_execute(&t, &r, &out))
        error_message = t.run.error_message;
    own[i].text = test_alloc(out.bytes + 300);
    if (error_message != NULL)
        snprintf(own[i].text, 300, "!%s", error_message);
    else {
        own[i].text[0] = '=';
        memcpy(own[i].text + 1, out.data, out.bytes);
    }
    snprintf(own[i].what, sizeof own[i].what, "%.110s", what);
    jinja_close(&t);
    cJSON_Delete(names);
}

static void ask_templates(void)
{
    char pattern[300];
    glob_t found;

    snprintf(pattern, sizeof pattern, "%.250s/templates/*.jinja", test_assets());
    if (glob(pattern, 0, NULL, &found) != 0)
        return;
    for (size_t i = 0; i < found.gl_pathc; i++) {
        for (size_t k = 0; k < sizeof talks / sizeof talks[0]; k++) {
            size_t bytes;
            char *text = (char *)test_read_file(found.gl_pathv[i], &bytes), what[300];

            snprintf(what, sizeof what, "%.100s, talk %zu", strrchr(found.gl_pathv[i], '/') + 1, k);
            ask(what, talks[k], text, bytes);
            free(text);
        }
    }
    globfree(&found);
}

static void compare(void)
{
    unsigned written = 0, refused = 0;

    for (size_t i = 0; i < reference.n; i++) {
        const char *want = reference.answer[i], *got = own[i].text;

        if (!OK(want[0] == '=' ? strcmp(want, got) == 0 : got[0] == '!',
                "the template gives what Jinja gives: %s", own[i].what)) {
            printf("# got    [%s]\n# wanted [%s]\n", got, want);
        }
        written += want[0] == '=';
        refused += want[0] == '!';
    }
    /* Templates of models, which are assets, add to the snippets. */
    OK(written > reference.n / 2 && refused > 10, "%u templates give a text, and %u are refused",
       written, refused);
}

/* Outside Jinja itself: bounds. */
static void test_bounds(void)
{
    static const struct {
        const char *text, *error_message;
    } cases[] = {
        { "{% for a in range(9000) %}{% for b in range(9000) %}{% endfor %}{% endfor %}",
          "more than" },
        { "{{ 'xxxxxxxxxx' * 200000 }}", "a text has more than" },
        { "{% macro f() %}{{ f() }}{% endmacro %}{{ f() }}", "levels are nested" },
        { "\n\n{{ a.b.c }}", "line 3: 'a' is undefined" },
        { "x\n{% if %}", "line 2: a tag ends" },
        { "{{ 'a' }", "line 1" },
        { "{% frob %}", "'frob' is not expected" },
        { "{{ 1 | frob }}", "the filter 'frob' is not known" },
        { "{{ 9223372036854775807 + 1 }}", "64 bits" },
    };

    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct jinja_template t = { 0 };
        struct jinja_request r = { fill, NULL, NULL };
        struct jinja_text out;
        bool read = jinja_read(&t, cases[i].text, strlen(cases[i].text));
        const char *error_message = read ? t.run.error_message : t.memory.error_message;

        OK((!read || !jinja_execute(&t, &r, &out)) &&
               strstr(error_message, cases[i].error_message) != NULL,
           "%.40s is refused: %s", cases[i].text, error_message);
        jinja_close(&t);
    }
}

/* A step may look through a long text, or a long list: all of them together are bounded. */
static void test_long(void)
{
    static const char *const each[] = {
        "'y' in t",        "t == u",        "t < u",           "t | length",
        "t.count('y')",    "t.find('y')",   "t is upper",      "t[899999]",
        "t.startswith(u)", "l == m",        "l < m",           "t != u",
        "l.count(-1)",     "t | wordcount", "t.endswith('y')", "namespace(a=1).a is in l",
        "t | int",         "t.isdigit()",   "(l | max) > 0",   "d.k",
    };

    for (size_t i = 0; i < sizeof each / sizeof each[0]; i++) {
        struct jinja_template t = { 0 };
        struct jinja_request r = { fill, NULL, NULL };
        struct jinja_text out;
        char text[400];
        clock_t begin = clock();
        bool good;

        snprintf(
            text, sizeof text,
            "{%% set t = 'x' * 900000 %%}{%% set u = 'x' * 900000 %%}{%% set l = range(9000) | list %%}"
            "{%% set m = range(9000) | list %%}{%% set d = {'a': 1} %%}{%% for a in range(200) %%}{%% for b in range(200) %%}"
            "{%% if %s %%}{%% endif %%}{%% endfor %%}{%% endfor %%}",
            each[i]);
        good = !jinja_read(&t, text, strlen(text)) || jinja_execute(&t, &r, &out);
        OK(clock() - begin < 2 * CLOCKS_PER_SEC &&
               (good || strstr(t.run.error_message, "more than") != NULL),
           "%s is evaluated 40,000 times in bounded time: %s", each[i],
           good ? "done" : t.run.error_message);
        jinja_close(&t);
    }
}

int main(void)
{
    test_bounds();
    test_long();
    reference_open();
    for (size_t i = 0; i < sizeof snippets / sizeof snippets[0]; i++)
        ask(snippets[i], CONTEXT, snippets[i], strlen(snippets[i]));
    ask_templates();
    if (reference_answer())
        compare();
    else
        OK(true, "snippets beside Jinja # SKIP Python has no jinja2: make setup-tests installs it");
    for (size_t i = 0; i < reference.n; i++)
        free(own[i].text);
    reference_close();
    return tap_done();
}
