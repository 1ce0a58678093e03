#include "flash_image/source/pre_tokenizer.h"

enum { LLAMA3_FLAGS = INGOT_ADD_BOS | INGOT_IGNORE_MERGES };

/* Several families share a pattern. The first name of a kind is the one that is shown. */
static const struct {
    const char *name;
    enum ingot_pre pre;
    uint32_t flags;
} known[] = {
    { "gpt-2", INGOT_PRE_GPT2, 0 },
    { "phi-2", INGOT_PRE_GPT2, 0 },
    { "mpt", INGOT_PRE_GPT2, 0 },
    { "olmo", INGOT_PRE_GPT2, 0 },
    { "jais", INGOT_PRE_GPT2, 0 },
    { "gigachat", INGOT_PRE_GPT2, 0 },
    { "trillion", INGOT_PRE_GPT2, 0 },
    { "granite-docling", INGOT_PRE_GPT2, 0 },
    { "exaone4", INGOT_PRE_GPT2, 0 },
    { "mellum", INGOT_PRE_GPT2, 0 },
    { "a.x-4.0", INGOT_PRE_GPT2, 0 },
    { "jina-es", INGOT_PRE_GPT2, 0 },
    { "jina-de", INGOT_PRE_GPT2, 0 },
    { "jina-v2-es", INGOT_PRE_GPT2, 0 },
    { "jina-v2-de", INGOT_PRE_GPT2, 0 },
    { "llama-bpe", INGOT_PRE_LLAMA3, LLAMA3_FLAGS },
    { "llama3", INGOT_PRE_LLAMA3, LLAMA3_FLAGS },
    { "llama-v3", INGOT_PRE_LLAMA3, LLAMA3_FLAGS },
    { "falcon3", INGOT_PRE_LLAMA3, LLAMA3_FLAGS },
    { "falcon-h1", INGOT_PRE_LLAMA3, LLAMA3_FLAGS },
    { "pixtral", INGOT_PRE_LLAMA3, LLAMA3_FLAGS },
    { "midm-2.0", INGOT_PRE_LLAMA3, LLAMA3_FLAGS },
    { "lfm2", INGOT_PRE_LLAMA3, LLAMA3_FLAGS },
    { "dbrx", INGOT_PRE_LLAMA3, 0 },
    { "smaug-bpe", INGOT_PRE_LLAMA3, 0 },
    { "glm4", INGOT_PRE_LLAMA3, 0 },
    { "chatglm-bpe", INGOT_PRE_LLAMA3, 0 },
    { "qwen2", INGOT_PRE_QWEN2, 0 },
    { "stablelm2", INGOT_PRE_QWEN2, 0 },
    { "deepseek-r1-qwen", INGOT_PRE_QWEN2, 0 },
    { "megrez", INGOT_PRE_QWEN2, 0 },
    { "hunyuan", INGOT_PRE_QWEN2, 0 },
    { "grok-2", INGOT_PRE_QWEN2, 0 },
    { "kormo", INGOT_PRE_QWEN2, 0 },
    { "qwen35", INGOT_PRE_QWEN35, 0 },
    { "smollm", INGOT_PRE_DIGITS, 0 },
    { "starcoder", INGOT_PRE_DIGITS, 0 },
    { "refact", INGOT_PRE_DIGITS, 0 },
    { "command-r", INGOT_PRE_DIGITS, 0 },
    { "codeshell", INGOT_PRE_DIGITS, 0 },
    { "exaone", INGOT_PRE_DIGITS, 0 },
    { "minerva-7b", INGOT_PRE_DIGITS, 0 },
    { "falcon", INGOT_PRE_FALCON, 0 },
    { "default", INGOT_PRE_DEFAULT, 0 },
    { "gpt-4o", INGOT_PRE_GPT4O, 0 },
    { "llama4", INGOT_PRE_GPT4O, 0 },
    { "minimax-m2", INGOT_PRE_GPT4O, 0 },
    { "tekken", INGOT_PRE_TEKKEN, LLAMA3_FLAGS },
    { "deepseek-llm", INGOT_PRE_DEEPSEEK_LLM, 0 },
    { "deepseek-coder", INGOT_PRE_DEEPSEEK_CODER, 0 },
    { "deepseek-v3", INGOT_PRE_DEEPSEEK_V3, 0 },
    { "hunyuan-dense", INGOT_PRE_DEEPSEEK_V3, 0 },
    { "bloom", INGOT_PRE_BLOOM, 0 },
    { "poro-chat", INGOT_PRE_BLOOM, 0 },
    { "gpt3-finnish", INGOT_PRE_BLOOM, 0 },
    { "viking", INGOT_PRE_VIKING, 0 },
    { "seed-coder", INGOT_PRE_SEED_CODER, 0 },
};

bool pre_tokenizer_find(struct source_text name, enum ingot_pre *pre, uint32_t *flags)
{
    for (size_t i = 0; i < sizeof known / sizeof known[0]; i++) {
        if (source_text_is(name, known[i].name)) {
            *pre = known[i].pre;
            *flags = known[i].flags;
            return true;
        }
    }
    return false;
}

const char *pre_tokenizer_name(enum ingot_pre pre)
{
    for (size_t i = 0; i < sizeof known / sizeof known[0]; i++) {
        if (known[i].pre == pre) {
            return known[i].name;
        }
    }
    return "none";
}

const char *pre_tokenizer_names(void)
{
    return "gpt-2, llama-bpe, qwen2, qwen35, smollm, starcoder, refact, command-r, falcon, "
           "default, gpt-4o, tekken, deepseek-llm, deepseek-coder, deepseek-v3, mpt, olmo, dbrx, "
           "stablelm2, bloom, viking, seed-coder and others that share a pattern with these";
}
