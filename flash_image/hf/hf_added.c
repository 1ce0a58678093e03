/* Reads the tokens that a folder without tokenizer.json adds to SentencePiece's pieces. Pieces stay as
 * they are, except unused ones. */
#include <stdlib.h>
#include <string.h>

#include "flash_image/hf/hf_json.h"
#include "flash_image/hf/hf_tokenizer.h"

static uint32_t id_of_name(const char *c)
{
    uint32_t id = 0;

    for (; *c >= '0' && *c <= '9' && id < INGOT_MAX_VOCAB; c++) {
        id = id * 10 + (uint32_t)(*c - '0');
    }
    return id;
}

/* If the model's number of tokens is not known, let the vocabulary grow to hold the id. */
static enum err make_room(struct source *s, struct hf_tokenizer *t, uint32_t id)
{
    struct source_token *tokens;

    if (id < t->room || id >= INGOT_MAX_VOCAB || s->params_known) {
        return ERR_OK;
    }
    tokens = realloc(t->tokens, ((size_t)id + 1) * sizeof *tokens);
    if (tokens == NULL) {
        return source_refuse(s, ERR_NO_SPACE, "out of memory");
    }
    for (uint32_t i = t->room; i <= id; i++) {
        tokens[i] = source_unused_token;
    }
    t->tokens = tokens;
    t->room = id + 1;
    s->vocab.listed_tokens = tokens;
    s->vocab.n_tokens = t->room;
    return ERR_OK;
}

/* True if an added token may have this id. tokenizer_config.json may say more about a token of
 * added_tokens.json. */
static bool is_free(const struct hf_tokenizer *t, uint32_t id)
{
    return id < t->room &&
           (id >= t->n_pieces || t->tokens[id].type == INGOT_TOKEN_UNUSED || t->tokens[id].named);
}

enum err hf_added_decoder_read(struct source *s, struct hf_tokenizer *t)
{
    const cJSON *token;

    if (t->root != NULL) {
        return ERR_OK; /* tokenizer.json contains its added tokens itself */
    }
    cJSON_ArrayForEach(token, hf_json_get(t->config, "added_tokens_decoder"))
    {
        uint32_t id = id_of_name(token->string);
        enum err e = make_room(s, t, id);

        if (e == ERR_OK && is_free(t, id)) {
            e = hf_tokenizer_add(s, t, token, id);
        }
        if (e != ERR_OK) {
            return e;
        }
    }
    return ERR_OK;
}

/* Store an entry such as "<|im_start|>": 32000. */
static enum err add_named(struct source *s, struct hf_tokenizer *t, const cJSON *entry)
{
    uint32_t id;
    enum err e;

    if (!hf_json_whole(entry, INGOT_MAX_VOCAB)) {
        return source_refuse(s, ERR_BAD_TOKENIZER, "the token \"%.40s\" has no id", entry->string);
    }
    id = (uint32_t)entry->valuedouble;
    e = make_room(s, t, id);
    if (e == ERR_OK && is_free(t, id)) {
        t->tokens[id].text = (const uint8_t *)entry->string;
        t->tokens[id].bytes = (uint32_t)strlen(entry->string);
        t->tokens[id].type = INGOT_TOKEN_USER;
        t->tokens[id].named = true;
    }
    return e;
}

enum err hf_added_tokens_read(struct source *s, const uint8_t *text, size_t bytes,
                              struct hf_tokenizer *t)
{
    const cJSON *entry;
    enum err e = ERR_OK;

    if (t->root != NULL) {
        return ERR_OK;
    }
    t->added = hf_json_parse(s, text, bytes, &e);
    cJSON_ArrayForEach(entry, t->added)
    {
        if (e == ERR_OK) {
            e = add_named(s, t, entry);
        }
    }
    return e;
}
