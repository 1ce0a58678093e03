/* Expressions. */
#include "flash_image/jinja/jinja_run.h"

#include <string.h>

#include "flash_image/jinja/jinja_library.h"

static struct jinja_value look_up(struct jinja_run *r, struct jinja_text name)
{
    struct jinja_value v;

    for (const struct jinja_scope *s = r->scope; s != NULL; s = s->outer) {
        const struct jinja_value *found = jinja_get_name(&s->names, name);

        jinja_step(r->j);
        jinja_look_through(r->j, s->names.n * 8);
        if (found != NULL) {
            return *found;
        }
    }
    return jinja_find_function(r, name, &v) ? v : jinja_undefined(name);
}

static struct jinja_value make_items(struct jinja_run *r, const struct jinja_node *n)
{
    struct jinja_value v = jinja_new_list(r->j, n->flag ? JINJA_TUPLE : JINJA_LIST);

    for (const struct jinja_node *item = n->list; item != NULL; item = item->next) {
        jinja_append(r->j, v.list, jinja_evaluate(r, item));
    }
    return v;
}

static struct jinja_value make_dict(struct jinja_run *r, const struct jinja_node *n)
{
    struct jinja_value v = jinja_new_dict(r->j, JINJA_DICT);

    for (const struct jinja_node *pair = n->list; pair != NULL; pair = pair->next) {
        struct jinja_value key = jinja_evaluate(r, pair->a);

        jinja_put(r->j, v.dict, key, jinja_evaluate(r, pair->b));
    }
    return v;
}

/* ---- operators ------------------------------------------------------------------------------- */

static struct jinja_value unary(struct jinja_run *r, const struct jinja_node *n)
{
    struct jinja_value v = jinja_evaluate(r, n->a);
    double real;

    if (n->op == JINJA_NOT) {
        return jinja_bool(!jinja_truth(v));
    }
    jinja_must_be_defined(r->j, v);
    if (!jinja_is_number(v, &real)) {
        jinja_fail(r->j, "a %s cannot have a sign", jinja_kind_name(v));
    }
    if (v.kind == JINJA_FLOAT) {
        return jinja_float(n->op == '-' ? -real : real);
    }
    return jinja_operate(r->j, n->op, jinja_int(0), v);
}

static bool compare(struct jinja *j, int op, struct jinja_value a, struct jinja_value b)
{
    switch (op) {
    case JINJA_EQUAL: return jinja_equal(j, a, b);
    case JINJA_UNEQUAL: return !jinja_equal(j, a, b);
    case JINJA_IN: return jinja_contains(j, b, a);
    case JINJA_NOT_IN: return !jinja_contains(j, b, a);
    case '<': return jinja_compare(j, a, b) < 0;
    case '>': return jinja_compare(j, a, b) > 0;
    case JINJA_AT_MOST: return jinja_compare(j, a, b) <= 0;
    default: return jinja_compare(j, a, b) >= 0;
    }
}

static struct jinja_value comparison(struct jinja_run *r, const struct jinja_node *n)
{
    struct jinja_value left = jinja_evaluate(r, n->a);

    for (const struct jinja_node *o = n->list; o != NULL; o = o->next) {
        struct jinja_value right = jinja_evaluate(r, o->a);

        if (!compare(r->j, o->op, left, right)) {
            return jinja_bool(false);
        }
        left = right;
    }
    return jinja_bool(true);
}

static struct jinja_value choice(struct jinja_run *r, const struct jinja_node *n)
{
    if (jinja_truth(jinja_evaluate(r, n->b))) {
        return jinja_evaluate(r, n->a);
    }
    if (n->c == NULL) {
        return jinja_undefined(jinja_text("the value of an if without else"));
    }
    return jinja_evaluate(r, n->c);
}

static struct jinja_value concatenate(struct jinja_run *r, const struct jinja_node *n)
{
    struct jinja_text a = jinja_to_text(r->j, jinja_evaluate(r, n->a));

    return jinja_string(jinja_join(r->j, a, jinja_to_text(r->j, jinja_evaluate(r, n->b))));
}

static struct jinja_value binary(struct jinja_run *r, const struct jinja_node *n)
{
    struct jinja_value a;

    if (n->op == '~') {
        return concatenate(r, n);
    }
    a = jinja_evaluate(r, n->a);
    return jinja_operate(r->j, n->op, a, jinja_evaluate(r, n->b));
}

/* ---- parts of values ------------------------------------------------------------------------- */

/* The start and end of Python's slice of n entries. */
struct slice {
    int64_t from, to, step;
};

static int64_t slice_part(struct jinja_run *r, const struct jinja_node *n, int64_t otherwise,
                          int64_t length, bool back)
{
    struct jinja_value v;
    int64_t at;

    if (n == NULL || (v = jinja_evaluate(r, n)).kind == JINJA_NONE) {
        return otherwise;
    }
    if (v.kind != JINJA_INT) {
        jinja_fail(r->j, "a slice takes whole numbers, not a %s", jinja_kind_name(v));
    }
    at = v.integer < -length ? -1 : v.integer < 0 ? v.integer + length : v.integer;
    if (v.integer < -length && !back) {
        return 0;
    }
    return at >= length ? length - back : at;
}

static struct slice find_slice(struct jinja_run *r, const struct jinja_node *n, size_t length)
{
    struct slice s = { .step = 1 };
    int64_t count = (int64_t)length;

    if (n->c != NULL) {
        struct jinja_value v = jinja_evaluate(r, n->c);

        if (v.kind != JINJA_INT || v.integer == 0 || v.integer > INT32_MAX ||
            v.integer < -INT32_MAX) {
            jinja_fail(r->j, "a slice's step must be a whole number other than 0");
        }
        s.step = v.integer;
    }
    s.from = slice_part(r, n->a, s.step > 0 ? 0 : count - 1, count, s.step < 0);
    s.to = slice_part(r, n->b, s.step > 0 ? count : -1, count, s.step < 0);
    return s;
}

static bool slice_has(const struct slice *s, int64_t at)
{
    return s->step > 0 ? at < s->to : at > s->to;
}

static struct jinja_value slice_of(struct jinja_run *r, struct jinja_value of,
                                   const struct jinja_node *n)
{
    struct jinja_value out = jinja_new_list(r->j, of.kind);
    struct jinja_buffer text = { 0 };
    struct jinja_list *items;
    struct slice s;

    jinja_must_be_defined(r->j, of);
    if (!jinja_is_list(of) && of.kind != JINJA_STRING) {
        jinja_fail(r->j, "a %s has no slices", jinja_kind_name(of));
    }
    items = jinja_items(r->j, of);
    s = find_slice(r, n, items->n);
    for (int64_t at = s.from; slice_has(&s, at); at += s.step) {
        jinja_step(r->j);
        if (of.kind == JINJA_STRING) {
            jinja_write(r->j, &text, items->item[at].text);
        } else {
            jinja_append(r->j, out.list, items->item[at]);
        }
    }
    return of.kind == JINJA_STRING ? jinja_string(jinja_written(&text)) : out;
}

static struct jinja_value loop_attribute(struct jinja *j, const struct jinja_loop *l,
                                         struct jinja_value self, struct jinja_text name)
{
    int64_t n = (int64_t)l->items->n, i = (int64_t)l->index;
    const struct {
        const char *name;
        int64_t value;
    } counts[] = {
        { "index", i + 1 },
        { "index0", i },
        { "revindex", n - i },
        { "revindex0", n - i - 1 },
        { "length", n },
        { "depth", (int64_t)l->level + 1 },
        { "depth0", (int64_t)l->level },
    };
    struct jinja_value v = { .kind = JINJA_METHOD };

    for (size_t k = 0; k < sizeof counts / sizeof counts[0]; k++) {
        if (jinja_text_is(name, counts[k].name)) {
            return jinja_int(counts[k].value);
        }
    }
    if (jinja_text_is(name, "first") || jinja_text_is(name, "last")) {
        return jinja_bool(jinja_text_is(name, "first") ? i == 0 : i + 1 == n);
    }
    if (jinja_text_is(name, "previtem") && i > 0) {
        return l->items->item[i - 1];
    }
    if (jinja_text_is(name, "nextitem") && i + 1 < n) {
        return l->items->item[i + 1];
    }
    if (!jinja_text_is(name, "cycle") && !jinja_text_is(name, "changed")) {
        return jinja_undefined(name);
    }
    v.method = jinja_alloc(j, sizeof *v.method);
    *v.method = (struct jinja_method){ self, name };
    return v;
}

static struct jinja_value attribute(struct jinja_run *r, const struct jinja_node *n)
{
    struct jinja_value of = jinja_evaluate(r, n->a);

    if (of.kind == JINJA_LOOP) {
        return loop_attribute(r->j, of.loop, of, n->text);
    }
    if (of.kind == JINJA_MACRO && jinja_text_is(n->text, "name")) {
        return jinja_string(of.macro->node->text);
    }
    return jinja_attribute(r->j, of, n->text);
}

static struct jinja_value index_of(struct jinja_run *r, const struct jinja_node *n)
{
    struct jinja_value of = jinja_evaluate(r, n->a);

    if (n->b->kind == JINJA_SLICE) {
        return slice_of(r, of, n->b);
    }
    return jinja_index(r->j, of, jinja_evaluate(r, n->b));
}

/* ---- calls ----------------------------------------------------------------------------------- */

struct jinja_args jinja_evaluate_args(struct jinja_run *r, const struct jinja_node *list)
{
    struct jinja_args args = { 0 };

    for (; list != NULL; list = list->next) {
        struct jinja_value v = jinja_evaluate(r, list->kind >= JINJA_KEYWORD ? list->a : list);

        if (list->kind == JINJA_KEYWORD) {
            jinja_put(r->j, &args.named, jinja_string(list->text), v);
        } else if (list->kind == JINJA_STAR) {
            struct jinja_list *more = jinja_items(r->j, v);

            for (size_t i = 0; i < more->n; i++) {
                jinja_append(r->j, &args.list, more->item[i]);
            }
        } else if (list->kind == JINJA_STARS && v.kind == JINJA_DICT) {
            for (size_t i = 0; i < v.dict->n; i++) {
                jinja_put(r->j, &args.named, v.dict->key[i], v.dict->value[i]);
            }
        } else {
            jinja_append(r->j, &args.list, v);
        }
    }
    return args;
}

static struct jinja_value call_loop_method(struct jinja_run *r, const struct jinja_method *m,
                                           struct jinja_args *args)
{
    struct jinja_loop *l = m->of.loop;
    struct jinja_value told = { .kind = JINJA_TUPLE, .list = &args->list };
    bool same;

    if (jinja_text_is(m->name, "cycle")) {
        if (args->list.n == 0) {
            jinja_fail(r->j, "cycle() needs at least one value");
        }
        return args->list.item[l->index % args->list.n];
    }
    same = l->told && jinja_equal(r->j, l->last, told);
    if (!same) {
        l->last = jinja_new_list(r->j, JINJA_TUPLE);
        *l->last.list = args->list;
        l->told = true;
    }
    return jinja_bool(!same);
}

static struct jinja_value call(struct jinja_run *r, const struct jinja_node *n)
{
    struct jinja_value f = jinja_evaluate(r, n->a);
    struct jinja_args args = jinja_evaluate_args(r, n->list);

    r->j->line = n->line;
    switch (f.kind) {
    case JINJA_MACRO: return jinja_call_macro(r, f.macro, &args);
    case JINJA_FUNCTION: return jinja_call_function(r, f.function, &args);
    case JINJA_LOOP:
        if (args.list.n != 1) {
            jinja_fail(r->j, "a recursive loop takes one value");
        }
        return jinja_call_loop(r, f.loop, args.list.item[0]);
    case JINJA_METHOD:
        if (f.method->of.kind == JINJA_LOOP) {
            return call_loop_method(r, f.method, &args);
        }
        return jinja_call_method(r->j, f.method, &args);
    default:
        jinja_must_be_defined(r->j, f);
        jinja_fail(r->j, "a %s cannot be called", jinja_kind_name(f));
    }
}

struct jinja_value jinja_apply_filters(struct jinja_run *r, const struct jinja_node *n,
                                       struct jinja_value to)
{
    struct jinja_value v;
    struct jinja_args args;

    if (n == NULL) {
        return to;
    }
    jinja_enter(r->j);
    v = jinja_apply_filters(r, n->a, to);
    args = jinja_evaluate_args(r, n->list);
    r->j->line = n->line;
    v = jinja_filter(r->j, n->text, v, &args);
    jinja_leave(r->j);
    return v;
}

static struct jinja_value filter(struct jinja_run *r, const struct jinja_node *n)
{
    struct jinja_value v = jinja_evaluate(r, n->a);
    struct jinja_args args = jinja_evaluate_args(r, n->list);

    r->j->line = n->line;
    return jinja_filter(r->j, n->text, v, &args);
}

static struct jinja_value test(struct jinja_run *r, const struct jinja_node *n)
{
    struct jinja_value v = jinja_evaluate(r, n->a);
    struct jinja_args args = jinja_evaluate_args(r, n->list);

    r->j->line = n->line;
    return jinja_bool(jinja_test(r->j, n->text, v, &args));
}

static struct jinja_value evaluate(struct jinja_run *r, const struct jinja_node *n)
{
    struct jinja_value v;

    switch (n->kind) {
    case JINJA_CONST: return n->value;
    case JINJA_NAME: return look_up(r, n->text);
    case JINJA_ITEMS: return make_items(r, n);
    case JINJA_PAIRS: return make_dict(r, n);
    case JINJA_UNARY: return unary(r, n);
    case JINJA_BINARY: return binary(r, n);
    case JINJA_AND:
        v = jinja_evaluate(r, n->a);
        return jinja_truth(v) ? jinja_evaluate(r, n->b) : v;
    case JINJA_OR: v = jinja_evaluate(r, n->a); return jinja_truth(v) ? v : jinja_evaluate(r, n->b);
    case JINJA_COMPARE: return comparison(r, n);
    case JINJA_CHOICE: return choice(r, n);
    case JINJA_ATTRIBUTE: return attribute(r, n);
    case JINJA_INDEX: return index_of(r, n);
    case JINJA_CALL: return call(r, n);
    case JINJA_FILTER: return filter(r, n);
    case JINJA_TEST: return test(r, n);
    default: jinja_fail(r->j, "no expression");
    }
}

struct jinja_value jinja_evaluate(struct jinja_run *r, const struct jinja_node *n)
{
    struct jinja_value v;

    jinja_enter(r->j);
    v = evaluate(r, n);
    jinja_leave(r->j);
    return v;
}
