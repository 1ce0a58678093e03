/* Firmware with a language model in it: answers one question on the serial line and switches off.
 * The model is part of the image and used in place; all memory that the library gets is the range
 * between two symbols of the linker script. */
#include "ingot.h"
#include "machine.h"

#define QUESTION "Hello! Who are you?"

extern const unsigned char model_start[], model_end[]; /* model.S */
extern unsigned char memory_start[], memory_end[];     /* the linker script */

static void put_text(const char *text)
{
    for (; *text != '\0'; text++) {
        machine_putc(*text);
    }
}

static void put_hex(uint64_t value)
{
    for (int shift = 60; shift >= 0; shift -= 4) {
        machine_putc("0123456789abcdef"[value >> shift & 15]);
    }
}

static void put_line(void *context, const char *line)
{
    (void)context;
    put_text(line);
    put_text("\r\n");
}

static bool put_reply(void *context, const char *text, size_t bytes)
{
    (void)context;
    for (size_t i = 0; i < bytes; i++) {
        machine_putc(text[i]);
    }
    return true;
}

static enum ingot_error answer(struct ingot_model *model)
{
    static struct ingot_turn turn;
    struct ingot_generate_params params;
    struct ingot_session *session;
    enum ingot_error e = ingot_session_begin(model, &session);
    uint64_t hash;
    uint32_t positions;

    turn.text = QUESTION;
    turn.text_bytes = sizeof QUESTION - 1;
    if (e == INGOT_OK) {
        e = ingot_prompt_turn(session, &turn);
    }
    ingot_generate_default(&params);
    params.temp = 0;
    if (e == INGOT_OK) {
        e = ingot_generate(session, &params, put_reply, NULL, NULL);
    }
    if (e != INGOT_OK) {
        return e;
    }
    (void)ingot_logits_hash(session, &hash, &positions);
    put_text("\r\nlogits: ");
    put_hex(hash);
    put_text("\r\n");
    return INGOT_OK;
}

int main(void)
{
    static struct ingot_setup setup;
    struct ingot_model *model;
    enum ingot_error e;

    setup.memory = memory_start;
    setup.memory_bytes = (size_t)(memory_end - memory_start);
    setup.source.name = "demo";
    setup.source.bytes = (uint64_t)(model_end - model_start);
    setup.source.data = model_start;
    setup.clock.ticks = machine_ticks;
    setup.clock.hz = machine_hz();
    setup.cpu = INGOT_CPU_DETECT;
    setup.log = put_line;
    e = ingot_open(&setup, &model);
    if (e == INGOT_OK) {
        e = ingot_load(model);
    }
    if (e == INGOT_OK) {
        e = answer(model);
    }
    if (e != INGOT_OK) {
        put_line(NULL, ingot_error_text(e));
        put_line(NULL, ingot_error_message(model));
    }
    return e;
}
