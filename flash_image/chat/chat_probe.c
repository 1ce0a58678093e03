#include "flash_image/chat/chat_probe.h"

#include <stdlib.h>
#include <string.h>

struct filling {
    const struct prober *prober;
    const struct probe *probe;
};

static struct jinja_dict *add_message(struct jinja *j, struct jinja_list *to, const char *role,
                                      const char *text)
{
    struct jinja_value m = jinja_new_dict(j, JINJA_DICT);

    jinja_put_name(j, m.dict, "role", jinja_words(role));
    jinja_put_name(j, m.dict, "content", jinja_words(text));
    jinja_append(j, to, m);
    return m.dict;
}

static struct jinja_value messages(struct jinja *j, const struct probe *p)
{
    static const char *const names[] = { "reasoning_content", "reasoning", "thinking" };
    struct jinja_value list = jinja_new_list(j, JINJA_LIST);

    if (p->system != NULL) {
        add_message(j, list.list, "system", p->system);
    }
    for (unsigned i = 0; i < p->users; i++) {
        add_message(j, list.list, "user", p->user[i]);
        if (i < p->replies) {
            struct jinja_dict *m = add_message(j, list.list, "assistant", p->reply[i]);

            for (size_t k = 0; i == 0 && p->reasoning != NULL && k < 3; k++) {
                jinja_put_name(j, m, names[k], jinja_words(p->reasoning));
            }
        }
    }
    return list;
}

/* Set the variables that Transformers' apply_chat_template passes to a template, and those by which
 * published templates switch thoughts on or off. */
static void fill(struct jinja *j, struct jinja_dict *names, const void *context)
{
    const struct filling *f = context;
    const struct probe *p = f->probe;

    jinja_put_name(j, names, "messages", messages(j, p));
    jinja_put_name(j, names, "add_generation_prompt", jinja_bool(!p->no_reply_to_come));
    jinja_put_name(j, names, "bos_token", jinja_string(f->prober->bos));
    jinja_put_name(j, names, "eos_token", jinja_string(f->prober->eos));
    jinja_put_name(j, names, "documents", jinja_none());
    if (f->prober->tools == PROBE_TOOLS_NONE) {
        jinja_put_name(j, names, "tools", jinja_none());
    } else if (f->prober->tools == PROBE_TOOLS_EMPTY) {
        jinja_put_name(j, names, "tools", jinja_new_list(j, JINJA_LIST));
    }
    if (p->thinking != PROBE_AS_IT_IS) {
        struct jinja_value on = jinja_bool(p->thinking == PROBE_THINKING);

        jinja_put_name(j, names, "enable_thinking", on);
        jinja_put_name(j, names, "thinking", on);
    }
}

bool probe_open(struct prober *p, const void *text, size_t bytes)
{
    p->error_message = p->template.memory.error_message;
    return jinja_read(&p->template, text, bytes);
}

void probe_close(struct prober *p)
{
    jinja_close(&p->template);
    while (p->n_kept != 0) {
        free(p->kept[--p->n_kept]);
    }
}

bool probe_render(struct prober *p, const struct probe *what, struct jinja_text *out)
{
    struct filling filling = { p, what };
    struct jinja_request request = { fill, &filling, p->now };
    struct jinja_text text;
    char *copy;

    p->error_message = p->template.run.error_message;
    if (!jinja_execute(&p->template, &request, &text)) {
        return false;
    }
    copy = p->n_kept < PROBE_MOST_KEPT ? malloc(text.bytes + 1) : NULL;
    if (copy == NULL) {
        p->error_message = "out of memory";
        return false;
    }
    memcpy(copy, text.data, text.bytes);
    copy[text.bytes] = '\0';
    p->kept[p->n_kept++] = copy;
    *out = (struct jinja_text){ copy, text.bytes };
    return true;
}
