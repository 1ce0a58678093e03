/* Compares a form with its template. */
#include <stdio.h>
#include <string.h>

#include "flash_image/chat/chat_derive.h"
#include "runtime/chat/chat_turn.h"

enum { MOST_TEXT = 1 << 16, SHOWN_BEFORE = 24, SHOWN_AFTER = 32 };

static size_t put(char *out, size_t at, size_t room, const char *text, size_t bytes)
{
    if (bytes > room - at) {
        bytes = room - at;
    }
    memcpy(out + at, text, bytes);
    return at + bytes;
}

size_t chat_render(const struct ingot_chat *chat, const struct probe *what, char *out, size_t room)
{
    struct tokenizer_part parts[CHAT_TURN_PARTS];
    size_t at = 0;

    for (unsigned i = 0; i < what->users; i++) {
        struct chat_turn turn = { .text = what->user[i],
                                  .bytes = strlen(what->user[i]),
                                  .first = i == 0,
                                  .no_thinking = what->thinking == PROBE_NOT_THINKING,
                                  .system = what->system,
                                  .past = i < what->replies };
        size_t n;

        turn.system_bytes = what->system != NULL ? strlen(what->system) : 0;
        n = chat_turn_parts(chat, &turn, parts);
        for (size_t k = 0; k < n; k++) {
            at = put(out, at, room, parts[k].text, parts[k].bytes);
        }
        if (turn.past) {
            struct tokenizer_part reply = chat_turn_reply(chat, what->reply[i],
                                                          strlen(what->reply[i]));

            at = put(out, at, room, reply.text, reply.bytes);
        }
    }
    return at;
}

/* Append text with control characters as \xNN, so that the error message is one line. */
static size_t put_shown(char *out, size_t at, size_t room, struct jinja_text t, size_t from,
                        size_t most)
{
    for (size_t i = from; i < t.bytes && i - from < most && at + 5 < room; i++) {
        char c = t.data[i];

        if (c == '\n') {
            at += (size_t)snprintf(out + at, room - at, "\\n");
        } else if ((unsigned char)c < 0x20) {
            at += (size_t)snprintf(out + at, room - at, "\\x%02x", (unsigned)c);
        } else {
            out[at++] = c;
        }
    }
    return at;
}

static void show(struct jinja_text wanted, struct jinja_text got, const struct probe *what,
                 char *out, size_t room)
{
    size_t n = 0, at;

    while (n < wanted.bytes && n < got.bytes && wanted.data[n] == got.data[n]) {
        n++;
    }
    at = (size_t)snprintf(out, room, "in a conversation of %u %s%s, after '", what->users,
                          what->users == 1 ? "turn" : "turns",
                          what->system != NULL ? " with a system prompt" : "");
    at = put_shown(out, at, room - 60, wanted, n > SHOWN_BEFORE ? n - SHOWN_BEFORE : 0,
                   n < SHOWN_BEFORE ? n : SHOWN_BEFORE);
    at += (size_t)snprintf(out + at, room - at, "' it writes '");
    at = put_shown(out, at, room - 40, wanted, n, SHOWN_AFTER);
    at += (size_t)snprintf(out + at, room - at, "' and not '");
    at = put_shown(out, at, room - 2, got, n, SHOWN_AFTER);
    snprintf(out + at, room - at, "'");
}

static bool same(struct prober *p, const struct ingot_chat *chat, const struct probe *what,
                 char *difference, size_t room)
{
    static char text[MOST_TEXT];
    struct jinja_text wanted, got = { text, chat_render(chat, what, text, sizeof text) };

    if (!probe_render(p, what, &wanted)) {
        snprintf(difference, room, "%s", p->error_message);
        return false;
    }
    if (jinja_text_equal(wanted, got)) {
        return true;
    }
    show(wanted, got, what, difference, room);
    return false;
}

bool chat_check(struct prober *p, const struct ingot_chat *chat, bool no_system, char *difference,
                size_t room)
{
    static const struct probe talk = {
        .user = { "Hello! Who are you?", "Tell me a story.\n\nA short one: {1} <b> 'x'", "Why?" },
        .reply = { "I am here.", "Once upon a time...\n\nThe end.", "Because." },
    };
    bool quiet = chat->bytes[INGOT_CHAT_NO_THINKING] != 0;

    for (unsigned turns = 1; turns <= PROBE_MOST_TURNS; turns++) {
        for (unsigned kind = 0; kind < 4; kind++) {
            struct probe what = talk;

            what.users = turns;
            what.replies = turns - 1;
            what.system = (kind & 1) != 0 ? "Answer briefly.\nBe kind." : NULL;
            what.thinking = (kind & 2) != 0 ? PROBE_NOT_THINKING : PROBE_AS_IT_IS;
            if (((kind & 1) != 0 && no_system) || ((kind & 2) != 0 && !quiet)) {
                continue;
            }
            if (!same(p, chat, &what, difference, room)) {
                return false;
            }
        }
    }
    return true;
}
