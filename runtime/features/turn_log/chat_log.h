/* Turns of a conversation on their way to the log (turn_log.h), with log=on. */
#ifndef INGOT_RUNTIME_CHAT_LOG_H
#define INGOT_RUNTIME_CHAT_LOG_H

#include "runtime/features/feature.h"
#include "runtime/features/turn_log/turn_log.h"

/* The log is opened with the first model, and kept for the others. */
struct turn_log_state {
    struct turn_log log;
    bool is_open;
    uint64_t logged;           /* the latest reply's record; 0: none of the conversation */
    struct feature_turn *turn; /* whose text comes, ... */
    struct feature_text next;  /* ... and where it goes on */
};

/* With log=on, where there is a file for it. */
void app_open_log(void *state, struct app *a);

#endif
