#include "flash_image/chat/chat_template.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "flash_image/chat/chat_derive.h"
#include "flash_image/chat/chat_vocabulary.h"
#include "flash_image/source/special_names.h"
#include "runtime/chat/chat_turn.h"
#include "runtime/image/image.h"

/* Return a string as a text, which is empty for NULL. */
static struct text text_of(const char *s)
{
    if (s == NULL) {
        return (struct text){ "", 0 };
    }
    return (struct text){ s, strlen(s) };
}

/* ---- the section ----------------------------------------------------------------------------- */

struct build {
    struct ingot_chat *head;
    char *strings; /* they follow the head */
    size_t bytes;  /* bytes of the strings */
    const uint8_t *tokenizer;
};

static bool put_bytes(struct build *b, const char *data, size_t bytes)
{
    if (bytes > CHAT_MOST_BYTES - sizeof *b->head - b->bytes) {
        return false;
    }
    memcpy(b->strings + b->bytes, data, bytes);
    b->bytes += bytes;
    return true;
}

static bool put_string(struct build *b, enum ingot_chat_string which, const char *data,
                       size_t bytes)
{
    if (!put_bytes(b, data, bytes)) {
        return false;
    }
    if ((unsigned)which < INGOT_CHAT_FIRST_STRINGS) {
        b->head->bytes[which] = (uint32_t)bytes;
    } else {
        b->head->more_bytes[(unsigned)which - INGOT_CHAT_FIRST_STRINGS] = (uint32_t)bytes;
    }
    return true;
}

/* Write a form's string with the model's bos and eos inserted, at most `room` bytes. */
static size_t spell(const uint8_t *tokenizer, const char *s, char *out, size_t room)
{
    const struct ingot_tokenizer *head = head_of(tokenizer);
    struct text t = text_of(s);
    size_t n = 0;

    for (size_t i = 0; i < t.bytes; i++) {
        struct text one = { t.data + i, 1 };

        if (t.data[i] == CHAT_BOS[0]) {
            one = chat_token_text(tokenizer, head->bos);
        } else if (t.data[i] == CHAT_EOS[0]) {
            one = chat_token_text(tokenizer, head->eos);
        }
        for (size_t k = 0; k < one.bytes && n < room; k++) {
            out[n++] = one.data[k];
        }
    }
    return n;
}

static bool put_form(struct build *b, const struct chat_form *form)
{
    static char text[CHAT_MOST_BYTES];

    b->head->flags = form->flags;
    for (unsigned i = 0; i < INGOT_CHAT_STRINGS; i++) {
        const char *s = i == INGOT_CHAT_NAME ? form->name : form->strings[i];

        if (!put_string(b, (enum ingot_chat_string)i, text,
                        spell(b->tokenizer, s, text, sizeof text))) {
            return false;
        }
    }
    return true;
}

/* ---- a template of the model's own ------------------------------------------------------------ */

static bool has_string(const uint8_t *tokenizer, const struct chat_form *form, unsigned which,
                       struct jinja_text derived)
{
    static char text[CHAT_MOST_BYTES];

    return jinja_text_equal((struct jinja_text){ text, spell(tokenizer, form->strings[which], text,
                                                             sizeof text) },
                            derived);
}

/* True if a derived form equals a named one. Their openings may differ, what they remove from texts
 * and, if `any_prompt` is true, their system prompts, too. */
static bool is_form(const uint8_t *tokenizer, const struct chat_form *form,
                    const struct chat_derived *d, bool any_prompt)
{
    for (unsigned i = INGOT_CHAT_SYSTEM_PREFIX; i < INGOT_CHAT_STRINGS; i++) {
        bool free = (any_prompt && i == INGOT_CHAT_SYSTEM) || i == INGOT_CHAT_PAST_START;

        if (!free && !has_string(tokenizer, form, i, d->strings[i])) {
            return false;
        }
    }
    return ((form->flags ^ d->flags) & ~(uint32_t)INGOT_CHAT_REMOVES) == 0;
}

/* The name of a known form, or "the model's own", for a person to read. */
static const char *name_of(const uint8_t *tokenizer, const struct chat_derived *d)
{
    size_t n;
    const struct chat_form *forms = chat_forms(&n);

    for (unsigned any_prompt = 0; any_prompt < 2; any_prompt++) {
        for (size_t i = 0; i < n; i++) {
            if ((any_prompt == 0 || forms[i].strings[INGOT_CHAT_SYSTEM] == NULL) &&
                is_form(tokenizer, &forms[i], d, any_prompt != 0)) {
                return forms[i].name;
            }
        }
    }
    return CHAT_OWN;
}

static void clear_strings(struct build *b)
{
    memset(b->head, 0, CHAT_MOST_BYTES);
    b->bytes = 0;
}

static bool put_derived(struct build *b, const struct chat_derived *d)
{
    const char *name = name_of(b->tokenizer, d);

    clear_strings(b);
    b->head->flags = d->flags;
    for (unsigned i = 0; i < INGOT_CHAT_STRINGS; i++) {
        struct jinja_text t = i == INGOT_CHAT_NAME ? jinja_text(name) : d->strings[i];

        if (!put_string(b, (enum ingot_chat_string)i, t.data, t.bytes)) {
            return false;
        }
    }
    return true;
}

static enum err refuse_own(struct build *b, char error_message[CHAT_ERROR_MESSAGE_BYTES],
                           const char *why)
{
    clear_strings(b);
    snprintf(error_message, CHAT_ERROR_MESSAGE_BYTES,
             "the model's chat template cannot be used, so text is only continued: %s; --template "
             "NAME sets another (--template list shows the names)",
             why);
    return ERR_OK;
}

/* Derive the form from probes, and accept it if it writes the same as the template. If only replies
 * without thoughts differ, the form gets no text for such replies. */
static enum err derive_form(struct build *b, struct prober *p,
                            char error_message[CHAT_ERROR_MESSAGE_BYTES])
{
    char difference[CHAT_ERROR_MESSAGE_BYTES - 140];
    struct chat_derived d;

    if (!chat_derive(p, &d)) {
        return refuse_own(b, error_message, d.wrong != NULL ? d.wrong : p->error_message);
    }
    for (unsigned round = 0; round < 2; round++) {
        if (!put_derived(b, &d)) {
            return refuse_own(b, error_message, "it writes more than a chat section holds");
        }
        if (chat_check(p, b->head, d.no_system, difference, sizeof difference)) {
            return chat_has_template(b->head)
                       ? ERR_OK
                       : refuse_own(b, error_message, "it writes no marks around texts");
        }
        d.strings[INGOT_CHAT_NO_THINKING] = jinja_text("");
    }
    return refuse_own(b, error_message, difference);
}

/* The date for a template that asks for it: SOURCE_DATE_EPOCH, else today. */
static const struct tm *day(struct tm *out, bool *given)
{
    const char *epoch = getenv("SOURCE_DATE_EPOCH");
    time_t t = epoch != NULL ? (time_t)strtoll(epoch, NULL, 10) : time(NULL);

    *given = epoch != NULL;
    return gmtime_r(&t, out);
}

static struct jinja_text as_jinja(struct text t)
{
    return (struct jinja_text){ t.data, t.bytes };
}

/* Build the section from the model's template. If no date is given, try the template's default date
 * first. */
static enum err put_own(struct build *b, const struct source_text *text,
                        char error_message[CHAT_ERROR_MESSAGE_BYTES])
{
    const struct ingot_tokenizer *head = head_of(b->tokenizer);
    struct prober *p = calloc(1, sizeof *p);
    struct tm today;
    bool given;
    const struct tm *now = day(&today, &given);
    enum err e = ERR_OK;

    if (p == NULL) {
        snprintf(error_message, CHAT_ERROR_MESSAGE_BYTES, "out of memory");
        return ERR_NO_SPACE;
    }
    p->bos = as_jinja(chat_token_text(b->tokenizer, head->bos));
    p->eos = as_jinja(chat_token_text(b->tokenizer, head->eos));
    p->now = given ? now : NULL;
    if (!probe_open(p, text->data, text->bytes)) {
        e = refuse_own(b, error_message, p->error_message);
    } else {
        e = derive_form(b, p, error_message);
        if (error_message[0] != '\0' && p->template.uses_date && p->now == NULL) {
            error_message[0] = '\0';
            p->now = now;
            e = derive_form(b, p, error_message);
            if (error_message[0] == '\0') {
                strftime(error_message, CHAT_ERROR_MESSAGE_BYTES,
                         "the chat template tells the model the date, which stays %Y-%m-%d from "
                         "now on; SOURCE_DATE_EPOCH sets another",
                         now);
            }
        }
    }
    probe_close(p);
    free(p);
    return e;
}

/* ---- the tokens at which a reply ends --------------------------------------------------------- */

static void put_stop(struct build *b, uint32_t id)
{
    struct ingot_chat *head = b->head;

    for (uint32_t i = 0; i < head->n_stops; i++) {
        if (head->stops[i] == id) {
            return;
        }
    }
    if (id < head_of(b->tokenizer)->n_tokens && head->n_stops < INGOT_MAX_STOPS) {
        head->stops[head->n_stops++] = id;
    }
}

/* Add the tokens whose names mark the end of a turn or of a text in any known family of models, and
 * the token that the template writes at the end of a reply. */
static void put_stops(struct build *b, const struct chat_request *r)
{
    const struct ingot_tokenizer *head = head_of(b->tokenizer);
    const char *end;

    put_stop(b, head->eos);
    put_stop(b, head->eot);
    for (uint32_t i = 0; i < r->n_stops; i++) {
        put_stop(b, r->stops[i]);
    }
    put_stop(b, chat_end_of_turn((const uint8_t *)b->head, b->tokenizer));
    for (size_t i = 0; (end = special_end_name(i)) != NULL; i++) {
        put_stop(b, chat_find_special(b->tokenizer, end, strlen(end)));
    }
}

static enum err refuse_name(const char *name, char error_message[CHAT_ERROR_MESSAGE_BYTES])
{
    size_t n;
    const struct chat_form *forms = chat_forms(&n);
    int used = snprintf(error_message, CHAT_ERROR_MESSAGE_BYTES,
                        "there is no template '%.32s'; there are ", name);

    for (size_t i = 0; i < n; i++) {
        used += snprintf(error_message + used, CHAT_ERROR_MESSAGE_BYTES - (size_t)used, "%s, ",
                         forms[i].name);
    }
    snprintf(error_message + used, CHAT_ERROR_MESSAGE_BYTES - (size_t)used, "and " CHAT_NONE);
    return ERR_NOT_FOUND;
}

static enum err put_named(struct build *b, const char *name,
                          char error_message[CHAT_ERROR_MESSAGE_BYTES])
{
    const struct chat_form *form = chat_form_find(name);

    if (form == NULL) {
        return strcmp(name, CHAT_NONE) == 0 ? ERR_OK : refuse_name(name, error_message);
    }
    return put_form(b, form) ? ERR_OK : ERR_NO_SPACE;
}

/* Replace the template's own system prompt. */
static enum err replace_system(struct build *b, const char *system,
                               char error_message[CHAT_ERROR_MESSAGE_BYTES])
{
    size_t bytes = strlen(system), after;
    uint32_t own;
    char *at = b->strings + (image_chat_text(b->head, INGOT_CHAT_SYSTEM, &own) - b->strings);

    if (!chat_has_template(b->head)) {
        snprintf(error_message, CHAT_ERROR_MESSAGE_BYTES,
                 "a system prompt has no effect, because the model has no chat template: leave "
                 "system= out, or name a template with --template");
        return ERR_UNSUPPORTED;
    }
    if (bytes > CHAT_MOST_BYTES - sizeof *b->head - (b->bytes - own)) {
        snprintf(error_message, CHAT_ERROR_MESSAGE_BYTES,
                 "the system prompt has %zu bytes, more than a chat section holds", bytes);
        return ERR_NO_SPACE;
    }
    after = b->bytes - (size_t)(at - b->strings) - own;
    memmove(at + bytes, at + own, after);
    memcpy(at, system, bytes);
    b->bytes = b->bytes - own + bytes;
    b->head->bytes[INGOT_CHAT_SYSTEM] = (uint32_t)bytes;
    b->head->flags &= ~(uint32_t)INGOT_CHAT_SYSTEM_WHOLE; /* the string is now a prompt, not a whole
                                                             block */
    return ERR_OK;
}

enum err chat_template_build(const struct chat_request *r, uint8_t section[CHAT_MOST_BYTES],
                             size_t *bytes, char error_message[CHAT_ERROR_MESSAGE_BYTES])
{
    struct build b = { (void *)section, (char *)section + sizeof(struct ingot_chat), 0,
                       r->tokenizer };
    enum err e = ERR_OK;

    clear_strings(&b);
    error_message[0] = '\0';
    if (r->name != NULL) {
        e = put_named(&b, r->name, error_message);
    } else if (r->jinja.bytes != 0) {
        e = put_own(&b, &r->jinja, error_message);
    }
    if (e == ERR_OK && r->system != NULL) {
        e = replace_system(&b, r->system, error_message);
    }
    put_stops(&b, r);
    *bytes = sizeof *b.head + b.bytes;
    return e;
}
