/* The chat section of an .ingot file: strings that come from a model's Jinja template (run on
 * probes) or from a named form, and the tokens that end a reply. */
#ifndef INGOT_FLASH_IMAGE_CHAT_TEMPLATE_H
#define INGOT_FLASH_IMAGE_CHAT_TEMPLATE_H

#include "flash_image/chat/chat_forms.h"
#include "flash_image/source/source.h"

enum { CHAT_MOST_BYTES = 1 << 15, CHAT_ERROR_MESSAGE_BYTES = 480 };

#define CHAT_OWN "own"   /* the name of a form that has no other name */
#define CHAT_NONE "none" /* the name that leaves a model without a template */

struct chat_request {
    const char *name;         /* name of a form, or CHAT_NONE; NULL: derive the form from jinja */
    const char *system;       /* the system prompt if a user gives none; NULL: the template's own */
    struct source_text jinja; /* may be absent; if it is absent and `name` is NULL, the
                                 section has no strings */
    const uint32_t *stops;    /* (n_stops) ids of tokens that also end a reply, besides eos, eot and
                                 tokens whose names mean an end */
    uint32_t n_stops;
    const uint8_t *tokenizer; /* a tokenizer section as in FORMAT.md, checked or just built */
};

/* Build the section, 4-byte aligned; *bytes is its size, at most CHAT_MOST_BYTES. A template
 * that fails, or that no form can express, gives ERR_OK and a section without strings;
 * error_message then gives the reason and advice. On success, error_message mentions a date that
 * was put into the form, else it is empty. ERR_NOT_FOUND: no form has the name; error_message lists
 * the forms. ERR_UNSUPPORTED: r->system is given, and the template has no place for it.
 * ERR_NO_SPACE. */
enum err chat_template_build(const struct chat_request *r, uint8_t section[CHAT_MOST_BYTES],
                             size_t *bytes, char error_message[CHAT_ERROR_MESSAGE_BYTES]);

/* Change a tokenizer section under construction. If the vocabulary does not name the token that
 * ends a turn, set eot to the token that ends replies in the chat section. USER and NORMAL tokens
 * that are markers in the chat section's strings become control tokens, because users' text could
 * form them; merges that result in a control token are dropped. NORMAL tokens that mark thoughts or
 * the start of a reply become USER tokens. */
void chat_template_claim(const uint8_t *chat, uint8_t *tokenizer);

#endif
