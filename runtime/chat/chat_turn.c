#include "runtime/chat/chat_turn.h"

#include "runtime/image/image.h"
#include "runtime/session/reply_text.h"

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

static bool is_space(char c)
{
    return c == ' ' || (c >= '\t' && c <= '\r');
}

static void put_plain(struct parts *p, const char *text, size_t bytes, uint32_t trim)
{
    if ((p->chat->flags & trim) != 0) {
        for (; bytes != 0 && is_space(text[0]); bytes--) {
            text++;
        }
        while (bytes != 0 && is_space(text[bytes - 1])) {
            bytes--;
        }
    }
    if (bytes != 0) {
        p->part[p->n++] = (struct tokenizer_part){ text, bytes, false };
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
    put_plain(p, text, bytes, INGOT_CHAT_TRIM_SYSTEM);
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
        put_plain(&p, turn->text, turn->bytes, INGOT_CHAT_TRIM_USER);
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
