/* Memory tags: the shown text and the requests do not depend on where the text is cut. */
#include "runtime/features/memory_tags/memory_tags.h"

#include <stdio.h>
#include <string.h>

#include "tests/unit/tap.h"

static char shown[2000];
static struct memory_tags tags;

static void add(void *context, const struct hidden_tag *tag)
{
    (void)context;
    memory_tags_add(&tags, tag);
}

static void keep(void *context, const char *text, size_t bytes)
{
    size_t n = strlen(shown);

    (void)context;
    if (n + bytes < sizeof shown) {
        memcpy(shown + n, text, bytes);
        shown[n + bytes] = '\0';
    }
}

static void put(const char *text, size_t portion)
{
    struct hidden_tags hidden = { .write = keep, .tag = add };
    size_t n = strlen(text);

    shown[0] = '\0';
    memset(&tags, 0, sizeof tags);
    for (size_t i = 0; i < n; i += portion)
        hidden_tags_write(&hidden, text + i, n - i < portion ? n - i : portion);
    hidden_tags_end(&hidden);
}

/* operations: "s0:text;" or "f2:;" each */
static const char *done(void)
{
    static char text[2000];
    size_t n = 0;

    text[0] = '\0';
    for (uint32_t i = 0; i < tags.n; i++) {
        const struct memory_operation *o = &tags.operations[i];

        n += (size_t)snprintf(text + n, sizeof text - n, "%c%u:%.*s;",
                              o->tag == MEMORY_STORE ? 's' : 'f', o->space, (int)o->bytes, o->text);
    }
    return text;
}

static void test_rows(void)
{
    static const struct {
        const char *text, *shown, *done;
        uint32_t refused;
    } rows[] = {
        { "Plain text, 3 < 4 <| <|me <|memo", "Plain text, 3 < 4 <| <|me <|memo", "", 0 },
        { "A<|mem_store|>personal name = Ann<|mem_end|>B", "AB", "s0:name = Ann;", 0 },
        { "<|mem_store|>wiki   a<|b<|mem_e<|mem_end|>!", "!", "s2:a<|b<|mem_e;", 0 },
        { "<<|mem_forget|>schedule<|mem_end|>>", "<>", "f3:;", 0 },
        { "<|<|mem_forget|>contested <|mem_end|>", "<|", "f4:;", 0 },
        { "x<|mem_store|>episodic a line\ny", "x\ny", "s1:a line;", 0 },
        { "x<|mem_store|>episodic a<|mem\ny", "x\ny", "s1:a<|mem;", 0 },
        { "<|mem_store|>nowhere text<|mem_end|>ok", "ok", "", 1 },
        { "<|mem_store|>wiki<|mem_end|>ok", "ok", "", 1 },
        { "<|mem_forget|>wiki more<|mem_end|>ok", "ok", "", 1 },
        { "<|mem_store|><|mem_end|>ok", "ok", "", 1 },
        { "a<|mem_recall|>b<|mem_end|>c", "abc", "", 0 },
        { "a<|mem_|>b<|mem_X|>c<|mem_a-b|>", "a<|mem_|>b<|mem_X|>c<|mem_a-b|>", "", 0 },
        { "a<|mem_store|b", "a<|mem_store|b", "", 0 },
        { "a<|mem_averyverylongname|>b", "a<|mem_averyverylongname|>b", "", 0 },
        { "a<|mem_store|>wiki begun", "a", "", 1 },
        { "a<|mem_sto", "a", "", 1 },
        { "a<|mem_store<|mem_forget|>wiki<|mem_end|>b", "a<|mem_storeb", "f2:;", 0 },
        { "<|mem_store|>wiki \xc3\xa9t\xc3\xa9<|mem_end|>\xc3\xa9", "\xc3\xa9",
          "s2:\xc3\xa9t\xc3\xa9;", 0 },
    };

    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        bool same = true;

        for (size_t portion = 1; portion <= 40; portion++) {
            put(rows[i].text, portion);
            same = same && strcmp(shown, rows[i].shown) == 0 && strcmp(done(), rows[i].done) == 0 &&
                   tags.refused == rows[i].refused;
        }
        OK(same, "%s: the text \"%s\" is shown, and the tags are followed: %s, %u refused",
           rows[i].text, shown, done(), tags.refused);
    }
}

static void test_bounds(void)
{
    char text[1200], want[FABRIC_TEXT_BYTES + 20];
    int n = 0;

    for (int i = 0; i < MEMORY_TAGS_OPERATIONS + 2; i++)
        n += snprintf(text + n, sizeof text - (size_t)n, "<|mem_store|>wiki fact %d<|mem_end|>", i);
    put(text, 7);
    OK(tags.n == MEMORY_TAGS_OPERATIONS && tags.refused == 2 && shown[0] == '\0',
       "%u tags are followed, %u not", tags.n, tags.refused);
    for (int bytes = FABRIC_TEXT_BYTES - 1; bytes <= FABRIC_TEXT_BYTES + 1; bytes++) {
        memset(want, 'x', sizeof want);
        snprintf(text, sizeof text, "<|mem_store|>contested %.*s<|mem_end|>after", bytes, want);
        put(text, 5);
        OK(tags.n == (bytes <= FABRIC_TEXT_BYTES) && tags.refused == (bytes > FABRIC_TEXT_BYTES) &&
               strcmp(shown, "after") == 0,
           "a memory of %d bytes is %s", bytes, tags.n != 0 ? "stored" : "refused");
    }
    memset(text, 'y', sizeof text);
    memcpy(text, "<|mem_store|>wiki ", 18);
    text[sizeof text - 1] = '\0';
    put(text, 3);
    OK(tags.n == 0 && tags.refused == 1 && shown[0] == '\0', "a tag that never ends is not shown");
}

int main(void)
{
    test_rows();
    test_bounds();
    return tap_done();
}
