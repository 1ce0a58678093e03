/* Any bytes as a template: read, run, and made a form of. It ends in bounded time, every refusal has
 * an error message with its line, and a form that is derived writes what the template does. */
#include <stdlib.h>
#include <string.h>

#include "flash_image/chat/chat_derive.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void must(bool condition)
{
    if (!condition) {
        abort();
    }
}

static struct jinja_value tool(struct jinja *j)
{
    struct jinja_value t = jinja_new_dict(j, JINJA_DICT), f = jinja_new_dict(j, JINJA_DICT);

    jinja_put_name(j, f.dict, "name", jinja_words("weather"));
    jinja_put_name(j, f.dict, "limits", jinja_float(1.5));
    jinja_put_name(j, t.dict, "type", jinja_words("function"));
    jinja_put_name(j, t.dict, "function", f);
    return t;
}

/* One message, and tools. */
static void fill(struct jinja *j, struct jinja_dict *names, const void *context)
{
    struct jinja_value messages = jinja_new_list(j, JINJA_LIST);
    struct jinja_value m = jinja_new_dict(j, JINJA_DICT), tools = jinja_new_list(j, JINJA_LIST);

    (void)context;
    jinja_put_name(j, m.dict, "role", jinja_words("user"));
    jinja_put_name(j, m.dict, "content", jinja_words("Hi \xc3\xa9 there"));
    jinja_append(j, messages.list, m);
    jinja_append(j, tools.list, tool(j));
    jinja_put_name(j, names, "messages", messages);
    jinja_put_name(j, names, "tools", tools);
    jinja_put_name(j, names, "n", jinja_int(7));
}

static void run(const uint8_t *data, size_t size)
{
    struct jinja_template t = { 0 };
    const time_t day = 1767312000;
    struct tm tm = *gmtime(&day);
    struct jinja_request r = { fill, NULL, &tm };
    struct jinja_text out;

    if (!jinja_read(&t, data, size)) {
        must(strncmp(t.memory.error_message, "line ", 5) == 0);
    } else if (!jinja_execute(&t, &r, &out)) {
        must(strncmp(t.run.error_message, "line ", 5) == 0);
    } else {
        must(out.bytes <= JINJA_MOST_TEXT && t.run.depth == 0);
    }
    jinja_close(&t);
}

static void derive(const uint8_t *data, size_t size)
{
    struct prober p = { .bos = jinja_text("<s>"), .eos = jinja_text("</s>") };
    struct chat_derived d;

    if (!probe_open(&p, data, size)) {
        must(p.error_message[0] != '\0');
    } else if (!chat_derive(&p, &d)) {
        must(d.wrong != NULL || p.error_message[0] != '\0');
    }
    probe_close(&p);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    run(data, size);
    derive(data, size);
    return 0;
}
