/* A chat template run as Transformers runs it: the subset of Jinja that published chat templates
 * use, over values that the caller makes. Host only. Any input is safe: time, memory and depth are
 * bounded (jinja_memory.h). */
#ifndef INGOT_FLASH_IMAGE_JINJA_H
#define INGOT_FLASH_IMAGE_JINJA_H

#include <time.h>

#include "flash_image/jinja/jinja_value.h"

struct jinja_node;

/* Zero it, then read a template into it once and run that as often as wanted. */
struct jinja_template {
    struct jinja memory; /* of the tree */
    struct jinja_node *body;
    bool uses_date;   /* the last run looked up strftime_now */
    struct jinja run; /* memory of the last run: values and output */
};

/* False: memory.error_message says what is wrong, and in which line. */
bool jinja_read(struct jinja_template *t, const void *text, size_t bytes);

/* Forget the last run. Make values for the next one with &t->run afterwards. If memory runs out,
 * t->run.escape is taken, which jinja_execute() sets; so `fill` makes the values. */
struct jinja_request {
    /* Add the variables that the template can use. */
    void (*fill)(struct jinja *j, struct jinja_dict *names, const void *context);
    const void *context;
    const struct tm *now; /* date for strftime_now; NULL: the template does not find the function */
};

/* False: run.error_message says what is wrong, and in which line. *out lives until the next run. */
bool jinja_execute(struct jinja_template *t, const struct jinja_request *r, struct jinja_text *out);

void jinja_close(struct jinja_template *t);

#endif
