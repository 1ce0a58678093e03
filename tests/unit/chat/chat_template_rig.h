/* A vocabulary with the control tokens of every family, and a chat section built over it. */
#ifndef INGOT_TESTS_UNIT_CHAT_TEMPLATE_RIG_H
#define INGOT_TESTS_UNIT_CHAT_TEMPLATE_RIG_H

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "flash_image/chat/chat_template.h"
#include "runtime/chat/chat_turn.h"
#include "tests/unit/chat/chat_template_cases.h"
#include "tests/unit/tokenizer/vocabulary.h"

enum { N_CASES = sizeof template_cases / sizeof template_cases[0] };

static const char *const controls[] = {
    "<|im_start|>",
    "<|im_end|>",
    "<|im_sep|>",
    "<|endoftext|>",
    "<|begin_of_text|>",
    "<|end_of_text|>",
    "<|start_header_id|>",
    "<|end_header_id|>",
    "<|eot_id|>",
    "<|eom_id|>",
    "<|user|>",
    "<|assistant|>",
    "<|system|>",
    "<|end|>",
    "<start_of_turn>",
    "<end_of_turn>",
    "<bos>",
    "<eos>",
    "<s>",
    "</s>",
    "[INST]",
    "[/INST]",
    "[SYSTEM_PROMPT]",
    "[/SYSTEM_PROMPT]",
    "<<SYS>>",
};

static union {
    struct ingot_chat head;
    uint8_t bytes[CHAT_MOST_BYTES];
} section;
static size_t section_bytes;
static char error_message[CHAT_ERROR_MESSAGE_BYTES];
static uint8_t *tokenizer;

/* Holds every byte, every control token of every family with the given type, and the thoughts. */
static void make_vocabulary(const char *bos, const char *eos, uint8_t type)
{
    enum { N = 1 + 256 + sizeof controls / sizeof controls[0] + 2 };
    struct vocabulary v = { .token = test_alloc(N * sizeof *v.token),
                            .n = N,
                            .bos = INGOT_NO_TOKEN,
                            .eos = INGOT_NO_TOKEN,
                            .unk = 0 };
    size_t bytes;
    uint32_t id = 0;

    vocabulary_set(&v, id++, "<unk>", 5, 0, INGOT_TOKEN_UNKNOWN);
    for (unsigned i = 0; i < 256; i++) {
        char name[8];

        snprintf(name, sizeof name, "<0x%02X>", i);
        vocabulary_set(&v, id++, name, 6, 0, INGOT_TOKEN_BYTE);
    }
    for (size_t i = 0; i < sizeof controls / sizeof controls[0]; i++) {
        v.bos = strcmp(controls[i], bos) == 0 ? id : v.bos;
        v.eos = strcmp(controls[i], eos) == 0 ? id : v.eos;
        vocabulary_set(&v, id++, controls[i], strlen(controls[i]), 0, type);
    }
    vocabulary_set(&v, id++, "<think>", 7, 0, INGOT_TOKEN_USER);
    vocabulary_set(&v, id++, "</think>", 8, 0, INGOT_TOKEN_USER);
    free(tokenizer);
    tokenizer = vocabulary_section(&v, &bytes);
    vocabulary_free(&v);
}

__attribute__((unused)) static enum err build(const char *name, const char *jinja)
{
    struct chat_request r = { .name = name, .tokenizer = tokenizer };

    if (jinja != NULL) {
        r.jinja = (struct source_text){ (const uint8_t *)jinja, strlen(jinja) };
    }
    return chat_template_build(&r, section.bytes, &section_bytes, error_message);
}

#endif
