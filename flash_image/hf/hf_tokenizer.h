/* The tokenizer of a Hugging Face folder: tokenizer.json (BPE), or SentencePiece's tokenizer.model;
 * and facts from tokenizer_config.json and generation_config.json. */
#ifndef INGOT_FLASH_IMAGE_HF_TOKENIZER_H
#define INGOT_FLASH_IMAGE_HF_TOKENIZER_H

#include <cjson/cJSON.h>

#include "flash_image/source/source.h"

/* The memory to which s->vocab points. The caller zeroes it. */
struct hf_tokenizer {
    cJSON *root;                 /* of tokenizer.json */
    cJSON *config;               /* of tokenizer_config.json */
    cJSON *chat_template;        /* of chat_template.json */
    cJSON *added;                /* of added_tokens.json */
    struct source_token *tokens; /* (room); tokens without text are unused */
    struct source_merge *merges;
    uint32_t room;
    uint32_t n_pieces; /* of tokenizer.model; 0: tokenizer.json is read */
};

/* Fill s->vocab. If s->params are known (params_known), the vocabulary gets the model's number of
 * tokens: missing tokens are unused, and added tokens beyond that number are dropped. Errors of all
 * these functions: ERR_BAD_TOKENIZER, ERR_BAD_MODEL (not JSON), ERR_UNSUPPORTED, ERR_NO_SPACE. */
enum err hf_tokenizer_read(struct source *s, const uint8_t *text, size_t bytes,
                           struct hf_tokenizer *t);

/* Read tokenizer.model, whose bytes must stay in memory. */
enum err hf_sentencepiece_read(struct source *s, const uint8_t *data, size_t bytes,
                               struct hf_tokenizer *t);

/* Read added_tokens.json, which older folders have beside tokenizer.model: texts with their ids. It
 * says less than tokenizer_config.json, which is read later. */
enum err hf_added_tokens_read(struct source *s, const uint8_t *text, size_t bytes,
                              struct hf_tokenizer *t);

/* Read names of special tokens and the chat template from tokenizer_config.json, after one of the
 * functions above. */
enum err hf_tokenizer_config_read(struct source *s, const uint8_t *text, size_t bytes,
                                  struct hf_tokenizer *t);

/* Read chat_template.json, which older folders of models with pictures have. A chat template of
 * tokenizer_config.json, which is read before, comes first. */
enum err hf_chat_template_read(struct source *s, const uint8_t *text, size_t bytes,
                               struct hf_tokenizer *t);

/* Read generation_config.json or config.json, after the functions above: ids of special tokens that
 * are not known yet, and of tokens that end a reply. */
enum err hf_special_ids_read(struct source *s, const uint8_t *text, size_t bytes);

/* Read generation_config.json: sampling defaults. */
enum err hf_sampling_read(struct source *s, const uint8_t *text, size_t bytes);

void hf_tokenizer_free(struct hf_tokenizer *t);

/* ---- for the readers themselves -------------------------------------------------------------- */

/* Allocate n_tokens tokens or, if params are known, the model's number of tokens. */
enum err hf_tokenizer_take(struct source *s, struct hf_tokenizer *t, uint32_t n_tokens);

/* Store an entry of added_tokens under its id. An id beyond the model's vocabulary is ignored. */
enum err hf_tokenizer_add(struct source *s, struct hf_tokenizer *t, const cJSON *token,
                          uint32_t id);

/* Read added_tokens_decoder of t->config, an object with ids as keys. */
enum err hf_added_decoder_read(struct source *s, struct hf_tokenizer *t);

/* Return the id of the token, special or not, with this text; INGOT_NO_TOKEN: none has it. */
uint32_t hf_tokenizer_find(const struct source *s, const char *text);

/* Add all added tokens. */
enum err hf_tokenizer_add_all(struct source *s, struct hf_tokenizer *t);

/* Return the number of tokens, which is 1 more than the largest id of the vocabulary and the
 * added tokens. most: the largest id of the vocabulary; -1: it has none. UINT32_MAX: more tokens
 * than allowed. */
uint32_t hf_tokenizer_count(const struct hf_tokenizer *t, double most);

/* True for the name of a byte, such as "<0x0A>". */
bool hf_tokenizer_is_byte(const char *text);

/* Read a tokenizer model of type Unigram: its pieces and scores. */
enum err hf_unigram_read(struct source *s, struct hf_tokenizer *t, const cJSON *model);

/* Set the flags that say how tokenizer.json treats spaces before it joins characters. Refuse any
 * other change of the text (ERR_UNSUPPORTED); the error message names it. */
enum err hf_spaces_read(struct source *s, const cJSON *root);

/* Read the pre_tokenizer of tokenizer.json for byte-level BPE. Errors: ERR_UNSUPPORTED. */
enum err hf_pre_tokenizer_find(struct source *s, const cJSON *pre_tokenizer, enum ingot_pre *pre);

#endif
