#include "flash_image/chat/chat_vocabulary.h"

#include <string.h>

#include "flash_image/chat/chat_template.h"

struct text chat_token_text(const uint8_t *tokenizer, uint32_t id)
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

uint32_t chat_find_special(const uint8_t *tokenizer, const char *text, size_t bytes)
{
    for (uint32_t id = 0; id < head_of(tokenizer)->n_tokens; id++) {
        unsigned type = token_type(tokenizer, id);
        struct text t;

        if (type != INGOT_TOKEN_CONTROL && type != INGOT_TOKEN_USER) {
            continue;
        }
        t = chat_token_text(tokenizer, id);
        if (t.bytes == bytes && memcmp(t.data, text, bytes) == 0) {
            return id;
        }
    }
    return INGOT_NO_TOKEN;
}

/* ---- markers of the strings ------------------------------------------------------------------ */

/* The strings that mark turns; they are contiguous. */
static struct text markers_of(const uint8_t *chat)
{
    const struct ingot_chat *head = (const void *)chat;
    struct text t = { (const char *)(head + 1) + head->bytes[INGOT_CHAT_NAME], 0 };

    for (unsigned i = INGOT_CHAT_OPENING; i <= INGOT_CHAT_REPLY_SUFFIX; i++) {
        t.bytes += head->bytes[i];
    }
    return t;
}

/* True if the token is "<...>" or "[...]" without white space, and the strings contain it. */
static bool is_marker(struct text token, struct text markers)
{
    for (size_t i = 0; i < token.bytes; i++) {
        if ((unsigned char)token.data[i] <= ' ') {
            return false;
        }
    }
    return token.bytes >= 3 && (token.data[0] == '<' || token.data[0] == '[') &&
           (token.data[token.bytes - 1] == '>' || token.data[token.bytes - 1] == ']') &&
           memmem(markers.data, markers.bytes, token.data, token.bytes) != NULL;
}

/* Find the token with this text that is special or, if there is none, may become special. */
static uint32_t find_marker(const uint8_t *tokenizer, const char *text, size_t bytes)
{
    uint32_t special = chat_find_special(tokenizer, text, bytes);
    struct text wanted = { text, bytes };

    for (uint32_t id = 0; special == INGOT_NO_TOKEN && id < head_of(tokenizer)->n_tokens; id++) {
        struct text t = chat_token_text(tokenizer, id);

        if (token_type(tokenizer, id) == INGOT_TOKEN_NORMAL && t.bytes == bytes &&
            memcmp(t.data, text, bytes) == 0 && is_marker(t, wanted)) {
            return id;
        }
    }
    return special;
}

uint32_t chat_end_of_turn(const uint8_t *chat, const uint8_t *tokenizer)
{
    const struct ingot_chat *head = (const void *)chat;
    struct text markers = markers_of(chat);
    const char *s = markers.data + markers.bytes - head->bytes[INGOT_CHAT_REPLY_SUFFIX];
    const char *end = markers.data + markers.bytes;
    size_t bytes = 0;
    char close = '>';

    while (s < end && *s == ' ') {
        s++;
    }
    if (s < end && *s == '[') {
        close = ']';
    }
    while (s + bytes < end && s[bytes] != close) {
        bytes++;
    }
    if (s + bytes == end) {
        return INGOT_NO_TOKEN;
    }
    return find_marker(tokenizer, s, bytes + 1);
}

/* ---- claims on the vocabulary ---------------------------------------------------------------- */

/* The block that is used if no system prompt is given. */
static struct text own_block_of(const uint8_t *chat)
{
    const struct ingot_chat *head = (const void *)chat;
    struct text t = { (const char *)(head + 1), 0 };

    for (unsigned i = 0; i < INGOT_CHAT_SYSTEM; i++) {
        t.data += head->bytes[i];
    }
    if ((head->flags & INGOT_CHAT_SYSTEM_WHOLE) != 0) {
        t.bytes = head->bytes[INGOT_CHAT_SYSTEM];
    }
    return t;
}

/* True if the token marks thoughts or the start of a reply: such a token is shown, and a user may
 * write it. */
static bool marks_thoughts(const uint8_t *chat, struct text token)
{
    const struct ingot_chat *head = (const void *)chat;
    struct text before = markers_of(chat), after;

    before.data += before.bytes; /* compare the strings before and after the default system
                                    prompt */
    before.bytes = head->bytes[INGOT_CHAT_NO_THINKING] + head->bytes[INGOT_CHAT_THINK_END];
    after.data = before.data + before.bytes + head->bytes[INGOT_CHAT_SYSTEM];
    after.bytes = *ingot_chat_bytes(head, INGOT_CHAT_REPLY_START) +
                  *ingot_chat_bytes(head, INGOT_CHAT_PAST_START);
    return is_marker(token, before) || is_marker(token, after);
}

static void set_type(uint8_t *tokenizer, uint32_t id, enum ingot_token_type to)
{
    uint8_t *type = tokenizer + head_of(tokenizer)->types + id;

    *type = (uint8_t)((*type & ~(unsigned)INGOT_TOKEN_TYPE) | (unsigned)to);
}

/* Drop the merges that result in a control token, so that no text can form one. */
static void drop_merges(uint8_t *tokenizer)
{
    struct ingot_tokenizer *head = (void *)tokenizer;
    struct ingot_merges *m = (void *)(head + 1);
    uint32_t kept = 0, first = 0, *rows;
    struct ingot_merge *entries;

    if (!ingot_kind_has_merges(head->kind)) {
        return;
    }
    rows = (void *)(tokenizer + m->rows);
    entries = (void *)(tokenizer + m->entries);
    for (uint32_t id = 0; id < head->n_tokens; id++) {
        for (uint32_t i = first; i < rows[id + 1]; i++) {
            if (token_type(tokenizer, entries[i].id) != INGOT_TOKEN_CONTROL) {
                entries[kept++] = entries[i];
            }
        }
        first = rows[id + 1];
        rows[id + 1] = kept;
    }
    memset(entries + kept, 0, (m->n_merges - kept) * sizeof *entries);
    m->n_merges = kept;
}

static void make_control(uint8_t *tokenizer, uint32_t id)
{
    struct ingot_tokenizer *head = (void *)tokenizer;
    uint32_t *sorted = (void *)(tokenizer + head->sorted);

    set_type(tokenizer, id, INGOT_TOKEN_CONTROL);
    for (uint32_t i = 0; i < head->n_sorted; i++) {
        if (sorted[i] == id) {
            memmove(sorted + i, sorted + i + 1, (head->n_sorted - i - 1) * sizeof *sorted);
            sorted[--head->n_sorted] = 0;
            return;
        }
    }
}

void chat_template_claim(const uint8_t *chat, uint8_t *tokenizer)
{
    struct ingot_tokenizer *head = (void *)tokenizer;
    struct text markers = markers_of(chat), block = own_block_of(chat);

    if (head->eot == INGOT_NO_TOKEN) {
        uint32_t id = chat_end_of_turn(chat, tokenizer);

        if (id != head->eos) {
            head->eot = id;
        }
    }
    for (uint32_t id = 0; id < head->n_tokens; id++) {
        struct text token = chat_token_text(tokenizer, id);
        unsigned type = token_type(tokenizer, id);
        bool user = type == INGOT_TOKEN_USER;

        if ((user || type == INGOT_TOKEN_NORMAL) &&
            (is_marker(token, markers) || (user && is_marker(token, block)))) {
            make_control(tokenizer, id);
        } else if (type == INGOT_TOKEN_NORMAL && marks_thoughts(chat, token)) {
            set_type(tokenizer, id, INGOT_TOKEN_USER);
        }
    }
    drop_merges(tokenizer);
}
