/* The grammar of /reflect: it takes whole memory tags as memory_tags.c obeys them, any other text, and no half a tag. */
#include "runtime/features/reflection/reflection_grammar.h"

#include <string.h>

#include "runtime/features/fabric/fabric.h"
#include "runtime/features/grammar/grammar_machine.h"
#include "runtime/features/memory_tags/memory_tags.h"
#include "tests/unit/tap.h"

static _Alignas(8) uint8_t memory[REFLECTION_GRAMMAR_BYTES], work[REFLECTION_WORK_BYTES];
static struct grammar grammar;
static struct grammar_machine machine;

/* Takes so many bytes of a text. *ends: the text may end there. */
static size_t taken(const char *text, size_t bytes, bool *ends)
{
    size_t n = 0;

    grammar_begin(&machine, &grammar);
    while (n < bytes && grammar_push(&machine, 0, (uint8_t)text[n])) {
        grammar_settle(&machine, 1);
        n++;
    }
    *ends = grammar_accepts(&machine, 0);
    return n;
}

static void write_nothing(void *context, const char *text, size_t bytes)
{
    (void)context;
    (void)text;
    (void)bytes;
}

static void add_tag(void *tags, const struct hidden_tag *tag)
{
    memory_tags_add(tags, tag);
}

/* The memories that memory_tags.c finds in a text. */
static unsigned n_stored(const char *text, unsigned *refused)
{
    struct memory_tags tags = { .n = 0 };
    struct hidden_tags hidden = { .write = write_nothing, .tag = add_tag, .context = &tags };

    hidden_tags_write(&hidden, text, strlen(text));
    hidden_tags_end(&hidden);
    *refused = tags.refused;
    return tags.n;
}

static void test_texts(void)
{
    static const struct {
        const char *text;
        bool whole;
        unsigned stored;
    } rows[] = {
        { "", true, 0 },
        { "Lila spoke of her house.\nAnd of \xc3\xa9t\xc3\xa9.", true, 0 },
        { "<|mem_store|>wiki Lila lives in Oslo.<|mem_end|>", true, 1 },
        { "Yes. <|mem_store|>personal a<|mem_end|> and <|mem_store|>contested b c<|mem_end|>!",
          true, 2 },
        { "<|mem_store|>episodic We went<|mem_end|><|mem_store|>schedule At noon<|mem_end|>", true,
          2 },
        { "<|mem_store|>wiki Lila lives in Oslo.", false, 0 },
        { "<|mem_store|>wiki <|mem_end|>", false, 0 },
        { "<|mem_store|>wikis a<|mem_end|>", false, 0 },
        { "<|mem_store|>a b<|mem_end|>", false, 0 },
        { "<|mem_store|>wiki a\nb<|mem_end|>", false, 0 },
        { "<|mem_forget|>wiki<|mem_end|>", false, 0 },
        { "1 < 2", false, 0 },
        { "<|mem", false, 0 },
    };

    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        size_t bytes = strlen(rows[i].text);
        bool ends, whole = taken(rows[i].text, bytes, &ends) == bytes && ends;
        unsigned refused, stored = n_stored(rows[i].text, &refused);

        OK(whole == rows[i].whole && (!whole || (stored == rows[i].stored && refused == 0)),
           "a reply is %s: %s", rows[i].whole ? "taken, and its tags are followed" : "refused",
           rows[i].text);
    }
}

static void test_length(void)
{
    char text[600] = "<|mem_store|>wiki ";
    size_t start = strlen(text), n;
    bool ends;

    memset(text + start, 'x', sizeof text - start);
    n = taken(text, sizeof text, &ends);
    OK(n > start + 100 && n - start <= FABRIC_TEXT_BYTES && !ends,
       "a memory has %zu bytes at most, and then its tag ends", n - start);
}

int main(void)
{
    const char *error_message = "";
    size_t bytes = reflection_grammar(memory, work);

    OK(bytes <= sizeof memory && grammar_open(&grammar, memory, bytes, &error_message) == ERR_OK,
       "a grammar of %zu bytes opens %s", bytes, error_message);
    test_texts();
    test_length();
    return tap_done();
}
