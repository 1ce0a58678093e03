/* YMODEM against a sender that this test plays, block by block. */
#include <stdio.h>

#include "runtime/transfer/ymodem.h"
#include "tests/unit/storage/fake_block.h"
#include "tests/unit/tap.h"
#include "tests/unit/transfer/fake_wire.h"

enum { BYTES = 5000, SECTORS = 20 };

static uint8_t disk[SECTORS * SECTOR_BYTES], sent[BYTES];
static struct fake_block fake;
static struct file target;
static struct ymodem ymodem;
static char name[64];
static uint64_t told;
static unsigned n_closed, n_said[256];
static enum err open_error;

static uint16_t crc_of(const uint8_t *p, size_t n)
{
    uint16_t crc = 0;

    while (n-- > 0) {
        crc ^= (uint16_t)(*p++ << 8);
        for (int i = 0; i < 8; i++)
            crc = (uint16_t)(crc & 0x8000 ? crc << 1 ^ 0x1021 : crc << 1);
    }
    return crc;
}

static void send_block(uint8_t number, const uint8_t *data, size_t n, size_t size, bool spoilt)
{
    uint8_t block[3 + 1024 + 2] = { size == 128 ? 1 : 2, number, (uint8_t)~number };

    memset(block + 3, 0x1a, size);
    memcpy(block + 3, data, n);
    block[3 + size] = (uint8_t)(crc_of(block + 3, size) >> 8);
    block[4 + size] = (uint8_t)crc_of(block + 3, size);
    block[10] ^= spoilt;
    fake_wire_send(block, size + 5);
}

static void send_name(const char *text, const char *size)
{
    uint8_t block[128] = { 0 };

    snprintf((char *)block, sizeof block, "%s", text);
    snprintf((char *)block + strlen(text) + 1, sizeof block - strlen(text) - 1, "%s", size);
    send_block(0, block, sizeof block, 128, false);
}

static void send_byte(uint8_t byte)
{
    fake_wire_send(&byte, 1);
}

/* Sends everything about one file, whatever it receives. */
static void send_file(const char *text, size_t size)
{
    char digits[32];

    snprintf(digits, sizeof digits, "%u 0 0", BYTES);
    send_name(text, digits);
    for (size_t at = 0, i = 1; at < BYTES; at += size, i++)
        send_block((uint8_t)i, sent + at, BYTES - at < size ? BYTES - at : size, size, false);
    send_byte(4);
    send_byte(4);
}

static void hear(const uint8_t *bytes, size_t n)
{
    for (size_t i = 0; i < n; i++)
        n_said[bytes[i]]++;
}

static enum err open_it(void *context, const char *text, uint64_t bytes, const struct file **file)
{
    (void)context;
    snprintf(name, sizeof name, "%s", text);
    told = bytes;
    *file = &target;
    target.bytes = bytes < sizeof disk ? bytes : sizeof disk;
    return open_error;
}

static enum err close_it(void *context)
{
    (void)context;
    n_closed++;
    return ERR_OK;
}

static void begin(void)
{
    fake_wire_clear();
    fake_wire.hear = hear;
    memset(n_said, 0, sizeof n_said);
    memset(disk, 0, sizeof disk);
    n_closed = 0;
    open_error = ERR_OK;
    fake_init(&fake, disk, SECTORS);
    fake.written = disk;
    fake.dev.writable = true;
    (void)file_open_device(&target, &fake.dev, BYTES, NULL);
    ymodem = (struct ymodem){ .wire = &fake_line, .open = open_it, .close = close_it };
    for (size_t i = 0; i < BYTES; i++)
        sent[i] = (uint8_t)(i * 11 + i / 100);
}

static void test_files(void)
{
    static const uint8_t standard[] = "123456789";

    OK(crc_of(standard, 9) == 0x31c3, "the CRC is the protocol's");
    for (size_t size = 128; size <= 1024; size *= 8) {
        begin();
        send_file("a.ingot", size);
        send_name("", "");
        OK(ymodem_receive(&ymodem) == ERR_OK && n_closed == 1 && told == BYTES &&
               strcmp(name, "a.ingot") == 0 && memcmp(disk, sent, BYTES) == 0 && n_said[21] == 1,
           "a file in blocks of %u bytes is received", (unsigned)size);
    }
    begin();
    send_file("one", 1024);
    send_file("two", 128);
    send_name("", "");
    OK(ymodem_receive(&ymodem) == ERR_OK && n_closed == 2 && ymodem.n_files == 2 &&
           strcmp(name, "two") == 0,
       "two files in a row are received");
}

/* A sender whose block is spoilt each time. */
static void send_spoilt(void)
{
    static unsigned answered;

    if (n_said[21] != answered) {
        answered = n_said[21];
        send_block(1, sent, 1024, 1024, true);
    }
}

static void test_noise(void)
{
    begin();
    send_name("a", "2000");
    send_block(1, sent, 1024, 1024, true);
    fake_wire.idle = send_spoilt;
    OK(ymodem_receive(&ymodem) == ERR_BAD_CHECKSUM && n_closed == 0 && n_said[21] == 9 &&
           n_said[24] >= 2,
       "a block that never comes whole is tried ten times");
    begin();
    send_name("a", "1500");
    send_block(1, sent, 1024, 1024, false);
    send_block(1, sent, 1024, 1024, false); /* the answer was lost */
    send_byte(0x55);
    send_block(2, sent + 1024, 476, 1024, false);
    send_byte(4);
    send_byte(4);
    send_name("", "");
    OK(ymodem_receive(&ymodem) == ERR_OK && memcmp(disk, sent, 1500) == 0,
       "a block that appears twice counts once");
    begin();
    send_name("a", "5000");
    send_block(1, sent, 1024, 1024, false);
    send_block(3, sent, 1024, 1024, false);
    OK(ymodem_receive(&ymodem) == ERR_BAD_CHECKSUM && n_said[24] >= 2,
       "a block that is missing ends the transfer");
    begin();
    send_name("a", "5000");
    send_block(1, sent, 1024, 1024, false);
    send_byte(4);
    send_byte(4);
    OK(ymodem_receive(&ymodem) == ERR_TRUNCATED && n_closed == 0, "too few bytes are noticed");
}

/* Files whose length is not what the header says. */
static void test_lengths(void)
{
    begin();
    send_name("a", "1000");
    for (uint8_t i = 1; i <= 3; i++)
        send_block(i, sent, 1024, 1024, false);
    send_byte(4);
    send_byte(4);
    OK(ymodem_receive(&ymodem) == ERR_RANGE && n_closed == 0 && n_said[24] >= 2,
       "a block more than the header declares leaves the file without its name");
    begin();
    send_name("a", "1025");
    send_block(1, sent, 1024, 1024, false);
    send_block(2, sent + 1024, 1, 1024, false);
    send_byte(4);
    send_byte(4);
    send_name("", "");
    OK(ymodem_receive(&ymodem) == ERR_OK && n_closed == 1 && memcmp(disk, sent, 1025) == 0 &&
           disk[1025] == 0,
       "padding of the last block is ignored");
    begin();
    send_name("a", "1024");
    send_block(1, sent, 1024, 1024, false);
    send_block(2, sent, 128, 128, false);
    OK(ymodem_receive(&ymodem) == ERR_RANGE && n_closed == 0,
       "a short block more than the header declares is refused, too");
    begin();
    send_file("one", 1024);
    send_name("two", "2000");
    send_block(1, sent, 1024, 1024, false);
    send_byte(4);
    send_byte(4);
    OK(ymodem_receive(&ymodem) == ERR_TRUNCATED && n_closed == 1 && ymodem.n_files == 1 &&
           ymodem.begun && n_said[6] == 5 + 1 + 1 + 2 && n_said[24] >= 2,
       "a second file that ends too early is not acknowledged to the sender");
}

/* The answer to the sender was lost, so it sends again. */
static void test_repeated(void)
{
    begin();
    send_name("a", "1000 0 0");
    send_name("a", "1000 0 0");
    send_block(1, sent, 1000, 1024, false);
    send_byte(4);
    send_byte(4);
    send_byte(4);
    send_name("b", "100 0 0");
    send_name("b", "100 0 0");
    send_block(1, sent, 100, 128, false);
    send_byte(4);
    send_byte(4);
    send_name("", "");
    OK(ymodem_receive(&ymodem) == ERR_OK && n_closed == 2 && ymodem.n_files == 2,
       "headers and an end may come twice");
    OK(n_said['C'] == 1 + 2 + 2 + 2 + 1, "each header is answered by a request to go on: %u",
       n_said['C']);
}

/* A sender that goes on only after silence. */
static unsigned n_asked;

static void send_slowly(void)
{
    switch (n_asked++) {
    case 0: /* a Ctrl-C, and silence behind it */
    case 6: send_byte(3); break;
    case 4: send_block(1, sent, 1024, 1024, false); break;
    case 8: send_block(2, sent + 1024, 476, 1024, false); break;
    case 9:
        send_byte(4);
        send_byte(4);
        send_name("", "");
        break;
    default: break;
    }
}

/* Counts start again at each block. */
static void test_counts(void)
{
    begin();
    n_asked = 0;
    send_name("a", "1500");
    fake_wire.idle = send_slowly;
    OK(ymodem_receive(&ymodem) == ERR_OK && memcmp(disk, sent, 1500) == 0,
       "a Ctrl-C and two silences before a block, and one after it, are survived: %u NAKs",
       n_said[21]);
}

enum { LAST = 5, LAST_AT = (LAST - 1) * 1024 }; /* block of a file of BYTES */

/* It is asked for again. */
static void send_last(void)
{
    if (n_said[21] == 1) {
        fake_wire.idle = NULL;
        send_block(LAST, sent + LAST_AT, BYTES - LAST_AT, 1024, false);
        send_byte(4);
        send_byte(4);
        send_name("", "");
    }
}

/* The first byte of a block is lost on the way, so that its data stands between blocks. */
static void test_lost_begin(void)
{
    static const uint8_t bytes[] = { 3, 4, 24 };

    for (size_t k = 0; k < sizeof bytes; k++) {
        unsigned at;

        begin();
        for (size_t i = LAST_AT; i < BYTES; i++)
            sent[i] = i % 100 < 90 ? bytes[k] : 'a';
        send_name("a", "5000");
        for (uint8_t i = 1; i < LAST; i++)
            send_block(i, sent + (i - 1) * 1024, 1024, 1024, false);
        at = fake_wire.tail;
        send_block(LAST, sent + LAST_AT, BYTES - LAST_AT, 1024, false);
        fake_wire.in[at] = 'x';
        fake_wire.idle = send_last;
        OK(ymodem_receive(&ymodem) == ERR_OK && !ymodem.stopped && memcmp(disk, sent, BYTES) == 0 &&
               n_said[21] == 2,
           "a block that lost its first byte is asked for again, bytes %u", bytes[k]);
    }
}

/* Keys that a person types in the middle of a file, and a sender that is gone. */
static void test_person(void)
{
    begin();
    send_name("a", "5000");
    send_block(1, sent, 1024, 1024, false);
    send_byte(3);
    send_byte(3);
    OK(ymodem_receive(&ymodem) == ERR_ABORTED && ymodem.stopped && n_said[24] >= 2 &&
           n_closed == 0 && fake_wire.now < 3000,
       "two Ctrl-C with silence behind them stop a file, after %u ms", (unsigned)fake_wire.now);
    begin();
    send_name("a", "1500");
    send_byte(3);
    send_block(1, sent, 1024, 1024, false);
    send_byte(3);
    send_byte(3);
    send_block(2, sent + 1024, 476, 1024, false);
    send_byte(4);
    send_byte(4);
    send_name("", "");
    OK(ymodem_receive(&ymodem) == ERR_OK && memcmp(disk, sent, 1500) == 0,
       "two Ctrl-C in front of a block are noise");
    begin();
    memset(sent, 3, 1500);
    send_name("a", "1500");
    send_block(1, sent, 1024, 1024, false);
    send_block(2, sent + 1024, 476, 1024, false);
    send_byte(4);
    send_byte(4);
    send_name("", "");
    OK(ymodem_receive(&ymodem) == ERR_OK && memcmp(disk, sent, 1500) == 0,
       "two Ctrl-C in a block are data");
    begin();
    send_name("a", "5000");
    send_block(1, sent, 1024, 1024, false);
    fake_wire_send((const uint8_t *)"\2\2\375half a block", 15);
    fake_wire.idle = NULL;
    OK(ymodem_receive(&ymodem) == ERR_TIMEOUT && !ymodem.stopped && n_said[24] >= 2 &&
           fake_wire.now > 20000 && fake_wire.now < 45000,
       "a sender that is gone is noticed after %u s", (unsigned)fake_wire.now / 1000);
    begin();
    send_file("one", 1024);
    OK(ymodem_receive(&ymodem) == ERR_TIMEOUT && ymodem.n_files == 1 && !ymodem.begun &&
           fake_wire.now < 45000,
       "a sender that is gone between two files is noticed, and the first file counts");
    begin();
    send_name("a", "5000");
    send_byte(24);
    send_byte(24);
    OK(ymodem_receive(&ymodem) == ERR_ABORTED && !ymodem.stopped,
       "a sender that gives up is not taken for a person");
}

static void test_ends(void)
{
    begin();
    OK(ymodem_receive(&ymodem) == ERR_TIMEOUT && n_said['C'] == 20,
       "a transfer without a sender is given up");
    begin();
    send_byte(3);
    OK(ymodem_receive(&ymodem) == ERR_ABORTED, "a single Ctrl-C of a person ends the transfer");
    begin();
    send_name("a", "5000");
    send_byte(24);
    send_byte(24);
    OK(ymodem_receive(&ymodem) == ERR_ABORTED, "the sender gives up");
    begin();
    open_error = ERR_NO_SPACE;
    send_file("a", 1024);
    OK(ymodem_receive(&ymodem) == ERR_NO_SPACE && n_said[24] >= 2,
       "a file that is refused is an error for the sender");
    begin();
    send_name("a", "");
    OK(ymodem_receive(&ymodem) == ERR_UNSUPPORTED && n_said[24] >= 2,
       "a file without a size is refused");
    begin();
    fake.fail_sector = 3;
    fake.fail_times = 100;
    send_file("a", 1024);
    OK(ymodem_receive(&ymodem) == ERR_IO && n_closed == 0, "a card that fails leaves no file");
}

int main(void)
{
    test_files();
    test_noise();
    test_lengths();
    test_repeated();
    test_counts();
    test_lost_begin();
    test_person();
    test_ends();
    return tap_done();
}
