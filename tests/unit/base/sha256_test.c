/* SHA-256 against FIPS 180-4's examples, and the same digest wherever the bytes are cut. */
#include "runtime/base/sha256.h"

#include <stdlib.h>
#include <string.h>

#include "tests/unit/tap.h"

static bool is(const char *hex, const uint8_t *digest)
{
    char text[2 * SHA256_BYTES + 1];

    for (int i = 0; i < SHA256_BYTES; i++)
        snprintf(text + 2 * i, 3, "%02x", digest[i]);
    return strcmp(text, hex) == 0;
}

static void test_examples(void)
{
    static const struct {
        const char *text, *digest;
    } examples[] = {
        { "", "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855" },
        { "abc", "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad" },
        { "abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq",
          "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1" },
        { "abcdefghbcdefghicdefghijdefghijkefghijklfghijklmghijklmnhijklmnoijklmnopjklmnopqklmnopqrlmn"
          "opqrsmnopqrstnopqrstu",
          "cf5b16a778af8380036ce59e7b0492370b249b11e8f07a51afac45037afee9d1" },
    };
    uint8_t digest[SHA256_BYTES], *as = malloc(1000000);

    for (size_t i = 0; i < sizeof examples / sizeof examples[0]; i++) {
        sha256(digest, examples[i].text, strlen(examples[i].text));
        OK(is(examples[i].digest, digest), "the digest of %d bytes is right",
           (int)strlen(examples[i].text));
    }
    memset(as, 'a', 1000000);
    sha256(digest, as, 1000000);
    OK(is("cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0", digest),
       "the digest of a million letters a is right");
    free(as);
}

static void test_cuts(void)
{
    uint8_t data[300], whole[SHA256_BYTES], parts[SHA256_BYTES];
    bool same = true, differ = true;

    for (size_t i = 0; i < sizeof data; i++)
        data[i] = (uint8_t)(i * 37 + 11);
    for (size_t n = 0; n <= sizeof data; n++) {
        uint8_t before[SHA256_BYTES];

        memcpy(before, whole, sizeof before);
        sha256(whole, data, n);
        differ = differ && (n == 0 || memcmp(before, whole, sizeof whole) != 0);
        for (size_t cut = 0; cut <= n; cut++) {
            struct sha256 s;

            sha256_begin(&s);
            sha256_add(&s, data, cut);
            sha256_add(&s, data + cut, n - cut);
            sha256_end(&s, parts);
            same = same && memcmp(whole, parts, sizeof whole) == 0;
        }
    }
    OK(same, "the digest of up to 300 bytes is the same wherever they are cut");
    OK(differ, "each length has its own digest");
}

int main(void)
{
    test_examples();
    test_cuts();
    return tap_done();
}
