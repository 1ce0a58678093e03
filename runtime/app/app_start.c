/* The machine's services that the application needs before it looks for a model. */
#include <string.h>

#include "board/min_max.h"
#include "kernels/tuning.h"
#include "runtime/app/app_private.h"
#include "runtime/base/crc32c.h"
#include "runtime/base/sha256.h"
#include "runtime/chat/report.h"
#include "runtime/console/console.h"
#include "runtime/text/format_text.h"

enum { WATCHDOG_SECONDS = 15 };

/* The default is off in an emulator, whose watchdog fires at once. Core 0 feeds the watchdog
 * many times a second, so only a machine that hangs restarts. */
static uint32_t watchdog_seconds(const struct app *a)
{
    const struct platform_power *power = &a->setup.platform->power;

    if (options_given(a->setup.options, OPTION_WATCHDOG)) {
        return a->setup.options->machine.watchdog;
    }
    if (power->is_emulated(power->context)) {
        return 0;
    }
    return WATCHDOG_SECONDS;
}

void app_watch(struct app *a, const char *doing)
{
    const struct platform_power *power = &a->setup.platform->power;

    if (power->watchdog == NULL) {
        return;
    }
    a->watchdog_millis = watchdog_seconds(a) * 1000;
    power->watchdog(power->context, a->watchdog_millis, doing);
}

void app_sleeps(struct app *a)
{
    if (a->watchdog_millis != 0) {
        a->setup.platform->power.watchdog(a->setup.platform->power.context, 0, "waiting for input");
    }
}

void app_wakes(struct app *a)
{
    if (a->watchdog_millis != 0) {
        a->setup.platform->power.watchdog(a->setup.platform->power.context, a->watchdog_millis,
                                          "talking");
    }
}

/* Log the cores at work, and the share of rows of each core if the device tree says that cores
 * differ. */
static void say_cores(const struct app *a)
{
    const struct workers *w = &a->workers;
    char parts[8 * BOARD_MAX_CORES + 32];
    size_t n = 0;

    parts[0] = '\0';
    for (unsigned i = 0; i < w->n_cores && !shares_are_equal(&w->shares); i++) {
        n += format_text(parts + n, sizeof parts - n, "%s%u", i == 0 ? ", with " : ", ",
                         shares_percent(&w->shares, i));
    }
    console_log(a->setup.console, "cores: %u of %u at work%s%s", w->n_cores,
                a->setup.platform->cores.n, parts, n != 0 ? " % of the rows" : "");
}

static void start_workers(struct app *a)
{
    const struct platform *p = a->setup.platform;
    const struct options *o = a->setup.options;
    unsigned n = p->cores.n;

    if (o->machine.cores != 0) {
        n = min_u32(n, o->machine.cores);
    }
    workers_start(&a->workers, p, n);
    trace_open(&a->trace, &p->clock);
    a->workers.trace = &a->trace;
    if (a->setup.front != APP_CONSOLE) {
        return;
    }
    say_cores(a);
    if (options_given(o, OPTION_CORES) && a->workers.n_cores < o->machine.cores) {
        console_log(a->setup.console, "warning: cores=%u, but this machine has %u",
                    (unsigned)o->machine.cores, a->workers.n_cores);
    }
}

uint32_t app_cpu_features(const struct app *a)
{
    const struct platform_cores *cores = &a->setup.platform->cores;

    return cores->features(cores->context, a->workers.n_cores);
}

/* Call after start_workers: cores that were not started do not count. */
static void choose_kernels(struct app *a, uint32_t present)
{
    const char *isa = a->setup.options->machine.isa;
    char names[KERNELS_TEXT_BYTES];

    a->cpu_features = present;
    if (isa[0] != '\0' && !kernels_force(present, isa, &a->cpu_features)) {
        console_log(
            a->setup.console,
            "warning: isa=%s has no effect, because this CPU has no %s; it has %s, and ref; "
            "the best is used",
            isa, isa, kernels_features_text(names, present));
    }
    kernels_select(&a->kernels, present); /* files are always checked by the fastest kernel,
                                           * whatever isa= says */
    crc32c_use(&a->kernels);
    kernels_select(&a->kernels, a->cpu_features);
    sha256_use(&a->kernels);
    a->kernels.ahead = a->setup.platform->cores.tuning->ahead;
    if (a->setup.front == APP_CONSOLE) {
        report_kernels(a->setup.console, a->cpu_features, a->kernels.ahead);
    }
}

bool app_check_signing(struct app *a)
{
    const char *wrong;

    if (a->setup.signing == NULL) {
        return true;
    }
    wrong = a->setup.signing->selftest();
    if (wrong == NULL) {
        console_log(a->setup.console,
                    "signatures: the vectors of RFC 6979 are accepted, and bad ones refused");
    } else {
        console_log(a->setup.console, "error: signatures: the check of %s gives the wrong result",
                    wrong);
    }
    return wrong == NULL;
}

enum err app_start(struct app *a, const struct app_setup *setup)
{
    uint32_t present;

    memset(a, 0, sizeof *a);
    a->setup = *setup;
    a->chat.console = setup->console; /* a console program can talk without a model */
    a->chat.options = setup->options;
    if (setup->features != NULL) {
        features_open(&a->features, setup->features, setup->n_features, a);
    } else {
        features_open(&a->features, features_built_in, FEATURES_BUILT_IN, a);
    }
    a->chat.features = &a->features;
    a->ram = setup->platform->memory.arena;
    app_watch(a, "starting");
    start_workers(a);
    present = app_cpu_features(a);
    choose_kernels(a, present);
    /* Test the kernels of all CPU features, whatever isa= says. The memory is still unused. */
    if (setup->options->machine.selftest &&
        !(report_selftest(a->setup.console, &a->kernels, present, setup->options->sampler.seed,
                          a->ram) &&
          app_check_signing(a))) {
        return app_fail(
            a, ERR_BAD_CHECKSUM,
            "the self-test failed on this machine; start without `selftest` to continue");
    }
    app_watch(a, "loading the model");
    return ERR_OK;
}
