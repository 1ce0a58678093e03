#include "flash_image/jinja/jinja.h"

#include "flash_image/jinja/jinja_parser.h"
#include "flash_image/jinja/jinja_run.h"

bool jinja_read(struct jinja_template *t, const void *text, size_t bytes)
{
    struct jinja *j = &t->memory;

    if (setjmp(j->escape) != 0) {
        return false;
    }
    if (bytes > JINJA_MOST_TEXT) {
        jinja_fail(j, "the template has more than %u bytes", (unsigned)JINJA_MOST_TEXT);
    }
    t->body = jinja_parse(j, (struct jinja_text){ text, bytes });
    return true;
}

static void execute(struct jinja_template *t, const struct jinja_request *request,
                    struct jinja_text *out)
{
    struct jinja *j = &t->run;
    struct jinja_buffer *written = jinja_alloc(j, sizeof *written);
    struct jinja_run *r = jinja_alloc(j, sizeof *r);
    struct jinja_scope *given = jinja_alloc(j, sizeof *given);
    struct jinja_scope *own = jinja_alloc(j, sizeof *own);

    own->outer = given;
    *r = (struct jinja_run){
        .j = j, .scope = own, .out = written, .now = request->now, .asked_date = &t->uses_date
    };
    request->fill(j, &given->names, request->context);
    (void)jinja_run_body(r, t->body);
    *out = jinja_written(written);
}

bool jinja_execute(struct jinja_template *t, const struct jinja_request *request,
                   struct jinja_text *out)
{
    jinja_free(&t->run);
    t->run.line = 0;
    if (setjmp(t->run.escape) != 0) {
        return false;
    }
    execute(t, request, out);
    return true;
}

void jinja_close(struct jinja_template *t)
{
    jinja_free(&t->memory);
    jinja_free(&t->run);
}
