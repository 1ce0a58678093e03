/* Checks whether an existing file may be overwritten. A save, a prefix or a log is written in
 * place, so its file must be Ingot's, or have no contents. */
#ifndef INGOT_HOST_HOST_OWN_H
#define INGOT_HOST_HOST_OWN_H

#include <stdbool.h>
#include <stddef.h>

#include "board/err.h"

enum host_own {
    HOST_OWN_SAVE,   /* a conversation, lessons, a policy or memories */
    HOST_OWN_PREFIX, /* of --prefix */
    HOST_OWN_USE,    /* how often experts were used */
    HOST_OWN_LOG,    /* turns */
    HOST_OWN_KEPT,   /* prompts that were computed */
    HOST_OWN_KV, /* space for keys and values. Their bytes have no mark, so only files of a known kind
                    are refused */
};

/* ERR_OK: the file at path is of that kind, has only zeros, or does not exist. *is_blank: there are
 * no contents to keep. Otherwise error_message (bytes) has an error message that begins with the
 * path. Errors: ERR_BAD_ARGUMENT (another file), ERR_IO. */
enum err host_own_check(const char *path, enum host_own kind, bool *is_blank, char *error_message,
                        size_t bytes);

#endif
