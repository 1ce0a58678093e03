/* `ingot batch`: many requests to one model, several of them in each pass over its weights. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "board/host/host_board.h"
#include "host/cli/batch_file.h"
#include "host/cli/commands.h"
#include "host/app/host_app.h"
#include "runtime/chat/chat_turn.h"
#include "runtime/features/adapters/app_adapters.h"
#include "runtime/session/replies.h"
#include "runtime/session/request_queue.h"
#include "runtime/text/json.h"
#include "runtime/text/plural.h"
#include "runtime/text/utf8.h"

/* A text with JSON's escapes. */
struct json_text {
    char *bytes;
    size_t n;
    bool failed; /* no memory for it */
};

/* A sequence, and the request that it answers. */
struct slot {
    struct session *session;
    const struct batch_request *request; /* NULL: it is free */
    uint32_t number, set;
    struct generate_params params;
    struct generate_sink sink;
    struct json_text text, thoughts;
    bool thinks; /* the next text belongs to thoughts */
};

static struct batch {
    struct host_app host;
    struct batch_file file;
    const struct host_args *args;
    struct slot slots[GROUP_MOST];
    uint32_t n_slots;
    uint32_t next; /* next request that is not in the queue yet */
    struct request_queue queue;
    struct replies replies;
    uint64_t n_prompt, n_new, ticks;
    uint32_t n_done;
} batch;

static struct model *model_of(struct batch *b)
{
    return &b->host.app.target.model;
}

/* ---- sets of adapters ------------------------------------------------------------------------ */

static const char *adapter_of(const struct batch *b, uint32_t number)
{
    const char *own = b->file.list[number].adapter;

    return own[0] != '\0' ? own : b->args->options.load.adapter;
}

/* Return the number of a request's set of adapters, which is that of the first request with it. */
static uint32_t set_of(const struct batch *b, uint32_t number)
{
    uint32_t i = 0;

    while (strcmp(adapter_of(b, i), adapter_of(b, number)) != 0) {
        i++;
    }
    return i;
}

/* Apply the sets of adapters of all running slots, and give each sequence its set. */
static bool adapt(struct batch *b)
{
    const char *lists[GROUP_MOST];
    uint32_t sets[GROUP_MOST], n = 0, of_slot[GROUP_MOST];

    for (uint32_t i = 0; i < b->n_slots; i++) {
        of_slot[i] = 0;
        if (b->slots[i].request == NULL) {
            continue;
        }
        while (of_slot[i] < n && sets[of_slot[i]] != b->slots[i].set) {
            of_slot[i]++;
        }
        if (of_slot[i] == n) {
            sets[n] = b->slots[i].set;
            lists[n++] = adapter_of(b, b->slots[i].number);
        }
    }
    if (app_use_adapter_sets(&b->host.app, lists, n) != ERR_OK) {
        fprintf(stderr, "ingot: %s\n", b->host.app.error_message);
        return false;
    }
    for (uint32_t i = 0; i < b->n_slots; i++) {
        b->slots[i].session->lora = adapters_of_set(&adapters_of(&b->host.app.chat)->adapters,
                                                    of_slot[i]);
    }
    return true;
}

/* ---- the prompt ------------------------------------------------------------------------------ */

static enum err put_prompt(struct batch *b, struct slot *p)
{
    const struct ingot_chat *chat = model_of(b)->image.chat;
    const struct batch_request *q = p->request;
    struct chat_turn turn = { .text = q->prompt,
                              .bytes = q->prompt_bytes,
                              .first = true,
                              .no_thinking = q->think == THINK_OFF };
    struct tokenizer_part parts[CHAT_TURN_PARTS] = { { q->prompt, q->prompt_bytes, false } };
    size_t n_parts = 1, n;
    uint32_t room, *ids = session_room(p->session, &room);
    enum err e;

    if (q->system != NULL) {
        turn.system = q->system;
        turn.system_bytes = strlen(q->system);
    }
    if (chat_has_template(chat)) {
        n_parts = chat_turn_parts(chat, &turn, parts);
    }
    e = tokenizer_encode_parts(&model_of(b)->tokenizer, parts, n_parts, TOKENIZER_BOS, ids, room,
                               &n, p->session->scratch.memory, p->session->scratch.bytes);
    if (e == ERR_OK && n == 0) {
        e = ERR_BAD_ARGUMENT;
    }
    return e == ERR_OK ? session_put(p->session, ids, n) : e;
}

static bool begin_with_prompt(struct batch *b, struct slot *p)
{
    enum err e;

    session_clear(p->session);
    e = put_prompt(b, p);
    if (e != ERR_OK) {
        fprintf(stderr, "ingot: request %u: %s\n", (unsigned)p->number + 1,
                e == ERR_TOO_LONG ? "the prompt is too long for the context" : err_text(e));
    }
    return e == ERR_OK;
}

/* Before any reply is computed, find every request that cannot run: it would end the others. */
static bool check_requests(struct batch *b)
{
    struct slot p = { .session = b->slots[0].session };
    bool good = true;

    for (p.number = 0; p.number < b->file.n; p.number++) {
        const char *list = adapter_of(b, p.number);

        p.request = &b->file.list[p.number];
        good = begin_with_prompt(b, &p) && good;
        /* A set of adapters is tried once. */
        if (set_of(b, p.number) == p.number &&
            app_use_adapter_sets(&b->host.app, &list, 1) != ERR_OK) {
            fprintf(stderr, "ingot: request %u: %s\n", (unsigned)p.number + 1,
                    b->host.app.error_message);
            good = false;
        }
    }
    return good;
}

static void set_params(struct batch *b, struct slot *p)
{
    const struct ingot_chat *chat = model_of(b)->image.chat;
    const struct batch_request *q = p->request;

    p->params = (struct generate_params){
        .limit = q->n, .stops.n = q->n_stops, .end_ids = chat->stops, .n_end_ids = chat->n_stops
    };
    for (uint32_t i = 0; i < q->n_stops; i++) {
        p->params.stops.text[i] = q->stops[i];
    }
    p->params.inside_thoughts = chat_has_template(chat) && q->think != THINK_OFF &&
                                chat_turn_opens_thoughts(chat);
}

/* ---- the reply ------------------------------------------------------------------------------- */

static void add_text(struct json_text *t, const char *text, size_t bytes)
{
    char *longer = realloc(t->bytes, t->n + bytes * JSON_ESCAPE_BYTES + 1);

    if (longer == NULL) {
        t->failed = true;
        return;
    }
    t->bytes = longer;
    for (size_t at = 0; at < bytes;) {
        int n = utf8_check((const uint8_t *)text + at, bytes - at);

        t->n += json_escape(t->bytes + t->n, text + at, (size_t)n);
        at += (size_t)n;
    }
}

static void take_text(void *context, const char *text, size_t bytes)
{
    struct slot *p = context;

    if (!p->thinks) {
        add_text(&p->text, text, bytes);
    } else if (p->request->think != THINK_HIDE) {
        add_text(&p->thoughts, text, bytes);
    }
}

static void take_think(void *context, bool begins)
{
    struct slot *p = context;

    p->thinks = begins;
}

static const char *shown(const struct json_text *t)
{
    return t->bytes != NULL ? t->bytes : "";
}

static void print_reply(const struct slot *p, const char *end, unsigned n)
{
    printf("{");
    if (p->request->id[0] != '\0') {
        printf("\"id\":%s,", p->request->id);
    }
    printf("\"number\":%u,", (unsigned)p->number + 1);
    if (p->thoughts.n != 0) {
        printf("\"thoughts\":\"%.*s\",", (int)p->thoughts.n, p->thoughts.bytes);
    }
    printf("\"text\":\"%.*s\",\"tokens\":%u,\"end\":\"%s\"", (int)p->text.n, shown(&p->text), n,
           end);
}

static void finish(struct batch *b, struct slot *p, const struct generate_result *r)
{
    static const char *const ends[] = {
        [GENERATE_ENDED] = "end",
        [GENERATE_LIMIT] = "limit",
        [GENERATE_STOP] = "stop",
        [GENERATE_CONTEXT] = "context",
        [GENERATE_REPETITION] = "repetition",
        [GENERATE_NO_WAY_ON] = "grammar",
    };

    print_reply(p, ends[r->end], (unsigned)r->new_tokens);
    if (b->args->options.show.ids) {
        printf(",\"ids\":[");
        for (uint32_t i = 0; i < r->new_tokens; i++) {
            printf("%s%u", i == 0 ? "" : ",", (unsigned)p->session->ids[r->first_new + i]);
        }
        printf("],\"hash\":\"%016llx\"", (unsigned long long)p->session->hash.value);
    }
    printf("}\n");
    fflush(stdout);
    b->n_new += r->new_tokens;
    b->n_done++;
    p->request = NULL;
}

/* ---- all of them ----------------------------------------------------------------------------- */

static bool begin(struct batch *b, uint32_t slot, const struct request *r)
{
    struct slot *p = &b->slots[slot];

    p->request = &b->file.list[r->number];
    p->number = r->number;
    p->set = r->set;
    p->text.n = 0;
    p->thoughts.n = 0;
    p->thinks = false;
    p->sink = (struct generate_sink){ .context = p, .text = take_text, .think = take_think };
    if (!begin_with_prompt(b, p)) {
        return false;
    }
    b->n_prompt += p->session->n_ids;
    set_params(b, p);
    replies_begin(&b->replies, slot, &p->params, &p->request->sampler, &p->sink);
    return true;
}

/* Give the next requests to free slots. Returns false after printing the error. */
static bool fill_slots(struct batch *b)
{
    bool changed = false;

    while (b->next < b->file.n && request_queue_put(&b->queue, b->next, set_of(b, b->next))) {
        b->next++;
    }
    for (uint32_t i = 0; i < b->n_slots; i++) {
        uint32_t sets[GROUP_MOST], n = 0;
        struct request r;

        for (uint32_t j = 0; j < b->n_slots; j++) {
            if (b->slots[j].request != NULL) {
                sets[n++] = b->slots[j].set;
            }
        }
        if (b->slots[i].request != NULL || !request_queue_take(&b->queue, sets, n, &r)) {
            continue;
        }
        changed = true;
        if (!begin(b, i, &r)) {
            return false;
        }
    }
    return !changed || adapt(b);
}

static bool run_pass(struct batch *b)
{
    if (replies_pass(&b->replies, NULL) != ERR_OK) {
        fprintf(stderr, "ingot: %s\n", b->replies.error_message);
        return false;
    }
    for (uint32_t i = 0; i < b->n_slots; i++) {
        struct slot *p = &b->slots[i];

        if (p->text.failed || p->thoughts.failed) {
            fprintf(stderr, "ingot: out of memory\n");
            return false;
        }
        if (p->request != NULL && !b->replies.slots[i].busy) {
            finish(b, p, &b->replies.slots[i].result);
        }
    }
    return true;
}

static void print_figures(const struct batch *b)
{
    double seconds = (double)b->ticks / (double)board.ticks_hz();

    fprintf(
        stderr,
        "[%u %s, %llu prompt tokens, %llu new in %.2f s: %.2f tok/s; %llu passes, %.2f tokens each]\n",
        (unsigned)b->n_done, plural(b->n_done, "reply", "replies"), (unsigned long long)b->n_prompt,
        (unsigned long long)b->n_new, seconds, (double)b->n_new / seconds,
        (unsigned long long)b->replies.group.n_passes,
        (double)b->replies.group.n_tokens / (double)b->replies.group.n_passes);
}

static bool run_all(struct batch *b)
{
    uint64_t start = board.ticks();

    b->n_slots = model_of(b)->plan.sequences;
    b->replies.n = b->n_slots;
    for (uint32_t i = 0; i < b->n_slots; i++) {
        b->slots[i].session = app_sequence(&b->host.app, i);
        b->replies.slots[i].session = b->slots[i].session;
    }
    if (!check_requests(b)) {
        return false;
    }
    while (b->n_done < b->file.n) {
        if (!fill_slots(b) || !run_pass(b)) {
            return false;
        }
    }
    b->ticks = board.ticks() - start;
    if (!b->args->quiet) {
        print_figures(b);
    }
    return true;
}

static int run(int argc, char **argv)
{
    static struct host_args args;
    bool good;
    int status;

    if (!host_args_read(&cmd_batch, &args, argc, argv, &status)) {
        return status;
    }
    if (!options_given(&args.options, OPTION_TOGETHER)) {
        args.options.load.together = GROUP_MOST;
    }
    args.options.load.spec = SPECULATIVE_OFF;
    batch.args = &args;
    good = batch_file_read(&batch.file, args.file != NULL ? args.file : "-", &args.options) &&
           host_app_plan(&batch.host, &args) && host_app_load(&batch.host) && run_all(&batch);
    for (uint32_t i = 0; i < batch.n_slots; i++) {
        free(batch.slots[i].text.bytes);
        free(batch.slots[i].thoughts.bytes);
    }
    batch_file_free(&batch.file);
    return exit_status(good);
}

static const struct command_option file = {
    .name = "--file",
    .letter = "-f",
    .value = "FILE",
    .help = "the requests (default: standard input)",
    .field = offsetof(struct host_args, file),
};
static const struct command_option *const options[] = {
    HOST_ROW(TITLE_REPLY),
    &file,
    HOST_FLAGS(CONVERSATION),
    HOST_ROW(TITLE_SAMPLING),
    HOST_FLAGS(SAMPLING),
    HOST_ROWS_LOAD,
    HOST_ROWS_COMPUTER,
    HOST_ROW(TITLE_OUTPUT),
    HOST_FLAGS(PRINTED),
    HOST_ROW(QUIET),
    NULL,
};

const struct command cmd_batch = {
    .name = "batch",
    .operands = "MODEL",
    .missing = "which model?",
    .summary = "answer a file of prompts, several at once",
    .about =
        "Reads requests, a line of JSON each, such as {\"id\":1,\"prompt\":\"Hello\",\"n\":20}, and prints a\n"
        "line of JSON for each reply. A request may also have system, think, stop, temp, top_p, top_k,\n"
        "min_p, repeat, repeat_last_n, presence_penalty, frequency_penalty, seed and adapter; fields\n"
        "that it omits default to the options. A pass reads the weights once for all running requests,\n"
        "and each gets the reply that it would get alone.",
    .example = "ingot batch model.ingot -f requests.jsonl -n 64 --temp 0",
    .options = options,
    .flags = FOR_BATCH,
    .operand_field = offsetof(struct host_args, model),
    .run = run,
};
