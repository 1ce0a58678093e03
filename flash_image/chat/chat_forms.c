/* The rows come from the templates that the models' authors publish with them
 * (tokenizer_config.json). Each row has exactly the strings that the template renders. */
#include "flash_image/chat/chat_forms.h"

#include <string.h>

#define OPENING [INGOT_CHAT_OPENING]
#define SYSTEM_PREFIX [INGOT_CHAT_SYSTEM_PREFIX]
#define SYSTEM_SUFFIX [INGOT_CHAT_SYSTEM_SUFFIX]
#define USER_PREFIX [INGOT_CHAT_USER_PREFIX]
#define USER_SUFFIX [INGOT_CHAT_USER_SUFFIX]
#define REPLY_PREFIX [INGOT_CHAT_REPLY_PREFIX]
#define REPLY_SUFFIX [INGOT_CHAT_REPLY_SUFFIX]
#define NO_THINKING [INGOT_CHAT_NO_THINKING]
#define THINK_END [INGOT_CHAT_THINK_END]
#define SYSTEM [INGOT_CHAT_SYSTEM]

#define CHATML_STRINGS \
    SYSTEM_PREFIX = "<|im_start|>system\n", SYSTEM_SUFFIX = "<|im_end|>\n", \
    USER_PREFIX = "<|im_start|>user\n", USER_SUFFIX = "<|im_end|>\n", \
    REPLY_PREFIX = "<|im_start|>assistant\n", REPLY_SUFFIX = "<|im_end|>\n"

#define LLAMA3_STRINGS \
    SYSTEM_SUFFIX = "<|eot_id|>", USER_PREFIX = "<|start_header_id|>user<|end_header_id|>\n\n", \
    USER_SUFFIX = "<|eot_id|>", \
    REPLY_PREFIX = "<|start_header_id|>assistant<|end_header_id|>\n\n", \
    REPLY_SUFFIX = "<|eot_id|>"

/* In Mistral's older templates, the system prompt is a paragraph before the user's first text. */
#define MISTRAL_STRINGS SYSTEM_SUFFIX = "\n\n", REPLY_SUFFIX = CHAT_EOS

/* A derived form gets the name of the first row that is equal to it. */
static const struct chat_form forms[] = {
    { "smollm2",
      "SmolLM2",
      { CHATML_STRINGS,
        SYSTEM = "You are a helpful AI assistant named SmolLM, trained by Hugging Face" },
      0 },
    { "qwen2.5",
      "Qwen2.5",
      { CHATML_STRINGS,
        SYSTEM = "You are Qwen, created by Alibaba Cloud. You are a helpful assistant." },
      0 },
    { "qwen2", "Qwen1.5, Qwen2", { CHATML_STRINGS, SYSTEM = "You are a helpful assistant." }, 0 },
    { "qwen3",
      "Qwen3; thinks, and think=off stops it",
      { CHATML_STRINGS, NO_THINKING = "<think>\n\n</think>\n\n", THINK_END = "</think>" },
      INGOT_CHAT_DROPS_WRITTEN },
    { "phi4",
      "Phi-4",
      { SYSTEM_PREFIX = "<|im_start|>system<|im_sep|>", SYSTEM_SUFFIX = "<|im_end|>",
        USER_PREFIX = "<|im_start|>user<|im_sep|>", USER_SUFFIX = "<|im_end|>",
        REPLY_PREFIX = "<|im_start|>assistant<|im_sep|>", REPLY_SUFFIX = "<|im_end|>" },
      0 },
    { "chatml",
      "used by many models: every message stands between <|im_start|> and <|im_end|>",
      { CHATML_STRINGS },
      0 },
    { "llama3.1",
      "Llama 3.1, 3.2, 3.3; with the fixed date of the template",
      { OPENING = CHAT_BOS,
        SYSTEM_PREFIX = "<|start_header_id|>system<|end_header_id|>\n\n"
                        "Cutting Knowledge Date: December 2023\nToday Date: 26 Jul 2024\n\n",
        LLAMA3_STRINGS },
      INGOT_CHAT_TRIM | INGOT_CHAT_SYSTEM_ALWAYS },
    { "llama3",
      "Llama 3",
      { OPENING = CHAT_BOS, SYSTEM_PREFIX = "<|start_header_id|>system<|end_header_id|>\n\n",
        LLAMA3_STRINGS },
      INGOT_CHAT_TRIM },
    { "llama2",
      "Llama 2 Chat",
      { SYSTEM_PREFIX = "<<SYS>>\n", SYSTEM_SUFFIX = "\n<</SYS>>\n\n",
        USER_PREFIX = CHAT_BOS "[INST] ", USER_SUFFIX = " [/INST]", REPLY_SUFFIX = " " CHAT_EOS },
      INGOT_CHAT_SYSTEM_IN_USER | INGOT_CHAT_TRIM },
    { "mistral-v7",
      "Mistral Small 3; without its long default system prompt",
      { OPENING = CHAT_BOS, SYSTEM_PREFIX = "[SYSTEM_PROMPT]", SYSTEM_SUFFIX = "[/SYSTEM_PROMPT]",
        USER_PREFIX = "[INST]", USER_SUFFIX = "[/INST]", REPLY_SUFFIX = CHAT_EOS },
      0 },
    { "mistral-v3-tekken",
      "Mistral Nemo: [INST]text[/INST]",
      { OPENING = CHAT_BOS, USER_PREFIX = "[INST]", USER_SUFFIX = "[/INST]", MISTRAL_STRINGS },
      INGOT_CHAT_SYSTEM_IN_USER },
    { "mistral-v3",
      "Mistral 7B v0.3: [INST] text[/INST]",
      { OPENING = CHAT_BOS, USER_PREFIX = "[INST] ", USER_SUFFIX = "[/INST]", MISTRAL_STRINGS },
      INGOT_CHAT_SYSTEM_IN_USER },
    { "mistral-v1",
      "Mistral 7B v0.1, v0.2, Mixtral as of 2024-09:  [INST] text [/INST]",
      { OPENING = CHAT_BOS, USER_PREFIX = " [INST] ", USER_SUFFIX = " [/INST]", MISTRAL_STRINGS },
      INGOT_CHAT_SYSTEM_IN_USER },
    { "mistral-v0.1",
      "Mistral 7B v0.1, Mixtral as first published: a space after </s>",
      { OPENING = CHAT_BOS, USER_PREFIX = "[INST] ", USER_SUFFIX = " [/INST]",
        SYSTEM_SUFFIX = "\n\n", REPLY_SUFFIX = CHAT_EOS " " },
      INGOT_CHAT_SYSTEM_IN_USER },
    { "mistral-v0.2",
      "Mistral 7B v0.2 as first published: [INST] text [/INST]",
      { OPENING = CHAT_BOS, USER_PREFIX = "[INST] ", USER_SUFFIX = " [/INST]", MISTRAL_STRINGS },
      INGOT_CHAT_SYSTEM_IN_USER },
    { "zephyr",
      "Zephyr, TinyLlama",
      { SYSTEM_PREFIX = "<|system|>\n", SYSTEM_SUFFIX = CHAT_EOS "\n", USER_PREFIX = "<|user|>\n",
        USER_SUFFIX = CHAT_EOS "\n", REPLY_PREFIX = "<|assistant|>\n",
        REPLY_SUFFIX = CHAT_EOS "\n" },
      0 },
    { "phi3",
      "Phi-3, Phi-3.5",
      { SYSTEM_PREFIX = "<|system|>\n", SYSTEM_SUFFIX = "<|end|>\n", USER_PREFIX = "<|user|>\n",
        USER_SUFFIX = "<|end|>\n", REPLY_PREFIX = "<|assistant|>\n", REPLY_SUFFIX = "<|end|>\n" },
      0 },
    { "phi4-mini",
      "Phi-4-mini",
      { SYSTEM_PREFIX = "<|system|>", SYSTEM_SUFFIX = "<|end|>", USER_PREFIX = "<|user|>",
        USER_SUFFIX = "<|end|>", REPLY_PREFIX = "<|assistant|>", REPLY_SUFFIX = "<|end|>" },
      0 },
    { "gemma",
      "Gemma 1, 2 and 3; the system prompt is the first paragraph of the user's turn",
      { OPENING = CHAT_BOS, SYSTEM_SUFFIX = "\n\n", USER_PREFIX = "<start_of_turn>user\n",
        USER_SUFFIX = "<end_of_turn>\n", REPLY_PREFIX = "<start_of_turn>model\n",
        REPLY_SUFFIX = "<end_of_turn>\n" },
      INGOT_CHAT_SYSTEM_IN_USER | INGOT_CHAT_TRIM },
};

const struct chat_form *chat_forms(size_t *n)
{
    *n = sizeof forms / sizeof forms[0];
    return forms;
}

const struct chat_form *chat_form_find(const char *name)
{
    for (size_t i = 0; i < sizeof forms / sizeof forms[0]; i++) {
        if (strcmp(forms[i].name, name) == 0) {
            return &forms[i];
        }
    }
    return NULL;
}
