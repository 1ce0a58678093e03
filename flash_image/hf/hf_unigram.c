/* Reads the vocabulary of a tokenizer.json of type Unigram: a list of pieces with scores. A piece's
 * index is its id. */
#include <float.h>
#include <math.h>
#include <string.h>

#include "flash_image/hf/hf_json.h"
#include "flash_image/hf/hf_tokenizer.h"

/* Read a piece such as ["piece", -3.5]. */
static enum err read_piece(struct source *s, struct hf_tokenizer *t, const cJSON *entry,
                           uint32_t id, bool bytes)
{
    const cJSON *text = hf_json_list(entry) != NULL ? entry->child : NULL;
    const cJSON *score = text != NULL ? text->next : NULL;

    if (!cJSON_IsString(text) || !cJSON_IsNumber(score) ||
        !(fabs(score->valuedouble) <= (double)FLT_MAX)) {
        return source_refuse(
            s, ERR_BAD_TOKENIZER,
            "entry %u of the field \"model.vocab\" is not text with a finite score", id);
    }
    if (id < t->room) {
        t->tokens[id] = (struct source_token){
            .text = (const uint8_t *)text->valuestring,
            .bytes = (uint32_t)strlen(text->valuestring),
            .score = (float)score->valuedouble,
            .type = INGOT_TOKEN_NORMAL,
        };
        if (bytes && hf_tokenizer_is_byte(text->valuestring)) {
            t->tokens[id].type = INGOT_TOKEN_BYTE;
        }
    }
    return ERR_OK;
}

static enum err read_pieces(struct source *s, struct hf_tokenizer *t, const cJSON *model)
{
    bool bytes = cJSON_IsTrue(hf_json_get(model, "byte_fallback"));
    const cJSON *entry;
    uint32_t id = 0;

    cJSON_ArrayForEach(entry, hf_json_get(model, "vocab"))
    {
        enum err e = read_piece(s, t, entry, id++, bytes);

        if (e != ERR_OK) {
            return e;
        }
    }
    if (id > t->room) {
        return source_refuse(s, ERR_BAD_TOKENIZER,
                             "the field \"model.vocab\" has %u pieces, but the model has %u "
                             "tokens",
                             id, t->room);
    }
    return ERR_OK;
}

enum err hf_unigram_read(struct source *s, struct hf_tokenizer *t, const cJSON *model)
{
    const cJSON *vocab = hf_json_get(model, "vocab"), *unk = hf_json_get(model, "unk_id");
    enum err e;

    if (!cJSON_IsArray(vocab)) {
        return source_refuse(s, ERR_BAD_TOKENIZER,
                             "the field \"model.vocab\" is not a list of pieces with scores");
    }
    e = hf_tokenizer_take(s, t, hf_tokenizer_count(t, cJSON_GetArraySize(vocab) - 1.0));
    if (e == ERR_OK) {
        e = read_pieces(s, t, model);
    }
    if (e == ERR_OK) {
        e = hf_tokenizer_add_all(s, t);
    }
    if (e != ERR_OK) {
        return e;
    }
    s->vocab.kind = INGOT_TOKENIZER_UNIGRAM;
    s->vocab.flags = INGOT_FUSE_UNK;
    if (unk == NULL || cJSON_IsNull(unk)) {
        return ERR_OK;
    }
    if (!hf_json_whole(unk, t->room - 1.0)) {
        return source_refuse(s, ERR_BAD_TOKENIZER,
                             "the field \"model.unk_id\" is not an id below the model's %u tokens",
                             t->room);
    }
    s->vocab.unk = (uint32_t)unk->valuedouble;
    return ERR_OK;
}
