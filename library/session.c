/* Sequences, which take texts and tokens and give logits. */
#include "library/library.h"

#include <string.h>

#include "runtime/chat/chat_turn.h"
#include "runtime/text/format_text.h"

_Static_assert((int)LIBRARY_PARTS == (int)CHAT_TURN_PARTS, "the parts of a turn");

/* ---- beginning ------------------------------------------------------------------------------ */

enum ingot_error ingot_session_begin(struct ingot_model *m, struct ingot_session **session)
{
    enum ingot_error error;
    uint32_t i = 0;

    if (session == NULL) {
        return INGOT_BAD_ARGUMENT;
    }
    *session = NULL;
    error = library_check(m, LIBRARY_LOADED);
    if (error != INGOT_OK) {
        return error;
    }
    while (i < m->model.plan.sequences && m->sessions[i].model != NULL) {
        i++;
    }
    if (i == m->model.plan.sequences) {
        return library_refuse(m, INGOT_WRONG_ORDER,
                              "all sessions of the model are in use: a larger setup.sessions "
                              "makes more");
    }
    session_open(&m->sessions[i].session, &m->model, &m->model_setup);
    m->sessions[i].model = m;
    *session = &m->sessions[i];
    return INGOT_OK;
}

enum ingot_error ingot_session_clear(struct ingot_session *s)
{
    enum ingot_error error = library_check_session(s);

    if (error != INGOT_OK) {
        return error;
    }
    session_clear(&s->session);
    s->has_logits = false;
    return INGOT_OK;
}

/* ---- texts ---------------------------------------------------------------------------------- */

/* Parts of a text, as the tokenizer takes them. */
struct text {
    struct tokenizer_part parts[LIBRARY_PARTS];
    size_t n;
    bool begins; /* the text begins a sequence, so BOS comes first */
};

static enum ingot_error encode(struct ingot_session *s, const struct text *t, uint32_t *ids,
                               size_t room, size_t *n)
{
    struct session *session = &s->session;
    unsigned flags = TOKENIZER_CONTINUE;
    enum err e;

    if (t->begins) {
        flags = TOKENIZER_BOS;
    }
    e = tokenizer_encode_parts(&s->model->model.tokenizer, t->parts, t->n, flags, ids, room, n,
                               session->scratch.memory, session->scratch.bytes);
    if (e == ERR_NO_SPACE) {
        return library_refuse(s->model, INGOT_TOO_LONG, "the text is beyond INGOT_MOST_TEXT bytes");
    }
    if (e == ERR_TOO_LONG) {
        return library_refuse(s->model, INGOT_TOO_LONG,
                              "the text has more tokens than there is room for");
    }
    return library_failed(s->model, e, "");
}

static enum ingot_error put_text(struct ingot_session *s, const struct text *t)
{
    uint32_t room, *ids = session_room(&s->session, &room);
    size_t n;
    enum ingot_error error = encode(s, t, ids, room, &n);

    if (error != INGOT_OK) {
        return error;
    }
    s->has_logits = s->has_logits && n == 0;
    return library_failed(s->model, session_put(&s->session, ids, n), s->session.error_message);
}

enum ingot_error ingot_prompt(struct ingot_session *s, const char *text, size_t bytes)
{
    enum ingot_error error = library_check_session(s);
    struct text t = { .parts = { { text, bytes, false } }, .n = 1 };

    if (error != INGOT_OK) {
        return error;
    }
    if (text == NULL && bytes != 0) {
        return library_refuse(s->model, INGOT_BAD_ARGUMENT, "the text is NULL");
    }
    t.begins = s->session.n_ids == 0;
    return put_text(s, &t);
}

enum ingot_error ingot_prompt_turn(struct ingot_session *s, const struct ingot_turn *turn)
{
    enum ingot_error error = library_check_session(s);
    const struct ingot_chat *chat;
    struct chat_turn whole;
    struct text t;

    if (error != INGOT_OK) {
        return error;
    }
    if (turn == NULL || (turn->text == NULL && turn->text_bytes != 0) ||
        (turn->system == NULL && turn->system_bytes != 0)) {
        return library_refuse(s->model, INGOT_BAD_ARGUMENT, "the turn or a text of it is NULL");
    }
    chat = s->model->model.image.chat;
    if (!chat_has_template(chat)) {
        return library_refuse(s->model, INGOT_NO_TEMPLATE, "the model has no chat template");
    }
    t.begins = s->session.n_ids == 0;
    whole = (struct chat_turn){ .text = turn->text,
                                .bytes = turn->text_bytes,
                                .first = t.begins,
                                .no_thinking = turn->no_thinking,
                                .system = turn->system,
                                .system_bytes = turn->system_bytes };
    t.n = chat_turn_parts(chat, &whole, t.parts);
    return put_text(s, &t);
}

enum ingot_error ingot_tokenize(struct ingot_session *s, const char *text, size_t bytes,
                                bool begins, uint32_t *ids, size_t room, size_t *n)
{
    enum ingot_error error = library_check_session(s);
    struct text t = { .parts = { { text, bytes, false } }, .n = 1, .begins = begins };

    if (n == NULL) {
        return INGOT_BAD_ARGUMENT;
    }
    *n = 0;
    if (error != INGOT_OK) {
        return error;
    }
    if ((text == NULL && bytes != 0) || (ids == NULL && room != 0)) {
        return library_refuse(s->model, INGOT_BAD_ARGUMENT, "the text or the room for ids is NULL");
    }
    return encode(s, &t, ids, room, n);
}

const char *ingot_token_text(const struct ingot_model *m, uint32_t id, uint32_t previous,
                             size_t *bytes)
{
    if (bytes == NULL) {
        return "";
    }
    *bytes = 0;
    if (m == NULL || m->stage < LIBRARY_OPEN) {
        return "";
    }
    if (previous >= m->model.tokenizer.head->n_tokens) {
        previous = INGOT_NO_TOKEN;
    }
    return tokenizer_piece(&m->model.tokenizer, id, previous, bytes);
}

/* ---- tokens --------------------------------------------------------------------------------- */

enum ingot_error ingot_tokens(const struct ingot_session *s, const uint32_t **ids, size_t *n)
{
    enum ingot_error error = library_check_session(s);

    if (ids == NULL || n == NULL) {
        return INGOT_BAD_ARGUMENT;
    }
    *ids = NULL;
    *n = 0;
    if (error != INGOT_OK) {
        return error;
    }
    *ids = s->session.ids;
    *n = s->session.n_ids;
    return INGOT_OK;
}

enum ingot_error ingot_append(struct ingot_session *s, const uint32_t *ids, size_t n)
{
    enum ingot_error error = library_check_session(s);
    uint32_t vocab;

    if (error != INGOT_OK) {
        return error;
    }
    if (ids == NULL && n != 0) {
        return library_refuse(s->model, INGOT_BAD_ARGUMENT, "the ids are NULL");
    }
    if (n == 0) {
        return INGOT_OK;
    }
    vocab = s->model->model.image.header->params.vocab;
    for (size_t i = 0; i < n; i++) {
        if (ids[i] >= vocab) {
            return library_refuse(s->model, INGOT_BAD_ARGUMENT,
                                  "an id is not a token of the model");
        }
    }
    s->has_logits = false;
    return library_failed(s->model, session_put(&s->session, ids, n), s->session.error_message);
}

enum ingot_error ingot_cut(struct ingot_session *s, size_t n)
{
    enum ingot_error error = library_check_session(s);

    if (error != INGOT_OK || n >= s->session.n_ids) {
        return error;
    }
    (void)session_cut(&s->session, (uint32_t)n);
    s->has_logits = false;
    return INGOT_OK;
}

/* ---- logits --------------------------------------------------------------------------------- */

enum ingot_error library_leave_pending(struct ingot_session *s)
{
    struct session *session = &s->session;
    uint32_t n = session->n_ids;

    s->has_logits = false;
    if (n == 0) {
        return library_refuse(s->model, INGOT_WRONG_ORDER, "the session is empty");
    }
    if (session->n_cached == n) {
        (void)session_cut(session, n - 1); /* the id stays in session->ids */
        return library_failed(s->model, session_put(session, session->ids + n - 1, 1), "");
    }
    return INGOT_OK;
}

static enum ingot_error compute(struct ingot_session *s)
{
    enum ingot_error error = library_leave_pending(s);

    if (error != INGOT_OK) {
        return error;
    }
    s->session.error_message[0] = '\0';
    s->model->busy = true;
    error = library_failed(s->model, session_run(&s->session, NULL), s->session.error_message);
    s->model->busy = false;
    s->has_logits = error == INGOT_OK;
    return error;
}

enum ingot_error ingot_logits(struct ingot_session *s, const float **logits)
{
    enum ingot_error error = library_check_session(s);

    if (logits == NULL) {
        return INGOT_BAD_ARGUMENT;
    }
    *logits = NULL;
    if (error == INGOT_OK && !s->has_logits) {
        error = compute(s);
    }
    if (error != INGOT_OK) {
        return error;
    }
    *logits = s->session.logits;
    return INGOT_OK;
}

enum ingot_error ingot_logits_hash(const struct ingot_session *s, uint64_t *hash,
                                   uint32_t *positions)
{
    enum ingot_error error = library_check_session(s);

    if (hash == NULL || positions == NULL) {
        return INGOT_BAD_ARGUMENT;
    }
    if (error != INGOT_OK) {
        return error;
    }
    *hash = s->session.hash.value;
    *positions = s->session.hash.rows;
    return INGOT_OK;
}
