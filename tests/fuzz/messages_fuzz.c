/* Any bytes as the messages of a request: they are refused with an error message, or they take
 * turns, begin and end with the user, and are inside the request. */
#include <stdlib.h>
#include <string.h>

#include "runtime/chat/chat_messages.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static struct chat_messages messages;

static void must(bool condition)
{
    if (!condition) {
        abort();
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    char *text = malloc(size + 1);

    must(text != NULL);
    memcpy(text, data, size);
    text[size] = '\0';
    if (!chat_messages_read(&messages, text, size)) {
        must(messages.error_message != NULL);
        free(text);
        return 0;
    }
    must(messages.n % 2 == 1 && messages.n <= CHAT_MESSAGES);
    must(messages.system == NULL || strlen(messages.system) < OPTIONS_SYSTEM_BYTES);
    for (unsigned i = 0; i < messages.n; i++) {
        const struct chat_message *m = &messages.list[i];

        must(m->is_reply == (i % 2 == 1));
        must(m->text > text && m->text + m->bytes < text + size && strlen(m->text) == m->bytes);
    }
    free(text);
    return 0;
}
