/* Begin a conversation and run it line by line. */
#include "runtime/chat/chat_private.h"

#include <string.h>

#include "runtime/chat/chat_json.h"
#include "runtime/chat/chat_turn.h"
#include "runtime/console/console.h"
#include "runtime/console/console_json.h"
#include "runtime/features/feature.h"

/* Return the token of a template's text, or INGOT_NO_TOKEN if the text is not one token. */
static uint32_t marker_token(const struct chat *c, enum ingot_chat_string which)
{
    struct session *s = c->session;
    uint32_t bytes, id = INGOT_NO_TOKEN;
    const char *text = image_chat_text(c->template, which, &bytes);
    size_t n;

    if (bytes == 0 ||
        tokenizer_encode_template(&s->model->tokenizer, text, bytes, TOKENIZER_CONTINUE, &id, 1, &n,
                                  s->scratch.memory, s->scratch.bytes) != ERR_OK ||
        n != 1) {
        return INGOT_NO_TOKEN;
    }
    return id;
}

static void warn_options(const struct chat *c)
{
    if (options_given(c->options, OPTION_SYSTEM) && !chat_has_template(c->template)) {
        console_log(c->console,
                    "warning: system= has no effect, because the model has no chat template");
    }
    if (c->options->reply.think == THINK_OFF && c->template->bytes[INGOT_CHAT_NO_THINKING] == 0) {
        console_log(c->console,
                    "warning: think=off has no effect, because the model's chat template does not "
                    "know it");
    }
}

void chat_open(struct chat *c, struct console *console, struct session *session,
               struct session *draft, struct options *options, const struct ingot_chat *template)
{
    struct speculative_params guessing = options_speculative(options);
    struct features *features = c->features;
    uint32_t protocol = c->program.protocol; /* the program on the line stays connected */

    c->program.messages.system = NULL;
    chat_messages_set_system(c, &c->program.messages); /* a request's setting does not carry over to
                                                     * the next model */
    memset(c, 0, sizeof *c);
    c->features = features;
    c->program.protocol = protocol;
    c->console = console;
    c->session = session;
    c->options = options;
    c->template = template;
    if (template == NULL) {
        c->template = session->model->image.chat;
    }
    c->think_end = marker_token(c, INGOT_CHAT_THINK_END);
    session->hash.on = options->show.ids;
    session_keep_prefix(session, &c->opening.prefix);
    sampler_init(&c->sampler, &options->sampler);
    speculative_open(&c->speculative, session, draft, &guessing);
    features_reset(c->features, c);
    warn_options(c);
}

void chat_close(struct chat *c)
{
    c->session = NULL;
    c->template = NULL;
    c->name = NULL;
    c->program.announced = false;
    chat_clear(c);
}

void chat_restart_sampler(struct chat *c)
{
    struct options *o = c->options;

    if (!options_given(o, OPTION_SEED)) {
        o->sampler.seed = platform_ticks(&c->console->platform->clock);
    }
    c->sampler.params.seed = o->sampler.seed;
    sampler_init(&c->sampler, &c->sampler.params);
}

bool chat_is_command(const char *line, size_t bytes)
{
    return bytes > 1 && line[0] == '/' && line[1] >= 'a' && line[1] <= 'z';
}

/* Returns true if the conversation ends. */
static bool take_line(struct chat *c, size_t bytes)
{
    if (chat_is_command(c->line, bytes)) {
        return c->commands->run(c->commands->context, c->line);
    }
    if (bytes > 1 && c->line[0] == '/' && c->line[1] == '/') {
        (void)chat_reply(c, c->line + 1, bytes - 1, true);
    } else if (bytes != 0) {
        (void)chat_reply(c, c->line, bytes, true);
    }
    return false;
}

bool chat_input_ends(struct chat *c)
{
    if (c->commands->stays == NULL || console_is_closed(c->console)) {
        return true;
    }
    console_printf(c->console, "%s\n", c->commands->stays);
    return false;
}

/* Carry out /mode. A program gets a description of this side; a person gets the earlier terminal
 * back. */
static void change_mode(struct chat *c)
{
    bool json = c->options->line.mode == MODE_JSON;

    if (json == console_is_json(c->console)) {
        return;
    }
    if (json) {
        c->options->line.term = console_is_terminal(c->console) ? (uint32_t)CONSOLE_VT
                                                                : (uint32_t)CONSOLE_PLAIN;
        console_speak_json(c->console);
        c->program.announced = false;
    } else {
        console_speak_text(c->console);
        console_find_terminal(c->console, (enum console_terminal)c->options->line.term);
    }
}

void chat_loop(struct chat *c, const struct chat_commands *commands)
{
    /* Start in the mode for which the console was opened; options may still have another mode. */
    c->options->line.mode = console_is_json(c->console) ? MODE_JSON : MODE_CHAT;
    for (;;) {
        size_t bytes;
        enum err error;

        change_mode(c);
        if (console_is_json(c->console)) {
            if (chat_json_loop(c, commands)) {
                return;
            }
            continue;
        }
        c->wait.is_shown = true;
        c->commands = commands; /* /model opens the chat again */
        error = console_read_line(c->console, "> ", c->line, sizeof c->line, &bytes);
        if ((error == ERR_NO_DEVICE && chat_input_ends(c)) ||
            (error == ERR_OK && take_line(c, bytes))) {
            return;
        }
        if (error == ERR_TOO_LONG) {
            console_printf(c->console, "error: a line may have %u bytes: shorten it\n",
                           (unsigned)(sizeof c->line - 1));
        }
    }
}
