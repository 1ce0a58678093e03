/* A small model is not asked to write a memory, but to choose one of the person's own sentences. A
 * grammar constrains the choice to the most informative sentences, by the weights of their words
 * (recall.h). Questions are left out, and so are sentences that are already remembered. */
#include "runtime/features/reflection/reflection_choice.h"

#include <string.h>

#include "runtime/features/fabric/chat_fabric.h"

/* The beginning of a tag. In a list of choices, \| means the character |. */
#define BEGIN "<\\|mem_store\\|>personal "
#define END "<\\|mem_end\\|>"

enum {
    CHOICES = 3,
    LEAST_WORDS = 4,  /* a sentence with fewer words is not worth keeping */
    MOST_BYTES = 160, /* the most bytes of a sentence; GRAMMAR_WORK_BYTES limits them */
};

struct choice {
    const char *text;
    size_t bytes;
    float weight;
};

/* The sentences with the largest weights, in falling order. */
struct choices {
    struct choice list[CHOICES];
    unsigned n;
};

static bool is_known(const struct chat *c, const char *text, size_t bytes)
{
    const struct fabric *f = &fabric_of(c)->fabric;

    for (uint32_t i = 0; i < f->n_notes; i++) {
        if (f->notes[i].bytes == bytes && memcmp(f->notes[i].text, text, bytes) == 0) {
            return true;
        }
    }
    return false;
}

static void take_sentence(struct chat *c, struct choices *all, const char *text, size_t bytes)
{
    struct choice new = { text, bytes, 0.0f };
    uint32_t words;
    unsigned at;

    if (bytes == 0 || bytes > MOST_BYTES || text[bytes - 1] == '?' ||
        memchr(text, '<', bytes) != NULL || is_known(c, text, bytes)) {
        return;
    }
    new.weight = chat_recall_weight(c, text, bytes, &words);
    at = all->n < CHOICES ? all->n++ : CHOICES - 1;
    if (words < LEAST_WORDS || (all->list[at].text != NULL && all->list[at].weight >= new.weight)) {
        all->n = all->list[at].text != NULL ? all->n : at;
        return;
    }
    for (; at > 0 && all->list[at - 1].weight < new.weight; at--) {
        all->list[at] = all->list[at - 1];
    }
    all->list[at] = new;
}

static bool ends_sentence(const char *text, size_t left)
{
    return *text == '\n' || ((*text == '.' || *text == '!' || *text == '?') &&
                             (left == 1 || text[1] == ' ' || text[1] == '\n'));
}

static void take_text(struct chat *c, struct choices *all, const char *text, size_t bytes)
{
    size_t at = 0;

    while (at < bytes) {
        size_t n = 0;

        while (at < bytes && (text[at] == ' ' || text[at] == '\n')) {
            at++;
        }
        while (at + n < bytes && !ends_sentence(text + at + n, bytes - at - n)) {
            n++;
        }
        n += at + n < bytes && text[at + n] != '\n';
        take_sentence(c, all, text + at, n);
        at += n;
    }
}

/* Find sentences that the person wrote; the rest of a turn may be the result of an action. */
static void find_choices(struct chat *c, struct choices *all)
{
    const struct turns *t = &c->turns;

    memset(all, 0, sizeof *all);
    for (unsigned i = 0; i < t->n; i++) {
        take_text(c, all, t->text + t->list[i].text + t->list[i].bytes - t->said[i], t->said[i]);
    }
}

/* Write a sentence as a tag, with a backslash before characters that have a meaning in a list of
 * choices. */
static char *put_tag(char *to, const struct choice *choice)
{
    memcpy(to, BEGIN, sizeof BEGIN - 1);
    to += sizeof BEGIN - 1;
    for (size_t i = 0; i < choice->bytes; i++) {
        if (choice->text[i] == '|' || choice->text[i] == '\\') {
            *to++ = '\\';
        }
        *to++ = choice->text[i];
    }
    memcpy(to, END, sizeof END - 1);
    return to + sizeof END - 1;
}

const char *reflection_choices(struct chat *c)
{
    char *text = fabric_of(c)->recall.told, *to = text;
    struct choices all;

    static_assert(CHOICES * (CHOICES - 1) * 2 * (2 * MOST_BYTES + sizeof "|" BEGIN END) <=
                      RECALL_TOLD_BYTES,
                  "there is room for the list");
    find_choices(c, &all);
    if (all.n == 0) {
        return NULL;
    }
    if (all.n == 1) {
        to = put_tag(to, &all.list[0]);
    }
    for (unsigned i = 0; i < all.n * all.n; i++) { /* each pair of sentences, in both orders */
        const struct choice *one = &all.list[i / all.n], *other = &all.list[i % all.n];

        if (one != other) {
            *to = '|';
            to += to != text;
            to = put_tag(put_tag(to, one), other);
        }
    }
    *to = '\0';
    return text;
}
