/* Statements. */
#include "flash_image/jinja/jinja_run.h"

#include <string.h>

#include "flash_image/jinja/jinja_library.h"

static struct jinja_scope *push_scope(struct jinja_run *r, struct jinja_scope *outer)
{
    struct jinja_scope *s = jinja_alloc(r->j, sizeof *s);

    s->outer = outer;
    r->scope = s;
    return s;
}

static void set_name(struct jinja_run *r, struct jinja_text name, struct jinja_value v)
{
    jinja_put(r->j, &r->scope->names, jinja_string(name), v);
}

static void set_items(struct jinja_run *r, const struct jinja_node *list, struct jinja_value v);

static void set_target(struct jinja_run *r, const struct jinja_node *target, struct jinja_value v)
{
    struct jinja_value of;

    if (target->kind == JINJA_NAME) {
        set_name(r, target->text, v);
    } else if (target->kind == JINJA_ITEMS) {
        set_items(r, target->list, v);
    } else {
        of = jinja_evaluate(r, target->a);
        if (of.kind != JINJA_NAMESPACE) {
            jinja_fail(r->j, "only a namespace's names can be set with a dot");
        }
        jinja_put(r->j, of.dict, jinja_string(target->text), v);
    }
}

static void set_items(struct jinja_run *r, const struct jinja_node *list, struct jinja_value v)
{
    struct jinja_list *items = jinja_items(r->j, v);
    size_t i = 0;

    for (; list != NULL; list = list->next, i++) {
        if (i >= items->n) {
            break;
        }
        set_target(r, list, items->item[i]);
    }
    if (list != NULL || i != items->n) {
        jinja_fail(r->j, "%zu values are assigned to another number of names", items->n);
    }
}

/* Run a body in a new scope, and return the text that it writes. */
static struct jinja_text capture(struct jinja_run *r, const struct jinja_node *body)
{
    struct jinja_buffer own = { 0 }, *out = r->out;
    struct jinja_scope *scope = r->scope;

    r->out = &own;
    push_scope(r, scope);
    (void)jinja_run_body(r, body);
    r->scope = scope;
    r->out = out;
    return jinja_written(&own);
}

/* ---- loops ----------------------------------------------------------------------------------- */

/* Select the entries for which the loop's condition holds. */
static struct jinja_list *choose(struct jinja_run *r, const struct jinja_node *n,
                                 struct jinja_list *items, struct jinja_scope *outer)
{
    struct jinja_value kept = jinja_new_list(r->j, JINJA_LIST);

    for (size_t i = 0; i < items->n; i++) {
        push_scope(r, outer);
        set_target(r, n->a, items->item[i]);
        if (jinja_truth(jinja_evaluate(r, n->c))) {
            jinja_append(r->j, kept.list, items->item[i]);
        }
    }
    r->scope = outer;
    return kept.list;
}

static enum jinja_after run_rounds(struct jinja_run *r, const struct jinja_node *n,
                                   struct jinja_loop *loop)
{
    struct jinja_value self = { .kind = JINJA_LOOP, .loop = loop };

    for (; loop->index < loop->items->n; loop->index++) {
        jinja_step(r->j);
        push_scope(r, loop->outer);
        set_name(r, jinja_text("loop"), self);
        set_target(r, n->a, loop->items->item[loop->index]);
        if (jinja_run_body(r, n->body) == JINJA_LEAVE_LOOP) {
            break;
        }
    }
    r->scope = loop->outer;
    return JINJA_GO_ON;
}

static enum jinja_after run_loop(struct jinja_run *r, const struct jinja_node *n,
                                 struct jinja_value items, unsigned level)
{
    struct jinja_loop *loop = jinja_alloc(r->j, sizeof *loop);
    struct jinja_scope *outer = r->scope;
    enum jinja_after after;

    loop->items = jinja_items(r->j, items);
    loop->level = level;
    loop->node = n->flag ? n : NULL;
    loop->outer = outer;
    if (n->c != NULL) {
        loop->items = choose(r, n, loop->items, outer);
    }
    if (loop->items->n != 0) {
        return run_rounds(r, n, loop);
    }
    push_scope(r, outer);
    after = jinja_run_body(r, n->other);
    r->scope = outer;
    return after;
}

struct jinja_value jinja_call_loop(struct jinja_run *r, const struct jinja_loop *loop,
                                   struct jinja_value items)
{
    struct jinja_buffer own = { 0 }, *out = r->out;
    struct jinja_scope *scope = r->scope;

    if (loop->node == NULL) {
        jinja_fail(r->j, "a loop that is not recursive was called");
    }
    jinja_enter(r->j);
    r->out = &own;
    r->scope = loop->outer;
    (void)run_loop(r, loop->node, items, loop->level + 1);
    r->scope = scope;
    r->out = out;
    jinja_leave(r->j);
    return jinja_string(jinja_written(&own));
}

/* ---- macros ---------------------------------------------------------------------------------- */

static const struct jinja_node *parameter(const struct jinja_node *list, struct jinja_text name)
{
    while (list != NULL && !jinja_text_equal(list->text, name)) {
        list = list->next;
    }
    return list;
}

/* Set varargs and kwargs to the remaining arguments of a macro, and `caller` if it is given. */
static void set_rest(struct jinja_run *r, const struct jinja_macro *m, struct jinja_args *args,
                     size_t taken)
{
    struct jinja_value rest = jinja_new_list(r->j, JINJA_TUPLE);
    struct jinja_value named = jinja_new_dict(r->j, JINJA_DICT);

    for (size_t i = taken; i < args->list.n; i++) {
        jinja_append(r->j, rest.list, args->list.item[i]);
    }
    for (size_t i = 0; i < args->named.n; i++) {
        struct jinja_text name = args->named.key[i].text;

        if (jinja_text_is(name, "caller")) {
            set_name(r, name, args->named.value[i]);
        } else if (parameter(m->node->list, name) == NULL) {
            jinja_put(r->j, named.dict, args->named.key[i], args->named.value[i]);
        }
    }
    set_name(r, jinja_text("varargs"), rest);
    set_name(r, jinja_text("kwargs"), named);
}

static void set_parameters(struct jinja_run *r, const struct jinja_macro *m,
                           struct jinja_args *args)
{
    size_t i = 0;

    for (const struct jinja_node *p = m->node->list; p != NULL; p = p->next, i++) {
        const struct jinja_value *v = jinja_get_name(&args->named, p->text);

        if (i < args->list.n) {
            set_name(r, p->text, args->list.item[i]);
        } else if (v != NULL) {
            set_name(r, p->text, *v);
        } else if (p->a != NULL) {
            set_name(r, p->text, jinja_evaluate(r, p->a));
        } else {
            set_name(r, p->text, jinja_undefined(p->text));
        }
    }
    set_rest(r, m, args, i);
}

struct jinja_value jinja_call_macro(struct jinja_run *r, const struct jinja_macro *m,
                                    struct jinja_args *args)
{
    struct jinja_buffer own = { 0 }, *out = r->out;
    struct jinja_scope *scope = r->scope;

    jinja_enter(r->j);
    push_scope(r, m->scope);
    set_parameters(r, m, args);
    r->out = &own;
    (void)jinja_run_body(r, m->node->body);
    r->out = out;
    r->scope = scope;
    jinja_leave(r->j);
    return jinja_string(jinja_written(&own));
}

static struct jinja_value new_macro(struct jinja_run *r, const struct jinja_node *n)
{
    struct jinja_value v = { .kind = JINJA_MACRO };

    v.macro = jinja_alloc(r->j, sizeof *v.macro);
    *v.macro = (struct jinja_macro){ n, r->scope };
    return v;
}

/* Run {% call macro(...) %}: its body is a macro that the called macro knows as `caller`. */
static void run_call_block(struct jinja_run *r, const struct jinja_node *n)
{
    struct jinja_args args = jinja_evaluate_args(r, n->a->list);
    struct jinja_value f = jinja_evaluate(r, n->a->a);

    if (f.kind != JINJA_MACRO) {
        jinja_fail(r->j, "{%% call %%} calls a macro, not a %s", jinja_kind_name(f));
    }
    jinja_put_name(r->j, &args.named, "caller", new_macro(r, n));
    jinja_write_value(r->j, r->out, jinja_call_macro(r, f.macro, &args));
}

/* ---- the rest -------------------------------------------------------------------------------- */

static void run_set_block(struct jinja_run *r, const struct jinja_node *n)
{
    struct jinja_value v = jinja_string(capture(r, n->body));

    set_target(r, n->a, jinja_apply_filters(r, n->b, v));
}

static enum jinja_after run_with(struct jinja_run *r, const struct jinja_node *n)
{
    struct jinja_scope *outer = r->scope, *inner = jinja_alloc(r->j, sizeof *inner);
    enum jinja_after after;

    inner->outer = outer;
    for (const struct jinja_node *pair = n->list; pair != NULL; pair = pair->next) {
        struct jinja_value v = jinja_evaluate(r, pair->b); /* in the outer scope */

        jinja_put(r->j, &inner->names, jinja_string(pair->a->text), v);
    }
    r->scope = inner;
    after = jinja_run_body(r, n->body);
    r->scope = outer;
    return after;
}

static enum jinja_after run_statement(struct jinja_run *r, const struct jinja_node *n)
{
    struct jinja_scope *outer = r->scope;
    enum jinja_after after = JINJA_GO_ON;

    switch (n->kind) {
    case JINJA_OUTPUT: jinja_write(r->j, r->out, n->text); break;
    case JINJA_PRINT: jinja_write_value(r->j, r->out, jinja_evaluate(r, n->a)); break;
    case JINJA_IF:
        return jinja_run_body(r, jinja_truth(jinja_evaluate(r, n->a)) ? n->body : n->other);
    case JINJA_FOR: return run_loop(r, n, jinja_evaluate(r, n->b), 0);
    case JINJA_SET: set_target(r, n->a, jinja_evaluate(r, n->b)); break;
    case JINJA_SET_BLOCK: run_set_block(r, n); break;
    case JINJA_DEFINE: set_name(r, n->text, new_macro(r, n)); break;
    case JINJA_CALL_BLOCK: run_call_block(r, n); break;
    case JINJA_FILTER_BLOCK:
        jinja_write_value(r->j, r->out,
                          jinja_apply_filters(r, n->b, jinja_string(capture(r, n->body))));
        break;
    case JINJA_WITH: return run_with(r, n);
    case JINJA_BREAK: return JINJA_LEAVE_LOOP;
    case JINJA_CONTINUE: return JINJA_NEXT_ROUND;
    case JINJA_SCOPE:
        push_scope(r, outer);
        after = jinja_run_body(r, n->body);
        r->scope = outer;
        break;
    default: jinja_fail(r->j, "no statement");
    }
    return after;
}

enum jinja_after jinja_run_body(struct jinja_run *r, const struct jinja_node *body)
{
    enum jinja_after after = JINJA_GO_ON;

    jinja_enter(r->j);
    for (; body != NULL && after == JINJA_GO_ON; body = body->next) {
        jinja_step(r->j);
        r->j->line = body->line;
        after = run_statement(r, body);
    }
    jinja_leave(r->j);
    return after;
}
