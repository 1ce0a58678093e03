#include "flash_image/chat/chat_template.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "flash_image/chat/chat_jinja.h"

/* A default system prompt beyond this is left out. */
enum { MOST_PROMPT_BYTES = 2048 };

/* ---- the vocabulary -------------------------------------------------------------------------- */

struct text {
    const char *data;
    size_t bytes;
};

/* Empty for NULL. */
static struct text text_of(const char *s)
{
    if (s == NULL) {
        return (struct text){ "", 0 };
    }
    return (struct text){ s, strlen(s) };
}

static const struct ingot_tokenizer *head_of(const uint8_t *tokenizer)
{
    return (const void *)tokenizer;
}

/* Empty for INGOT_NO_TOKEN. */
static struct text token_text(const uint8_t *tokenizer, uint32_t id)
{
    const struct ingot_tokenizer *head = head_of(tokenizer);
    const uint32_t *offsets = (const void *)(tokenizer + head->text_offsets);
    struct text t = { "", 0 };

    if (id < head->n_tokens) {
        t.data = (const char *)tokenizer + head->text + offsets[id];
        t.bytes = offsets[id + 1] - offsets[id];
    }
    return t;
}

static unsigned token_type(const uint8_t *tokenizer, uint32_t id)
{
    return tokenizer[head_of(tokenizer)->types + id] & INGOT_TOKEN_TYPE;
}

/* The control or USER token with this text, or INGOT_NO_TOKEN. */
static uint32_t find_special(const uint8_t *tokenizer, const char *text, size_t bytes)
{
    for (uint32_t id = 0; id < head_of(tokenizer)->n_tokens; id++) {
        unsigned type = token_type(tokenizer, id);
        struct text t;

        if (type != INGOT_TOKEN_CONTROL && type != INGOT_TOKEN_USER) {
            continue;
        }
        t = token_text(tokenizer, id);
        if (t.bytes == bytes && memcmp(t.data, text, bytes) == 0) {
            return id;
        }
    }
    return INGOT_NO_TOKEN;
}

/* ---- recognition ----------------------------------------------------------------------------- */

static bool fits(const struct chat_form *form, const char *squeezed)
{
    for (size_t i = 0; i < CHAT_FORM_WORDS && form->needs[i] != NULL; i++) {
        if (strstr(squeezed, form->needs[i]) == NULL) {
            return false;
        }
    }
    for (size_t i = 0; i < CHAT_FORM_WORDS && form->lacks[i] != NULL; i++) {
        if (strstr(squeezed, form->lacks[i]) != NULL) {
            return false;
        }
    }
    return true;
}

/* Whether the first marker of a form's string, <...> or [...], stands in the template. */
static bool shares_marker(const char *s, const char *squeezed)
{
    size_t start = strcspn(s, "<["), bytes = strcspn(s + start, ">]");
    char marker[32] = "";

    if (s[start] == '\0' || s[start + bytes] == '\0' || bytes + 1 >= sizeof marker) {
        return false;
    }
    memcpy(marker, s + start, bytes + 1);
    return strstr(squeezed, marker) != NULL;
}

/* How many of the form's strings share their first marker with the template. */
static unsigned likeness(const struct chat_form *form, const char *squeezed)
{
    unsigned n = 0;

    for (unsigned i = INGOT_CHAT_SYSTEM_PREFIX; i <= INGOT_CHAT_REPLY_SUFFIX; i++) {
        n += form->strings[i] != NULL && shares_marker(form->strings[i], squeezed);
    }
    return n;
}

const struct chat_form *chat_template_recognize(const char *squeezed,
                                                const struct chat_form **nearest)
{
    size_t n;
    const struct chat_form *forms = chat_forms(&n);
    unsigned most = 0;

    *nearest = NULL;
    for (size_t i = 0; i < n; i++) {
        unsigned like;

        if (fits(&forms[i], squeezed)) {
            return &forms[i];
        }
        like = likeness(&forms[i], squeezed);
        /* Of equals the later row: the general form of a family follows the special ones. */
        if (like != 0 && like >= most) {
            most = like;
            *nearest = &forms[i];
        }
    }
    return NULL;
}

/* A text of one literal: the template does not put it together when it runs. */
static bool is_prompt(const char *at, size_t bytes)
{
    return bytes != 0 && bytes <= MOST_PROMPT_BYTES && memchr(at, CHAT_QUOTE[0], bytes) == NULL &&
           memmem(at, bytes, "{{", 2) == NULL;
}

/* The text that the template itself puts between the marks of the system block. */
static struct text own_prompt(const struct chat_form *form, const char *squeezed)
{
    const char *prefix = form->strings[INGOT_CHAT_SYSTEM_PREFIX];
    const char *suffix = form->strings[INGOT_CHAT_SYSTEM_SUFFIX];
    struct text prompt = text_of(form->strings[INGOT_CHAT_SYSTEM]);

    if (prefix == NULL || suffix == NULL || strpbrk(suffix, CHAT_EOS) != NULL) {
        return prompt;
    }
    for (const char *at = strstr(squeezed, prefix); at != NULL; at = strstr(at, prefix)) {
        const char *end = strstr(at += strlen(prefix), suffix);

        if (end != NULL && is_prompt(at, (size_t)(end - at))) {
            return (struct text){ at, (size_t)(end - at) };
        }
    }
    return prompt;
}

/* ---- the section ----------------------------------------------------------------------------- */

struct build {
    struct ingot_chat *head;
    char *strings; /* after it */
    size_t bytes;  /* of them */
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

/* A form's string with the model's bos and eos in it. */
static bool put_string(struct build *b, enum ingot_chat_string which, struct text t)
{
    const struct ingot_tokenizer *head = head_of(b->tokenizer);
    size_t start = b->bytes;

    for (size_t i = 0; i < t.bytes; i++) {
        struct text one = { t.data + i, 1 };

        if (t.data[i] == CHAT_BOS[0]) {
            one = token_text(b->tokenizer, head->bos);
        } else if (t.data[i] == CHAT_EOS[0]) {
            one = token_text(b->tokenizer, head->eos);
        }
        if (!put_bytes(b, one.data, one.bytes)) {
            return false;
        }
    }
    b->head->bytes[which] = (uint32_t)(b->bytes - start);
    return true;
}

/* Whether a conversation begins with bos: as the template says, where there is one. */
static const char *opening(const struct chat_form *form, const char *squeezed)
{
    const char *user = form->strings[INGOT_CHAT_USER_PREFIX];

    if (squeezed == NULL || user[0] == CHAT_BOS[0]) {
        return form->strings[INGOT_CHAT_OPENING];
    }
    if (strstr(squeezed, "bos_token") != NULL) {
        return CHAT_BOS;
    }
    return NULL;
}

/* squeezed NULL: the form was named. */
static bool put_form(struct build *b, const struct chat_form *form, const char *squeezed)
{
    for (unsigned i = 0; i < INGOT_CHAT_STRINGS; i++) {
        struct text t = text_of(form->strings[i]);

        if (i == INGOT_CHAT_NAME) {
            t = text_of(form->name);
        } else if (i == INGOT_CHAT_OPENING) {
            t = text_of(opening(form, squeezed));
        } else if (i == INGOT_CHAT_SYSTEM && squeezed != NULL) {
            t = own_prompt(form, squeezed);
        }
        if (!put_string(b, (enum ingot_chat_string)i, t)) {
            return false;
        }
    }
    b->head->flags = form->flags;
    return true;
}

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

/* The families' names for the end of a turn or of everything. */
static void put_stops(struct build *b, const struct chat_request *r)
{
    static const char *const ends[] = {
        "<|im_end|>",
        "<|eot_id|>",
        "<|eom_id|>",
        "<end_of_turn>",
        "<|end|>",
        "<|endoftext|>",
        "<|end_of_text|>",
        "<|eot|>",
        "<|end_of_turn|>",
        "<end_of_utterance>",
        "<\xef\xbd\x9c"
        "end\xe2\x96\x81of\xe2\x96\x81sentence\xef\xbd\x9c>",
    };
    const struct ingot_tokenizer *head = head_of(b->tokenizer);

    put_stop(b, head->eos);
    put_stop(b, head->eot);
    for (uint32_t i = 0; i < r->n_stops; i++) {
        put_stop(b, r->stops[i]);
    }
    for (size_t i = 0; i < sizeof ends / sizeof ends[0]; i++) {
        put_stop(b, find_special(b->tokenizer, ends[i], strlen(ends[i])));
    }
}

static enum err refuse_name(const char *name, char sentence[CHAT_SENTENCE_BYTES])
{
    size_t n;
    const struct chat_form *forms = chat_forms(&n);
    int used = snprintf(sentence, CHAT_SENTENCE_BYTES, "there is no template '%.32s'; there are ",
                        name);

    for (size_t i = 0; i < n; i++) {
        used += snprintf(sentence + used, CHAT_SENTENCE_BYTES - (size_t)used, "%s, ",
                         forms[i].name);
    }
    snprintf(sentence + used, CHAT_SENTENCE_BYTES - (size_t)used, "and " CHAT_NONE);
    return ERR_NOT_FOUND;
}

/* NULL: none. */
static void tell_nearest(const struct chat_form *nearest, char sentence[CHAT_SENTENCE_BYTES])
{
    const char *is = "none is near", *name = "";

    if (nearest != NULL) {
        is = "the nearest is ";
        name = nearest->name;
    }
    snprintf(sentence, CHAT_SENTENCE_BYTES,
             "the model's chat template is none of those that "
             "this program knows (%s%s), so text is only continued: set one with --template "
             "NAME; --template list shows them",
             is, name);
}

static enum err choose_by_name(const char *name, const struct chat_form **form,
                               char sentence[CHAT_SENTENCE_BYTES])
{
    *form = chat_form_find(name);
    if (*form == NULL && strcmp(name, CHAT_NONE) != 0) {
        return refuse_name(name, sentence);
    }
    return ERR_OK;
}

/* *squeezed: allocated where the template was recognized by its text. */
static enum err choose_form(const struct chat_request *r, const struct chat_form **form,
                            char **squeezed, char sentence[CHAT_SENTENCE_BYTES])
{
    const struct chat_form *nearest;

    *form = NULL;
    *squeezed = NULL;
    if (r->name != NULL) {
        return choose_by_name(r->name, form, sentence);
    }
    if (r->jinja.bytes == 0) {
        return ERR_OK;
    }
    *squeezed = malloc(r->jinja.bytes + 1);
    if (*squeezed == NULL) {
        snprintf(sentence, CHAT_SENTENCE_BYTES, "out of memory");
        return ERR_NO_SPACE;
    }
    chat_jinja_squeeze(r->jinja.data, r->jinja.bytes, *squeezed);
    *form = chat_template_recognize(*squeezed, &nearest);
    if (*form == NULL) {
        tell_nearest(nearest, sentence);
    }
    return ERR_OK;
}

enum err chat_template_build(const struct chat_request *r, uint8_t section[CHAT_MOST_BYTES],
                             size_t *bytes, char sentence[CHAT_SENTENCE_BYTES])
{
    struct build b = { (void *)section, (char *)section + sizeof(struct ingot_chat), 0,
                       r->tokenizer };
    const struct chat_form *form;
    char *squeezed;
    enum err e;

    memset(section, 0, CHAT_MOST_BYTES);
    sentence[0] = '\0';
    e = choose_form(r, &form, &squeezed, sentence);
    if (e == ERR_OK && form != NULL && !put_form(&b, form, squeezed)) {
        snprintf(sentence, CHAT_SENTENCE_BYTES,
                 "the chat template does not fit its %u bytes: use "
                 "--template " CHAT_NONE,
                 (unsigned)CHAT_MOST_BYTES);
        e = ERR_NO_SPACE;
    }
    put_stops(&b, r);
    *bytes = sizeof *b.head + b.bytes;
    free(squeezed);
    return e;
}

/* ---- claims on the vocabulary ---------------------------------------------------------------- */

/* The strings that mark turns follow each other. */
static struct text markers_of(const uint8_t *chat)
{
    const struct ingot_chat *head = (const void *)chat;
    struct text t = { (const char *)(head + 1) + head->bytes[INGOT_CHAT_NAME], 0 };

    for (unsigned i = INGOT_CHAT_OPENING; i <= INGOT_CHAT_REPLY_SUFFIX; i++) {
        t.bytes += head->bytes[i];
    }
    return t;
}

static bool is_marker(struct text token, struct text markers)
{
    return token.bytes >= 3 && (token.data[0] == '<' || token.data[0] == '[') &&
           (token.data[token.bytes - 1] == '>' || token.data[token.bytes - 1] == ']') &&
           memmem(markers.data, markers.bytes, token.data, token.bytes) != NULL;
}

static void make_control(uint8_t *tokenizer, uint32_t id)
{
    struct ingot_tokenizer *head = (void *)tokenizer;
    uint32_t *sorted = (void *)(tokenizer + head->sorted);
    uint8_t *type = tokenizer + head->types + id;

    *type = (uint8_t)((*type & ~INGOT_TOKEN_TYPE) | INGOT_TOKEN_CONTROL);
    for (uint32_t i = 0; i < head->n_sorted; i++) {
        if (sorted[i] == id) {
            memmove(sorted + i, sorted + i + 1, (head->n_sorted - i - 1) * sizeof *sorted);
            sorted[--head->n_sorted] = 0;
            return;
        }
    }
}

/* The control token that a reply's suffix begins with, but for spaces. */
static uint32_t end_of_turn(const uint8_t *chat, const uint8_t *tokenizer)
{
    const struct ingot_chat *head = (const void *)chat;
    struct text markers = markers_of(chat);
    const char *s = markers.data + markers.bytes - head->bytes[INGOT_CHAT_REPLY_SUFFIX];
    const char *end = markers.data + markers.bytes;
    size_t bytes = 0;

    while (s < end && *s == ' ') {
        s++;
    }
    while (s + bytes < end && s[bytes] != '>') {
        bytes++;
    }
    if (s + bytes == end) {
        return INGOT_NO_TOKEN;
    }
    return find_special(tokenizer, s, bytes + 1);
}

void chat_template_claim(const uint8_t *chat, uint8_t *tokenizer)
{
    struct ingot_tokenizer *head = (void *)tokenizer;
    struct text markers = markers_of(chat);

    if (head->eot == INGOT_NO_TOKEN) {
        uint32_t id = end_of_turn(chat, tokenizer);

        if (id != head->eos) {
            head->eot = id;
        }
    }
    for (uint32_t id = 0; id < head->n_tokens; id++) {
        if (token_type(tokenizer, id) == INGOT_TOKEN_USER &&
            is_marker(token_text(tokenizer, id), markers)) {
            make_control(tokenizer, id);
        }
    }
}
