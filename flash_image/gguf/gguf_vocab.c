/* The tokenizer of a GGUF: SentencePiece ("llama"), byte-level BPE ("gpt2"), Unigram ("t5"), BPE of
 * characters by rank ("gemma4"). */
#include "flash_image/gguf/gguf_private.h"
#include "flash_image/source/pre_tokenizer.h"

#include "runtime/text/plural.h"

enum { MAX_TOKEN_BYTES = 65536, MAX_MERGES = 4 * INGOT_MAX_VOCAB };

static uint32_t token_id(const struct gguf *g, enum gguf_number which)
{
    uint64_t id = gguf_number_or(g, which, INGOT_NO_TOKEN);

    if (id >= g->tokens.count) {
        return INGOT_NO_TOKEN;
    }
    return (uint32_t)id;
}

/* Check that texts' lengths, which the file stores in 64 bits, fit the packer's 32 bits. */
static enum err check_lengths(struct gguf *g, const struct gguf_value *texts, const char *what)
{
    struct gguf_reader r = { texts->data.data, texts->data.bytes, false };

    for (uint64_t i = 0; i < texts->count; i++) {
        if (gguf_take_text(&r).bytes > MAX_TOKEN_BYTES) {
            return source_refuse(g->s, ERR_BAD_TOKENIZER, "%s %llu has more than %u bytes", what,
                                 (unsigned long long)i, MAX_TOKEN_BYTES);
        }
    }
    return ERR_OK;
}

/* Check that an array has one entry for each token. */
static enum err check_count(struct gguf *g, bool has, const struct gguf_value *array,
                            const char *name)
{
    if (!has || array->count == g->tokens.count) {
        return ERR_OK;
    }
    return source_refuse(g->s, ERR_BAD_TOKENIZER,
                         "tokenizer.ggml.%s has %llu %s, tokenizer.ggml.tokens %llu", name,
                         (unsigned long long)array->count,
                         plural((unsigned long long)array->count, "entry", "entries"),
                         (unsigned long long)g->tokens.count);
}

static enum err check_arrays(struct gguf *g, bool needs_scores)
{
    enum err e;

    if (!g->has_tokens) {
        return source_refuse(g->s, ERR_BAD_TOKENIZER,
                             "tokenizer.ggml.tokens is missing: the tokenizer has no tokens, and "
                             "text cannot be read; convert the model again");
    }
    if (g->tokens.count == 0 || g->tokens.count > INGOT_MAX_VOCAB) {
        return source_refuse(g->s, ERR_BAD_TOKENIZER,
                             "tokenizer.ggml.tokens has %llu %s, must be 1 to %u",
                             (unsigned long long)g->tokens.count,
                             plural((unsigned long long)g->tokens.count, "entry", "entries"),
                             INGOT_MAX_VOCAB);
    }
    e = check_count(g, needs_scores && g->has_scores, &g->scores, "scores");
    if (e == ERR_OK) {
        e = check_count(g, g->has_types, &g->types, "token_type");
    }
    if (e != ERR_OK) {
        return e;
    }
    return check_lengths(g, &g->tokens, "token");
}

/* Return the file's flag; if there is none, the default for this kind of tokenizer. */
static uint32_t flag_of(const struct gguf *g, enum gguf_number which, bool otherwise, uint32_t flag)
{
    if (gguf_number_or(g, which, otherwise) != 0) {
        return flag;
    }
    return 0;
}

static void read_common(struct gguf *g, bool add_bos)
{
    struct source_vocab *v = &g->s->vocab;

    v->layout = SOURCE_GGUF_VOCAB;
    v->n_tokens = (uint32_t)g->tokens.count;
    v->texts = g->tokens.data.data;
    v->types = g->types.data.data; /* NULL: the file has none */
    v->bos = token_id(g, N_BOS);
    v->eos = token_id(g, N_EOS);
    v->unk = token_id(g, N_UNK);
    v->eot = token_id(g, N_EOT);
    if (token_id(g, N_EOM) != INGOT_NO_TOKEN) { /* the token ends a message, for example one to a
                                                   tool */
        v->stops[v->n_stops++] = token_id(g, N_EOM);
    }
    if (v->bos != INGOT_NO_TOKEN) {
        v->flags |= flag_of(g, N_ADD_BOS, add_bos, INGOT_ADD_BOS);
    }
    if (v->eos != INGOT_NO_TOKEN) {
        v->flags |= flag_of(g, N_ADD_EOS, false, INGOT_ADD_EOS);
    }
}

static enum err read_spm(struct gguf *g)
{
    struct source_vocab *v = &g->s->vocab;
    enum err e = check_arrays(g, true);

    if (e != ERR_OK) {
        return e;
    }
    if (!g->has_scores) {
        source_note(
            g->s,
            "tokenizer.ggml.scores is missing: all tokens have the same score, and texts may be cut differently than in training");
    }
    v->kind = INGOT_TOKENIZER_SPM;
    v->scores = g->scores.data.data; /* NULL: the file has none */
    v->flags = flag_of(g, N_ADD_SPACE, true, INGOT_ADD_SPACE_PREFIX);
    v->strip_after_control = source_text_is(g->architecture, "phi3");
    read_common(g, true);
    return ERR_OK;
}

/* As in llama.cpp, the default is to add a space before a text, and EOS after it. */
static enum err read_unigram(struct gguf *g)
{
    struct source_vocab *v = &g->s->vocab;
    enum err e = check_arrays(g, true);

    if (e != ERR_OK) {
        return e;
    }
    if (!g->has_scores) {
        return source_refuse(
            g->s, ERR_BAD_TOKENIZER,
            "tokenizer.ggml.scores is missing: a Unigram tokenizer needs them; convert the model again");
    }
    if (g->charsmap_bytes != 0) {
        return source_refuse(g->s, ERR_UNSUPPORTED,
                             "tokenizer.ggml.precompiled_charsmap rewrites characters before they "
                             "are cut into tokens, which is not supported");
    }
    v->kind = INGOT_TOKENIZER_UNIGRAM;
    v->scores = g->scores.data.data;
    v->flags = INGOT_FUSE_UNK | flag_of(g, N_ADD_SPACE, true, INGOT_ADD_SPACE_PREFIX) |
               flag_of(g, N_SQUEEZE_SPACES, false, INGOT_SQUEEZE_SPACES);
    read_common(g, false);
    if (v->eos != INGOT_NO_TOKEN) {
        v->flags &= ~(uint32_t)INGOT_ADD_EOS;
        v->flags |= flag_of(g, N_ADD_EOS, true, INGOT_ADD_EOS);
    }
    return ERR_OK;
}

/* The name of the pre-tokenizer. Older files do not name it; then the architecture decides. */
static struct source_text pre_of(const struct gguf *g)
{
    static const char gpt2[] = "gpt-2", falcon[] = "falcon";

    if (g->pre.bytes == 0 && source_text_is(g->architecture, "gpt2")) {
        return (struct source_text){ (const uint8_t *)gpt2, sizeof gpt2 - 1 };
    }
    if (g->pre.bytes == 0 && source_text_is(g->architecture, "falcon")) {
        return (struct source_text){ (const uint8_t *)falcon, sizeof falcon - 1 };
    }
    return g->pre;
}

static enum err check_merges(struct gguf *g)
{
    if (!g->has_merges) {
        return source_refuse(
            g->s, ERR_BAD_TOKENIZER,
            "tokenizer.ggml.merges is missing: how tokens are joined is not known; "
            "convert the model again");
    }
    if (g->merges.count > MAX_MERGES) {
        return source_refuse(g->s, ERR_BAD_TOKENIZER,
                             "tokenizer.ggml.merges has %llu %s, at most %u",
                             (unsigned long long)g->merges.count,
                             plural((unsigned long long)g->merges.count, "entry", "entries"),
                             MAX_MERGES);
    }
    return check_lengths(g, &g->merges, "merge");
}

static enum err refuse_pre(struct gguf *g, struct source_text pre)
{
    const char *name, *why;

    for (size_t i = 0; (name = pre_tokenizer_refused(i, &why)) != NULL; i++) {
        if (source_text_is(pre, name)) {
            return source_refuse(g->s, ERR_UNSUPPORTED,
                                 "the pre-tokenizer \"%s\" is not supported: %s", name, why);
        }
    }
    return source_refuse(g->s, ERR_UNSUPPORTED,
                         "the pre-tokenizer \"%.*s\" is not known; known are %s", SOURCE_SHOW(pre),
                         pre_tokenizer_names());
}

static enum err read_bpe(struct gguf *g)
{
    struct source_vocab *v = &g->s->vocab;
    struct source_text pre = pre_of(g);
    uint32_t flags = 0;
    enum err e = check_arrays(g, false);

    if (e != ERR_OK) {
        return e;
    }
    if (pre.bytes == 0) {
        return source_refuse(g->s, ERR_UNSUPPORTED,
                             "tokenizer.ggml.pre is missing: how texts are cut into words is not "
                             "known, and a guess would make the model read them wrongly; convert "
                             "it again, or add the key (gguf_new_metadata.py --pre-tokenizer)");
    }
    if (!pre_tokenizer_find(pre, &v->pre, &flags)) {
        return refuse_pre(g, pre);
    }
    e = check_merges(g);
    if (e != ERR_OK) {
        return e;
    }
    v->kind = INGOT_TOKENIZER_BPE;
    v->n_merges = (uint32_t)g->merges.count;
    v->merges = g->merges.data.data;
    v->flags = flags & (uint32_t)(INGOT_IGNORE_MERGES | INGOT_NFC);
    read_common(g, (flags & INGOT_ADD_BOS) != 0);
    return ERR_OK;
}

/* Read the vocabulary of Gemma 4: SentencePiece's tokens, joined by the rank of merges. For speed,
 * llama.cpp cuts at line ends first, which gives the same tokens, because a token with a line end
 * has no other characters. */
static enum err read_ranked_characters(struct gguf *g)
{
    struct source_vocab *v = &g->s->vocab;
    enum err e = check_arrays(g, false);

    if (e == ERR_OK) {
        e = check_merges(g);
    }
    if (e != ERR_OK) {
        return e;
    }
    v->kind = INGOT_TOKENIZER_CHARACTERS;
    v->n_merges = (uint32_t)g->merges.count;
    v->merges = g->merges.data.data;
    v->flags = flag_of(g, N_ADD_SPACE, false, INGOT_ADD_SPACE_PREFIX);
    read_common(g, true);
    return ERR_OK;
}

/* Read a file without a tokenizer: the model accepts only ids, not text. */
static enum err read_none(struct gguf *g)
{
    const char *why = "tokenizer.ggml.model is missing";
    uint64_t n = gguf_number_or(g, N_VOCAB, 0);

    if (g->tokenizer.data != NULL) {
        why = "tokenizer.ggml.model is none";
    }
    if (n == 0 || n > INGOT_MAX_VOCAB) {
        return source_refuse(g->s, ERR_BAD_TOKENIZER,
                             "%s: the GGUF has no tokenizer, and no %.*s%s either; convert the "
                             "model again with its tokenizer",
                             why, SOURCE_SHOW(g->architecture), gguf_number_name(N_VOCAB));
    }
    source_note(g->s, "%s: the model will take token ids and no text", why);
    g->s->vocab = (struct source_vocab){
        .n_tokens = (uint32_t)n,
        .bos = INGOT_NO_TOKEN,
        .eos = INGOT_NO_TOKEN,
        .unk = INGOT_NO_TOKEN,
        .eot = INGOT_NO_TOKEN,
    };
    return ERR_OK;
}

static bool has_none(const struct gguf *g)
{
    return g->tokenizer.data == NULL || source_text_is(g->tokenizer, "none") ||
           source_text_is(g->tokenizer, "no_vocab");
}

static enum err refuse_kind(struct gguf *g)
{
    static const char *const others[][2] = {
        { "bert", "WordPiece, of models that give vectors" },
        { "rwkv", "RWKV's table of byte strings" },
        { "plamo2", "PLaMo 2's table of suffixes" },
    };
    const char *what = "unknown";

    for (size_t i = 0; i < sizeof others / sizeof others[0]; i++) {
        if (source_text_is(g->tokenizer, others[i][0])) {
            what = others[i][1];
        }
    }
    return source_refuse(
        g->s, ERR_UNSUPPORTED,
        "the tokenizer is of kind \"%.*s\" (%s), which is not supported; supported: "
        "\"llama\" (SentencePiece), \"gpt2\" (byte-level BPE), \"t5\" (Unigram), "
        "\"gemma4\"",
        SOURCE_SHOW(g->tokenizer), what);
}

enum err gguf_read_vocab(struct gguf *g, bool vocab_only)
{
    static const struct {
        const char *name;
        enum err (*read)(struct gguf *g);
    } readers[] = {
        { "llama", read_spm },
        { "gpt2", read_bpe },
        { "t5", read_unigram },
        { "gemma4", read_ranked_characters },
    };

    if (has_none(g)) {
        if (vocab_only) {
            return source_refuse(g->s, ERR_NOT_FOUND, "the GGUF has no tokenizer");
        }
        return read_none(g);
    }
    for (size_t i = 0; i < sizeof readers / sizeof readers[0]; i++) {
        if (source_text_is(g->tokenizer, readers[i].name)) {
            return readers[i].read(g);
        }
    }
    return refuse_kind(g);
}
