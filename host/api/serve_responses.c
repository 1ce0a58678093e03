/* Answers of /v1/responses: OpenAI's object `response`, and the events that make up a response. */
#include <stdio.h>
#include <string.h>

#include "host/api/serve_dialect.h"

static const char completed[] = "completed", incomplete[] = "incomplete",
                  in_progress[] = "in_progress", failed[] = "failed";

/* Returns the status of a finished reply. */
static const char *status_of(const struct api_job *j)
{
    return api_stream_reason(j) == API_CUT ? incomplete : completed;
}

/* ---- items ------------------------------------------------------------------------------------- */

static void item_id(char id[API_ID_BYTES], const struct api_stream *s, const struct api_piece *p)
{
    static const char *const words[] = { "", "rs", "msg", "fc" };

    api_stream_id(id, words[p->item], s->a, s->at->index, p->number);
}

/* Returns those scores of a text item's tokens that were not sent yet. */
static cJSON *scores_of(const struct api_stream *s)
{
    cJSON *scores, *list;

    if (!s->j->request.wants_scores) {
        return cJSON_CreateArray();
    }
    scores = serve_scores_answer(&s->j->scores, &s->at->scores);
    list = cJSON_DetachItemFromObjectCaseSensitive(scores, "content");
    cJSON_Delete(scores);
    return list != NULL ? list : cJSON_CreateArray();
}

/* Writes the content part of a text item or of a thoughts item. Takes over `scores`. */
static cJSON *part_of(const struct api_piece *p, const char *bytes, size_t n, cJSON *scores)
{
    cJSON *part = cJSON_CreateObject();

    if (p->item == API_THOUGHTS_ITEM) {
        cJSON_Delete(scores);
        cJSON_AddStringToObject(part, "type", "reasoning_text");
        cJSON_AddItemToObject(part, "text", serve_stream_text(bytes, n));
        return part;
    }
    cJSON_AddStringToObject(part, "type", "output_text");
    cJSON_AddItemToObject(part, "text", serve_stream_text(bytes, n));
    cJSON_AddArrayToObject(part, "annotations");
    cJSON_AddItemToObject(part, "logprobs", scores);
    return part;
}

static void add_call(cJSON *item, const struct api_stream *s, const struct api_piece *p, bool whole)
{
    char id[API_ID_BYTES];

    api_stream_id(id, "call", s->a, s->at->index, p->call_number);
    cJSON_AddStringToObject(item, "type", "function_call");
    cJSON_AddStringToObject(item, "call_id", id);
    cJSON_AddItemToObject(item, "name", serve_stream_text(p->call->name, p->call->name_bytes));
    cJSON_AddItemToObject(item, "arguments", serve_stream_text(p->bytes, whole ? p->n : 0));
}

/* Writes the item of a piece, and takes over `part`, the item's content (NULL: it is empty).
 * status: the item's status, which says whether it was cut. */
static cJSON *item_of(const struct api_stream *s, const struct api_piece *p, const char *status,
                      cJSON *part)
{
    cJSON *item = cJSON_CreateObject(), *content;
    char id[API_ID_BYTES];

    item_id(id, s, p);
    cJSON_AddStringToObject(item, "id", id);
    cJSON_AddStringToObject(item, "status", status);
    if (p->item == API_CALL_ITEM) {
        add_call(item, s, p, status != in_progress);
        return item;
    }
    if (p->item == API_THOUGHTS_ITEM) {
        cJSON_AddStringToObject(item, "type", "reasoning");
        cJSON_AddArrayToObject(item, "summary");
    } else {
        cJSON_AddStringToObject(item, "type", "message");
        cJSON_AddStringToObject(item, "role", "assistant");
    }
    content = cJSON_AddArrayToObject(item, "content");
    if (part != NULL) {
        cJSON_AddItemToArray(content, part);
    }
    return item;
}

/* Returns the status of an item. Pieces of thoughts and calls say whether they were cut; a text was
 * cut if it is the last item of a cut reply. */
static const char *status_of_item(const struct api_stream *s, const struct api_piece *p)
{
    if (p->item == API_CALL_ITEM) {
        return p->call->whole ? completed : incomplete;
    }
    return s->j->done && p->item == API_TEXT_ITEM ? status_of(s->j) : completed;
}

static void collect(const struct api_stream *s, const struct api_piece *p)
{
    if (p->step == API_CLOSES) {
        cJSON *part = p->item != API_CALL_ITEM ? part_of(p, p->bytes, p->n, scores_of(s)) : NULL;

        cJSON_AddItemToArray(s->context, item_of(s, p, status_of_item(s, p), part));
    }
}

/* ---- the response ------------------------------------------------------------------------------ */

static cJSON *usage_of(const struct api_job *j)
{
    cJSON *usage = cJSON_CreateObject(), *details;
    double reply = api_stream_tokens(j), prompt = j->prompt_tokens;

    cJSON_AddNumberToObject(usage, "input_tokens", prompt);
    details = cJSON_AddObjectToObject(usage, "input_tokens_details");
    cJSON_AddNumberToObject(details, "cached_tokens", j->cached_tokens);
    cJSON_AddNumberToObject(details, "cache_write_tokens", 0);
    cJSON_AddNumberToObject(usage, "output_tokens", reply);
    details = cJSON_AddObjectToObject(usage, "output_tokens_details");
    cJSON_AddNumberToObject(details, "reasoning_tokens", 0); /* tokens of thoughts are not
                                                                counted */
    cJSON_AddNumberToObject(usage, "total_tokens", prompt + reply);
    return usage;
}

static void add_reasons(cJSON *root, const struct api_job *j, const char *status)
{
    cJSON *one;

    if (status == failed) {
        one = cJSON_AddObjectToObject(root, "error");
        cJSON_AddStringToObject(one, "code",
                                j->error.code != NULL ? j->error.code : "server_error");
        cJSON_AddStringToObject(one, "message", j->error.text);
    } else {
        cJSON_AddNullToObject(root, "error");
    }
    if (status == incomplete) {
        one = cJSON_AddObjectToObject(root, "incomplete_details");
        cJSON_AddStringToObject(one, "reason", "max_output_tokens");
    } else {
        cJSON_AddNullToObject(root, "incomplete_details");
    }
}

/* Writes output, usage and figures of a finished reply. */
static void add_result(cJSON *root, const struct api_answer *a, const struct api_job *j)
{
    cJSON *output = cJSON_CreateArray();

    serve_stream_all(a, j, collect, output);
    cJSON_AddItemToObject(root, "output", output);
    cJSON_AddItemToObject(root, "usage", usage_of(j));
    cJSON_AddItemToObject(root, "figures", serve_stream_figures(j));
    serve_stream_warnings(root, &j->request);
}

static cJSON *response_of(const struct api_answer *a, const struct api_job *j, const char *status)
{
    cJSON *root = cJSON_CreateObject(), *echo, *member;
    char id[API_ID_BYTES];

    api_stream_id(id, "resp", a, 0, 0);
    cJSON_AddStringToObject(root, "id", id);
    cJSON_AddStringToObject(root, "object", "response");
    cJSON_AddNumberToObject(root, "created_at", (double)a->created);
    cJSON_AddStringToObject(root, "status", status);
    cJSON_AddFalseToObject(root, "background");
    cJSON_AddStringToObject(root, "model", a->model);
    cJSON_AddNullToObject(root, "previous_response_id");
    cJSON_AddFalseToObject(root, "store");
    add_reasons(root, j, status);
    echo = a->echo != NULL ? cJSON_Parse(a->echo) : NULL;
    while (echo != NULL && (member = echo->child) != NULL) {
        cJSON_DetachItemViaPointer(echo, member);
        cJSON_AddItemToObject(root, member->string, member);
    }
    cJSON_Delete(echo);
    if (status == in_progress || status == failed) {
        cJSON_AddArrayToObject(root, "output");
        cJSON_AddNullToObject(root, "usage");
    } else {
        add_result(root, a, j);
    }
    return root;
}

static void whole(struct api_text *out, const struct api_answer *a,
                  const struct api_job *const *jobs, uint32_t n)
{
    (void)n;
    serve_text_add_json(out, response_of(a, jobs[0], status_of(jobs[0])));
    (void)serve_text_add(out, "\n", 1);
}

/* ---- events ------------------------------------------------------------------------------------ */

/* Writes one event. body: the event's members except type and number; it is taken over. */
static void say_event(const struct api_stream *s, const char *type, cJSON *body)
{
    cJSON_AddStringToObject(body, "type", type);
    cJSON_AddNumberToObject(body, "sequence_number", s->at->sequence++);
    (void)serve_text_say(s->out, "event: %s\ndata: ", type);
    serve_text_add_json(s->out, body);
    (void)serve_text_add(s->out, "\n\n", 2);
}

static void say_response(const struct api_stream *s, const char *type, const char *status)
{
    cJSON *body = cJSON_CreateObject();

    cJSON_AddItemToObject(body, "response", response_of(s->a, s->j, status));
    say_event(s, type, body);
}

/* Writes an item when it begins or when it is complete. */
static void say_item(const struct api_stream *s, const struct api_piece *p, const char *type,
                     cJSON *item)
{
    cJSON *body = cJSON_CreateObject();

    cJSON_AddNumberToObject(body, "output_index", p->number);
    cJSON_AddItemToObject(body, "item", item);
    say_event(s, type, body);
}

/* Adds the members that every event inside an item has. */
static cJSON *inside(const struct api_stream *s, const struct api_piece *p)
{
    cJSON *body = cJSON_CreateObject();
    char id[API_ID_BYTES];

    item_id(id, s, p);
    cJSON_AddStringToObject(body, "item_id", id);
    cJSON_AddNumberToObject(body, "output_index", p->number);
    if (p->item != API_CALL_ITEM) {
        cJSON_AddNumberToObject(body, "content_index", 0);
    }
    return body;
}

static void say_part(const struct api_stream *s, const struct api_piece *p, const char *type,
                     cJSON *part)
{
    cJSON *body = inside(s, p);

    cJSON_AddItemToObject(body, "part", part);
    say_event(s, type, body);
}

static void say_opened(const struct api_stream *s, const struct api_piece *p)
{
    say_item(s, p, "response.output_item.added", item_of(s, p, in_progress, NULL));
    if (p->item != API_CALL_ITEM) {
        say_part(s, p, "response.content_part.added", part_of(p, "", 0, cJSON_CreateArray()));
    }
}

/* Writes another part of a text, of thoughts or of arguments; if `done`, all of it. */
static void say_bytes(const struct api_stream *s, const struct api_piece *p, bool done)
{
    static const char *const types[][2] = {
        [API_THOUGHTS_ITEM] = { "response.reasoning_text.delta", "response.reasoning_text.done" },
        [API_TEXT_ITEM] = { "response.output_text.delta", "response.output_text.done" },
        [API_CALL_ITEM] = { "response.function_call_arguments.delta",
                            "response.function_call_arguments.done" },
    };
    cJSON *body = inside(s, p);
    const char *name = !done ? "delta" : p->item == API_CALL_ITEM ? "arguments" : "text";

    cJSON_AddItemToObject(body, name, serve_stream_text(p->bytes, p->n));
    if (p->item == API_TEXT_ITEM) {
        cJSON_AddItemToObject(body, "logprobs", done ? cJSON_CreateArray() : scores_of(s));
    } else if (p->item == API_CALL_ITEM && done) {
        cJSON_AddItemToObject(body, "name", serve_stream_text(p->call->name, p->call->name_bytes));
    }
    say_event(s, types[p->item][done], body);
}

/* Closes an item without its scores, which were in the pieces and will be in the whole response. */
static void say_closed(const struct api_stream *s, const struct api_piece *p)
{
    cJSON *part = NULL;

    say_bytes(s, p, true);
    if (p->item != API_CALL_ITEM) {
        part = part_of(p, p->bytes, p->n, cJSON_CreateArray());
        say_part(s, p, "response.content_part.done", cJSON_Duplicate(part, true));
    }
    say_item(s, p, "response.output_item.done", item_of(s, p, status_of_item(s, p), part));
}

static void say_failed(const struct api_stream *s)
{
    cJSON *body = cJSON_CreateObject();
    const struct api_error *e = &s->j->error;

    cJSON_AddStringToObject(body, "code", e->code != NULL ? e->code : "server_error");
    cJSON_AddStringToObject(body, "message", e->text);
    cJSON_AddItemToObject(body, "param",
                          e->param[0] != '\0' ? cJSON_CreateString(e->param) : cJSON_CreateNull());
    say_event(s, "error", body);
    say_response(s, "response.failed", failed);
}

static void say(const struct api_stream *s, const struct api_piece *p)
{
    switch (p->step) {
    case API_BEGINS:
        say_response(s, "response.created", in_progress);
        say_response(s, "response.in_progress", in_progress);
        break;
    case API_OPENS:
        say_opened(s, p);
        if (p->n != 0) {
            say_bytes(s, p, false);
        }
        break;
    case API_GROWS: say_bytes(s, p, false); break;
    case API_CLOSES: say_closed(s, p); break;
    case API_FAILS: say_failed(s); break;
    case API_ENDS:
        if (status_of(s->j) == completed) {
            say_response(s, "response.completed", completed);
        } else {
            say_response(s, "response.incomplete", incomplete);
        }
        break;
    }
}

const struct serve_writer serve_responses_writer = {
    .stream_type = "text/event-stream",
    .say = say,
    .whole = whole,
    .error = serve_answer_error,
};
