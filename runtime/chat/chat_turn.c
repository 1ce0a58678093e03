#include "runtime/chat/chat_turn.h"

#include <string.h>

#include "runtime/image/image.h"
#include "runtime/session/reply_text.h"
#include "runtime/text/unicode_class.h"
#include "runtime/text/utf8.h"

struct parts {
    const struct ingot_chat *chat;
    struct tokenizer_part *part;
    size_t n;
};

static void put_string(struct parts *p, enum ingot_chat_string which)
{
    uint32_t bytes;
    const char *text = image_chat_text(p->chat, which, &bytes);

    if (bytes != 0) {
        p->part[p->n++] = (struct tokenizer_part){ text, bytes, true };
    }
}

/* Return the bytes of the white space character with which the text begins, or 0. Templates trim
 * with Python's strip(), which also removes U+001C to U+001F. */
static size_t leading_space(const char *text, size_t bytes)
{
    int n = bytes != 0 ? utf8_check((const uint8_t *)text, bytes) : 0;
    uint32_t code;

    if (n <= 0) {
        return 0;
    }
    code = utf8_decode((const uint8_t *)text, n);
    return unicode_class(code) == UNICODE_SPACE || (code >= 0x1c && code <= 0x1f) ? (size_t)n : 0;
}

/* Return the bytes of the white space character with which the text ends, or 0. */
static size_t trailing_space(const char *text, size_t bytes)
{
    size_t n = 1;

    while (n < bytes && n < 4 && ((unsigned char)text[bytes - n] & 0xc0) == 0x80) {
        n++;
    }
    return bytes != 0 && leading_space(text + bytes - n, n) == n ? n : 0;
}

static struct tokenizer_part trimmed(struct tokenizer_part part, bool start, bool end)
{
    size_t n;

    while (start && (n = leading_space(part.text, part.bytes)) != 0) {
        part.text += n;
        part.bytes -= n;
    }
    while (end && (n = trailing_space(part.text, part.bytes)) != 0) {
        part.bytes -= n;
    }
    return part;
}

static void put_plain(struct parts *p, const char *text, size_t bytes, uint32_t both, uint32_t end)
{
    bool trims = (p->chat->flags & both) != 0;
    struct tokenizer_part part = trimmed((struct tokenizer_part){ text, bytes, false }, trims,
                                         trims || (p->chat->flags & end) != 0);

    if (part.bytes != 0) {
        p->part[p->n++] = part;
    }
}

/* Return true if this turn has the system block, and the block is after the user prefix (if
 * `inside`) or before it (if not). */
static bool has_system(const struct ingot_chat *chat, const struct chat_turn *turn, bool inside)
{
    if (((chat->flags & INGOT_CHAT_SYSTEM_IN_USER) != 0) != inside) {
        return false;
    }
    if (turn->instructed && !turn->first) {
        return true;
    }
    return (chat->flags & INGOT_CHAT_SYSTEM_LAST) != 0 ? !turn->past : turn->first;
}

static void put_system(struct parts *p, const struct chat_turn *turn)
{
    const char *text = turn->system;
    size_t bytes = turn->system_bytes;

    if (text == NULL && (p->chat->flags & INGOT_CHAT_SYSTEM_WHOLE) != 0) {
        put_string(p, INGOT_CHAT_SYSTEM);
        return;
    }
    if (text == NULL) {
        uint32_t own;

        text = image_chat_text(p->chat, INGOT_CHAT_SYSTEM, &own);
        bytes = own;
    }
    if (bytes == 0 && (p->chat->flags & INGOT_CHAT_SYSTEM_ALWAYS) == 0) {
        return;
    }
    put_string(p, INGOT_CHAT_SYSTEM_PREFIX);
    put_plain(p, text, bytes, INGOT_CHAT_TRIM_SYSTEM, INGOT_CHAT_TRIM_SYSTEM_END);
    put_string(p, INGOT_CHAT_SYSTEM_SUFFIX);
}

bool chat_has_template(const struct ingot_chat *chat)
{
    return chat->bytes[INGOT_CHAT_USER_PREFIX] != 0 || chat->bytes[INGOT_CHAT_USER_SUFFIX] != 0 ||
           chat->bytes[INGOT_CHAT_REPLY_PREFIX] != 0;
}

bool chat_turn_opens_thoughts(const struct ingot_chat *chat)
{
    uint32_t bytes;
    const char *text = image_chat_text(chat, INGOT_CHAT_REPLY_START, &bytes);

    if (bytes == 0) {
        text = image_chat_text(chat, INGOT_CHAT_REPLY_PREFIX, &bytes);
    }
    return reply_text_opens(text, bytes);
}

/* Put the part of a turn before its text. */
static void put_opening(struct parts *p, const struct chat_turn *turn)
{
    put_string(p, turn->first ? INGOT_CHAT_OPENING : INGOT_CHAT_REPLY_SUFFIX);
    if (has_system(p->chat, turn, false)) {
        put_system(p, turn);
    }
    if (turn->unspoken && !has_system(p->chat, turn, true)) {
        return;
    }
    put_string(p, INGOT_CHAT_USER_PREFIX);
    if (has_system(p->chat, turn, true)) {
        put_system(p, turn);
    }
}

size_t chat_turn_opening(const struct ingot_chat *chat, const struct chat_turn *turn,
                         struct tokenizer_part parts[CHAT_TURN_PARTS])
{
    struct parts p = { chat, parts, 0 };

    put_opening(&p, turn);
    return p.n;
}

size_t chat_turn_parts(const struct ingot_chat *chat, const struct chat_turn *turn,
                       struct tokenizer_part parts[CHAT_TURN_PARTS])
{
    struct parts p = { chat, parts, 0 };

    put_opening(&p, turn);
    if (!turn->unspoken || has_system(chat, turn, true)) {
        put_plain(&p, turn->text, turn->bytes, INGOT_CHAT_TRIM_USER, 0);
        put_string(&p, INGOT_CHAT_USER_SUFFIX);
    }
    put_string(&p, INGOT_CHAT_REPLY_PREFIX);
    if (turn->past) {
        put_string(&p, INGOT_CHAT_PAST_START);
    } else if (turn->no_thinking && chat->bytes[INGOT_CHAT_NO_THINKING] != 0) {
        put_string(&p, INGOT_CHAT_NO_THINKING);
    } else {
        put_string(&p, INGOT_CHAT_REPLY_START);
    }
    return p.n;
}

/* Return the bytes up to the end of the last mark in the text and the line feeds after it, or 0. */
static size_t bytes_of_thoughts(const char *text, size_t bytes, const char *mark, size_t mark_bytes)
{
    size_t from = 0;

    for (size_t i = 0; i + mark_bytes <= bytes; i++) {
        if (memcmp(text + i, mark, mark_bytes) == 0) {
            from = i + mark_bytes;
        }
    }
    while (from != 0 && from < bytes && text[from] == '\n') {
        from++;
    }
    return from;
}

struct tokenizer_part chat_turn_reply(const struct ingot_chat *chat, const char *text, size_t bytes)
{
    bool trims = (chat->flags & INGOT_CHAT_TRIM_REPLY) != 0;
    uint32_t mark_bytes;
    const char *mark = image_chat_text(chat, INGOT_CHAT_THINK_END, &mark_bytes);

    if (mark_bytes != 0 && (chat->flags & INGOT_CHAT_DROPS_WRITTEN) != 0) {
        size_t n = bytes_of_thoughts(text, bytes, mark, mark_bytes);

        text += n;
        bytes -= n;
    }
    return trimmed((struct tokenizer_part){ text, bytes, false }, trims, trims);
}
