#include "runtime/api/api_chat.h"

#include <string.h>

enum { PIECE_BYTES = 256 }; /* a board sends its answer in small pieces */

static void put_envelope(struct api_text *out, const struct api_answer *a, const char *object)
{
    api_text_print(out, "{'id':'%s-%llu','object':'%s','created':%lld,'model':",
                   a->kind == API_CHAT ? "chatcmpl" : "cmpl", (unsigned long long)a->number,
                   a->kind == API_CHAT ? object : "text_completion", (long long)a->created);
    api_text_quoted(out, a->model, strlen(a->model));
    api_text_print(out, ",'choices':[");
}

static const char *reason_of(const struct api_job *j)
{
    static const char *const words[] = { "stop", "length", "tool_calls" };

    return words[api_stream_reason(j)];
}

/* ---- usage ----------------------------------------------------------------------------------- */

void api_usage_add(struct api_usage *u, const struct api_job *j)
{
    if (!u->counted) {
        u->cached = j->cached_tokens;
    }
    if (!u->counted || u->last_prompt != j->request.prompt) {
        u->prompt += j->prompt_tokens;
    }
    u->counted = true;
    u->last_prompt = j->request.prompt;
    u->reply += api_stream_tokens(j);
}

/* Write the usage and the figures of the first reply. */
static void put_usage(struct api_text *out, const struct api_usage *u, const struct api_job *j)
{
    api_text_print(out,
                   ",'usage':{'prompt_tokens':%u,'completion_tokens':%u,'total_tokens':%u,"
                   "'prompt_tokens_details':{'cached_tokens':%u}},'figures':{'line':",
                   (unsigned)u->prompt, (unsigned)u->reply, (unsigned)(u->prompt + u->reply),
                   (unsigned)u->cached);
    api_text_quoted_or_null(out, j->line);
    api_text_put(out, ",", 1);
    api_figures_put(out, &j->figures);
    api_text_put(out, "}", 1);
}

static void put_warnings(struct api_text *out, const struct api_request *q)
{
    if (q->warnings.n != 0) {
        api_text_print(out, ",'warnings':[");
        for (size_t at = 0; at < q->warnings.n; at += PIECE_BYTES) {
            size_t left = q->warnings.n - at;

            api_text_put(out, q->warnings.bytes + at, left < PIECE_BYTES ? left : PIECE_BYTES);
        }
        api_text_put(out, "]", 1);
    }
}

/* ---- a call ---------------------------------------------------------------------------------- */

/* Write a call up to the bytes of its arguments. */
static void begin_call(const struct api_stream *s, const struct api_piece *p)
{
    char id[API_ID_BYTES];

    api_stream_id(id, "call", s->a, s->at->index, p->call_number);
    api_text_print(s->out, "'id':'%s','type':'function','function':{'name':", id);
    api_text_quoted(s->out, p->call->name, p->call->name_bytes);
    api_text_print(s->out, ",'arguments':'");
}

/* ---- a stream -------------------------------------------------------------------------------- */

/* Return the prompt that the reply continues. */
static const struct api_text *prompt_of(const struct api_job *j)
{
    return &j->request.turns[j->request.prompt].user;
}

/* Write an event up to the delta's first member, or up to the text. */
static void begin_event(const struct api_stream *s)
{
    api_text_print(s->out, "data: ");
    put_envelope(s->out, s->a, "chat.completion.chunk");
    api_text_print(s->out, "{'index':%u,", (unsigned)s->at->index);
    if (s->a->kind == API_CHAT) {
        api_text_print(s->out, "'delta':{%s", s->at->begun ? "" : "'role':'assistant',");
    }
}

/* Write the end of an event, with the scores that were not sent yet. */
static void end_event(const struct api_stream *s, const char *reason)
{
    struct api_text *out = s->out;

    api_text_print(out, "%s,'logprobs':", s->a->kind == API_CHAT ? "}" : "");
    if (s->at->begun) {
        api_scores_put(out, s->a->kind, &s->j->scores, &s->at->scores);
    } else {
        api_text_print(out, "null");
    }
    api_text_print(out, ",'finish_reason':");
    api_text_quoted_or_null(out, reason);
    api_text_print(out, "}]");
    if (reason != NULL && s->at->index == 0) {
        put_warnings(out, &s->j->request);
    }
    api_text_print(out, "}\n\n");
}

static void say_text(const struct api_stream *s, const char *name, const char *bytes, size_t n)
{
    begin_event(s);
    api_text_print(s->out, "'%s':", s->a->kind == API_CHAT ? name : "text");
    api_text_quoted(s->out, bytes, n);
    end_event(s, NULL);
}

static void say_end(const struct api_stream *s)
{
    begin_event(s);
    if (s->a->kind != API_CHAT) {
        api_text_print(s->out, "'text':''");
    }
    end_event(s, reason_of(s->j));
}

/* Write a name with the arguments that came with it, or more arguments. */
static void say_call(const struct api_stream *s, const struct api_piece *p)
{
    begin_event(s);
    api_text_print(s->out, "'tool_calls':[{'index':%u,", (unsigned)p->call_number);
    if (p->step == API_OPENS) {
        begin_call(s, p);
    } else {
        api_text_print(s->out, "'function':{'arguments':'");
    }
    api_text_escaped(s->out, p->bytes, p->n);
    api_text_print(s->out, "'}}]");
    end_event(s, NULL);
}

static void say_begin(const struct api_stream *s)
{
    if (s->a->kind == API_CHAT) {
        say_text(s, "content", "", 0);
    } else if (s->j->request.echo) {
        say_text(s, "text", api_text_shown(prompt_of(s->j)), prompt_of(s->j)->n);
    }
}

void api_chat_say(const struct api_stream *s, const struct api_piece *p)
{
    if (p->step == API_BEGINS) {
        say_begin(s);
    } else if (p->step == API_FAILS) {
        api_text_print(s->out, "data: ");
        api_error_put(s->out, &s->j->error);
        api_text_print(s->out, "\n\n");
    } else if (p->step == API_ENDS) {
        say_end(s);
    } else if (p->step != API_OPENS && p->step != API_GROWS) {
        return;
    } else if (p->item == API_CALL_ITEM) {
        say_call(s, p);
    } else if (p->n != 0) {
        say_text(s, p->item == API_TEXT_ITEM ? "content" : "reasoning_content", p->bytes, p->n);
    }
}

void api_chat_say_end(struct api_text *out, const struct api_answer *a, const struct api_usage *u,
                      const struct api_job *j)
{
    if (j != NULL && j->request.stream_usage) {
        api_text_print(out, "data: ");
        put_envelope(out, a, "chat.completion.chunk");
        api_text_put(out, "]", 1);
        put_usage(out, u, j);
        api_text_print(out, "}\n\n");
    }
    api_text_print(out, "data: [DONE]\n\n");
}

/* ---- one object ------------------------------------------------------------------------------ */

void api_chat_begin(struct api_text *out, const struct api_answer *a)
{
    put_envelope(out, a, "chat.completion");
}

static void begin_reply(const struct api_stream *s)
{
    api_text_print(s->out, "%s{'index':%u,", s->at->index != 0 ? "," : "", (unsigned)s->at->index);
    if (s->a->kind == API_CHAT) {
        api_text_print(s->out, "'message':{'role':'assistant','refusal':null");
        return;
    }
    api_text_print(s->out, "'text':'");
    if (s->j->request.echo) {
        api_text_escaped(s->out, api_text_shown(prompt_of(s->j)), prompt_of(s->j)->n);
    }
}

static void open_item(const struct api_stream *s, const struct api_piece *p)
{
    if (s->a->kind != API_CHAT) {
        return;
    }
    if (p->item == API_THOUGHTS_ITEM) {
        api_text_print(s->out, ",'reasoning_content':'");
    } else if (p->item == API_TEXT_ITEM) {
        api_text_print(s->out, ",'content':'");
    } else if (p->call_number != 0) {
        api_text_print(s->out, ",{");
        begin_call(s, p);
    } else {
        api_text_print(s->out, "%s,'tool_calls':[{", s->at->texted ? "" : ",'content':null");
        begin_call(s, p);
    }
}

static void close_item(const struct api_stream *s, const struct api_piece *p)
{
    if (s->a->kind == API_CHAT) {
        api_text_print(s->out, p->item == API_CALL_ITEM ? "'}}" : "'");
    }
}

static void end_reply(const struct api_stream *s)
{
    struct api_scores_at from = { .bytes = 0 };
    bool chat = s->a->kind == API_CHAT;

    if (chat && s->at->calls != 0) {
        api_text_put(s->out, "]", 1);
    } else if (chat && !s->at->texted) { /* there are only thoughts */
        api_text_print(s->out, ",'content':''");
    }
    api_text_print(s->out, "%s,'logprobs':", chat ? "}" : "'");
    api_scores_put(s->out, s->a->kind, &s->j->scores, &from);
    api_text_print(s->out, ",'finish_reason':'%s'}", reason_of(s->j));
}

void api_chat_part(const struct api_stream *s, const struct api_piece *p)
{
    switch (p->step) {
    case API_BEGINS: begin_reply(s); break;
    case API_OPENS:
        open_item(s, p);
        api_text_escaped(s->out, p->bytes, p->n);
        break;
    case API_GROWS: api_text_escaped(s->out, p->bytes, p->n); break;
    case API_CLOSES: close_item(s, p); break;
    case API_ENDS: end_reply(s); break;
    case API_FAILS:
    default: break;
    }
}

void api_chat_end(struct api_text *out, const struct api_usage *u, const struct api_job *j)
{
    api_text_put(out, "]", 1);
    put_usage(out, u, j);
    put_warnings(out, &j->request);
    api_text_print(out, "}\n");
}

/* ---- an error -------------------------------------------------------------------------------- */

static const char *type_of(int status)
{
    if (status == 429) {
        return "rate_limit_error";
    }
    return status >= 500 ? "server_error" : "invalid_request_error";
}

void api_error_put(struct api_text *out, const struct api_error *e)
{
    api_text_print(out, "{'error':{'message':");
    api_text_quoted(out, e->text, strlen(e->text));
    api_text_print(out, ",'type':'%s','param':", type_of(e->status));
    api_text_quoted_or_null(out, e->param);
    api_text_print(out, ",'code':");
    api_text_quoted_or_null(out, e->code);
    api_text_print(out, "}}");
}
