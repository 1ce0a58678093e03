/* The chat section of an .ingot file: a model's Jinja template run on probes, or a named form,
 * compiled to strings; and the tokens that end a reply. */
#ifndef INGOT_FLASH_IMAGE_CHAT_TEMPLATE_H
#define INGOT_FLASH_IMAGE_CHAT_TEMPLATE_H

#include "flash_image/chat/chat_forms.h"
#include "flash_image/source/source.h"

enum { CHAT_MOST_BYTES = 1 << 15, CHAT_ERROR_MESSAGE_BYTES = 480 };

#define CHAT_OWN "own"   /* the name of a form that has none */
#define CHAT_NONE "none" /* the name that leaves a model without a template */

struct chat_request {
    const char *name;         /* a form's, or CHAT_NONE; NULL: derive it from jinja */
    const char *system;       /* the system prompt if a user gives none; NULL: the template's own */
    struct source_text jinja; /* may be absent: then without a name there is no template */
    const uint32_t *stops;    /* (n_stops) in addition to eos, eot and tokens that the vocabulary
                               * names as an end */
    uint32_t n_stops;
    const uint8_t *tokenizer; /* a tokenizer section as in FORMAT.md, checked or just built */
};

/* Build the section: *bytes of it, at most CHAT_MOST_BYTES, 4-byte aligned. A template that cannot be run, or that no form
 * can express, gives ERR_OK and a section without strings; sentence then says why and names the cure. It also mentions a
 * date that was put into the form, and is empty in all other good cases. ERR_NOT_FOUND: no form has the name; sentence
 * lists the forms. ERR_UNSUPPORTED: a system prompt was asked for, and the template has no place for one. ERR_NO_SPACE. */
enum err chat_template_build(const struct chat_request *r, uint8_t section[CHAT_MOST_BYTES],
                             size_t *bytes, char error_message[CHAT_ERROR_MESSAGE_BYTES]);

/* In a tokenizer section under construction: set the token that ends a turn, if the vocabulary names
 * none, and turn the markers of the chat section's strings into control tokens if the vocabulary has them
 * as USER or NORMAL tokens, which users' text could form. Merges that result in one are dropped; NORMAL
 * tokens that mark thoughts become USER ones. */
void chat_template_claim(const uint8_t *chat, uint8_t *tokenizer);

#endif
