/* The network of an image with NETWORK=yes (docs/LAN.md), off until net= asks for it. no_network.c has the others. Core 0. */
#ifndef INGOT_BOOT_NETWORK_H
#define INGOT_BOOT_NETWORK_H

#include <stdbool.h>
#include <stddef.h>

#include "runtime/app/app.h"
#include "runtime/console/console.h"
#include "runtime/options/options.h"

/* Before the application takes the arena: open what net= asks for, and say what came of it. take: zeroed memory from the front of the
 * arena, or NULL. From here on the network has its turn whenever the console looks for input. */
void boot_network_open(struct platform *platform, const struct options *options,
                       struct console *console, void *(*take)(size_t bytes));

/* While a line is awaited, in place of the board's sleep: answer a request of the API, or sleep for a short time. False: there is no
 * network, and nothing was done. *told: the log has a new line. */
bool boot_network_turn(struct app *app, bool *told);

#endif
