/* The state of a running template: scopes, output, and the walk over the tree. */
#ifndef INGOT_FLASH_IMAGE_JINJA_RUN_H
#define INGOT_FLASH_IMAGE_JINJA_RUN_H

#include <time.h>

#include "flash_image/jinja/jinja_text.h"
#include "flash_image/jinja/jinja_tree.h"

struct jinja_scope {
    struct jinja_dict names;
    struct jinja_scope *outer;
};

struct jinja_run {
    struct jinja *j;
    struct jinja_scope *scope;
    struct jinja_buffer *out;
    const struct tm *now; /* date for strftime_now; NULL: that function is undefined */
    bool *asked_date;     /* set when strftime_now is looked up */
};

struct jinja_macro {
    const struct jinja_node *node; /* the macro; the node's list has the parameters */
    struct jinja_scope *scope;     /* where it was defined */
};

struct jinja_loop {
    struct jinja_list *items;
    size_t index;
    unsigned level;
    const struct jinja_node *node; /* of a recursive loop */
    struct jinja_scope *outer;
    struct jinja_value last; /* arguments of the last call of changed() */
    bool told;
};

enum jinja_after { JINJA_GO_ON, JINJA_LEAVE_LOOP, JINJA_NEXT_ROUND };

/* Run a chain of statements. */
enum jinja_after jinja_run_body(struct jinja_run *r, const struct jinja_node *body);

/* Call a macro or a recursive loop; returns the text that it writes. */
struct jinja_value jinja_call_macro(struct jinja_run *r, const struct jinja_macro *m,
                                    struct jinja_args *args);
struct jinja_value jinja_call_loop(struct jinja_run *r, const struct jinja_loop *loop,
                                   struct jinja_value items);

struct jinja_value jinja_evaluate(struct jinja_run *r, const struct jinja_node *n);
struct jinja_args jinja_evaluate_args(struct jinja_run *r, const struct jinja_node *list);
struct jinja_value jinja_apply_filters(struct jinja_run *r, const struct jinja_node *n,
                                       struct jinja_value to);

/* Find a function that every template has, as a value; call it by the number in value.function. */
bool jinja_find_function(struct jinja_run *r, struct jinja_text name, struct jinja_value *v);
struct jinja_value jinja_call_function(struct jinja_run *r, unsigned function,
                                       struct jinja_args *args);

/* a op b */
struct jinja_value jinja_operate(struct jinja *j, int op, struct jinja_value a,
                                 struct jinja_value b);

#endif
