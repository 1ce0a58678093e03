/* The model's sequences for clients of the network; the clients' replies share passes over the
 * weights (runtime/api/api_group.h). */
#ifndef INGOT_BOOT_NETWORK_GROUP_H
#define INGOT_BOOT_NETWORK_GROUP_H

#include <stdint.h>

#include "runtime/api/api.h"
#include "runtime/app/app.h"
#include "runtime/options/options.h"

/* Return how many clients can share a pass at most. */
uint32_t network_group_most(const struct options *options);

/* Return how many sequences of clients the plan may leave out (all, if together= is not given). */
uint32_t network_group_spare(const struct options *options);

/* Tell the API which sequences the loaded model has for clients. */
void network_group_show(struct api *api, struct app *app);

#endif
