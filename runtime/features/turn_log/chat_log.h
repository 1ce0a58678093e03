/* Write the turns of a conversation to the log (turn_log.h), with log=on. */
#ifndef INGOT_RUNTIME_CHAT_LOG_H
#define INGOT_RUNTIME_CHAT_LOG_H

#include "runtime/features/feature.h"
#include "runtime/features/turn_log/turn_log.h"

/* The log. It is opened when the first model is loaded, and stays open for later models. */
struct turn_log_state {
    struct turn_log log;
    const struct app_files *files; /* where the log was found */
    bool is_open;
    uint64_t logged;           /* number of the latest reply's record, or 0 */
    struct feature_turn *turn; /* the turn whose text is being logged */
    struct feature_text next;  /* the next receiver of the text */
};

/* With log=on, open the log if it has a file. */
void app_open_log(void *state, struct app *a);

#endif
