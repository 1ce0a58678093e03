/* The model, the conversation with it, and what this computer does for that, as boot/talk.h has it
 * for a board: other models of the same folder, files for what was said. */
#ifndef INGOT_BOARD_HOST_HOST_TALK_H
#define INGOT_BOARD_HOST_HOST_TALK_H

#include <stdbool.h>

#include "host/host_model.h"
#include "runtime/chat/chat.h"

/* Load args->model and begin a conversation with it; args outlive it. NULL: said on standard error.
 * Once. */
struct chat *host_talk_open(struct host_args *args);

/* For chat_loop. */
const struct chat_services *host_talk_services(void);

#endif
