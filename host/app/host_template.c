#include "host/app/host_template.h"

#include <stdalign.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "flash_image/chat/chat_template.h"

enum err host_template_choose(const char *name, struct model *m, uint8_t **vocabulary,
                              const struct ingot_chat **chat, char *error_message, size_t bytes)
{
    static alignas(struct ingot_chat) uint8_t section[CHAT_MOST_BYTES];
    struct chat_request request = { .name = name,
                                    .stops = m->image.chat->stops,
                                    .n_stops = m->image.chat->n_stops,
                                    .tokenizer = m->image.tokenizer };
    size_t vocabulary_bytes = (size_t)m->image.header->tokenizer.bytes, section_bytes;
    char refused[CHAT_ERROR_MESSAGE_BYTES]; /* why the template cannot be used */
    enum err e = chat_template_build(&request, section, &section_bytes, refused);

    if (e != ERR_OK) {
        snprintf(error_message, bytes, "%s", refused);
        return e;
    }
    free(*vocabulary); /* vocabulary of the model that was loaded before */
    *vocabulary = malloc(vocabulary_bytes);
    if (*vocabulary == NULL) {
        snprintf(error_message, bytes, "out of memory");
        return ERR_NO_SPACE;
    }
    memcpy(*vocabulary, m->image.tokenizer, vocabulary_bytes);
    chat_template_claim(section, *vocabulary);
    tokenizer_open(&m->tokenizer, *vocabulary);
    *chat = (const void *)section;
    return ERR_OK;
}
