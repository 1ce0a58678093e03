/* The ring between the UART's interrupt and the console: order, a full ring, Ctrl-C, and two
 * threads. */
#include <pthread.h>
#include <string.h>

#include "board/drivers/serial/receive_ring.c"
#include "tests/unit/tap.h"

enum { MANY = 1000000, RING_BYTES = 128 * 1024, SMALL_BYTES = 64 };

static uint8_t memory[RING_BYTES], small[SMALL_BYTES];
static struct receive_ring ring;

static void begin(void)
{
    ring = (struct receive_ring)RECEIVE_RING(memory);
}

static bool put_all(const char *text)
{
    bool kept = true;

    for (; *text != '\0'; text++) {
        kept = receive_ring_put(&ring, (uint8_t)*text) && kept;
    }
    return kept;
}

static bool gives(const char *text)
{
    for (; *text != '\0'; text++) {
        if (receive_ring_take(&ring) != *text) {
            return false;
        }
    }
    return true;
}

static void test_order(void)
{
    begin();
    OK(receive_ring_take(&ring) == -1, "the ring is empty at first");
    OK(put_all("abc") && receive_ring_held(&ring) == 3 && gives("abc") &&
           receive_ring_take(&ring) == -1,
       "the first byte in is the first out");
    receive_ring_put(&ring, 0);
    receive_ring_put(&ring, 255);
    OK(receive_ring_take(&ring) == 0 && receive_ring_take(&ring) == 255,
       "a byte may have any value");
}

static void test_full(void)
{
    bool same = true;

    begin();
    put_all("xyz");
    (void)gives("xyz"); /* so that it wraps */
    for (unsigned i = 0; i < RING_BYTES; i++) {
        same = receive_ring_put(&ring, (uint8_t)(i % 251 + 4)) && same;
    }
    OK(same && receive_ring_held(&ring) == RING_BYTES, "the ring takes what it has room for");
    OK(!put_all("!"), "a full ring takes no more");
    for (unsigned i = 0; i < RING_BYTES; i++) {
        same = receive_ring_take(&ring) == (int)(i % 251 + 4) && same;
    }
    OK(same && receive_ring_take(&ring) == -1, "kept bytes are complete");
}

static void test_ctrl_c(void)
{
    begin();
    put_all("ab");
    OK(!receive_ring_take_ctrl_c(&ring), "no Ctrl-C has come");
    put_all("\x03"
            "c\x03"
            "d");
    OK(receive_ring_take_ctrl_c(&ring) && !receive_ring_take_ctrl_c(&ring),
       "several Ctrl-C count once");
    OK(gives("abcd") && receive_ring_take(&ring) == -1, "bytes around Ctrl-C stay");
    put_all("\x03"
            "e");
    OK(gives("\x03"
             "e") &&
           !receive_ring_take_ctrl_c(&ring),
       "a Ctrl-C that was reported is not reported again");
    put_all("f\x03");
    (void)receive_ring_take_ctrl_c(&ring);
    put_all("g\x03");
    OK(gives("fg\x03"), "a Ctrl-C that came after the question is reported");
    while (put_all("h")) {
    }
    OK(!put_all("\x03") && receive_ring_take_ctrl_c(&ring) && !receive_ring_take_ctrl_c(&ring),
       "a Ctrl-C that a full ring cannot store is noted");
    OK(gives("h") && put_all("\x03") && receive_ring_take_ctrl_c(&ring),
       "the next Ctrl-C is noted, too");
}

static void test_move(void)
{
    ring = (struct receive_ring)RECEIVE_RING(small);
    for (unsigned i = 0; i < SMALL_BYTES - 3; i++) {
        receive_ring_put(&ring, 'x');
        receive_ring_take(&ring);
    }
    put_all("abcdef\x03gh"); /* around the end of the small one */
    OK(receive_ring_move(&ring, memory, RING_BYTES) == ERR_OK && receive_ring_held(&ring) == 9,
       "a larger memory holds what waited");
    memset(small, '?', sizeof small);
    OK(put_all("ij") && receive_ring_take_ctrl_c(&ring) && gives("abcdefghij") &&
           receive_ring_take(&ring) == -1,
       "the bytes come in order with their Ctrl-C, and the old memory is free");
    OK(receive_ring_move(&ring, small, 0) == ERR_BAD_ARGUMENT &&
           receive_ring_move(&ring, small, 48) == ERR_BAD_ARGUMENT,
       "only a power of two may be its size");
    for (unsigned i = 0; i < SMALL_BYTES; i++) {
        put_all("k");
    }
    OK(put_all("l") && receive_ring_move(&ring, small, SMALL_BYTES) == ERR_BAD_ARGUMENT &&
           receive_ring_held(&ring) == SMALL_BYTES + 1,
       "nothing changes if more bytes wait than the new memory holds");
    OK(receive_ring_take(&ring) == 'k' && receive_ring_move(&ring, small, SMALL_BYTES) == ERR_OK &&
           !put_all("m"),
       "bytes that fit exactly fill it");
}

static void *produce(void *arg)
{
    (void)arg;
    for (unsigned i = 0; i < MANY; i++) {
        while (!receive_ring_put(&ring, (uint8_t)(i % 253))) {
        }
    }
    return NULL;
}

static void test_threads(void)
{
    pthread_t producer;
    unsigned got = 0;
    bool same = true;

    begin();
    pthread_create(&producer, NULL, produce, NULL);
    while (got < MANY) {
        int byte = receive_ring_take(&ring);

        if (byte >= 0) {
            same = byte == (int)(got++ % 253) && same;
        }
    }
    pthread_join(producer, NULL);
    OK(same, "%u bytes from another core arrive in order", got);
}

int main(void)
{
    test_order();
    test_full();
    test_ctrl_c();
    test_move();
    test_threads();
    return tap_done();
}
