/* `value is test`. */
#include "flash_image/jinja/jinja_library.h"

static struct jinja_value other(struct jinja *j, const struct jinja_args *args)
{
    if (args->list.n != 1) {
        jinja_fail(j, "this test takes one value to compare with");
    }
    return args->list.item[0];
}

static bool is_number(struct jinja_value v)
{
    double real;

    return jinja_is_number(v, &real);
}

static bool is_iterable(struct jinja_value v)
{
    return v.kind == JINJA_STRING || jinja_is_list(v) || v.kind == JINJA_DICT ||
           v.kind == JINJA_UNDEFINED;
}

static bool is_callable(struct jinja_value v)
{
    return v.kind == JINJA_MACRO || v.kind == JINJA_FUNCTION || v.kind == JINJA_METHOD;
}

enum answer { NO, YES, UNKNOWN };

static enum answer test_kind(struct jinja_text name, struct jinja_value v)
{
    const struct {
        const char *name;
        bool holds;
    } tests[] = {
        { "defined", v.kind != JINJA_UNDEFINED },
        { "undefined", v.kind == JINJA_UNDEFINED },
        { "none", v.kind == JINJA_NONE },
        { "boolean", v.kind == JINJA_BOOL },
        { "true", v.kind == JINJA_BOOL && v.truth },
        { "false", v.kind == JINJA_BOOL && !v.truth },
        { "integer", v.kind == JINJA_INT },
        { "float", v.kind == JINJA_FLOAT },
        { "number", is_number(v) },
        { "string", v.kind == JINJA_STRING },
        { "mapping", v.kind == JINJA_DICT },
        { "sequence", is_iterable(v) },
        { "iterable", is_iterable(v) },
        { "callable", is_callable(v) },
        { "escaped", false },
    };

    for (size_t i = 0; i < sizeof tests / sizeof tests[0]; i++) {
        if (jinja_text_is(name, tests[i].name)) {
            return tests[i].holds ? YES : NO;
        }
    }
    return UNKNOWN;
}

static enum answer test_case(struct jinja *j, struct jinja_text name, struct jinja_value v)
{
    bool upper = jinja_text_is(name, "upper");
    struct jinja_text t, mapped, opposite;

    if (!upper && !jinja_text_is(name, "lower")) {
        return UNKNOWN;
    }
    t = jinja_to_text(j, v);
    mapped = jinja_map_case(j, t, upper ? 'u' : 'l');
    opposite = jinja_map_case(j, t, upper ? 'l' : 'u');
    return jinja_text_equal(t, mapped) && !jinja_text_equal(t, opposite) ? YES : NO;
}

static enum answer test_remainder(struct jinja *j, struct jinja_text name, struct jinja_value v,
                                  const struct jinja_args *args)
{
    int64_t by = 2, rest = jinja_text_is(name, "odd");

    if (jinja_text_is(name, "divisibleby")) {
        by = jinja_number(j, args, 0, "num", 0);
    } else if (!rest && !jinja_text_is(name, "even")) {
        return UNKNOWN;
    }
    if (v.kind != JINJA_INT || by == 0 || by == -1) {
        jinja_must_be_defined(j, v);
        jinja_fail(j, "a remainder takes whole numbers");
    }
    return (v.integer % by != 0) == rest ? YES : NO;
}

static enum answer test_order(struct jinja *j, struct jinja_text name, struct jinja_value v,
                              const struct jinja_args *args)
{
    static const struct {
        const char *name;
        bool below, same, above;
    } tests[] = {
        { "lt", true, false, false },          { "lessthan", true, false, false },
        { "le", true, true, false },           { "gt", false, false, true },
        { "greaterthan", false, false, true }, { "ge", false, true, true },
    };

    for (size_t i = 0; i < sizeof tests / sizeof tests[0]; i++) {
        if (jinja_text_is(name, tests[i].name)) {
            int order = jinja_compare(j, v, other(j, args));

            return (order < 0 && tests[i].below) || (order == 0 && tests[i].same) ||
                           (order > 0 && tests[i].above)
                       ? YES
                       : NO;
        }
    }
    return UNKNOWN;
}

static enum answer test_other(struct jinja *j, struct jinja_text name, struct jinja_value v,
                              const struct jinja_args *args)
{
    struct jinja_value o;

    if (jinja_text_is(name, "in")) {
        return jinja_contains(j, other(j, args), v) ? YES : NO;
    }
    if (jinja_text_is(name, "eq") || jinja_text_is(name, "equalto")) {
        return jinja_equal(j, v, other(j, args)) ? YES : NO;
    }
    if (jinja_text_is(name, "ne")) {
        return jinja_equal(j, v, other(j, args)) ? NO : YES;
    }
    if (jinja_text_is(name, "sameas")) {
        o = other(j, args);
        return o.kind == v.kind && jinja_equal(j, v, o) ? YES : NO;
    }
    return UNKNOWN;
}

bool jinja_test(struct jinja *j, struct jinja_text name, struct jinja_value v,
                const struct jinja_args *args)
{
    enum answer answer = test_kind(name, v);

    jinja_walk_through(j, v);
    if (answer == UNKNOWN) {
        answer = test_case(j, name, v);
    }
    if (answer == UNKNOWN) {
        answer = test_remainder(j, name, v, args);
    }
    if (answer == UNKNOWN) {
        answer = test_order(j, name, v, args);
    }
    if (answer == UNKNOWN) {
        answer = test_other(j, name, v, args);
    }
    if (answer == UNKNOWN) {
        jinja_fail(j, "the test '%.*s' is not known", (int)(name.bytes < 40 ? name.bytes : 40),
                   name.data);
    }
    return answer == YES;
}
