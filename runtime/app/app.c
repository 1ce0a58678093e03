#include "runtime/app/app_private.h"

#include "runtime/app/commands.h"
#include "runtime/chat/report.h"
#include "runtime/console/console.h"

static bool run_command(void *context, char *line)
{
    return commands_run(context, line) == COMMAND_ENDS;
}

static const char *list_models(void *context, chat_model_fn *visit, void *visit_context)
{
    const struct app *a = context;
    const struct app_files *files = a->setup.files;

    if (files->list_models == NULL) {
        return "there are no other models here";
    }
    if (files->list_models(files->context, visit, visit_context) != ERR_OK) {
        return files->error_message(files->context);
    }
    return NULL;
}

void app_talk(struct app *a)
{
    struct chat_commands commands = { .run = run_command, .list = list_models, .context = a };

    if (a->setup.front == APP_CONSOLE) {
        commands.stays = "(Ctrl-D has no effect here: /off switches off, /help lists commands)";
    }
    if (a->setup.greeting != NULL && a->setup.options->line.mode != MODE_JSON &&
        a->chat.session != NULL) {
        console_printf(a->setup.console, "%s\n", a->setup.greeting);
    }
    a->talks = true;
    chat_loop(&a->chat, &commands);
    a->talks = false;
}

enum err app_run(struct app *a)
{
    const struct options *o = a->setup.options;
    enum err e = ERR_OK;

    app_watch(a, "talking");
    if (options_given(o, OPTION_PROMPT)) {
        a->chat.wait.is_shown = true; /* long work shows its progress */
        e = chat_reply_said(&a->chat, o->reply.prompt, o->reply.prompt_bytes, true,
                            a->prompt_of_file ? 0 : o->reply.prompt_bytes);
    } else {
        app_talk(a);
    }
    report_high_water(a->setup.console, &a->target.model);
    return e;
}
