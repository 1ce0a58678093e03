#include "runtime/features/fabric/chat_recall.h"

#include <string.h>

#include "board/min_max.h"
#include "runtime/base/crc32c.h"
#include "runtime/chat/chat_private.h"
#include "runtime/features/fabric/chat_fabric.h"
#include "runtime/features/fabric/chat_fabric_private.h"
#include "runtime/text/format_text.h"

/* The texts before the memories and between the memories and the turn. These are the best of nine
 * forms: SmolLM2-135M answers 37 of 40 questions in a third turn, and only 32 if the memory is
 * repeated after the question. */
#define KNOWN "I know this:"
#define DOUBTED " It may be that"
#define ASKED "\n\nQuestion: "
#define AS_TOLD 3.0f /* larger than any score */

/* ---- how rare a word is --------------------------------------------------------------------- */

enum {
    COMMON = 64, /* ids below vocab / COMMON belong to the most common words */
    RARE = 4,    /* ids from vocab / RARE on are rare */
    WORD_BYTES = 64,
};

/* Return log2(x), interpolated between powers of two. */
static float log_2(uint32_t x)
{
    uint32_t power = 0;

    while (x >> power > 1) {
        power++;
    }
    return (float)power + ((float)x / (float)(1u << power) - 1.0f);
}

/* Return how rare a word's form is. A vocabulary of any language begins with common pieces. A word
 * of several pieces is rare. */
static float weigh(struct chat *c, const char *word, size_t bytes)
{
    struct session *s = c->session;
    uint32_t vocab = s->model->image.header->params.vocab, ids[2];
    float least = log_2(max_u32(vocab / COMMON, 1)), most = log_2(max_u32(vocab / RARE, 2));
    size_t n;

    if (tokenizer_encode(&s->model->tokenizer, word, bytes, TOKENIZER_CONTINUE, ids, 2, &n,
                         s->scratch.memory, s->scratch.bytes) != ERR_OK ||
        n != 1) {
        return 1.0f;
    }
    return min_float(max_float((log_2(max_u32(ids[0], 1)) - least) / (most - least), 0.0f), 1.0f);
}

/* Return a character in lower case. Only ASCII changes; other letters stay as they are. */
static char small(char c)
{
    return c >= 'A' && c <= 'Z' ? (char)(c - 'A' + 'a') : c;
}

static char capital(char c)
{
    return c >= 'a' && c <= 'z' ? (char)(c - 'a' + 'A') : c;
}

/* Return how rare a word is after a space. The most common form counts: as written, in small
 * letters, or with a capital. If the form with a capital is the most common, as for "Paris", the
 * word is a name. */
static float rarity(void *context, const char *word, size_t bytes, bool *is_name)
{
    char text[WORD_BYTES + 1] = " ";
    float as_written, as_small, as_name;

    if (bytes > WORD_BYTES) {
        return RECALL_UNKNOWN;
    }
    memcpy(text + 1, word, bytes);
    as_written = weigh(context, text, bytes + 1);
    for (size_t i = 1; i <= bytes; i++) {
        text[i] = small(text[i]);
    }
    as_small = weigh(context, text, bytes + 1);
    text[1] = capital(text[1]);
    as_name = weigh(context, text, bytes + 1);
    if (word[0] != small(word[0])) {
        *is_name = as_name < as_small;
    } else {
        *is_name = as_name < RECALL_UNKNOWN && as_small >= RECALL_UNKNOWN;
    }
    return min_float(min_float(as_written, as_small), as_name);
}

static void read(struct chat *c, struct recall_text *t, const char *text, size_t bytes)
{
    recall_read(t, text, bytes);
    recall_weigh(t, rarity, c);
}

float chat_recall_weight(struct chat *c, const char *text, size_t bytes, uint32_t *words)
{
    struct recall_text *t = &fabric_of(c)->recall.memory;
    float sum = 0.0f;

    read(c, t, text, bytes);
    for (uint32_t i = 0; i < t->n; i++) {
        sum += t->words[i].weight;
    }
    *words = t->n;
    return sum;
}

/* ---- notes ---------------------------------------------------------------------------------- */

static bool has_answer(const struct fabric_note *n)
{
    return fabric_answer(n) != n->text;
}

/* Return the number of words of a note's question, or 0 if the note is a sentence. */
static uint32_t question_words(const struct recall_text *t, const struct fabric_note *n)
{
    uint32_t i = 0;

    while (has_answer(n) && i < t->n && t->words[i].at < n->question) {
        i++;
    }
    return i;
}

uint32_t chat_recall_opening(struct chat *c)
{
    size_t n = chat_encode_opening(c);

    return crc32c(session_model_crc(c->session), c->opening.ids, n * sizeof c->opening.ids[0]);
}

/* Return true if the turn is the note's question, in any spelling. */
static bool asks_as_told(struct chat *c, const struct fabric_note *n, const char *text,
                         size_t bytes)
{
    struct recall_text *question = &fabric_of(c)->recall.memory;

    if (bytes == n->question && memcmp(text, n->text, bytes) == 0) {
        return true;
    }
    recall_read(question, n->text, n->question);
    return question->n != 0 && recall_is_same(&fabric_of(c)->recall.asked, question);
}

/* Return true if the adapter answers, because a first turn asks in the taught words. */
static bool is_by_heart(struct chat *c, struct fabric_note *n)
{
    return !c->started && n->wins && n->opening == chat_recall_opening(c) && chat_fabric_wins(c, n);
}

/* Return true if /teach has taught the answer to this first turn; a memory in front of the turn
 * would hide that answer. */
static bool is_taught(struct chat *c, const char *text, size_t bytes)
{
    return !c->started && lessons_have_taught(&lessons_of(c)->lessons, text, bytes);
}

/* Return a note's score for the text (bytes), or 0 if the note has faded. */
static float score(struct chat *c, const struct fabric_note *n, const char *text, size_t bytes)
{
    struct chat_recall *r = &fabric_of(c)->recall;

    if (n->strength < FABRIC_STRONG) {
        return 0.0f;
    }
    if (asks_as_told(c, n, text, bytes)) {
        return AS_TOLD;
    }
    recall_read(&r->memory, n->text, n->bytes);
    if (!recall_touches(&r->asked, &r->memory)) {
        return 0.0f;
    }
    recall_weigh(&r->memory, rarity, c);
    return recall_score(&r->asked, &r->memory, question_words(&r->memory, n));
}

/* ---- a turn --------------------------------------------------------------------------------- */

struct found {
    uint32_t n, notes[RECALL_NOTES];
    float scores[RECALL_NOTES];
};

/* Insert a note. The best note comes first; of equal notes the newest does. */
static void put_found(struct found *f, uint32_t note, float score)
{
    uint32_t at = f->n < RECALL_NOTES ? f->n++ : RECALL_NOTES - 1;

    if (at == RECALL_NOTES - 1 && f->n == RECALL_NOTES && f->scores[at] > score) {
        return;
    }
    for (; at > 0 && f->scores[at - 1] <= score; at--) {
        f->scores[at] = f->scores[at - 1];
        f->notes[at] = f->notes[at - 1];
    }
    f->scores[at] = score;
    f->notes[at] = note;
}

static void find(struct chat *c, const char *text, size_t bytes, struct found *found)
{
    for (uint32_t i = 0; i < fabric_of(c)->fabric.n_notes; i++) {
        float s = score(c, &fabric_of(c)->fabric.notes[i], text, bytes);

        if (s >= RECALL_FOUND) {
            put_found(found, i, s);
        }
    }
}

/* Return true if an answer repeats a rare word of its question, or if there is no question. */
static bool stands_alone(struct chat *c, const struct fabric_note *n)
{
    struct recall_text *t = &fabric_of(c)->recall.memory;
    uint32_t question;

    read(c, t, n->text, n->bytes);
    question = question_words(t, n);
    for (uint32_t i = 0; i < question; i++) {
        for (uint32_t k = question; k < t->n; k++) {
            if (t->words[i].weight >= RECALL_RARE && recall_is_alike(t, i, t, k)) {
                return true;
            }
        }
    }
    return question == 0;
}

/* Add a note's sentence to told (n bytes so far). Returns false if the budget is spent. */
static bool tell(struct chat *c, const struct fabric_note *note, size_t *n, size_t budget)
{
    char *told = fabric_of(c)->recall.told;
    const char *text = fabric_answer(note);
    size_t bytes = (size_t)(note->text + note->bytes - text);
    bool ends = bytes != 0 && (text[bytes - 1] == '.' || text[bytes - 1] == '!');

    if (!stands_alone(c, note)) {
        text = note->text;
        bytes = note->question;
    }
    if (*n + sizeof DOUBTED + note->bytes + sizeof ". " > sizeof KNOWN + budget) {
        return false; /* the note and the text around it do not fit */
    }
    *n += format_text(told + *n, RECALL_TOLD_BYTES - *n, "%s %.*s",
                      note->space == FABRIC_CONTESTED ? DOUBTED : "", (int)bytes, text);
    if (text == note->text && has_answer(note)) { /* the answer follows its question */
        const char *answer = fabric_answer(note);

        *n += format_text(told + *n, RECALL_TOLD_BYTES - *n, " %.*s",
                          (int)(note->text + note->bytes - answer), answer);
    }
    if (!ends) {
        told[(*n)++] = '.';
    }
    return true;
}

const char *chat_recall(struct chat *c, const char *text, size_t bytes, size_t *told_bytes)
{
    struct chat_recall *r = &fabric_of(c)->recall;
    struct fabric *f = &fabric_of(c)->fabric;
    struct found found = { 0 };
    size_t n, budget;
    uint32_t told = 0;

    r->by_heart = false;
    if (!lessons_of(c)->learns || f->n_notes == 0 ||
        bytes + RECALL_NOTE_BYTES + sizeof KNOWN ASKED > RECALL_TOLD_BYTES) {
        return NULL;
    }
    fabric_set_clock(f, chat_fabric_now(c)); /* before strengths are compared */
    budget = min_u32(RECALL_NOTE_BYTES, c->session->context / 2);
    read(c, &r->asked, text, bytes);
    find(c, text, bytes, &found);
    r->by_heart = found.n != 0 && found.scores[0] >= AS_TOLD &&
                  is_by_heart(c, &f->notes[found.notes[0]]);
    if (found.n == 0 || r->by_heart || (found.scores[0] < AS_TOLD && is_taught(c, text, bytes))) {
        return NULL;
    }
    n = format_text(r->told, RECALL_TOLD_BYTES, KNOWN);
    while (told < found.n && tell(c, &f->notes[found.notes[told]], &n, budget)) {
        fabric_need(f, found.notes[told++]);
    }
    if (told == 0) {
        return NULL;
    }
    n += format_text(r->told + n, RECALL_TOLD_BYTES - n, ASKED);
    memcpy(r->told + n, text, bytes);
    *told_bytes = n + bytes;
    return r->told;
}

/* ---- corrections ---------------------------------------------------------------------------- */

uint32_t chat_recall_replaced(struct chat *c, enum fabric_name space, const char *text,
                              size_t bytes, size_t question)
{
    struct chat_recall *r = &fabric_of(c)->recall;
    const struct fabric *f = &fabric_of(c)->fabric;
    bool is_sentence = fabric_answer_of(text, bytes) == text;

    read(c, &r->asked, text, is_sentence ? bytes : question);
    for (uint32_t i = 0; i < f->n_notes; i++) {
        const struct fabric_note *n = &f->notes[i];
        bool happened = n->space == FABRIC_EPISODIC || space == FABRIC_EPISODIC;

        if (has_answer(n) == is_sentence) {
            continue;
        }
        read(c, &r->memory, n->text, is_sentence ? n->bytes : n->question);
        if (recall_is_same(&r->asked, &r->memory) ||
            (is_sentence && !happened && recall_is_correction(&r->asked, &r->memory))) {
            return i;
        }
    }
    return f->n_notes;
}
