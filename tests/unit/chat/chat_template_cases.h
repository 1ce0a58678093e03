/* Chat templates as the families write them, and their text for one conversation. */
#ifndef INGOT_TESTS_UNIT_CHAT_TEMPLATE_CASES_H
#define INGOT_TESTS_UNIT_CHAT_TEMPLATE_CASES_H

#include <stdbool.h>
#include <stddef.h>

/* system "Be brief.", user " Hi there ", reply "Hello!", user "Why?", and the reply begins. reply
 * is as the template writes it: the model generates a space in front. */
#define CASE_SYSTEM "Be brief."
#define CASE_USER " Hi there "
#define CASE_USER2 "Why?"

struct template_case {
    const char *form;
    const char *bos, *eos;
    const char *reply;
    const char *jinja;
    const char *with_system;
    const char *without;     /* no system message */
    bool no_system_role;     /* the template itself refuses one */
    const char *no_thinking; /* with think=off, no system message; NULL: it has no such form */
};

#define IM_TURNS \
    "<|im_start|>user\n Hi there <|im_end|>\n<|im_start|>assistant\nHello!<|im_end|>\n" \
    "<|im_start|>user\nWhy?<|im_end|>\n<|im_start|>assistant\n"
#define IM_SYSTEM(text) "<|im_start|>system\n" text "<|im_end|>\n"

#define H(role) "<|start_header_id|>" role "<|end_header_id|>\n\n"
#define L3_TURNS \
    H("user") \
    "Hi there<|eot_id|>" H("assistant") "Hello!<|eot_id|>" H("user") "Why?<|eot_id|>" H("assistant")
#define L31_DATE "Cutting Knowledge Date: December 2023\nToday Date: 26 Jul 2024\n\n"

#define MISTRAL_JINJA(user_open, user_close, reply) \
    "{%- if messages[0][\"role\"] == \"system\" %}\n" \
    "    {%- set system_message = messages[0][\"content\"] %}\n" \
    "    {%- set loop_messages = messages[1:] %}\n" \
    "{%- else %}\n    {%- set loop_messages = messages %}\n{%- endif %}\n\n" \
    "{{- bos_token }}\n" \
    "{%- for message in loop_messages %}\n" \
    "    {%- if message[\"role\"] == \"user\" %}\n" \
    "        {%- if loop.first and system_message is defined %}\n" \
    "            {{- \"" user_open "\" + system_message + \"\\n\\n\" + message[\"content\"] + " \
    "\"" user_close "\" }}\n" \
    "        {%- else %}\n" \
    "            {{- \"" user_open "\" + message[\"content\"] + \"" user_close "\" }}\n" \
    "        {%- endif %}\n" \
    "    {%- elif message[\"role\"] == \"assistant\" %}\n" \
    "        {{- " reply " }}\n" \
    "    {%- endif %}\n{%- endfor %}\n"

#define OLD_MISTRAL_JINJA(reply) \
    "{{ bos_token }}{% for message in messages %}" \
    "{% if (message['role'] == 'user') != (loop.index0 % 2 == 0) %}" \
    "{{ raise_exception('roles must alternate user/assistant') }}{% endif %}" \
    "{% if message['role'] == 'user' %}{{ '[INST] ' + message['content'] + ' [/INST]' }}" \
    "{% elif message['role'] == 'assistant' %}{{ " reply " }}{% endif %}{% endfor %}"

static const struct template_case template_cases[] = {
    { "chatml", "<s>", "<|im_end|>", "Hello!",
      "{% for message in messages %}{{'<|im_start|>' + message['role'] + '\\n' + "
      "message['content'] + '<|im_end|>' + '\\n'}}{% endfor %}"
      "{% if add_generation_prompt %}{{ '<|im_start|>assistant\\n' }}{% endif %}",
      IM_SYSTEM("Be brief.") IM_TURNS, IM_TURNS, false, NULL },
    { "chatml", "<s>", "<|im_end|>", "Hello!", /* with bos in front, and its own prompt */
      "{{ bos_token }}{% if messages[0]['role'] != 'system' %}"
      "{{ '<|im_start|>system\nI follow \"orders\".<|im_end|>\n' }}{% endif %}"
      "{% for message in messages %}{{'<|im_start|>' ~ message.role ~ '\n' ~ message.content ~ "
      "'<|im_end|>\n'}}{% endfor %}"
      "{% if add_generation_prompt %}{{ '<|im_start|>assistant\n' }}{% endif %}",
      "<s>" IM_SYSTEM("Be brief.") IM_TURNS, "<s>" IM_SYSTEM("I follow \"orders\".") IM_TURNS,
      false, NULL },
    { "smollm2", "<|im_start|>", "<|im_end|>", "Hello!",
      "{% for message in messages %}{% if loop.first and messages[0]['role'] != 'system' %}"
      "{{ '<|im_start|>system\nYou are a helpful AI assistant named SmolLM, trained by Hugging "
      "Face<|im_end|>\n' }}{% endif %}{{'<|im_start|>' + message['role'] + '\n' + "
      "message['content'] + '<|im_end|>' + '\n'}}{% endfor %}"
      "{% if add_generation_prompt %}{{ '<|im_start|>assistant\n' }}{% endif %}",
      IM_SYSTEM("Be brief.") IM_TURNS,
      IM_SYSTEM("You are a helpful AI assistant named SmolLM, trained by Hugging Face") IM_TURNS,
      false, NULL },
    { "qwen2", "<|endoftext|>", "<|im_end|>", "Hello!",
      "{% for message in messages %}{% if loop.first and messages[0]['role'] != 'system' %}"
      "{{ '<|im_start|>system\nYou are a helpful assistant.<|im_end|>\n' }}{% endif %}"
      "{{'<|im_start|>' + message['role'] + '\n' + message['content'] + '<|im_end|>' + '\n'}}"
      "{% endfor %}{% if add_generation_prompt %}{{ '<|im_start|>assistant\n' }}{% endif %}",
      IM_SYSTEM("Be brief.") IM_TURNS, IM_SYSTEM("You are a helpful assistant.") IM_TURNS, false,
      NULL },
    { "qwen2.5", "<|endoftext|>", "<|im_end|>", "Hello!",
      "{%- if tools %}\n"
      "    {{- '<|im_start|>system\\n' }}\n"
      "    {{- '# Tools\\n\\nYou may call functions.<|im_end|>\\n' }}\n"
      "{%- else %}\n"
      "    {%- if messages[0]['role'] == 'system' %}\n"
      "        {{- '<|im_start|>system\\n' + messages[0]['content'] + '<|im_end|>\\n' }}\n"
      "    {%- else %}\n"
      "        {{- '<|im_start|>system\\nYou are Qwen, created by Alibaba Cloud. You are a "
      "helpful assistant.<|im_end|>\\n' }}\n"
      "    {%- endif %}\n{%- endif %}\n"
      "{%- for message in messages %}\n"
      "    {%- if (message.role == \"user\") or (message.role == \"system\" and not loop.first) or "
      "(message.role == \"assistant\" and not message.tool_calls) %}\n"
      "        {{- '<|im_start|>' + message.role + '\\n' + message.content + '<|im_end|>' + "
      "'\\n' }}\n"
      "    {%- endif %}\n{%- endfor %}\n"
      "{%- if add_generation_prompt %}\n    {{- '<|im_start|>assistant\\n' }}\n{%- endif %}\n",
      IM_SYSTEM("Be brief.") IM_TURNS,
      IM_SYSTEM("You are Qwen, created by Alibaba Cloud. You are a helpful assistant.") IM_TURNS,
      false, NULL },
    { "qwen3", "<|endoftext|>", "<|im_end|>", "Hello!",
      "{%- if messages[0].role == 'system' %}\n"
      "    {{- '<|im_start|>system\\n' + messages[0].content + '<|im_end|>\\n' }}\n{%- endif %}\n"
      "{%- for message in messages %}\n"
      "    {%- if (message.role == \"user\") %}\n"
      "        {{- '<|im_start|>' + message.role + '\\n' + message.content + '<|im_end|>' + "
      "'\\n' }}\n"
      "    {%- elif message.role == \"assistant\" %}\n"
      "        {%- set content = message.content.split('</think>')[-1].lstrip('\\n') %}\n"
      "        {{- '<|im_start|>' + message.role + '\\n' + content }}\n"
      "        {{- '<|im_end|>\\n' }}\n"
      "    {%- endif %}\n{%- endfor %}\n"
      "{%- if add_generation_prompt %}\n    {{- '<|im_start|>assistant\\n' }}\n"
      "    {%- if enable_thinking is defined and enable_thinking is false %}\n"
      "        {{- '<think>\\n\\n</think>\\n\\n' }}\n    {%- endif %}\n{%- endif %}",
      IM_SYSTEM("Be brief.") IM_TURNS, IM_TURNS, false, IM_TURNS "<think>\n\n</think>\n\n" },
    { "phi4", "<|endoftext|>", "<|im_end|>", "Hello!",
      "{% for message in messages %}{% if (message['role'] == 'system') %}"
      "{{'<|im_start|>system<|im_sep|>' + message['content'] + '<|im_end|>'}}"
      "{% elif (message['role'] == 'user') %}"
      "{{'<|im_start|>user<|im_sep|>' + message['content'] + '<|im_end|>'}}"
      "{% elif (message['role'] == 'assistant') %}"
      "{{'<|im_start|>assistant<|im_sep|>' + message['content'] + '<|im_end|>'}}{% endif %}"
      "{% endfor %}{% if add_generation_prompt %}{{ '<|im_start|>assistant<|im_sep|>' }}"
      "{% endif %}",
      "<|im_start|>system<|im_sep|>Be brief.<|im_end|><|im_start|>user<|im_sep|> Hi there "
      "<|im_end|><|im_start|>assistant<|im_sep|>Hello!<|im_end|><|im_start|>user<|im_sep|>Why?"
      "<|im_end|><|im_start|>assistant<|im_sep|>",
      "<|im_start|>user<|im_sep|> Hi there <|im_end|><|im_start|>assistant<|im_sep|>Hello!"
      "<|im_end|><|im_start|>user<|im_sep|>Why?<|im_end|><|im_start|>assistant<|im_sep|>",
      false, NULL },
    { "llama3", "<|begin_of_text|>", "<|eot_id|>", "Hello!",
      "{% set loop_messages = messages %}{% for message in loop_messages %}"
      "{% set content = '<|start_header_id|>' + message['role'] + '<|end_header_id|>\n\n'+ "
      "message['content'] | trim + '<|eot_id|>' %}"
      "{% if loop.index0 == 0 %}{% set content = bos_token + content %}{% endif %}{{ content }}"
      "{% endfor %}{% if add_generation_prompt %}"
      "{{ '<|start_header_id|>assistant<|end_header_id|>\n\n' }}{% endif %}",
      "<|begin_of_text|>" H("system") "Be brief.<|eot_id|>" L3_TURNS, "<|begin_of_text|>" L3_TURNS,
      false, NULL },
    { "llama3.1", "<|begin_of_text|>", "<|eot_id|>", "Hello!",
      "{{- bos_token }}\n"
      "{%- if not date_string is defined %}\n"
      "    {%- set date_string = \"26 Jul 2024\" %}\n{%- endif %}\n"
      "{%- if messages[0]['role'] == 'system' %}\n"
      "    {%- set system_message = messages[0]['content']|trim %}\n"
      "    {%- set messages = messages[1:] %}\n"
      "{%- else %}\n    {%- set system_message = \"\" %}\n{%- endif %}\n"
      "{{- \"<|start_header_id|>system<|end_header_id|>\\n\\n\" }}\n"
      "{{- \"Cutting Knowledge Date: December 2023\\n\" }}\n"
      "{{- \"Today Date: \" + date_string + \"\\n\\n\" }}\n"
      "{{- system_message }}\n{{- \"<|eot_id|>\" }}\n"
      "{%- for message in messages %}\n"
      "    {{- '<|start_header_id|>' + message['role'] + '<|end_header_id|>\\n\\n'+ "
      "message['content'] | trim + '<|eot_id|>' }}\n{%- endfor %}\n"
      "{%- if add_generation_prompt %}\n"
      "    {{- '<|start_header_id|>assistant<|end_header_id|>\\n\\n' }}\n{%- endif %}\n",
      "<|begin_of_text|>" H("system") L31_DATE "Be brief.<|eot_id|>" L3_TURNS,
      "<|begin_of_text|>" H("system") L31_DATE "<|eot_id|>" L3_TURNS, false, NULL },
    { "llama2", "<s>", "</s>", " Hello!",
      "{% if messages[0]['role'] == 'system' %}{% set loop_messages = messages[1:] %}"
      "{% set system_message = messages[0]['content'] %}{% else %}"
      "{% set loop_messages = messages %}{% set system_message = false %}{% endif %}"
      "{% for message in loop_messages %}"
      "{% if loop.index0 == 0 and system_message != false %}"
      "{% set content = '<<SYS>>\\n' + system_message + '\\n<</SYS>>\\n\\n' + "
      "message['content'].strip() %}"
      "{% else %}{% set content = message['content'] %}{% endif %}"
      "{% if message['role'] == 'user' %}{{ bos_token + '[INST] ' + content.strip() + "
      "' [/INST]' }}"
      "{% elif message['role'] == 'assistant' %}{{ ' '  + content.strip() + ' ' + eos_token }}"
      "{% endif %}{% endfor %}",
      "<s>[INST] <<SYS>>\nBe brief.\n<</SYS>>\n\nHi there [/INST] Hello! </s><s>[INST] Why? "
      "[/INST]",
      "<s>[INST] Hi there [/INST] Hello! </s><s>[INST] Why? [/INST]", false, NULL },
    { "mistral-v0.1", "<s>", "</s>", "Hello!",
      OLD_MISTRAL_JINJA("message['content'] + eos_token + ' '"),
      "<s>[INST] Be brief.\n\n Hi there  [/INST]Hello!</s> [INST] Why? [/INST]",
      "<s>[INST]  Hi there  [/INST]Hello!</s> [INST] Why? [/INST]", true, NULL },
    { "mistral-v0.2", "<s>", "</s>", "Hello!", OLD_MISTRAL_JINJA("message['content'] + eos_token"),
      "<s>[INST] Be brief.\n\n Hi there  [/INST]Hello!</s>[INST] Why? [/INST]",
      "<s>[INST]  Hi there  [/INST]Hello!</s>[INST] Why? [/INST]", true, NULL },
    { "mistral-v1", "<s>", "</s>", " Hello!",
      MISTRAL_JINJA(" [INST] ", " [/INST]", "\" \" + message[\"content\"] + eos_token"),
      "<s> [INST] Be brief.\n\n Hi there  [/INST] Hello!</s> [INST] Why? [/INST]",
      "<s> [INST]  Hi there  [/INST] Hello!</s> [INST] Why? [/INST]", false, NULL },
    { "mistral-v3", "<s>", "</s>", " Hello!",
      MISTRAL_JINJA("[INST] ", "[/INST]", "\" \" + message[\"content\"]|trim + eos_token"),
      "<s>[INST] Be brief.\n\n Hi there [/INST] Hello!</s>[INST] Why?[/INST]",
      "<s>[INST]  Hi there [/INST] Hello!</s>[INST] Why?[/INST]", false, NULL },
    { "mistral-v3-tekken", "<s>", "</s>", "Hello!",
      MISTRAL_JINJA("[INST]", "[/INST]", "message[\"content\"] + eos_token"),
      "<s>[INST]Be brief.\n\n Hi there [/INST]Hello!</s>[INST]Why?[/INST]",
      "<s>[INST] Hi there [/INST]Hello!</s>[INST]Why?[/INST]", false, NULL },
    { "mistral-v7", "<s>", "</s>", "Hello!",
      "{{- bos_token }}{%- for message in messages %}{%- if message['role'] == 'user' %}"
      "{{- '[INST]' + message['content'] + '[/INST]' }}"
      "{%- elif message['role'] == 'system' %}"
      "{{- '[SYSTEM_PROMPT]' + message['content'] + '[/SYSTEM_PROMPT]' }}"
      "{%- elif message['role'] == 'assistant' %}{{- message['content'] + eos_token }}"
      "{%- endif %}{%- endfor %}",
      "<s>[SYSTEM_PROMPT]Be brief.[/SYSTEM_PROMPT][INST] Hi there [/INST]Hello!</s>[INST]Why?"
      "[/INST]",
      "<s>[INST] Hi there [/INST]Hello!</s>[INST]Why?[/INST]", false, NULL },
    { "zephyr", "<s>", "</s>", "Hello!",
      "{% for message in messages %}\n{% if message['role'] == 'user' %}\n"
      "{{ '<|user|>\n' + message['content'] + eos_token }}\n"
      "{% elif message['role'] == 'system' %}\n"
      "{{ '<|system|>\n' + message['content'] + eos_token }}\n"
      "{% elif message['role'] == 'assistant' %}\n"
      "{{ '<|assistant|>\n'  + message['content'] + eos_token }}\n{% endif %}\n"
      "{% if loop.last and add_generation_prompt %}\n{{ '<|assistant|>' }}\n{% endif %}\n"
      "{% endfor %}",
      "<|system|>\nBe brief.</s>\n<|user|>\n Hi there </s>\n<|assistant|>\nHello!</s>\n"
      "<|user|>\nWhy?</s>\n<|assistant|>\n",
      "<|user|>\n Hi there </s>\n<|assistant|>\nHello!</s>\n<|user|>\nWhy?</s>\n<|assistant|>\n",
      false, NULL },
    { "phi3", "<s>", "<|endoftext|>", "Hello!",
      "{% for message in messages %}{% if message['role'] == 'system' %}"
      "{{'<|system|>\n' + message['content'] + '<|end|>\n'}}{% elif message['role'] == 'user' %}"
      "{{'<|user|>\n' + message['content'] + '<|end|>\n'}}"
      "{% elif message['role'] == 'assistant' %}"
      "{{'<|assistant|>\n' + message['content'] + '<|end|>\n'}}{% endif %}{% endfor %}"
      "{% if add_generation_prompt %}{{ '<|assistant|>\n' }}{% else %}{{ eos_token }}{% endif %}",
      "<|system|>\nBe brief.<|end|>\n<|user|>\n Hi there <|end|>\n<|assistant|>\nHello!<|end|>\n"
      "<|user|>\nWhy?<|end|>\n<|assistant|>\n",
      "<|user|>\n Hi there <|end|>\n<|assistant|>\nHello!<|end|>\n<|user|>\nWhy?<|end|>\n"
      "<|assistant|>\n",
      false, NULL },
    { "phi3", "<s>", "<|endoftext|>", "Hello!", /* roles under their own names, and bos */
      "{{ bos_token }}{% for message in messages %}{{'<|' + message['role'] + '|>' + '\n' + "
      "message['content'] + '<|end|>\n' }}{% endfor %}"
      "{% if add_generation_prompt %}{{ '<|assistant|>\n' }}{% endif %}",
      "<s><|system|>\nBe brief.<|end|>\n<|user|>\n Hi there <|end|>\n<|assistant|>\nHello!<|end|>\n"
      "<|user|>\nWhy?<|end|>\n<|assistant|>\n",
      "<s><|user|>\n Hi there <|end|>\n<|assistant|>\nHello!<|end|>\n<|user|>\nWhy?<|end|>\n"
      "<|assistant|>\n",
      false, NULL },
    { "phi4-mini", "<|endoftext|>", "<|endoftext|>", "Hello!",
      "{% for message in messages %}{{ '<|' + message['role'] + '|>' + message['content'] + "
      "'<|end|>' }}{% endfor %}{% if add_generation_prompt %}{{ '<|assistant|>' }}{% endif %}",
      "<|system|>Be brief.<|end|><|user|> Hi there <|end|><|assistant|>Hello!<|end|><|user|>Why?"
      "<|end|><|assistant|>",
      "<|user|> Hi there <|end|><|assistant|>Hello!<|end|><|user|>Why?<|end|><|assistant|>", false,
      NULL },
    { "gemma", "<bos>", "<eos>", "Hello!",
      "{{ bos_token }}{% if messages[0]['role'] == 'system' %}"
      "{{ raise_exception('no system role') }}{% endif %}{% for message in messages %}"
      "{% if (message['role'] == 'assistant') %}{% set role = 'model' %}{% else %}"
      "{% set role = message['role'] %}{% endif %}"
      "{{ '<start_of_turn>' + role + '\n' + message['content'] | trim + '<end_of_turn>\n' }}"
      "{% endfor %}{% if add_generation_prompt %}{{'<start_of_turn>model\n'}}{% endif %}",
      "<bos><start_of_turn>user\nBe brief.\n\nHi there<end_of_turn>\n<start_of_turn>model\nHello!"
      "<end_of_turn>\n<start_of_turn>user\nWhy?<end_of_turn>\n<start_of_turn>model\n",
      "<bos><start_of_turn>user\nHi there<end_of_turn>\n<start_of_turn>model\nHello!<end_of_turn>\n"
      "<start_of_turn>user\nWhy?<end_of_turn>\n<start_of_turn>model\n",
      true, NULL },
    { "gemma", "<bos>", "<eos>", "Hello!", /* as Gemma 3 writes it */
      "{{ bos_token }}\n{%- if messages[0]['role'] == 'system' -%}\n"
      "    {%- set first_user_prefix = messages[0]['content'] + '\n\n' -%}\n"
      "    {%- set loop_messages = messages[1:] -%}\n"
      "{%- else -%}\n    {%- set first_user_prefix = \"\" -%}\n"
      "    {%- set loop_messages = messages -%}\n{%- endif -%}\n"
      "{%- for message in loop_messages -%}\n"
      "    {%- if (message['role'] == 'assistant') -%}\n        {%- set role = \"model\" -%}\n"
      "    {%- else -%}\n        {%- set role = message['role'] -%}\n    {%- endif -%}\n"
      "    {{ '<start_of_turn>' + role + '\n' + (first_user_prefix if loop.first else \"\") }}\n"
      "    {%- if message['content'] is string -%}\n        {{ message['content'] | trim }}\n"
      "    {%- endif -%}\n    {{ '<end_of_turn>\n' }}\n{%- endfor -%}\n"
      "{%- if add_generation_prompt -%}\n    {{'<start_of_turn>model\n'}}\n{%- endif -%}\n",
      "<bos><start_of_turn>user\nBe brief.\n\nHi there<end_of_turn>\n<start_of_turn>model\nHello!"
      "<end_of_turn>\n<start_of_turn>user\nWhy?<end_of_turn>\n<start_of_turn>model\n",
      "<bos><start_of_turn>user\nHi there<end_of_turn>\n<start_of_turn>model\nHello!<end_of_turn>\n"
      "<start_of_turn>user\nWhy?<end_of_turn>\n<start_of_turn>model\n",
      false, NULL },
};

/* Templates that cannot be used, and what each error message names. */
static const struct {
    const char *what, *jinja, *names;
} bad_templates[] = {
    { "the messages as they are", "{{ messages }}", "1 turn with a system prompt" },
    { "no reply", "{% for m in messages if m.role == 'user' %}[{{ m.content }}]{% endfor %}",
      "does not write the replies" },
    { "a tag without an end", "{% for m in messages %}\n{{ m.content }", "line 2" },
    { "a filter of nobody's", "{{ messages | frobnicate }}", "'frobnicate'" },
    { "it says no", "{{ raise_exception('tools only') }}", "the template says: tools only" },
    { "texts and nothing else", "{% for m in messages %}{{ m.content }}{% endfor %}",
      "writes no marks" },
    { "forever", "{% for a in range(9000) %}{% for b in range(900) %}{% endfor %}{% endfor %}",
      "takes more than" },
    { "the first turn alone", "{{ messages[0].content }}", "does not write the replies" },
    { "another word in the third turn",
      "{% for m in messages %}<|{{ m.role }}|>{{ m.content }}{{ 'x' if loop.index == 5 }}<|end|>"
      "{% endfor %}<|assistant|>",
      "3 turns" },
};

#endif
