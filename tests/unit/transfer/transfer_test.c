/* Frames, and the board's side of a transfer against a far end that this test plays. */
#include "runtime/base/crc32c.h"
#include "runtime/transfer/transfer_receive.h"
#include "tests/unit/storage/fake_block.h"
#include "tests/unit/tap.h"
#include "tests/unit/transfer/fake_wire.h"

enum { BYTES = 150001, SECTORS = (BYTES + 511) / 512 };

static uint8_t disk[SECTORS * SECTOR_BYTES + SECTOR_BYTES], sent[BYTES];
static struct fake_block fake;
static struct file target;
static struct transfer transfer;
static struct transfer_decoder decoder;
static uint8_t out[TRANSFER_WIRE_BYTES];
static struct {
    unsigned n[256]; /* frames of a kind */
    uint64_t number[256], crc;
} heard;

static void say(uint8_t kind, uint64_t number, const uint8_t *data, size_t bytes)
{
    struct transfer_frame f = { kind, number, data, bytes };

    fake_wire_send(out, transfer_put(out, &f));
}

static void hear(const uint8_t *bytes, size_t n)
{
    struct transfer_frame f;

    for (size_t i = 0; i < n; i++)
        if (transfer_take(&decoder, bytes[i], &f) == TRANSFER_WHOLE) {
            heard.n[f.kind]++;
            heard.number[f.kind] = f.number;
            if (f.kind == TRANSFER_THERE)
                heard.crc = transfer_number(f.data, f.bytes);
        }
}

static void begin(void)
{
    fake_wire_clear();
    fake_wire.hear = hear;
    memset(&heard, 0, sizeof heard);
    memset(&decoder, 0, sizeof decoder);
    memset(disk, 0x55, sizeof disk);
    fake_init(&fake, disk, SECTORS);
    fake.written = disk;
    fake.dev.writable = true;
    (void)file_open_device(&target, &fake.dev, BYTES, NULL);
    for (size_t i = 0; i < BYTES; i++)
        sent[i] = (uint8_t)(i * 7 + i / 251);
}

static void send_from(uint64_t at, uint64_t end)
{
    while (at < end) {
        size_t n = end - at < TRANSFER_DATA_BYTES ? (size_t)(end - at) : TRANSFER_DATA_BYTES;

        say(TRANSFER_DATA, at, sent + at, n);
        at += n;
    }
}

static void send_end(void)
{
    uint8_t crc[4];

    transfer_put_number(crc, crc32c(0, sent, BYTES), 4);
    say(TRANSFER_END, BYTES, crc, 4);
}

static void test_frames(void)
{
    uint8_t data[TRANSFER_DATA_BYTES];
    struct transfer_frame in, f = { 'd', 0x7e7d031113ull, data, sizeof data };
    enum transfer_taken taken = TRANSFER_MORE;
    bool hidden = true;
    size_t n;

    for (size_t i = 0; i < sizeof data; i++)
        data[i] = (uint8_t)i;
    n = transfer_put(out, &f);
    memset(&decoder, 0, sizeof decoder);
    for (size_t i = 0; i < n; i++) {
        hidden = hidden && out[i] != 3 && out[i] != 0x11 && out[i] != 0x13 &&
                 (out[i] != 0x7e || i == 0 || i == n - 1);
        taken = transfer_take(&decoder, out[i], &in);
    }
    OK(taken == TRANSFER_WHOLE && in.kind == 'd' && in.number == f.number &&
           in.bytes == sizeof data && memcmp(in.data, data, sizeof data) == 0,
       "a frame of %u bytes comes back from %u", (unsigned)sizeof data, (unsigned)n);
    OK(hidden, "no frame has a byte that means something to a line");
    {
        unsigned damaged = 0;

        for (size_t at = 1; at + 1 < 40; at++) {
            uint8_t was = out[at];

            out[at] ^= 0x40;
            for (size_t i = 0; i < n; i++)
                taken = transfer_take(&decoder, out[i], &in);
            damaged += taken == TRANSFER_DAMAGED;
            out[at] = was;
        }
        OK(damaged == 38, "each of 38 flipped bits is seen: %u", damaged);
    }
    OK(transfer_take(&decoder, 3, &in) == TRANSFER_CTRL_C, "a Ctrl-C between frames is recognized");
}

static void test_whole(void)
{
    begin();
    say(TRANSFER_PING, 7, NULL, 0);
    send_from(0, BYTES);
    send_end();
    OK(transfer_receive(&transfer, &fake_line, &target) == ERR_OK && memcmp(disk, sent, BYTES) == 0,
       "a file is received");
    OK(heard.number[TRANSFER_NEXT] == BYTES && heard.n[TRANSFER_PING] == 1 &&
           heard.number[TRANSFER_PING] == 7 && disk[BYTES] == 0,
       "the received bytes are reported, and the last sector ends in zeros");
    OK(transfer.resumed_at == 0 && heard.n[TRANSFER_AGAIN] == 0, "nothing was sent twice");
    say(TRANSFER_END, 0, NULL, 0);
    say(TRANSFER_BYE, 0, NULL, 0);
    transfer_conclude(&transfer, NULL);
    OK(heard.n[TRANSFER_RESULT] == 1 && heard.number[TRANSFER_RESULT] == 0,
       "the far end is told how the transfer ended");
    transfer_conclude(&transfer, "because");
    OK(heard.n[TRANSFER_RESULT] > 5 && heard.number[TRANSFER_RESULT] == 1,
       "the result is repeated until the far end has heard it, or for a while");
}

static void test_resumed(void)
{
    uint8_t length[8];

    begin();
    memcpy(disk, sent, 100000);
    transfer_put_number(length, TRANSFER_STEP_BYTES, 8);
    say(TRANSFER_QUERY, 0, length, 8);
    say(TRANSFER_START, TRANSFER_STEP_BYTES, NULL, 0);
    send_from(TRANSFER_STEP_BYTES, BYTES);
    send_end();
    OK(transfer_receive(&transfer, &fake_line, &target) == ERR_OK &&
           memcmp(disk, sent, BYTES) == 0 && transfer.resumed_at == TRANSFER_STEP_BYTES,
       "a transfer goes on from what an earlier try left");
    OK(heard.n[TRANSFER_THERE] == 1 && heard.crc == crc32c(0, sent, TRANSFER_STEP_BYTES),
       "the checksum of what is there is told");
    begin();
    transfer_put_number(length, 1 << 20, 8);
    say(TRANSFER_QUERY, 0, length, 8);
    say(TRANSFER_QUERY, 512, length, 8);
    say(TRANSFER_QUERY, 0, length, 3);
    say(TRANSFER_START, 4096, NULL, 0);
    say(TRANSFER_START, 1 << 20, NULL, 0);
    send_from(0, BYTES);
    send_end();
    OK(transfer_receive(&transfer, &fake_line, &target) == ERR_OK && heard.n[TRANSFER_THERE] <= 1,
       "questions and starts that make no sense are ignored");
}

/* The far end of test_lost: from where it was asked. */
static void resend(void)
{
    if (heard.n[TRANSFER_AGAIN] != 0) {
        heard.n[TRANSFER_AGAIN] = 0;
        send_from(heard.number[TRANSFER_AGAIN], BYTES);
        send_end();
    }
}

static void test_lost(void)
{
    begin();
    fake_wire.idle = resend;
    send_from(0, 20480);
    fake_wire.in[(fake_wire.tail - 500) % FAKE_WIRE_BYTES] ^= 4;
    send_from(20480, 40960);
    fake_wire_send((const uint8_t *)"~junk~~~}~", 10);
    OK(transfer_receive(&transfer, &fake_line, &target) == ERR_OK && memcmp(disk, sent, BYTES) == 0,
       "a frame that came damaged is asked for, and all after it");
    begin();
    fake_wire.idle = resend;
    send_from(4096, 8192);
    send_from(0, 8192);
    send_from(2048, 4096);
    send_end();
    OK(transfer_receive(&transfer, &fake_line, &target) == ERR_OK && memcmp(disk, sent, BYTES) == 0,
       "frames may come out of order, and twice");
}

static void test_failures(void)
{
    begin();
    send_from(0, 4096);
    OK(transfer_receive(&transfer, &fake_line, &target) == ERR_TIMEOUT && fake_wire.now >= 30000 &&
           fake_wire.now < 31000,
       "a transfer without more frames times out");
    begin();
    send_from(0, 4096);
    fake_wire_send((const uint8_t *)"\3", 1);
    OK(transfer_receive(&transfer, &fake_line, &target) == ERR_ABORTED,
       "a Ctrl-C ends the transfer");
    begin();
    send_from(0, BYTES);
    sent[70000] ^= 1;
    send_end();
    OK(transfer_receive(&transfer, &fake_line, &target) == ERR_BAD_CHECKSUM,
       "the checksum of another file is refused");
    begin();
    fake.wrong_write = 100;
    send_from(0, BYTES);
    send_end();
    OK(transfer_receive(&transfer, &fake_line, &target) == ERR_BAD_CHECKSUM,
       "a card that does not keep what it got is noticed");
    begin();
    fake.fail_sector = 130;
    fake.fail_times = 100;
    send_from(0, BYTES);
    OK(transfer_receive(&transfer, &fake_line, &target) == ERR_IO, "a card that fails is reported");
    begin();
    send_from(0, BYTES);
    say(TRANSFER_DATA, BYTES, sent, 1);
    OK(transfer_receive(&transfer, &fake_line, &target) == ERR_RANGE,
       "more bytes than the file has are refused");
}

static void test_rates(void)
{
    begin();
    send_from(0, BYTES);
    send_end();
    OK(transfer_receive(&transfer, &fake_fast_line, &target) == ERR_OK && fake_wire.n_slow == 0,
       "a rate that both ends can use is taken");
    begin();
    fake_wire_send((const uint8_t *)"\xff\x80~\xff~", 5);
    OK(transfer_receive(&transfer, &fake_fast_line, &target) == ERR_TIMEOUT &&
           fake_wire.n_slow == 1,
       "a rate that nobody understands is given up, once");
}

int main(void)
{
    test_frames();
    test_whole();
    test_resumed();
    test_lost();
    test_failures();
    test_rates();
    return tap_done();
}
