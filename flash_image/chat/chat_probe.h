/* Invented conversations that show what a chat template writes, and the code that runs the
 * template on them. */
#ifndef INGOT_FLASH_IMAGE_CHAT_PROBE_H
#define INGOT_FLASH_IMAGE_CHAT_PROBE_H

#include "flash_image/jinja/jinja.h"

enum { PROBE_MOST_TURNS = 3, PROBE_MOST_KEPT = 64 };

enum probe_thinking { PROBE_AS_IT_IS, PROBE_THINKING, PROBE_NOT_THINKING };

/* A conversation: user, reply, user ... */
struct probe {
    unsigned users, replies;
    const char *system; /* NULL: none */
    const char *user[PROBE_MOST_TURNS], *reply[PROBE_MOST_TURNS];
    const char *reasoning; /* thoughts of the first reply; NULL: none */
    enum probe_thinking thinking;
    bool no_reply_to_come; /* add_generation_prompt is false */
};

/* Values of `tools` for a conversation without tools. The first is Transformers' value; the others
 * are tried if the template fails with it. */
enum probe_tools { PROBE_TOOLS_NONE, PROBE_TOOLS_UNDEFINED, PROBE_TOOLS_EMPTY, PROBE_N_TOOLS };

struct prober {
    struct jinja_template template;
    struct jinja_text bos, eos;
    enum probe_tools tools;
    const struct tm *now; /* NULL: strftime_now is undefined for the template */
    char *kept[PROBE_MOST_KEPT];
    unsigned n_kept;
    const char *error_message; /* of the last failure */
};

/* Before the call, set p->bos, p->eos and p->now, and the rest of *p to 0. False: text is not a
 * template. */
bool probe_open(struct prober *p, const void *text, size_t bytes);
void probe_close(struct prober *p);

/* Run the template; *out lives until probe_close(). False if it fails; error_message says why. */
bool probe_render(struct prober *p, const struct probe *what, struct jinja_text *out);

#endif
