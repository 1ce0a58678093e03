/* Bodies of any bytes to OpenAI's API of a board: what becomes a line is one object that the reader of mode=json takes apart, with no
 * field that the body could not have asked for, and nothing is written beyond the memory of the request and of its line. The first byte
 * says which kind it is, the second how much room there is. And any bytes as a tree: what is read is put as JSON that is read as the
 * same. */
#include <stdlib.h>
#include <string.h>

#include "runtime/api/api_json.h"
#include "runtime/api/api_limits.h"
#include "runtime/api/api_line.h"
#include "runtime/features/grammar/grammar.h"
#include "runtime/wire/json_request.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { MOST = 4096, ROOM = 6 * MOST, MEMORY = 64 * MOST };

static void must(bool condition)
{
    if (!condition) {
        abort();
    }
}

static bool may_be_there(unsigned field)
{
    static const enum json_field never[] = {
        JSON_FIELD_COMMAND, JSON_FIELD_ADAPTER,      JSON_FIELD_GRAMMAR, JSON_FIELD_HELLO,
        JSON_FIELD_LOAD,    JSON_FIELD_STATS,        JSON_FIELD_PLAN,    JSON_FIELD_CANCEL,
        JSON_FIELD_RESEND,  JSON_FIELD_CHECK,        JSON_FIELD_MODELS,  JSON_FIELD_TOKENIZE,
        JSON_FIELD_PROMPT,  JSON_FIELD_CONVERSATION,
    };

    for (size_t i = 0; i < sizeof never / sizeof never[0]; i++) {
        if (never[i] == field) {
            return false;
        }
    }
    return true;
}

static void check_line(const struct api_request *q, const struct api_text *line)
{
    struct json_request r;
    enum json_field input = JSON_FIELD_MESSAGES;

    json_request_read(&r, line->bytes, line->n);
    must(r.error == NULL);
    for (unsigned i = 0; i < JSON_N_FIELDS; i++) {
        must(r.values[i] == NULL || may_be_there(i));
    }
    if (q->kind != API_CHAT) {
        input = q->turns[0].tokens.n != 0 ? JSON_FIELD_IDS : JSON_FIELD_RAW;
    }
    must(r.values[input] != NULL);
}

/* Whatever the schemas are, the machine of a board takes the grammar. */
static void check_grammar(const struct api_request *q)
{
    const char *why;
    struct grammar g;

    must(q->grammar != NULL || !q->may_call);
    must(q->grammar == NULL || (q->grammar_bytes <= INGOT_GRAMMAR_BYTES &&
                                grammar_open(&g, q->grammar, q->grammar_bytes, &why) == ERR_OK));
}

static void check_request(enum api_kind kind, char *body, size_t n, void *room, size_t bytes,
                          struct api_text *line)
{
    static const struct api_defaults defaults = { .sampler = { .repeat = 1 },
                                                  .holder = &api_holder };
    struct api_error e = { .status = 0 };
    struct api_request q = { .kind = kind };
    struct api_memory m;

    api_memory_open(&m, room, bytes);
    q.memory = &m;
    if (!api_request_read(&q, kind, body, n, &defaults, &e) || !api_may_answer(&q, &e)) {
        must(e.status >= 400 && e.text[0] != '\0' && memchr(e.text, '\0', sizeof e.text) != NULL);
        return;
    }
    check_grammar(&q);
    api_line_put(line, &q, 0, 1, 2);
    must(line->n < line->room && line->bytes[line->n] == '\0');
    if (!line->failed) {
        check_line(&q, line);
    }
}

/* data lies twice in the same memory, with the text that the first tree is put as between the trees. */
static void check_tree(char *body, size_t n)
{
    static uint64_t room[64 * MOST];
    struct api_json *root, *again;
    struct api_text first, second;
    struct api_memory m;
    size_t at;

    api_memory_open(&m, room, sizeof room);
    if (api_json_read(&root, body, n, &m, &at) != API_JSON_GOOD) {
        must(at <= n);
        return;
    }
    api_memory_text(&m, &first);
    api_json_put(&first, root);
    api_memory_text(&m, &second);
    must(!first.failed && api_text_put(&second, first.bytes, first.n));
    must(api_json_read(&again, second.bytes, second.n, &m, &at) == API_JSON_GOOD);
    api_memory_text(&m, &second);
    api_json_put(&second, again);
    must(first.n == second.n && memcmp(first.bytes, second.bytes, first.n) == 0);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    enum api_kind kind = size > 0 && data[0] & 1 ? API_CONTINUE : API_CHAT;
    size_t room = size > 1 && data[1] != 0 ? data[1] * 32u : MEMORY;
    size_t n = size > 2 ? size - 2 : 0, line_bytes = size > 1 && data[1] != 0 ? data[1] * 8u : ROOM;
    char *body, *memory, *text;
    struct api_text line;

    n = n < MOST ? n : MOST;
    body = malloc(n + 1);
    memory = malloc(room);
    text = malloc(line_bytes);
    must(body != NULL && memory != NULL && text != NULL);
    memcpy(body, data + (size > 2 ? 2 : 0), n);
    body[n] = '\0';
    api_text_open(&line, text, line_bytes);
    check_request(kind, body, n, memory, room, &line);
    memcpy(body, data + (size > 2 ? 2 : 0), n);
    check_tree(body, n);
    free(text);
    free(memory);
    free(body);
    return 0;
}
