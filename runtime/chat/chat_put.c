/* The input of a reply: put its tokens into the session. */
#include "runtime/chat/chat_private.h"
#include "runtime/wire/json_ids.h"

/* Put ids. The first turn also sets the prefix with which the next conversations begin. */
static enum err put_ids(struct chat *c, const uint32_t *ids, size_t n)
{
    enum err error = session_put(c->session, ids, n);

    if (error == ERR_OK && !c->started) {
        session_want_prefix(c->session, c->opening.ids, chat_encode_opening(c));
    }
    return error;
}

enum err chat_put_turn(struct chat *c, const char *text, size_t bytes, unsigned keep, uint32_t *own)
{
    struct session *s = c->session;

    for (bool dropped = false;; dropped = true) {
        uint32_t room, *ids = session_room(s, &room);
        size_t n = 0;
        enum err error = chat_encode(c, text, bytes, true, !c->started, ids, room, &n);
        bool tight = s->n_ids + n > chat_room(c);

        *own = s->n_ids;
        if (error != ERR_OK && error != ERR_TOO_LONG) {
            return error;
        }
        if (error == ERR_OK && (dropped || !tight)) {
            return put_ids(c, ids, n);
        }
        if (!chat_drop_oldest(c, keep)) {
            return error == ERR_OK ? put_ids(c, ids, n) : error;
        }
    }
}

enum err chat_put_text(struct chat *c, const char *text, size_t bytes)
{
    uint32_t room, *ids;
    size_t n;
    enum err error;

    chat_clear(c);
    ids = session_room(c->session, &room);
    error = chat_encode(c, text, bytes, false, true, ids, room, &n);
    if (error != ERR_OK) {
        return error;
    }
    return session_put(c->session, ids, n);
}

enum err chat_put_list(struct chat *c, const char *list)
{
    uint32_t room, *ids, n = 0;

    chat_clear(c);
    ids = session_room(c->session, &room);
    while (n < room && json_ids_next(&list, &ids[n])) {
        n++;
    }
    return session_put(c->session, ids, n);
}
