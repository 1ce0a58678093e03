#include "flash_image/hf/hf_tokenizer.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "flash_image/hf/hf_json.h"

static enum err refuse(struct source *s, enum err e, const char *field, const char *what)
{
    return source_refuse(s, e, "the field \"%s\" %s", field, what);
}

/* ---- tokens ---------------------------------------------------------------------------------- */

enum err hf_tokenizer_take(struct source *s, struct hf_tokenizer *t, uint32_t n_tokens)
{
    uint32_t room = n_tokens;

    if (s->params_known) {
        room = s->params.vocab;
    }
    if (room == 0 || room > INGOT_MAX_VOCAB) {
        return source_refuse(s, ERR_BAD_TOKENIZER,
                             "the vocabulary has %u tokens, but must have 1 to %u", room,
                             INGOT_MAX_VOCAB);
    }
    t->tokens = calloc(room, sizeof *t->tokens);
    if (t->tokens == NULL) {
        return source_refuse(s, ERR_NO_SPACE, "out of memory");
    }
    for (uint32_t id = 0; id < room; id++) {
        t->tokens[id] = source_unused_token;
    }
    t->room = room;
    s->vocab = (struct source_vocab){
        .layout = SOURCE_LISTED_VOCAB,
        .n_tokens = room,
        .listed_tokens = t->tokens,
        .bos = INGOT_NO_TOKEN,
        .eos = INGOT_NO_TOKEN,
        .unk = INGOT_NO_TOKEN,
        .eot = INGOT_NO_TOKEN,
    };
    return ERR_OK;
}

uint32_t hf_tokenizer_find(const struct source *s, const char *text)
{
    size_t bytes = strlen(text);

    for (uint32_t id = 0; id < s->vocab.n_tokens; id++) {
        const struct source_token *t = &s->vocab.listed_tokens[id];

        if (t->bytes == bytes && bytes != 0 && memcmp(t->text, text, bytes) == 0) {
            return id;
        }
    }
    return INGOT_NO_TOKEN;
}

enum err hf_tokenizer_add(struct source *s, struct hf_tokenizer *t, const cJSON *token, uint32_t id)
{
    const char *text = hf_json_string(hf_json_get(token, "content"));
    uint32_t type = INGOT_TOKEN_USER;

    if (text == NULL) {
        return refuse(s, ERR_BAD_TOKENIZER, "added_tokens", "has a token without \"content\"");
    }
    if (cJSON_IsTrue(hf_json_get(token, "special"))) {
        type = INGOT_TOKEN_CONTROL;
    } else if (cJSON_IsTrue(hf_json_get(token, "single_word"))) {
        return source_refuse(
            s, ERR_UNSUPPORTED,
            "the added token \"%.40s\" has \"single_word\", which is not supported", text);
    }
    if (id < t->room) {
        t->tokens[id] = (struct source_token){
            .text = (const uint8_t *)text,
            .bytes = (uint32_t)strlen(text),
            .score = t->tokens[id].score,
            .type = type,
            .lstrip = cJSON_IsTrue(hf_json_get(token, "lstrip")),
            .rstrip = cJSON_IsTrue(hf_json_get(token, "rstrip")),
        };
    }
    return ERR_OK;
}

enum err hf_tokenizer_add_all(struct source *s, struct hf_tokenizer *t)
{
    const cJSON *token;

    cJSON_ArrayForEach(token, hf_json_get(t->root, "added_tokens"))
    {
        const cJSON *id = hf_json_get(token, "id");
        enum err e;

        if (!hf_json_whole(id, INGOT_MAX_VOCAB)) {
            return refuse(s, ERR_BAD_TOKENIZER, "added_tokens", "has a token without an \"id\"");
        }
        e = hf_tokenizer_add(s, t, token, (uint32_t)id->valuedouble);
        if (e != ERR_OK) {
            return e;
        }
    }
    return ERR_OK;
}

static double larger_id(double most, const cJSON *id)
{
    if (cJSON_IsNumber(id)) {
        return fmax(most, id->valuedouble);
    }
    return most;
}

uint32_t hf_tokenizer_count(const struct hf_tokenizer *t, double most)
{
    const cJSON *entry;

    cJSON_ArrayForEach(entry, hf_json_get(t->root, "added_tokens"))
    {
        most = larger_id(most, hf_json_get(entry, "id"));
    }
    if (most >= INGOT_MAX_VOCAB) {
        return UINT32_MAX;
    }
    return (uint32_t)(most + 1.0);
}

bool hf_tokenizer_is_byte(const char *text)
{
    return strlen(text) == 6 && strncmp(text, "<0x", 3) == 0 && text[5] == '>' &&
           strspn(text + 3, "0123456789abcdefABCDEF") == 2;
}

/* Read an entry of the vocabulary: its text and its id. bytes: tokens <0xXX> stand for bytes. */
static enum err read_token(struct source *s, struct hf_tokenizer *t, const cJSON *entry, bool bytes)
{
    struct source_token *token;

    if (!hf_json_whole(entry, t->room - 1.0)) {
        return source_refuse(s, ERR_BAD_TOKENIZER,
                             "the token \"%.40s\" has no id below the "
                             "model's %u tokens",
                             entry->string, t->room);
    }
    token = &t->tokens[(uint32_t)entry->valuedouble];
    if (token->type != INGOT_TOKEN_UNUSED) {
        return source_refuse(s, ERR_BAD_TOKENIZER,
                             "the tokens \"%.40s\" and \"%.40s\" have "
                             "the same id",
                             (const char *)token->text, entry->string);
    }
    token->text = (const uint8_t *)entry->string;
    token->bytes = (uint32_t)strlen(entry->string);
    token->type = INGOT_TOKEN_NORMAL;
    if (bytes && hf_tokenizer_is_byte(entry->string)) {
        token->type = INGOT_TOKEN_BYTE;
    }
    return ERR_OK;
}

/* Return the largest id of the vocabulary; -1: there is none. */
static double largest_id(const cJSON *vocab)
{
    double most = -1.0;
    const cJSON *entry;

    cJSON_ArrayForEach(entry, vocab)
    {
        most = larger_id(most, entry);
    }
    return most;
}

static enum err read_vocab(struct source *s, struct hf_tokenizer *t, const cJSON *model)
{
    bool bytes = cJSON_IsTrue(hf_json_get(model, "byte_fallback"));
    const cJSON *vocab = hf_json_get(model, "vocab");
    const cJSON *entry;
    enum err e;

    if (!cJSON_IsObject(vocab)) {
        return refuse(s, ERR_BAD_TOKENIZER, "model.vocab", "is missing");
    }
    e = hf_tokenizer_take(s, t, hf_tokenizer_count(t, largest_id(vocab)));
    if (e != ERR_OK) {
        return e;
    }
    cJSON_ArrayForEach(entry, vocab)
    {
        e = read_token(s, t, entry, bytes);
        if (e != ERR_OK) {
            return e;
        }
    }
    return hf_tokenizer_add_all(s, t);
}

/* ---- merges ---------------------------------------------------------------------------------- */

static struct source_text text_of(const char *text, size_t bytes)
{
    return (struct source_text){ (const uint8_t *)text, bytes };
}

/* Read a merge that is a list, ["left", "right"]. */
static bool read_pair(const cJSON *left, struct source_merge *m)
{
    if (!cJSON_IsString(left) || !cJSON_IsString(left->next)) {
        return false;
    }
    m->left = text_of(left->valuestring, strlen(left->valuestring));
    m->right = text_of(left->next->valuestring, strlen(left->next->valuestring));
    return true;
}

/* Read a merge: a pair of texts, or "left right", whose first byte belongs to left. */
static bool read_merge(const cJSON *entry, struct source_merge *m)
{
    const char *text = hf_json_string(entry);
    const char *space;

    if (cJSON_IsArray(entry)) {
        return read_pair(entry->child, m);
    }
    if (text == NULL || text[0] == '\0') {
        return false;
    }
    space = strchr(text + 1, ' ');
    if (space == NULL) {
        return false;
    }
    m->left = text_of(text, (size_t)(space - text));
    m->right = text_of(space + 1, strlen(space + 1));
    return true;
}

static enum err read_merges(struct source *s, struct hf_tokenizer *t, const cJSON *model)
{
    const cJSON *merges = hf_json_get(model, "merges");
    uint32_t n = 0;
    const cJSON *entry;

    if (!cJSON_IsArray(merges)) {
        return refuse(s, ERR_BAD_TOKENIZER, "model.merges", "is missing");
    }
    t->merges = calloc((size_t)cJSON_GetArraySize(merges) + 1, sizeof *t->merges);
    if (t->merges == NULL) {
        return source_refuse(s, ERR_NO_SPACE, "out of memory");
    }
    cJSON_ArrayForEach(entry, merges)
    {
        if (!read_merge(entry, &t->merges[n])) {
            return source_refuse(s, ERR_BAD_TOKENIZER, "merge %u is not a pair of texts", n);
        }
        n++;
    }
    s->vocab.listed_merges = t->merges;
    s->vocab.n_merges = n;
    return ERR_OK;
}

/* ---- byte-level BPE -------------------------------------------------------------------------- */

/* Return the type of the normalizer's first step that is not NFC, or NULL. A normalizer is one
 * step, a sequence of steps, or missing (DeepSeek). */
static const char *other_step(const cJSON *normalizer, bool *nfc)
{
    const cJSON *steps = hf_json_get(normalizer, "normalizers"), *step;
    const char *other = NULL;

    if (!hf_json_is(normalizer, "type", "Sequence")) {
        *nfc = *nfc || hf_json_is(normalizer, "type", "NFC");
        other = hf_json_string(hf_json_get(normalizer, "type"));
        return *nfc ? NULL : (other != NULL ? other : "one without a type");
    }
    cJSON_ArrayForEach(step, steps)
    {
        if (hf_json_is(step, "type", "NFC")) {
            *nfc = true;
        } else if (other == NULL) {
            other = hf_json_string(hf_json_get(step, "type"));
            other = other != NULL ? other : "one without a type";
        }
    }
    return other;
}

static enum err read_byte_level(struct source *s, const cJSON *root)
{
    const cJSON *normalizer = hf_json_get(root, "normalizer");
    const char *other = NULL;
    bool nfc = false;

    if (normalizer != NULL) {
        other = other_step(normalizer, &nfc);
    }
    if (other != NULL) {
        return source_refuse(
            s, ERR_UNSUPPORTED,
            "the field \"normalizer\" has the step %.40s: a byte-level tokenizer may have no step "
            "that changes texts, except NFC",
            other);
    }
    s->vocab.kind = INGOT_TOKENIZER_BPE;
    if (nfc) {
        s->vocab.flags |= INGOT_NFC;
    }
    return hf_pre_tokenizer_find(s, hf_json_get(root, "pre_tokenizer"), &s->vocab.pre);
}

/* ---- BOS and EOS ----------------------------------------------------------------------------- */

static uint32_t special_of(const struct source *s, const cJSON *item)
{
    const char *text = hf_json_string(hf_json_get(hf_json_get(item, "SpecialToken"), "id"));

    if (text == NULL) {
        return INGOT_NO_TOKEN;
    }
    return hf_tokenizer_find(s, text);
}

/* Read a template such as "<s> $A </s>": its first token begins every text, and its last token ends
 * every text. */
static void read_template(struct source *s, const cJSON *processor)
{
    const cJSON *single = hf_json_get(processor, "single");
    const cJSON *last = NULL;
    const cJSON *item;
    struct source_vocab *v = &s->vocab;

    if (!hf_json_is(processor, "type", "TemplateProcessing") || !cJSON_IsArray(single)) {
        return;
    }
    cJSON_ArrayForEach(item, single)
    {
        last = item;
    }
    v->bos = special_of(s, single->child);
    if (v->bos != INGOT_NO_TOKEN) {
        v->flags |= INGOT_ADD_BOS;
    }
    if (last != single->child && special_of(s, last) != INGOT_NO_TOKEN) {
        v->eos = special_of(s, last);
        v->flags |= INGOT_ADD_EOS;
    }
}

static void read_post_processor(struct source *s, const cJSON *processor)
{
    const cJSON *step;

    read_template(s, processor);
    cJSON_ArrayForEach(step, hf_json_get(processor, "processors"))
    {
        read_template(s, step);
    }
}

/* ---- together -------------------------------------------------------------------------------- */

/* True if the pre-tokenizer is ByteLevel, or a sequence that contains it. */
static bool is_byte_level(const cJSON *pre_tokenizer)
{
    const cJSON *step;

    cJSON_ArrayForEach(step, hf_json_get(pre_tokenizer, "pretokenizers"))
    {
        if (hf_json_is(step, "type", "ByteLevel")) {
            return true;
        }
    }
    return hf_json_is(pre_tokenizer, "type", "ByteLevel");
}

/* A missing kind is allowed: old files do not name it, because there was only one kind. */
static enum err check_kind(struct source *s, const cJSON *type)
{
    const char *name = hf_json_string(type);

    if (type == NULL ||
        (name != NULL && (strcmp(name, "BPE") == 0 || strcmp(name, "Unigram") == 0))) {
        return ERR_OK;
    }
    if (name == NULL) {
        name = "?";
    }
    return source_refuse(s, ERR_UNSUPPORTED,
                         "the tokenizer model '%.40s' is not supported; "
                         "supported: BPE, Unigram",
                         name);
}

/* Refuse tokens that are spelled differently inside a word or at its end. */
static enum err check_affixes(struct source *s, const cJSON *model)
{
    static const char *const affixes[] = { "continuing_subword_prefix", "end_of_word_suffix" };

    for (size_t i = 0; i < sizeof affixes / sizeof affixes[0]; i++) {
        const char *text = hf_json_string(hf_json_get(model, affixes[i]));

        if (text != NULL && text[0] != '\0') {
            return source_refuse(s, ERR_UNSUPPORTED,
                                 "the field \"model.%s\" is '%.20s', which is not supported",
                                 affixes[i], text);
        }
    }
    return ERR_OK;
}

static enum err read_model(struct source *s, struct hf_tokenizer *t, const cJSON *model)
{
    const char *unk = hf_json_string(hf_json_get(model, "unk_token"));
    enum err e = check_kind(s, hf_json_get(model, "type"));

    if (e != ERR_OK) {
        return e;
    }
    if (hf_json_is(model, "type", "Unigram")) {
        return hf_unigram_read(s, t, model);
    }
    e = check_affixes(s, model);
    if (e != ERR_OK) {
        return e;
    }
    e = read_vocab(s, t, model);
    if (e != ERR_OK) {
        return e;
    }
    e = read_merges(s, t, model);
    if (e != ERR_OK) {
        return e;
    }
    s->vocab.flags = 0;
    if (hf_json_is_true(model, "fuse_unk", false)) {
        s->vocab.flags |= INGOT_FUSE_UNK;
    }
    if (hf_json_is_true(model, "ignore_merges", false)) {
        s->vocab.flags |= INGOT_IGNORE_MERGES;
    }
    if (unk != NULL) {
        s->vocab.unk = hf_tokenizer_find(s, unk);
    }
    return ERR_OK;
}

static enum err read_steps(struct source *s, const cJSON *root)
{
    if (s->vocab.kind == INGOT_TOKENIZER_UNIGRAM) {
        return hf_spaces_read(s, root);
    }
    if (is_byte_level(hf_json_get(root, "pre_tokenizer"))) {
        return read_byte_level(s, root);
    }
    s->vocab.kind = INGOT_TOKENIZER_CHARACTERS;
    return hf_spaces_read(s, root);
}

enum err hf_tokenizer_read(struct source *s, const uint8_t *text, size_t bytes,
                           struct hf_tokenizer *t)
{
    enum err e;

    t->root = hf_json_parse(s, text, bytes, &e);
    if (t->root == NULL) {
        return e;
    }
    if (!cJSON_IsObject(hf_json_get(t->root, "model"))) {
        return refuse(s, ERR_BAD_TOKENIZER, "model", "is missing");
    }
    e = read_model(s, t, hf_json_get(t->root, "model"));
    if (e != ERR_OK) {
        return e;
    }
    e = read_steps(s, t->root);
    if (e != ERR_OK) {
        return e;
    }
    read_post_processor(s, hf_json_get(t->root, "post_processor"));
    if (s->vocab.unk != INGOT_NO_TOKEN && s->vocab.kind != INGOT_TOKENIZER_BPE) {
        t->tokens[s->vocab.unk].type = INGOT_TOKEN_UNKNOWN;
    }
    return ERR_OK;
}

void hf_tokenizer_free(struct hf_tokenizer *t)
{
    cJSON_Delete(t->root);
    cJSON_Delete(t->config);
    cJSON_Delete(t->chat_template);
    cJSON_Delete(t->added);
    free(t->tokens);
    free(t->merges);
    *t = (struct hf_tokenizer){ .root = NULL };
}
