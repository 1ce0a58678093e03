/* time=ntp on a network: the servers of DHCP's option 42 in turn, wrong answers, servers that
 * refuse, and silence. */
#include "runtime/net/sntp.h"
#include "tests/unit/net/net_rig.h"
#include "tests/unit/tap.h"

#define DATE 1795924800u /* 29 November 2026, 04:00 UTC */
#define TO_1970 2208988800u

enum { HOUR = 3600 };

static const uint8_t first[4] = { 10, 0, 2, 3 }, second[4] = { 10, 0, 2, 4 };

static struct seen {
    unsigned questions, port;
    uint8_t server[4], question[SNTP_BYTES];
} seen;

static void take_datagram(const uint8_t *ip, const uint8_t *payload, size_t bytes)
{
    unsigned to = rig_read(ip + IP4 + 2, 2);

    if (to == DHCP_SERVER) {
        rig_dhcp(payload, 65536);
    } else if (to == SNTP_PORT && bytes == SNTP_BYTES) {
        seen.questions++;
        seen.port = rig_read(ip + IP4, 2);
        memcpy(seen.server, ip + 16, 4);
        memcpy(seen.question, payload, SNTP_BYTES);
    }
}

/* first_byte and stratum of a good answer: 0x24 and 1. */
static void say_time(const uint8_t from[4], unsigned port, uint32_t seconds, unsigned stratum,
                     uint8_t slip)
{
    uint8_t answer[SNTP_BYTES] = { 0x24, (uint8_t)stratum };

    memcpy(answer + 12, "DENY", 4);
    memcpy(answer + 24, seen.question + 40, 8);
    answer[24] ^= slip;
    rig_write(answer + 32, 4, seconds + TO_1970);
    rig_write(answer + 40, 4, seconds + TO_1970);
    rig_udp(from, port, seen.port, answer, sizeof answer);
    rig_wait(5);
}

static void say_noise(void)
{
    uint8_t answer[SNTP_BYTES];
    uint32_t chance = 1;

    for (unsigned i = 0; i < 200; i++) {
        for (unsigned k = 0; k < SNTP_BYTES; k++) {
            chance = chance * 1664525 + 1013904223;
            answer[k] = (uint8_t)(chance >> 24);
        }
        rig_udp(first, SNTP_PORT, seen.port, answer, chance % (SNTP_BYTES + 1));
        rig_wait(1);
    }
}

static uint64_t date_now(void)
{
    return net_date(rig.net) + rig.ms / 1000;
}

static void check_wrong(void)
{
    static const char *const wrong[] = { "",
                                         "yes",
                                         "ntp,",
                                         "ntp,10.0.2",
                                         "ntp,10.0.2.010",
                                         "ntp,a.example",
                                         "ntp,10.0.2.3:0",
                                         "ntp,10.0.2.3:65536",
                                         "ntp,10.0.2.3:12x",
                                         "ntp,0.0.0.0",
                                         "ntp,224.0.1.1",
                                         "ntp,255.255.255.255",
                                         "ntp,fe80::1",
                                         "ntp 10.0.2.3" };
    unsigned taken = 0;

    for (unsigned i = 0; i < sizeof wrong / sizeof wrong[0]; i++) {
        taken += net_check_time(wrong[i]) == NULL;
    }
    OK(taken == 0, "wrong values of time= are refused");
    OK(net_check_time("ntp") == NULL && net_check_time("ntp,10.0.2.3") == NULL &&
           net_check_time("ntp,10.0.2.3:1123") == NULL,
       "right values of time= are accepted");
}

static void check_answers(void)
{
    say_time(second, SNTP_PORT, DATE, 1, 0);
    say_time(first, SNTP_PORT + 1, DATE, 1, 0);
    say_time(first, SNTP_PORT, DATE, 1, 1);
    say_time(first, SNTP_PORT, DATE, 16, 0);
    say_noise();
    OK(net_date(rig.net) == 0,
       "another address, another port, another question, and noise are not answers");
    rig_wait(17000);
    OK(seen.questions == 2 && memcmp(seen.server, second, 4) == 0,
       "the other server is asked after 16 s without an answer");
    say_time(second, SNTP_PORT, DATE, 1, 0);
    OK(date_now() >= DATE && date_now() <= DATE + 1, "the answer of a server is the date");
    say_time(second, SNTP_PORT, DATE + 1000, 1, 0);
    OK(date_now() < DATE + 10, "a second answer to a question is not taken");
}

static void check_later(void)
{
    rig_wait((HOUR - 10) * 1000);
    OK(seen.questions == 2, "nothing is asked for an hour");
    rig_wait(20000);
    OK(seen.questions == 3 && memcmp(seen.server, first, 4) == 0,
       "the server is asked again after the hour");
    rig_wait(5000);
    say_time(first, SNTP_PORT, DATE, 1, 0);
    OK(date_now() > DATE + HOUR, "an answer that comes after 5 s is not taken");
    rig_wait(30000);
    say_time(second, SNTP_PORT, DATE, 0, 0);
    for (unsigned i = 0; i < 3; i++) {
        rig_wait(40000 << i);
    }
    OK(memcmp(seen.server, first, 4) == 0 && net_date_fails(rig.net),
       "a server that refuses is not asked again, and silence is noticed");
    rig_wait(2 * 1024 * 1000);
    seen.questions = 0;
    rig_wait(4 * 1024 * 1000);
    OK(seen.questions == 4, "a server that is silent is asked every 1024 s");
    for (unsigned before = seen.questions; seen.questions == before;) {
        rig_wait(1000);
    }
    say_time(first, SNTP_PORT, DATE + 86400, 1, 0);
    OK(!net_date_fails(rig.net) && date_now() == DATE + 86400,
       "the date is corrected when a silent server answers");
}

int main(void)
{
    check_wrong();
    rig.datagram = take_datagram;
    OK(rig_open("dhcp", "ntp") == NULL, "a board asks for its address and the time");
    rig_wait(1);
    OK(seen.questions == 0, "nobody is asked without an address");
    for (unsigned i = 0; i < 100 && seen.questions == 0; i++) {
        rig_wait(100);
    }
    OK(seen.questions == 1 && memcmp(seen.server, first, 4) == 0,
       "the first server of option 42 is asked when there is an address");
    check_answers();
    check_later();
    return tap_done();
}
