/* Commands about the models and the machine. */
#include "runtime/app/commands_private.h"

#include <string.h>

#include "runtime/app/app_private.h"
#include "runtime/app/bench.h"
#include "runtime/chat/report.h"
#include "runtime/console/console.h"
#include "runtime/text/format_text.h"
#include "runtime/text/plural.h"

/* ---- models --------------------------------------------------------------------------------- */

static void print_model(void *context, const char *name, uint64_t bytes)
{
    char size[FORMAT_NUMBER_BYTES];

    console_printf(context, "  %-40s %s\n", name, format_bytes(size, bytes));
}

enum command_result command_models(struct app *a, char *argument)
{
    const struct app_files *files = a->setup.files;

    (void)argument;
    if (files->list_models == NULL) {
        console_printf(a->setup.console, "error: there are no other models here\n");
    } else if (files->list_models(files->context, print_model, a->setup.console) != ERR_OK) {
        console_printf(a->setup.console, "error: %s\n", files->error_message(files->context));
    }
    return COMMAND_DONE;
}

static void say_what_ends(struct app *a, const struct app_leaving *l)
{
    if (l->n_kept == 0) {
        console_printf(a->setup.console,
                       "(this conversation of %u tokens would end: /save keeps it; /model %s again "
                       "continues)\n",
                       (unsigned)l->n_ids, l->name);
        return;
    }
    console_printf(a->setup.console,
                   "(this conversation of %u tokens and %u %s would end: /save NAME keeps one, "
                   "/switch goes to the next; /model %s again continues)\n",
                   (unsigned)l->n_ids, l->n_kept, plural(l->n_kept, "branch", "branches"), l->name);
}

/* A person may not know that another model starts a new conversation and drops the branches: print
 * this, and change the model only if the command comes again. A program needs no confirmation. */
static bool is_confirmed(struct app *a, const char *name)
{
    struct app_leaving *l = &a->leaving;
    struct app_leaving now = { .n_replies = a->chat.totals.turns };

    if (a->chat.session != NULL && a->setup.options->line.mode != MODE_JSON) {
        now.n_ids = a->chat.session->n_ids;
        now.n_kept = features_kept(&a->features, &a->chat);
    }
    if ((now.n_ids == 0 && now.n_kept == 0) ||
        (l->n_ids == now.n_ids && l->n_replies == now.n_replies && l->n_kept == now.n_kept &&
         strcmp(l->name, name) == 0)) {
        return true;
    }
    format_text(now.name, sizeof now.name, "%s", name);
    *l = now;
    say_what_ends(a, l);
    return false;
}

enum command_result command_model(struct app *a, char *argument)
{
    if (argument[0] == '\0') {
        console_printf(a->setup.console, "error: which one? /models lists them\n");
        return COMMAND_DONE;
    }
    if (app_check_model(a, argument) && is_confirmed(a, argument)) {
        a->leaving.name[0] = '\0';
        app_change_model(a, argument);
    }
    return COMMAND_DONE;
}

enum command_result command_stats(struct app *a, char *argument)
{
    const struct chat *c = &a->chat;
    const struct session *s = c->session;
    char streamed[FORMAT_NUMBER_BYTES];

    (void)argument;
    console_printf(a->setup.console,
                   "%u %s: %llu prompt and %llu new %s, %s streamed; %u of %u %s of the "
                   "context are taken\n",
                   (unsigned)c->totals.turns, plural((unsigned)c->totals.turns, "turn", "turns"),
                   (unsigned long long)c->totals.prompt_tokens,
                   (unsigned long long)c->totals.new_tokens,
                   plural((unsigned long long)c->totals.new_tokens, "token", "tokens"),
                   format_bytes(streamed, s->model->stream.stats.bytes_streamed),
                   (unsigned)s->n_ids, (unsigned)s->context,
                   plural((unsigned)s->context, "token", "tokens"));
    report_expert_layers(a->setup.console, s->model);
    report_high_water(a->setup.console, s->model);
    report_health(a->setup.console);
    return COMMAND_DONE;
}

enum command_result command_plan(struct app *a, char *argument)
{
    (void)argument;
    report_model(a->setup.console, a->chat.session->model, a->chat.name);
    report_plan(a->setup.console, a->chat.session->model);
    return COMMAND_DONE;
}

enum command_result command_bench(struct app *a, char *argument)
{
    (void)argument;
    (void)bench_print(a);
    return COMMAND_DONE;
}

/* ---- the machine ---------------------------------------------------------------------------- */

/* Run the self-test in memory that the models leave free. */
enum command_result command_selftest(struct app *a, char *argument)
{
    struct arena *arena = &a->target.model.arena;
    struct memory_range free = a->ram;

    (void)argument;
    if (a->chat.session != NULL) {
        free = (struct memory_range){ arena->base + arena->reserved, arena_left(arena) };
    }
    (void)report_selftest(a->setup.console, &a->kernels, app_cpu_features(a),
                          platform_ticks(&a->setup.platform->clock), free);
    (void)app_check_signing(a);
    return COMMAND_DONE;
}

enum command_result command_log(struct app *a, char *argument)
{
    (void)a;
    (void)argument;
    console_repeat_log(a->setup.console);
    return COMMAND_DONE;
}

enum command_result command_reboot(struct app *a, char *argument)
{
    const struct platform_power *power = &a->setup.platform->power;

    (void)argument;
    if (power->restart != NULL) {
        console_log(a->setup.console, "restart");
        power->restart(power->context);
    }
    console_printf(a->setup.console,
                   "error: /reboot is for a board that can restart itself: switch it off and on\n");
    return COMMAND_DONE;
}

enum command_result command_off(struct app *a, char *argument)
{
    (void)a;
    (void)argument;
    return COMMAND_ENDS;
}

/* A program ends here; a board has nothing to return to. */
enum command_result command_exit(struct app *a, char *argument)
{
    (void)argument;
    if (a->setup.front != APP_CONSOLE) {
        return COMMAND_ENDS;
    }
    console_printf(
        a->setup.console,
        "(there is nothing to go back to on a board: /off switches it off, /reset begins a "
        "new conversation)\n");
    return COMMAND_DONE;
}
