/* Implements boot/network.h for an image without a network; it needs no lwIP and no server. */
#include "boot/network.h"

uint32_t boot_network_open(struct platform *platform, const struct options *options,
                           struct console *console, void *(*take)(size_t bytes))
{
    (void)platform;
    (void)take;
    if (options_given(options, OPTION_NET)) {
        console_log(console,
                    "warning: net= has no effect, because this image has no network: make image "
                    "NETWORK=yes builds one with it");
    }
    return 0;
}

bool boot_network_turn(struct app *app, bool *told)
{
    (void)app;
    *told = false;
    return false;
}
