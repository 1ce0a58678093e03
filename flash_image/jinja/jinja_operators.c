/* Arithmetic, and the functions that every template has. */
#include <math.h>
#include <string.h>

#include "flash_image/jinja/jinja_library.h"
#include "flash_image/jinja/jinja_run.h"

enum { MOST_RANGE = 1 << 16 };

_Noreturn static void refuse(struct jinja *j, int op, struct jinja_value a, struct jinja_value b)
{
    static const struct {
        int op;
        const char *text;
    } names[] = { { JINJA_FLOOR, "//" }, { JINJA_POWER, "**" } };
    char text[3] = { (char)op, '\0', '\0' };

    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        if (names[i].op == op) {
            memcpy(text, names[i].text, 3);
        }
    }
    jinja_must_be_defined(j, a);
    jinja_must_be_defined(j, b);
    jinja_fail(j, "%s %s %s has no meaning", jinja_kind_name(a), text, jinja_kind_name(b));
}

static int64_t floor_divide(int64_t a, int64_t b)
{
    int64_t q = a / b;

    return q - (a % b != 0 && (a < 0) != (b < 0));
}

static struct jinja_value power(struct jinja *j, int64_t a, int64_t b)
{
    int64_t out = 1;

    if (b < 0) {
        return jinja_float(pow((double)a, (double)b));
    }
    for (; b > 0; b--) {
        jinja_step(j);
        if (__builtin_mul_overflow(out, a, &out)) {
            jinja_fail(j, "a whole number has more than 64 bits");
        }
    }
    return jinja_int(out);
}

static struct jinja_value operate_ints(struct jinja *j, int op, int64_t a, int64_t b)
{
    int64_t out = 0;
    bool over = false;

    if ((op == '/' || op == '%' || op == JINJA_FLOOR) && b == 0) {
        jinja_fail(j, "a division by zero");
    }
    if (b == -1 && (op == '%' || op == JINJA_FLOOR)) { /* the smallest integer cannot be negated */
        return op == '%' ? jinja_int(0) : operate_ints(j, '-', 0, a);
    }
    switch (op) {
    case '+': over = __builtin_add_overflow(a, b, &out); break;
    case '-': over = __builtin_sub_overflow(a, b, &out); break;
    case '*': over = __builtin_mul_overflow(a, b, &out); break;
    case '/': return jinja_float((double)a / (double)b);
    case JINJA_FLOOR: return jinja_int(floor_divide(a, b));
    case '%': return jinja_int(a - floor_divide(a, b) * b);
    default: return power(j, a, b);
    }
    if (over) {
        jinja_fail(j, "a whole number has more than 64 bits");
    }
    return jinja_int(out);
}

static struct jinja_value operate_floats(struct jinja *j, int op, double a, double b)
{
    if ((op == '/' || op == '%' || op == JINJA_FLOOR) && b == 0) {
        jinja_fail(j, "a division by zero");
    }
    switch (op) {
    case '+': return jinja_float(a + b);
    case '-': return jinja_float(a - b);
    case '*': return jinja_float(a * b);
    case '/': return jinja_float(a / b);
    case JINJA_FLOOR: return jinja_float(floor(a / b));
    case '%': return jinja_float(a - floor(a / b) * b);
    default: return jinja_float(pow(a, b));
    }
}

static struct jinja_value repeat(struct jinja *j, struct jinja_value v, int64_t n)
{
    struct jinja_buffer text = { 0 };
    struct jinja_value out = jinja_new_list(j, v.kind);

    for (; n > 0; n--) {
        jinja_step(j);
        if (v.kind == JINJA_STRING) {
            jinja_write(j, &text, v.text);
            continue;
        }
        for (size_t i = 0; i < v.list->n; i++) {
            jinja_append(j, out.list, v.list->item[i]);
        }
    }
    return v.kind == JINJA_STRING ? jinja_string(jinja_written(&text)) : out;
}

static struct jinja_value join_lists(struct jinja *j, struct jinja_value a, struct jinja_value b)
{
    struct jinja_value out = repeat(j, a, 1);

    for (size_t i = 0; i < b.list->n; i++) {
        jinja_append(j, out.list, b.list->item[i]);
    }
    return out;
}

struct jinja_value jinja_operate(struct jinja *j, int op, struct jinja_value a,
                                 struct jinja_value b)
{
    bool sequence = a.kind == JINJA_STRING || jinja_is_list(a);
    double x, y;

    if (jinja_is_number(a, &x) && jinja_is_number(b, &y)) {
        if (a.kind != JINJA_FLOAT && b.kind != JINJA_FLOAT) {
            return operate_ints(j, op, a.kind == JINJA_INT ? a.integer : a.truth,
                                b.kind == JINJA_INT ? b.integer : b.truth);
        }
        return operate_floats(j, op, x, y);
    }
    if (op == '+' && a.kind == b.kind && sequence) {
        return a.kind == JINJA_STRING ? jinja_string(jinja_join(j, a.text, b.text))
                                      : join_lists(j, a, b);
    }
    if (op == '*' && sequence && b.kind == JINJA_INT) {
        return repeat(j, a, b.integer);
    }
    if (op == '*' && a.kind == JINJA_INT && (b.kind == JINJA_STRING || jinja_is_list(b))) {
        return repeat(j, b, a.integer);
    }
    if (op == '%' && a.kind == JINJA_STRING) {
        return jinja_percent(j, a.text, b);
    }
    refuse(j, op, a, b);
}

/* ---- functions ------------------------------------------------------------------------------- */

enum function { RANGE, NAMESPACE, DICT, RAISE, STRFTIME };

static const char *const functions[] = { [RANGE] = "range",
                                         [NAMESPACE] = "namespace",
                                         [DICT] = "dict",
                                         [RAISE] = "raise_exception",
                                         [STRFTIME] = "strftime_now" };

bool jinja_find_function(struct jinja_run *r, struct jinja_text name, struct jinja_value *v)
{
    for (unsigned i = 0; i < sizeof functions / sizeof functions[0]; i++) {
        if (jinja_text_is(name, functions[i])) {
            *r->asked_date = *r->asked_date || i == STRFTIME;
            *v = (struct jinja_value){ .kind = JINJA_FUNCTION, .function = i };
            return i != STRFTIME || r->now != NULL;
        }
    }
    return false;
}

static struct jinja_value range(struct jinja *j, const struct jinja_args *args)
{
    struct jinja_value out = jinja_new_list(j, JINJA_LIST);
    int64_t from = 0, to = jinja_number(j, args, 0, "", 0), step = 1;

    if (args->list.n > 1) {
        from = to;
        to = jinja_number(j, args, 1, "", 0);
        step = jinja_number(j, args, 2, "", 1);
    }
    if (args->list.n == 0 || step == 0 || step > MOST_RANGE || step < -MOST_RANGE ||
        from > INT32_MAX || from < -INT32_MAX) {
        jinja_fail(j, "range() takes an end, or begin, end and step");
    }
    for (; step > 0 ? from < to : from > to; from += step) {
        if (out.list->n == MOST_RANGE) {
            jinja_fail(j, "a range has more than %u numbers", (unsigned)MOST_RANGE);
        }
        jinja_append(j, out.list, jinja_int(from));
    }
    return out;
}

static struct jinja_value make_dict(struct jinja *j, const struct jinja_args *args,
                                    enum jinja_kind kind)
{
    struct jinja_value out = jinja_new_dict(j, kind);
    const struct jinja_value *from = args->list.n != 0 ? &args->list.item[0] : NULL;

    if (from != NULL && (from->kind == JINJA_DICT || from->kind == JINJA_NAMESPACE)) {
        for (size_t i = 0; i < from->dict->n; i++) {
            jinja_put(j, out.dict, from->dict->key[i], from->dict->value[i]);
        }
    } else if (from != NULL) {
        struct jinja_list *pairs = jinja_items(j, *from);

        for (size_t i = 0; i < pairs->n; i++) {
            struct jinja_list *pair = jinja_items(j, pairs->item[i]);

            if (pair->n != 2) {
                jinja_fail(j, "dict() takes pairs");
            }
            jinja_put(j, out.dict, pair->item[0], pair->item[1]);
        }
    }
    for (size_t i = 0; i < args->named.n; i++) {
        jinja_put(j, out.dict, args->named.key[i], args->named.value[i]);
    }
    return out;
}

_Noreturn static void raise_exception(struct jinja *j, const struct jinja_args *args)
{
    struct jinja_text t = { "", 0 };

    if (args->list.n != 0) {
        t = jinja_to_text(j, args->list.item[0]);
    }
    jinja_fail(j, "the template says: %.*s", (int)(t.bytes < 160 ? t.bytes : 160), t.data);
}

static struct jinja_value strftime_now(struct jinja_run *r, const struct jinja_args *args)
{
    struct jinja_text t = jinja_words_of(r->j, args, 0, "format", "");
    char *format = jinja_alloc(r->j, t.bytes + 2), *out = jinja_alloc(r->j, 4096);
    size_t n;

    memcpy(format, t.data, t.bytes);
    format[t.bytes] = ' '; /* after this space, a 0 from strftime can only mean that the buffer is
                              too small */
    n = strftime(out, 4096, format, r->now);
    if (n == 0 || strlen(format) != t.bytes + 1) {
        jinja_fail(r->j, "a date has more than 4096 bytes");
    }
    return jinja_string((struct jinja_text){ out, n - 1 });
}

struct jinja_value jinja_call_function(struct jinja_run *r, unsigned function,
                                       struct jinja_args *args)
{
    switch ((enum function)function) {
    case RANGE: return range(r->j, args);
    case NAMESPACE: return make_dict(r->j, args, JINJA_NAMESPACE);
    case DICT: return make_dict(r->j, args, JINJA_DICT);
    case RAISE: raise_exception(r->j, args);
    default: return strftime_now(r, args);
    }
}
