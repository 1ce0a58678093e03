/* Questions to the firmware of a Raspberry Pi, whose processor does not look into the cores'
 * caches: which lines are flushed before a message is sent and after it came back. The registers do
 * what the wiki says. */
#include "board/drivers/soc/bcm_mailbox.h"

#include <string.h>

#include "board/drivers/soc/generic_timer.h"
#include "tests/unit/board/fakes/dma_log.h"
#include "tests/unit/board/fakes/fake_mmio.h"
#include "tests/unit/tap.h"

enum { READ = 0x00, STATUS = 0x18, WRITE = 0x20, STATUS_1 = 0x38, POLLS = 3, ANSWERS = 2 };
enum { BYTES = sizeof(struct bcm_mailbox) / 4096 * 4096 + 4096 };
#define FULL (1u << 31)
#define EMPTY (1u << 30)
#define DONE 0x80000000u
#define ALIAS 0xc0000000u
#define FOREIGN 0x00000019u /* it answers another channel */

static struct bcm_mailbox *m; /* in the first GiB, as the firmware wants it */
static uint8_t memory[BYTES], fetched[BYTES];
static struct firmware {
    uint32_t answers[ANSWERS]; /* to be read */
    unsigned n_answers, polls, n_asked;
    bool is_dead, is_absent; /* reads as 0, which is not empty */
    uint64_t now;
} f;
static const char arguments[] = "model=tiny.ingot cores=4";

uint64_t generic_timer_ticks(void)
{
    return f.now += 5;
}

uint64_t generic_timer_hz(void)
{
    return 1000000;
}

/* ---- the firmware ---- */

/* Writes the answer to a tag: its bytes; 0 for an unknown tag. */
static uint32_t answer(uint32_t tag, uint8_t *values)
{
    const uint32_t temperature[2] = { 0, 48312 };

    if (tag == BCM_GET_TEMPERATURE) {
        memcpy(values, temperature, sizeof temperature);
        return sizeof temperature;
    }
    if (tag == BCM_GET_ARGUMENTS) {
        memcpy(values, arguments, sizeof arguments - 1);
        return sizeof arguments - 1;
    }
    return 0;
}

/* Checks a header of two words, a tag of three, its values and a word of 0. All of it is in memory,
 * or none. */
static void take_message(size_t at)
{
    uint32_t head[5];
    uint32_t bytes;

    memcpy(head, memory + at, sizeof head);
    bytes = answer(head[2], memory + at + 20);
    head[1] = head[1] == 0 && head[0] >= 24 && bytes <= head[3] ? DONE : DONE | 1;
    head[4] = bytes > 0 ? DONE | bytes : 0;
    memcpy(memory + at, head, sizeof head);
    dma_log_evict(at, 20 + bytes);
}

static uint32_t read_register(unsigned at)
{
    if (f.is_absent)
        return 0;
    if (at == STATUS_1)
        return f.polls > 0 && f.polls-- > 0 ? FULL : 0;
    if (at == STATUS)
        return f.is_dead || f.n_answers == 0 || (f.polls > 0 && f.polls-- > 0) ? EMPTY : 0;
    if (at != READ || f.n_answers == 0)
        return 0;
    return f.answers[--f.n_answers];
}

static void write_register(unsigned at, uint32_t value)
{
    uint32_t bus = value & ~15u;

    dma_log_add(DMA_REGISTER, at, value);
    if (at != WRITE)
        return;
    f.n_asked++;
    OK((value & 15) == 8 && bus == ((uint32_t)(uintptr_t)m->message | ALIAS),
       "the message's address on the bus is sent on channel 8");
    if (f.is_dead)
        return;
    take_message((uintptr_t)m->message - (uintptr_t)m);
    f.polls = POLLS;
    f.answers[0] = value;
    f.answers[1] = FOREIGN;
    f.n_answers = ANSWERS;
}

static void power_up(void)
{
    static uintptr_t base;

    if (base == 0) {
        base = fake_mmio_add(read_register, write_register);
        m = mmap((void *)0x20000000, BYTES, PROT_READ | PROT_WRITE,
                 MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE, -1, 0);
    }
    memset(&f, 0, sizeof f);
    memset(&dma_log, 0, sizeof dma_log);
    memset(m, 0, BYTES);
    bcm_mailbox_init(m, base);
    dma_log_watch((uint8_t *)m, memory, fetched, BYTES);
    f.polls = POLLS;
}

/* ---- questions ---- */

/* Finds the event of the write that sent the message. */
static unsigned sent(void)
{
    unsigned i = 0;

    while (i < dma_log.n && dma_log.events[i].kind != DMA_REGISTER)
        i++;
    return i;
}

/* Answers one message; the test's firmware knows one of its tags. */
static void test_tags(void)
{
    static uint32_t many[BCM_MAILBOX_MAX_ANSWER / 4 + 1];
    uint32_t tags[] = { BCM_GET_TEMPERATURE, 8, 0, 0, 0, BCM_GET_CLOCK, 8, 0, 7, 9 };

    power_up();
    OK(bcm_mailbox_ask_tags(m, tags, 10) == ERR_OK && tags[4] == 48312 && tags[8] == 7 &&
           m->message[0] == 13 * 4 && m->message[12] == 0,
       "several tags go in one message, and their answers take their places");
    power_up();
    OK(bcm_mailbox_ask_tags(m, many, BCM_MAILBOX_MAX_ANSWER / 4 + 1) == ERR_BAD_ARGUMENT &&
           f.n_asked == 0,
       "a question larger than a message is refused");
    power_up();
    f.is_dead = true;
    OK(bcm_mailbox_ask_tags(m, tags, 10) == ERR_TIMEOUT, "silence is a timeout");
}

static void test_ask(void)
{
    uint32_t values[2] = { 0, 0 };
    unsigned at;

    power_up();
    OK(bcm_mailbox_ask(m, BCM_GET_TEMPERATURE, values, 2) == ERR_OK && values[1] == 48312,
       "an answer is found after one to somebody else");
    at = sent();
    OK(at < dma_log.n && dma_log_flushed(m->message, 32, 0, at),
       "the message is flushed before it goes");
    OK(dma_log_flushed(m->message, 32, at, dma_log.n), "the message is flushed after it came back");
    OK(dma_log.events[at - 1].kind == DMA_ORDERED, "a barrier stands before the message goes");
    OK(bcm_mailbox_ask(m, BCM_GET_TEMPERATURE, values, 2) == ERR_OK && values[1] == 48312,
       "the next answer is found, too");
    OK(bcm_mailbox_ask(m, BCM_GET_THROTTLED, values, 1) == ERR_UNSUPPORTED,
       "a question that the firmware does not know is unsupported");
}

static void test_text(void)
{
    char text[64];
    size_t bytes = 0;
    unsigned at;

    power_up();
    OK(bcm_mailbox_ask_text(m, BCM_GET_ARGUMENTS, text, sizeof text, &bytes) == ERR_OK &&
           bytes == sizeof arguments - 1 && strcmp(text, arguments) == 0,
       "the firmware's answer is read as a text: %s", text);
    at = sent();
    OK(dma_log_flushed(m->message, 20 + BCM_MAILBOX_MAX_ANSWER, 0, at) &&
           dma_log_flushed(m->message, 20 + BCM_MAILBOX_MAX_ANSWER, at, dma_log.n),
       "all room of the answer is flushed, before and after");
    OK(bcm_mailbox_ask_text(m, BCM_GET_ARGUMENTS, text, 8, &bytes) == ERR_OK && text[0] == '\0' &&
           bytes == sizeof arguments - 1,
       "a text that does not fit becomes an empty one");
}

static void test_silence(void)
{
    uint32_t values[2] = { 0, 0 };

    power_up();
    f.is_dead = true;
    OK(bcm_mailbox_ask(m, BCM_GET_TEMPERATURE, values, 2) == ERR_TIMEOUT && f.now < 1100000,
       "without an answer, the mailbox is given up after a second");
    OK(bcm_mailbox_ask(m, BCM_GET_TEMPERATURE, values, 2) == ERR_NO_DEVICE && f.n_asked == 1,
       "after a time-out the mailbox is not asked again");
    power_up();
    f.is_dead = f.is_absent = true;
    OK(bcm_mailbox_ask(m, BCM_GET_TEMPERATURE, values, 2) == ERR_TIMEOUT,
       "a mailbox that is not there is given up, too");
    power_up();
    atomic_store(&m->taken, true);
    OK(bcm_mailbox_ask(m, BCM_GET_TEMPERATURE, values, 2) == ERR_TIMEOUT && f.n_asked == 0,
       "a core that trapped within its question keeps nobody waiting");
}

int main(void)
{
    test_ask();
    test_tags();
    test_text();
    test_silence();
    return tap_done();
}
