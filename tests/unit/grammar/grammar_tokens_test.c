/* A grammar and a vocabulary: the walk through sorted tokens against every token alone, on three
 * published vocabularies (assets) and the demo model's. */
#include "flash_image/pack/pack.h"
#include "runtime/features/grammar/grammar_tokens.h"
#include "runtime/image/image.h"
#include "tests/unit/grammar/compiled.h"
#include "tests/unit/tokenizer/vocabulary.h"

static uint8_t *section;
static struct tokenizer t;
static uint8_t *seen;
static unsigned n_seen, n_twice;

static bool open_vocabulary(const char *path)
{
    struct pack_options o = { .quiet = true, .input = path };
    char error_message[256];
    uint64_t bytes;
    uint32_t vocab;

    free(section);
    if (pack_tokenizer(&o, &section, &bytes, &vocab, error_message, sizeof error_message) !=
        ERR_OK) {
        section = NULL;
        OK(true, "%s # SKIP %s", path, error_message);
        return false;
    }
    tokenizer_open(&t, section);
    return true;
}

static void see(void *context, uint32_t id, unsigned level)
{
    (void)context;
    (void)level;
    n_twice += seen[id];
    seen[id] = 1;
    n_seen++;
}

static bool of_grammars(uint32_t id)
{
    enum ingot_token_type type = tokenizer_type(&t, id);
    size_t n;
    const char *s = tokenizer_piece(&t, id, INGOT_NO_TOKEN, &n);
    bool found = type == INGOT_TOKEN_BYTE && n == 1 && t.byte_tokens[(uint8_t)s[0]] == id;

    for (uint32_t i = 0; i < t.head->n_sorted && type != INGOT_TOKEN_BYTE && !found; i++) {
        found = t.sorted[i] == id;
    }
    return found;
}

/* Tries every token by its bytes, one after the other, from where the machine is. */
static unsigned count_wrong(const uint8_t *is_of_grammars)
{
    unsigned wrong = 0;

    n_seen = n_twice = 0;
    memset(seen, 0, t.head->n_tokens);
    grammar_visit_tokens(&machine, &t, see, NULL);
    for (uint32_t id = 0; id < t.head->n_tokens; id++) {
        size_t n;
        const char *s = tokenizer_piece(&t, id, INGOT_NO_TOKEN, &n);
        unsigned level = 0;
        bool good = is_of_grammars[id] && n != 0 && n <= GRAMMAR_LEVELS;

        for (; good && level < n; level++) {
            good = grammar_push(&machine, level, (uint8_t)s[level]);
        }
        wrong += good != seen[id];
        wrong += grammar_takes_token(&machine, &t, id, &level) != good;
    }
    return wrong + n_twice;
}

/* At every few bytes of a text. */
static void test_text(const char *name, const uint8_t *is_of_grammars, const char *text,
                      unsigned step)
{
    unsigned wrong = 0, least = UINT32_MAX, most = 0, at = 0;

    grammar_begin(&machine, &compiled);
    for (size_t i = 0; text[i] != '\0'; i++) {
        if (i % step == 0) {
            wrong += count_wrong(is_of_grammars);
            least = n_seen < least ? n_seen : least;
            most = n_seen > most ? n_seen : most;
            at++;
        }
        wrong += !grammar_push(&machine, 0, (uint8_t)text[i]);
        grammar_settle(&machine, 1);
    }
    wrong += !grammar_accepts(&machine, 0);
    OK(wrong == 0,
       "%s: at %u places of %.30s the walk finds the %u to %u tokens that each byte allows", name,
       at, text, least, most);
}

static void test_vocabulary(const char *name, const char *path)
{
    static const char object[] = "{\"city\": \"M\xc3\xbcnchen\", \"n\": 42}";
    uint8_t *is_of_grammars;

    if (!open_vocabulary(path)) {
        return;
    }
    seen = calloc(1, t.head->n_tokens);
    is_of_grammars = calloc(1, t.head->n_tokens);
    for (uint32_t i = 0; i < t.head->n_sorted; i++) {
        is_of_grammars[t.sorted[i]] = 1;
    }
    for (unsigned byte = 0; byte < 256; byte++) {
        uint32_t id = t.byte_tokens[byte];

        if (id != INGOT_NO_TOKEN && tokenizer_type(&t, id) == INGOT_TOKEN_BYTE) {
            is_of_grammars[id] = 1;
        }
    }
    OK(of_grammars(t.sorted[0]) && !of_grammars(t.head->bos),
       "%s: only texts of grammars count, %u tokens, %u in the order of their texts", name,
       t.head->n_tokens, t.head->n_sorted);
    OK(compile_schema(
           "{\"properties\":{\"city\":{\"type\":\"string\"},\"n\":{\"type\":\"integer\"}},"
           "\"required\":[\"city\",\"n\"]}"),
       "%s: the schema of an object compiles", name);
    test_text(name, is_of_grammars, object, 3);
    OK(compile_gbnf("root ::= (\" the\" | \" cat\" | \" sat\")+ \".\""),
       "%s: a grammar of words compiles", name);
    test_text(name, is_of_grammars, " the cat sat the cat.", 4);
    OK(compile_gbnf("root ::= [^x]*"), "%s: a grammar of nearly everything compiles", name);
    test_text(name, is_of_grammars, "ab\xe2\x82\xac", 2);
    free(seen);
    free(is_of_grammars);
}

int main(void)
{
    static const char *const published[] = { "spm", "gpt-2", "qwen2" };
    const char *more = getenv("INGOT_LONG");
    /* The last one is of gpt-2's kind, with three times as many tokens. */
    size_t n = more != NULL && strcmp(more, "1") == 0 ? 3 : 2;
    char path[512];

    for (size_t i = 0; i < n; i++) {
        snprintf(path, sizeof path, "%s/vocab/ggml-vocab-%s.gguf", test_assets(),
                 strcmp(published[i], "spm") == 0 ? "llama-spm" : published[i]);
        test_vocabulary(published[i], path);
    }
    free(section);
    free(compiled_memory);
    return tap_done();
}
