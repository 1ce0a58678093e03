/* Runs chat templates as Transformers does: the subset of Jinja that published chat templates use,
 * with values that the caller makes. Host only. Any input is safe: time, memory and depth are
 * bounded (jinja_memory.h). */
#ifndef INGOT_FLASH_IMAGE_JINJA_H
#define INGOT_FLASH_IMAGE_JINJA_H

#include <time.h>

#include "flash_image/jinja/jinja_value.h"

struct jinja_node;

/* A template. Zero the struct, read a text into it once, then run it as often as wanted. */
struct jinja_template {
    struct jinja memory; /* of the tree */
    struct jinja_node *body;
    bool uses_date;   /* a run looked up strftime_now, also one that then failed */
    struct jinja run; /* memory of the last run: values and output */
};

/* Read a template. False: memory.error_message says what is wrong, and in which line. */
bool jinja_read(struct jinja_template *t, const void *text, size_t bytes);

/* A run of a template. `fill` makes its values in the memory of &t->run. If memory runs out,
 * control leaves through t->run.escape, which only jinja_execute() sets. */
struct jinja_request {
    /* Adds the variables that the template can use. */
    void (*fill)(struct jinja *j, struct jinja_dict *names, const void *context);
    const void *context;
    const struct tm *now; /* date for strftime_now; NULL: that function is undefined */
};

/* Run the template; the result of its last run is freed. False: run.error_message says what is
 * wrong, and in which line. *out is valid until the next run. */
bool jinja_execute(struct jinja_template *t, const struct jinja_request *r, struct jinja_text *out);

void jinja_close(struct jinja_template *t);

#endif
