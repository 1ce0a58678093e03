/* Write the turns of a conversation to the log (turn_log.h), with log=on. */
#ifndef INGOT_RUNTIME_CHAT_LOG_H
#define INGOT_RUNTIME_CHAT_LOG_H

#include "runtime/features/feature.h"
#include "runtime/features/turn_log/turn_log.h"

/* The log; it opens with the first model and stays open for later models. */
struct turn_log_state {
    struct turn_log log;
    bool is_open;
    uint64_t logged;           /* the latest reply's record; 0: this conversation has none */
    struct feature_turn *turn; /* the turn whose text passes through here */
    struct feature_text next;  /* the next receiver of the text */
};

/* Open the log, with log=on and if there is a file for it. */
void app_open_log(void *state, struct app *a);

#endif
