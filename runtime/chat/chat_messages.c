#include "runtime/chat/chat_messages.h"

#include <string.h>

#include "runtime/chat/chat.h"
#include "runtime/chat/chat_private.h"
#include "runtime/chat/chat_turn.h"
#include "runtime/console/console.h"
#include "runtime/features/feature.h"
#include "runtime/text/json.h"

/* ---- as they come --------------------------------------------------------------------------- */

static bool refuse(struct chat_messages *m, const char *error_message)
{
    m->error_message = error_message;
    return false;
}

struct members {
    struct json_value role, content, said;
};

/* Read the members of one message. */
static bool read_members(struct chat_messages *m, struct json_value *object, struct members *all)
{
    struct json j;
    struct json_value v;

    json_open(&j, object->text, object->bytes);
    while (json_member(&j, &v) != JSON_END) {
        if (v.kind == JSON_BAD) {
            return refuse(m, j.error_message);
        }
        if (strcmp(v.key, "role") == 0) {
            all->role = v;
        } else if (strcmp(v.key, "content") == 0) {
            all->content = v;
        } else if (strcmp(v.key, "said") == 0) {
            all->said = v;
        } else if (strncmp(v.key, "x_", 2) != 0) {
            return refuse(m, "a message has role, content and said, and nothing else");
        }
    }
    if (all->role.kind != JSON_TEXT || all->content.kind != JSON_TEXT) {
        return refuse(m, "a message has a text for its role, and one for its content");
    }
    return true;
}

/* Read `said`. True means that the whole content is a person's words; a number counts the bytes of
 * such words at the content's end. */
static bool read_said(struct chat_messages *m, const struct members *all, uint32_t *said)
{
    const struct json_value *v = &all->said;
    size_t most = all->content.bytes, n = 0;
    const char *digit = v->kind == JSON_NUMBER ? v->text : "";
    bool good = v->kind == JSON_NUMBER || v->kind == JSON_TRUE || v->kind == JSON_FALSE ||
                v->kind == JSON_NULL;

    for (; good && *digit != '\0'; digit++) {
        n = n * 10 + (size_t)(*digit - '0');
        good = *digit >= '0' && *digit <= '9' && n <= most;
    }
    *said = (uint32_t)(v->kind == JSON_TRUE ? most : n);
    return good || refuse(m, "said is true, or a number of bytes at the end of the content");
}

static bool add(struct chat_messages *m, const struct members *all, bool first)
{
    const struct json_value *role = &all->role, *content = &all->content;
    uint32_t said;
    bool is_reply = strcmp(role->text, "assistant") == 0;

    if (strcmp(role->text, "system") == 0) {
        m->system = content->text;
        if (content->bytes >= OPTIONS_SYSTEM_BYTES) {
            return refuse(m, "the system message is too long: shorten it to 2047 bytes");
        }
        return first || refuse(m, "the system message has to come first, and only once");
    }
    if (!is_reply && strcmp(role->text, "user") != 0) {
        return refuse(m, "a role is system, user or assistant");
    }
    if (m->n == CHAT_MESSAGES) {
        return refuse(m, "a request may have 64 messages: leave the oldest out");
    }
    if (is_reply != (m->n % 2 == 1)) {
        return refuse(m, "messages of user and assistant take turns, and the user begins");
    }
    if (!read_said(m, all, &said)) {
        return false;
    }
    m->list[m->n++] = (struct chat_message){ content->text, (uint32_t)content->bytes,
                                             is_reply ? 0 : said, is_reply };
    return true;
}

bool chat_messages_read(struct chat_messages *m, char *json, size_t bytes)
{
    struct json j;
    struct json_value v;
    bool first = true;

    m->system = m->error_message = NULL;
    m->n = 0;
    json_open(&j, json, bytes);
    while (json_item(&j, &v) != JSON_END) {
        struct members all = { { .kind = JSON_NULL },
                               { .kind = JSON_NULL },
                               { .kind = JSON_NULL } };

        if (v.kind == JSON_BAD) {
            return refuse(m, j.error_message);
        }
        if (v.kind != JSON_OBJECT) {
            return refuse(m, "a message is an object with role and content");
        }
        if (!read_members(m, &v, &all) || !add(m, &all, first)) {
            return false;
        }
        first = false;
    }
    if (m->n % 2 == 0) {
        return refuse(m, "the last message has to be the user's");
    }
    return true;
}

/* ---- the system prompt ---------------------------------------------------------------------- */

static void set_system(struct options *o, bool given, const char *text, size_t bytes)
{
    memcpy(o->reply.system, text, bytes);
    o->reply.system[bytes] = '\0';
    o->reply.system_bytes = bytes;
    option_set_put(&o->given, OPTION_SYSTEM, given);
}

void chat_messages_set_system(struct chat *c, struct chat_messages *m)
{
    struct options *o = c->options;

    if (m->system != NULL && !m->changed_system) {
        m->changed_system = true;
        m->had_system = options_given(o, OPTION_SYSTEM);
        m->before_bytes = o->reply.system_bytes;
        memcpy(m->before, o->reply.system, m->before_bytes);
    }
    if (m->system != NULL) {
        set_system(o, true, m->system, strlen(m->system));
    } else if (m->changed_system) {
        m->changed_system = false;
        set_system(o, m->had_system, m->before, m->before_bytes);
    }
}

void chat_messages_tell_system(const struct chat_messages *m, struct chat_said *said)
{
    if (m->system != NULL) {
        said->system = m->system;
        said->system_bytes = strlen(m->system);
    } else if (m->changed_system) { /* the system prompt that was in use before any
                                     * messages will be restored */
        said->system = m->had_system ? m->before : NULL;
        said->system_bytes = m->had_system ? m->before_bytes : 0;
        said->ignores_options = true;
    }
}

/* ---- as tokens ------------------------------------------------------------------------------ */

struct put {
    struct chat *chat;
    uint32_t at;   /* tokens of the session that match the messages so far */
    bool diverged; /* the session's other tokens were dropped */
};

/* Append the n tokens at session_room(). Tokens that the session already has at this place
 * stay. */
static enum err join(struct put *p, const uint32_t *ids, size_t n)
{
    struct session *s = p->chat->session;
    size_t same = 0;
    enum err e = ERR_OK;

    while (!p->diverged && same < n && p->at + same < s->n_ids &&
           s->ids[p->at + same] == ids[same]) {
        same++;
    }
    if (same < n) {
        /* the cut tokens lie before `ids`, which stays in memory */
        (void)session_cut(s, p->at + (uint32_t)same);
        p->diverged = true;
        e = session_put(s, ids + same, n - same);
    }
    p->at += (uint32_t)n;
    return e;
}

/* Make room: at the first call drop the tokens after the matching ones, later the oldest turns. */
static bool make_room(struct put *p)
{
    struct session *s = p->chat->session;

    if (!p->diverged) {
        (void)session_cut(s, p->at);
        p->diverged = true;
        return true;
    }
    if (!chat_drop_oldest(p->chat, 0)) {
        return false;
    }
    p->at = s->n_ids;
    return true;
}

/* Leave out this turn and all turns before it, because there is no room. */
static void leave_out(struct put *p)
{
    struct chat *c = p->chat;

    console_log(
        c->console,
        "one turn of the messages does not fit the context of %u tokens: this turn and all earlier "
        "ones are left out",
        (unsigned)c->session->context);
    chat_clear(c);
    p->at = 0;
    p->diverged = true;
}

/* Put a turn and its reply in the form of past turns. ERR_TOO_LONG: the pair does not fit an empty
 * context. */
static enum err put_pair(struct put *p, const struct chat_message *said,
                         const struct chat_message *reply)
{
    struct chat *c = p->chat;
    const struct tokenizer_part part = chat_turn_reply(c->template, reply->text, reply->bytes);
    struct session *s = c->session;

    for (;;) {
        uint32_t room, *ids = session_room(s, &room);
        bool first = p->at == 0;
        size_t n = 0, more = 0;
        enum err e = chat_encode_past(c, said->text, said->bytes, first, ids, room, &n);

        if (e == ERR_OK && part.bytes != 0) {
            e = tokenizer_encode_parts(&s->model->tokenizer, &part, 1, TOKENIZER_CONTINUE, ids + n,
                                       room - n, &more, s->scratch.memory, s->scratch.bytes);
        }
        if (e == ERR_TOO_LONG && make_room(p)) {
            continue;
        }
        if (e != ERR_OK) {
            return e;
        }
        turns_push(&c->turns, p->at, p->at + (uint32_t)n, said->text, said->bytes);
        turns_mark_said(&c->turns, said->said);
        c->reply_start = p->at + (uint32_t)n;
        c->started = true;
        e = join(p, ids, n + more);
        if (e == ERR_OK && first) {
            session_want_prefix(s, c->opening.ids, chat_encode_opening(c));
        }
        return e;
    }
}

enum err chat_messages_put(struct chat *c, const struct chat_messages *m)
{
    struct put p = { .chat = c };
    enum err e = ERR_OK;

    c->turns.n = 0;
    c->turns.text_bytes = 0;
    c->started = false;
    c->reply_start = 0;
    features_cleared(c->features, c);
    for (unsigned i = 0; i + 1 < m->n && e == ERR_OK; i += 2) {
        e = put_pair(&p, &m->list[i], &m->list[i + 1]);
        if (e == ERR_TOO_LONG) {
            leave_out(&p);
            e = ERR_OK;
        }
    }
    if (p.at == 0) {
        chat_clear(c);
    } else {
        (void)session_cut(c->session, p.at);
    }
    return e;
}
