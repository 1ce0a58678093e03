/* The guard: tokens, hosts that only an owner can give, and pages of other sites. */
#include "runtime/api/api_guard.h"

#include <string.h>

#include "tests/unit/tap.h"

static bool token(const char *field)
{
    return api_has_token(field, strlen(field), "secret");
}

static bool host(const char *name)
{
    return api_is_own_host(name, strlen(name), "ingot");
}

static bool origin(const char *page, const char *of)
{
    return api_is_own_origin(page, strlen(page), of, strlen(of));
}

int main(void)
{
    OK(token("Bearer secret") && token("bearer   secret"), "the token is accepted");
    OK(!token("Bearer Secret") && !token("Bearer secre") && !token("Bearer secrets") &&
           !token("Bearer secretsecret") && !token("Bearer ") && !token("Bearer") && !token("") &&
           !token("Basic secret") && !token("secret"),
       "no other token is accepted");
    OK(!api_has_token("Bearer ", 7, ""), "an empty token is not accepted");
    OK(host("10.0.2.15") && host("127.0.0.1:8080") && host("[fe80::1]:80") && host("[::1]") &&
           host("localhost:3") && host("ingot") && host("INGOT.local:80"),
       "numbers, localhost and the name are accepted");
    OK(!host("evil.example") && !host("ingot.evil.example") && !host("ingot.local.evil") &&
           !host("xingot.local") && !host("") && !host(":80") && !host("[::1") &&
           !host("1.2.3.4.evil.example") && !host("notlocalhost"),
       "names of other computers are refused");
    OK(origin("http://10.0.2.15", "10.0.2.15") &&
           origin("HTTP://Ingot.local:80", "ingot.local:80") &&
           origin("http://ingot.local", "ingot.local:80") &&
           origin("http://[fe80::80]", "[fe80::80]"),
       "the server's own page is accepted");
    OK(origin("https://ingot.local", "ingot.local") &&
           origin("https://ingot.local", "ingot.local:443") &&
           origin("https://ingot.local:8443", "ingot.local:8443"),
       "the server's own page is accepted through a proxy with TLS");
    OK(!origin("http://evil.example", "10.0.2.15") && !origin("http://10.0.2.15:81", "10.0.2.15") &&
           !origin("null", "10.0.2.15") && !origin("", "") &&
           !origin("https://10.0.2.15:81", "10.0.2.15") && !origin("https://", "") &&
           !origin("http://ingot.local:443", "ingot.local") &&
           !origin("ftp://ingot.local", "ingot.local"),
       "pages of others are refused");
    return tap_done();
}
