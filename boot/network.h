/* The network of an image with NETWORK=yes (docs/LAN.md), off unless net= asks for it. Images
 * without NETWORK=yes use no_network.c. Core 0 only. */
#ifndef INGOT_BOOT_NETWORK_H
#define INGOT_BOOT_NETWORK_H

#include <stdbool.h>
#include <stddef.h>

#include "runtime/app/app.h"
#include "runtime/console/console.h"
#include "runtime/options/options.h"

/* Call before the application takes the arena: opens what net= asks for and reports the result.
 * take returns zeroed memory from the front of the arena, or NULL. From now on the network is
 * polled whenever the console looks for input; time= sets the platform's date later. Returns how
 * many sequences for clients the plan may leave out, because together= does not ask for them. */
uint32_t boot_network_open(struct platform *platform, const struct options *options,
                           struct console *console, void *(*take)(size_t bytes));

/* Call this instead of the board's sleep while waiting for a line: it answers a request of the API
 * or sleeps for a short time. Returns false if there is no network; then nothing was done. Sets
 * *told to true if the log has new lines. */
bool boot_network_turn(struct app *app, bool *told);

#endif
