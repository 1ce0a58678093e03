/* A form derived from what a template writes: the strings of the chat section, learned from
 * probes. */
#ifndef INGOT_FLASH_IMAGE_CHAT_DERIVE_H
#define INGOT_FLASH_IMAGE_CHAT_DERIVE_H

#include "flash_image/chat/chat_probe.h"
#include "flash_image/format/format.h"

struct chat_derived {
    struct jinja_text strings[INGOT_CHAT_STRINGS]; /* valid as long as the prober's texts */
    uint32_t flags;
    bool no_system;    /* true: the template has no place for a system prompt */
    const char *wrong; /* the reason why there is no form */
};

/* Derive the form. False if no form fits; d->wrong or p->error_message says why. */
bool chat_derive(struct prober *p, struct chat_derived *d);

/* True if a form and the template write the same for further probes: with and without a system
 * prompt, with one to three turns, and, if the form can suppress thoughts, without them. False:
 * `difference` (of `room` bytes) shows the first difference. chat: the section with the form's
 * strings. */
bool chat_check(struct prober *p, const struct ingot_chat *chat, bool no_system, char *difference,
                size_t room);

/* Write the conversation in the section's form, at most `room` bytes; returns its length. */
size_t chat_render(const struct ingot_chat *chat, const struct probe *what, char *out, size_t room);

#endif
