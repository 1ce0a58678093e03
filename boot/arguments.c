#include "boot/arguments.h"

#include <string.h>

#include "runtime/console/console.h"

/* Return true if we may send queries to the terminal now: the rate is final (baud=), and no script
 * waits for a reply (prompt=). */
static bool may_ask(const struct options *o)
{
    return o->line.term != CONSOLE_AUTO ||
           !(options_given(o, OPTION_BAUD) || options_given(o, OPTION_PROMPT));
}

void arguments_find_terminal(struct options *o, struct console *c, const struct machine *machine)
{
    options_init(o);
    (void)options_parse(o, machine->args, NULL);
    if (o->line.mode == MODE_JSON) {
        console_speak_json(c);
    } else if (may_ask(o)) {
        console_find_terminal(c, (enum console_terminal)o->line.term);
    }
}

/* Report a bad option and ignore only this one, because the options may be on a card that nobody
 * can edit soon. */
static void say_option(void *context, bool refused, const char *error_message)
{
    const char *instead = "";

    if (refused) {
        instead = "; the default is used";
    }
    console_log(context, "warning: %s%s", error_message, instead);
}

static void set_baud(const struct options *o, struct console *c)
{
    const struct platform *p = c->platform;

    if (p->console.set_baud == NULL) {
        console_log(c, "warning: baud=%u has no effect on %s", (unsigned)o->line.baud, p->name);
    } else {
        console_log(c, "the console continues at %u baud", (unsigned)o->line.baud);
        p->console.set_baud(p->console.context, o->line.baud);
    }
    /* The terminal was not queried at the old rate; query it now, at the new rate. */
    if (!options_given(o, OPTION_PROMPT) && o->line.mode != MODE_JSON) {
        console_find_terminal(c, (enum console_terminal)o->line.term);
    }
}

static void obey_dmaend(const struct options *o, struct console *c)
{
    const struct platform *p = c->platform;

    if (!options_given(o, OPTION_DMAEND)) {
        return;
    }
    if (p->storage.limit_dma == NULL) {
        console_log(c, "warning: dmaend is not available on this board");
    } else {
        p->storage.limit_dma(p->storage.context, o->machine.dmaend);
    }
}

static void obey_pcie(const struct options *o, struct console *c)
{
    const struct platform *p = c->platform;

    if (!options_given(o, OPTION_PCIE))
        return;
    if (p->storage.set_pcie == NULL)
        console_log(c, "warning: pcie is not available on this board");
    else
        p->storage.set_pcie(p->storage.context, o->machine.pcie == PCIE_GEN3 ? 3 : 2);
}

static void obey_keyboard(const struct options *o, struct console *c)
{
    const struct platform *p = c->platform;

    if (!options_given(o, OPTION_KEYBOARD))
        return;
    if (p->console.set_keyboard == NULL)
        console_log(c, "warning: keyboard is not available on this board");
    else
        p->console.set_keyboard(p->console.context, o->machine.keyboard);
}

static void obey(struct options *o, struct console *c)
{
    const struct platform *p = c->platform;

    /* Unless a seed was given, each start gets another seed, and so other replies. */
    if (!options_given(o, OPTION_SEED)) {
        o->sampler.seed = platform_ticks(&p->clock);
    }
    if (options_given(o, OPTION_BAUD)) {
        set_baud(o, c);
    }
    if (o->machine.pio && p->storage.use_pio != NULL) {
        p->storage.use_pio(p->storage.context);
    } else if (o->machine.pio) {
        console_log(c, "warning: pio is not available on this board");
    }
    obey_dmaend(o, c);
    obey_pcie(o, c);
    obey_keyboard(o, c);
    if (p->console.flow_control != NULL && o->line.flow == FLOW_ON) {
        p->console.flow_control(p->console.context, true);
    }
}

/* Some firmware passes no options at all if they are too long. */
static void say_too_long(struct console *c, const struct machine *machine)
{
    const char *lost = "the rest is ignored";

    if (machine->args[0] == '\0') {
        lost = "all of them are ignored";
    }
    console_log(c, "warning: the boot arguments have %lu bytes, and the limit is %lu: %s",
                (unsigned long)machine->args_bytes, (unsigned long)machine->args_limit, lost);
}

bool arguments_read(struct options *o, struct console *c, const struct machine *machine)
{
    struct options_report report = { say_option, c };

    options_init(o);
    if (machine->args_bytes > strlen(machine->args)) {
        say_too_long(c, machine);
    }
    (void)options_parse(o, machine->args, &report); /* printed by say_option */
    if (options_refused(o, OPTION_PROMPT)) {
        return false;
    }
    obey(o, c);
    return true;
}
