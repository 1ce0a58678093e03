/* Finds a memory by its words: other words for the same question, near names, questions about
 * nothing known, corrections; random bytes. */
#include "runtime/features/fabric/recall.h"

#include <stdlib.h>
#include <string.h>

#include "tests/unit/tap.h"

/* Short words are common, as in most languages; the vocabulary knows one name, and a few words not
 * at all. */
static float rarity(void *context, const char *word, size_t bytes, bool *is_name)
{
    static const char *const unknown[] = { "mila", "Mila", "zorro" };

    (void)context;
    for (size_t i = 0; i < sizeof unknown / sizeof unknown[0]; i++)
        if (bytes == strlen(unknown[i]) && memcmp(word, unknown[i], bytes) == 0)
            return RECALL_UNKNOWN;
    if ((unsigned char)word[0] >= 0xe0) /* a character of three bytes is a word */
        return 0.4f;
    *is_name = bytes == 4 && (memcmp(word, "Lila", 4) == 0 || memcmp(word, "lila", 4) == 0);
    return bytes < 4 ? 0.0f : bytes < 6 ? 0.4f : 1.0f;
}

static void read_text(struct recall_text *t, const char *text)
{
    recall_read(t, text, strlen(text));
    recall_weigh(t, rarity, NULL);
}

/* memory: "QUESTION = ANSWER", or a sentence. */
static float score(const char *asked, const char *memory)
{
    const char *sign = strstr(memory, " = ");
    struct recall_text a, m;
    uint32_t question = 0;

    read_text(&a, asked);
    read_text(&m, memory);
    while (sign != NULL && question < m.n && m.words[question].at < sign - memory)
        question++;
    return recall_score(&a, &m, question);
}

static void test_found(void)
{
    static const char boat[] = "What colour is the boat Marigold? = Marigold is green.",
                      shed[] = "The password for the shed is walrus.",
                      hers[] = "What is Lila's favourite colour? = Lila likes green.";
    static const struct {
        const char *asked, *memory;
        bool found;
    } rows[] = {
        { "What colour is the boat Marigold?", boat, true },
        { "Which colour has the Marigold?", boat, true },
        { "And the boat Marigold's colour?", boat, true },
        { "What colour is the boat Periwinkle?", boat, false },
        { "What colour is the boat?", boat, true },
        { "What colour is the sunset?", boat, false },
        { "Tell me a story about a cat.", boat, false },
        { "What is the password for the shed?", shed, true },
        { "Which passwords open the shed?", shed, true },
        { "What is the password for the cellar?", shed, false },
        { "What is it?", shed, false },
        { "", shed, false },
        { "?!", shed, false },
        { "Where does Roberta live?", "Where does Robert live? = In Oslo.", false },
        { "Where is Robert living?", "Where does Robert live? = In Oslo.", true },
        { "WHERE DOES ROBERT LIVE?", "Where does Robert live? = In Oslo.", true },
        { "lila's favourite colour?", hers, true },
        { "what is mila's favourite colour", hers, false },
        { "Mila's favourite colour is what?", hers, false },
        { "Lila's favourite colour is what?",
          "What is Robert's favourite colour? = Robert likes red.", false },
        { "\xe2\x80\x9cMarigold\xe2\x80\x9d\xe2\x80\x94what colour is the boat\xe2\x80\xa6", boat,
          true },
        { "What\xc2\xa0"
          "colour is the \xc2\xab"
          "boat\xc2\xbb Marigold?",
          boat, true },
        { "Where does \xc3\x89loise live?", "Where does \xc3\x89lodie live? = In Oslo.", false },
        { "WHERE DOES \xc3\x89LODIE LIVE?", "Where does \xc3\xa9lodie live? = In Oslo.", true },
        { "\xd0\x93\xd0\x94\xd0\x95 \xd0\x9c\xd0\x9e\xd0\x99 \xd0\x9a\xd0\x9b\xd0\xae\xd0\xa7?",
          "\xd0\xb3\xd0\xb4\xd0\xb5 \xd0\xbc\xd0\xbe\xd0\xb9 \xd0\xba\xd0\xbb\xd1\x8e\xd1\x87 = \xd0\xb2 \xd1\x8f\xd1\x89\xd0\xb8\xd0\xba\xd0\xb5",
          true },
        { "\xe8\x88\xb9\xe6\x98\xaf\xe4\xbb\x80\xe4\xb9\x88\xe9\xa2\x9c\xe8\x89\xb2\xef\xbc\x9f",
          "\xe8\x88\xb9\xe7\x9a\x84\xe9\xa2\x9c\xe8\x89\xb2 = \xe7\xbb\xbf", true },
        { "How many rooms in 2024?", "How many rooms in 2023? = Ten rooms.", false }
    };

    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        float s = score(rows[i].asked, rows[i].memory);

        OK((s >= RECALL_FOUND) == rows[i].found, "\"%s\" has the score %.2f, and finds %s",
           rows[i].asked, (double)s, rows[i].found ? "found" : "nothing");
    }
}

static void test_same(void)
{
    static const struct {
        const char *a, *b;
        bool same, corrects;
    } rows[] = {
        { "What is it?", "what is it", true, true },
        { "What is it", "What was it", false, false },
        { "Lila\xe2\x80\x99s house is red", "Lila's house is red", true, true },
        { "Lila lives at 16 Harbour Street", "Lila lives at 3 Quarry Street", false, true },
        { "The boat Marigold is green", "The boat Marigold is yellow now", false, true },
        { "The password for the shed is walrus", "The password for the cellar is otter", false,
          false },
        { "The dentist expects Paula on Friday", "The dentist expects Karin on Monday", false,
          false },
        { "Viktor is allergic to walnuts", "Viktor is also allergic to shrimps", false, false },
        { "It is so", "It is not", false, false },
    };

    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        struct recall_text a, b;

        read_text(&a, rows[i].a);
        read_text(&b, rows[i].b);
        OK(recall_is_same(&a, &b) == rows[i].same &&
               recall_is_correction(&a, &b) == rows[i].corrects &&
               recall_is_correction(&b, &a) == rows[i].corrects,
           "\"%s\" and \"%s\" are told apart: %s%s", rows[i].a, rows[i].b,
           rows[i].same ? "the same" : "not the same", rows[i].corrects ? ", a correction" : "");
    }
}

static void test_wild(void)
{
    static char wild[4096];
    struct recall_text a, b;
    bool right = true;

    for (int round = 0; round < 2000; round++) {
        size_t n = (size_t)(rand() % (int)sizeof wild);
        char *exact;

        for (size_t i = 0; i < n; i++)
            wild[i] = (char)(rand() % 3 == 0 ? " '=?\xe2\x80\x99"[rand() % 7] : rand());
        exact = malloc(n + 1);
        if (exact == NULL)
            abort();
        memcpy(exact, wild, n); /* so that the sanitizer sees a read beyond */
        exact = realloc(exact, n != 0 ? n : 1);
        recall_read(&a, exact, n);
        recall_weigh(&a, rarity, NULL);
        read_text(&b, "What colour is the boat Marigold?");
        right = right && a.n <= RECALL_WORDS && recall_score(&a, &b, 3) >= 0.0f &&
                recall_score(&b, &a, 0) <= 2.0f && recall_is_same(&a, &a);
        for (uint32_t i = 0; i < a.n; i++)
            right = right && (size_t)a.words[i].at + a.words[i].bytes <= n;
        free(exact);
    }
    OK(right, "2000 random texts stay within their bytes");
}

int main(void)
{
    srand(43);
    test_found();
    test_same();
    test_wild();
    return tap_done();
}
