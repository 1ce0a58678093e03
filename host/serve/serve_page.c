#include "host/serve/serve_page.h"

#include "web_page.inc"

const char *serve_page(size_t *bytes)
{
    *bytes = sizeof page;
    return (const char *)page;
}

const char *serve_page_policy(void)
{
    return policy;
}
