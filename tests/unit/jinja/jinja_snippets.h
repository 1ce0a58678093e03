/* Snippets for each construct, and the values that they are rendered with. */
#ifndef INGOT_TESTS_UNIT_JINJA_SNIPPETS_H
#define INGOT_TESTS_UNIT_JINJA_SNIPPETS_H

#define CONTEXT \
    "{\"a\":1,\"b\":2.5,\"s\":\"Hello, World\",\"e\":\"\",\"u\":\"na\\u00efve \\u65e5\\u672c\"," \
    "\"l\":[3,1,2],\"d\":{\"x\":1,\"y\":[1,\"two\",null,true],\"z\":{\"k\":\"v\"}},\"n\":null," \
    "\"t\":true,\"f\":false,\"lines\":\" one\\ntwo \\n\\nthree\"," \
    "\"people\":[{\"name\":\"Ann\",\"age\":30},{\"name\":\"bob\",\"age\":25}," \
    "{\"name\":\"Cid\",\"age\":30,\"job\":\"x\"}],\"now\":1767312000}"

static const char *const snippets[] = {
    /* white space */
    "a\n{% if t %}\nb\n{% endif %}\nc\n",
    "a\n   {% if t %}\n  b {%- endif %}   \n c",
    "  {%+ if t %} x {% endif +%}\n y",
    "a {{- ' b ' -}} c\n\n{{ a }}\n\nd\n",
    "a\n  {# note #}\n  b {#- note -#}  c",
    "{% raw %}{{ a }} {% if %}{% endraw %}!",
    " x\n  {%- raw -%}  {{ a }}  {%- endraw %}\n y",
    "{% if t -%}\n\n   x\n{%- endif %}z\n\n",
    "a\r\nb\rc\n{{ a }}\r\n",
    "{{ '}}' }}{{ {'a': {'b': 1}} }}",
    "   {% set q = 1 %}   {{ q }}",
    /* output of values */
    "{{ a }} {{ b }} {{ n }} {{ t }} {{ f }} {{ l }} {{ d }} {{ nothing }}",
    "{{ [1, 'it\\'s', \"q\\\"\", 'a\\nb', 1.0, 1e20, 1e-7, 123456789.125, none, (1,), ()] }}",
    "{{ 1.0 }} {{ 0.1 + 0.2 }} {{ 100000000000000000.0 }} {{ 1e16 }} {{ -0.5 }} {{ 1.5e300 }}",
    "{{ 1, 2 }} {{ (1) }} {{ [] }} {{ {} }}",
    "{{ 'a' 'b' \"c\" }} {{ '\\x41\\u00e9\\t|\\d' }}",
    /* operators */
    "{{ 1 + 2 * 3 - 4 / 2 }} {{ 7 // 2 }} {{ -7 // 2 }} {{ -7 % 3 }} {{ 7 % -3 }} {{ 2 ** 10 }}",
    "{{ -6 // 3 }} {{ -6 % 3 }} {{ 6 // -3 }}",
    "{{ 'a' + 'b' ~ 1 ~ none }} {{ [1] + [2] }} {{ 'ab' * 3 }} {{ [0] * 2 }}",
    "{{ 1 < 2 < 3 }} {{ 1 == 1.0 }} {{ 'a' < 'b' }} {{ [1, 2] < [1, 3] }} {{ 1 != 2 }} {{ a >= 1 }}",
    "{{ 'ell' in s }} {{ 'x' in d }} {{ 9 not in l }} {{ 'q' in nothing }} {{ 1 in (1, 2) }}",
    "{{ not t or f and t }} {{ n or 'x' }} {{ e and 1 }} {{ 1 and 2 }}",
    "{{ 'y' if t else 'n' }}{{ 'gone' if f }}{{ 1 if f else 2 if t else 3 }}",
    "{{ -a }} {{ +b }} {{ - l[0] | abs }} {{ 10 - 2 - 3 }} {{ 2 * 3 ~ 4 }}",
    "{{ s == 'Hello, World' and l | length == 3 }} {{ true == 1 }} {{ none == false }}",
    "{{ 7 / 2 }} {{ 6 / 2 }} {{ 5.5 // 2 }} {{ 5.5 % 2 }} {{ 1_000 }}",
    "{{ '%s is %d or %.2f, %r %%' % ('a', 3, 2.5, 'q') }} {{ '%s' % s }}",
    /* parts */
    "{{ d.x }} {{ d['y'][1] }} {{ d.z.k }} {{ d.y.0 }} {{ d.nope }} {{ l[-1] }} {{ s[0] }} {{ s[-1] }}",
    "{{ l[1:] }} {{ l[:-1] }} {{ l[::-1] }} {{ s[7:] }} {{ s[:5] }} {{ s[::2] }} {{ l[5:] }}",
    "{{ u[2] }} {{ u[::-1] }} {{ u | length }} {{ u[6:8] }} {{ l[-2:] }} {{ l[-9:2] }} {{ s[-5:-1:2] }}",
    "{{ l[2:0:-1] }} {{ l[none:2] }} {{ l[9] }} {{ (1, 2, 3)[1:] }} {{ l[::-2] }}",
    /* statements */
    "{% for x in l %}{{ loop.index }}{{ loop.index0 }}{{ loop.revindex }}{{ loop.revindex0 }}"
    "{{ loop.first }}{{ loop.last }}{{ loop.length }}{{ loop.depth }};{% endfor %}",
    "{% for x in l %}{{ loop.previtem }}<{{ x }}>{{ loop.nextitem }} {% endfor %}",
    "{% for x in l %}{{ loop.cycle('a', 'b') }}{{ loop.changed(x > 1) }}{% endfor %}",
    "{% for k, v in d.items() %}{{ k }}={{ v }};{% endfor %}{% for k in d %}{{ k }}{% endfor %}",
    "{% for x in [] %}x{% else %}none{% endfor %}{% for x in nothing %}x{% else %}none{% endfor %}",
    "{% for x in l if x > 1 %}{{ loop.index }}:{{ x }}/{{ loop.length }} {% else %}-{% endfor %}",
    "{% for x in l %}{% if x == 1 %}{% continue %}{% endif %}{{ x }}{% endfor %}",
    "{% for x in l %}{% if x == 1 %}{% break %}{% endif %}{{ x }}{% endfor %}after",
    "{% for x in [1, [2, [3]]] recursive %}{% if x is iterable %}[{{ loop(x) }}]{% else %}{{ x }}"
    "{{ loop.depth }}{% endif %}{% endfor %}",
    "{% for c in 'abc' %}{{ c }}.{% endfor %}{% for x in 1, 2 %}{{ x }}{% endfor %}",
    "{% set x = 1 %}{% for i in l %}{% set x = x + i %}{{ x }} {% endfor %}{{ x }}",
    "{% set ns = namespace(x=1) %}{% for i in l %}{% set ns.x = ns.x + i %}{% endfor %}{{ ns.x }}",
    "{% if t %}{% set q = 5 %}{% endif %}{{ q }}{% set a, b = 1, 2 %}{{ a + b }}",
    "{% set q %}x{{ a }}{% endset %}[{{ q }}]{% set q | upper | trim %} y{% endset %}[{{ q }}]",
    "{% if f %}1{% elif n %}2{% elif t %}3{% else %}4{% endif %}",
    "{% macro m(x, y=2, z='q') %}{{ x }}{{ y }}{{ z }}{% endmacro %}{{ m(1) }} {{ m(1, z=3) }}",
    "{% macro m(x) %}{{ x }}{{ varargs }}{{ kwargs }}{% endmacro %}{{ m(1, 2, k=3) }}",
    "{% macro m() %}<{{ caller('c') }}>{% endmacro %}{% call(x) m() %}{{ x }}{{ a }}{% endcall %}",
    "{% macro f(n) %}{% if n > 0 %}{{ n }}{{ f(n - 1) }}{% endif %}{% endmacro %}{{ f(3) }}{{ f.name }}",
    "{% macro m(x) %}{% set y = x %}{{ y }}{{ later }}{% endmacro %}{% set later = 9 %}{{ m(4) }}{{ y }}",
    "{% filter upper %}abc{{ s }}{% endfilter %}{% filter replace('a', 'b') | trim %} aa {% endfilter %}",
    "{% with x = 1, y = a %}{{ x }}{{ y }}{% endwith %}{{ x }}",
    "{% generation %}{{ a }}{% set g = 1 %}{% endgeneration %}{{ g }}",
    "{% set d2 = dict(x=1, y=2) %}{{ d2 }}{{ dict([('a', 1)]) }}{{ range(2, 8, 3) | list }}{{ range(3) | list }}",
    "{{ strftime_now('%Y-%m-%d %d %b %Y') }}",
    "{% set x = {'role': 'user', **d} if f else 1 %}",
    /* tests */
    "{{ a is defined }}{{ q is defined }}{{ q is undefined }}{{ n is none }}{{ t is true }}{{ f is false }}",
    "{{ s is string }}{{ a is number }}{{ b is float }}{{ a is integer }}{{ t is boolean }}{{ t is number }}",
    "{{ d is mapping }}{{ l is sequence }}{{ s is sequence }}{{ d is iterable }}{{ a is iterable }}{{ n is not none }}",
    "{{ 3 is odd }}{{ 4 is even }}{{ 9 is divisibleby 3 }}{{ 1 is eq 1 }}{{ 1 is ne(2) }}{{ 1 is lt 2 }}{{ 3 is ge 3 }}",
    "{{ 'a' is in ['a'] }}{{ 'A' is upper }}{{ '1' is upper }}{{ 'a' is lower }}{{ range is callable }}{{ t is sameas true }}",
    "{{ a is not string and s is not mapping }}{{ not a is string }}{{ d.q is defined and d.q.r }}",
    "{{ (d.q is defined) or 'x' }}{{ 2 is gt 1 }}{{ 'x' is equalto 'x' }}",
    /* methods of texts */
    "{{ ' x '.strip() }}|{{ 'xxaxx'.strip('x') }}|{{ ' x '.lstrip() }}|{{ 'abc'.rstrip('bc') }}|{{ '\\n a\\n'.strip('\\n') }}",
    "{{ 'a,b,,c'.split(',') }}{{ ' a  b '.split() }}{{ 'a,b,c'.split(',', 1) }}{{ 'a b c'.rsplit(' ', 1) }}{{ 'abc'.split('x') }}",
    "{{ s.startswith('He') }}{{ s.endswith(('x', 'ld')) }}{{ s.find('o') }}{{ s.rfind('o') }}{{ s.find('q') }}{{ s.count('l') }}",
    "{{ s.replace('l', 'L') }}{{ s.replace('l', 'L', 1) }}{{ s.upper() }}{{ s.lower() }}{{ 'a bC'.title() }}{{ 'aBC'.capitalize() }}",
    "{{ ', '.join(['a', 'b']) }}{{ lines.splitlines() }}{{ 'a=b=c'.partition('=') }}{{ 'a=b=c'.rpartition('=') }}",
    "{{ '{} {} {x}'.format(1, 'b', x=3) }}{{ '{0}{1}{0}{{}}'.format(1, 2) }}{{ '{:.2f}'.format(b) }}",
    "{{ '12'.isdigit() }}{{ 'ab'.isalpha() }}{{ 'a1'.isalnum() }}{{ ' '.isspace() }}{{ 'abc'.removeprefix('a') }}{{ 'abc'.removesuffix('c') }}",
    "{{ u.split(' ')[1] }}{{ u.find('\\u65e5') }}{{ '</think>'.join(['a', 'b']) }}{{ 'x'.index('x') }}",
    "{{ d.get('x') }}{{ d.get('q') }}{{ d.get('q', 5) }}{{ d.keys() | list }}{{ d.values() | list }}{{ d.copy() == d }}",
    "{{ l.index(1) }}{{ l.count(3) }}{{ d.items() | list }}",
    /* filters */
    "{{ s | upper }}{{ s | lower }}{{ 'ab cd-ef' | title }}{{ 'aBC' | capitalize }}{{ '  x ' | trim }}{{ 'xax' | trim('x') }}",
    "{{ q | default('d') }}{{ e | default('d') }}{{ e | default('d', true) }}{{ n | d('x', boolean=true) }}{{ q | default }}",
    "{{ l | first }}{{ l | last }}{{ l | length }}{{ d | length }}{{ s | count }}{{ l | sum if false else 6 }}",
    "{{ l | join(', ') }}{{ l | join }}{{ people | join('/', attribute='name') }}{{ 'abc' | join('-') }}",
    "{{ l | sort }}{{ l | sort(reverse=true) }}{{ ['b', 'A', 'c'] | sort }}{{ people | sort(attribute='age') | map(attribute='name') | list }}",
    "{{ l | reverse | list }}{{ 'abc' | reverse }}{{ [1, 1, 2] | unique | list }}{{ l | max }}{{ l | min }}{{ 'ab' | list }}",
    "{{ people | selectattr('age', 'equalto', 30) | map(attribute='name') | join(',') }}{{ people | selectattr('job') | list | length }}",
    "{{ people | rejectattr('job', 'defined') | map(attribute='name') | list }}{{ l | select('odd') | list }}{{ l | reject('gt', 2) | list }}",
    "{{ l | map('string') | join('+') }}{{ people | map(attribute='job', default='-') | list }}{{ ['a'] | map('upper') | list }}",
    "{{ d | items | list }}{{ d | dictsort }}{{ {'b': 1, 'a': 2} | dictsort(by='value') }}{{ {'B': 1, 'a': 2} | dictsort }}",
    "{{ d | tojson }}{{ d | tojson(indent=2) }}{{ u | tojson }}{{ u | tojson(ensure_ascii=true) }}{{ [] | tojson(indent=1) }}{{ {} | tojson }}",
    "{{ {'b': 1, 'a': [1.5, none, true]} | tojson(sort_keys=true) }}{{ d | tojson(separators=(',', ':')) }}{{ 'a\"\\\\\\n\\t<' | tojson }}",
    "{{ lines | indent }}{{ lines | indent(2, true) }}{{ lines | indent(width=1, blank=true) }}{{ 'x' | indent('> ', first=true) }}",
    "{{ '12' | int }}{{ 'x' | int }}{{ 'x' | int(5) }}{{ 3.9 | int }}{{ '2.5' | float }}{{ 'x' | float }}{{ -3 | abs }}",
    "{{ 2.567 | round(2) }}{{ 2.5 | round }}{{ 2.1 | round(0, 'ceil') }}{{ 7.9 | round(method='floor') }}",
    "{{ '%s-%s' | format('a', 1) }}{{ s | wordcount }}{{ '<a&\"' | escape }}{{ s | safe }}{{ a | string + 'x' }}",
    "{{ s | replace('o', '0') }}{{ s | replace('o', '0', 1) }}{{ [1, 2, 3] | batch(2) | list }}{{ d | attr('nope') }}",
    "{{ 'a' ~ l | join(',') ~ 'b' }}{{ (1 + 2) | string | length }}{{ s | lower | upper | length > 3 }}",
    /* what fails in both */
    "{{ nothing.x }}",
    "{{ n.x.y }}",
    "{{ nothing + 1 }}",
    "{{ 1 + 'a' }}",
    "{{ 'a' + 1 }}",
    "{{ 1 / 0 }}",
    "{{ s() }}",
    "{{ nothing() }}",
    "{% for x in 5 %}{% endfor %}",
    "{% for x in n %}{% endfor %}",
    "{{ raise_exception('no ' ~ a) }}",
    "{{ l.append(1) }}",
    "{% set _ = d.pop('x') %}",
    "{{ d | frobnicate }}",
    "{{ d is frobnicate }}",
    "{% if a %}",
    "{% endif %}",
    "{{ a b }}",
    "{{ 'x }}",
    "{{ (1 }}",
    "{{ nothing | tojson }}",
    "{% set a.b = 1 %}",
    "{% for a, b in [[1, 2, 3]] %}{% endfor %}",
    "{{ 'a' < 1 }}",
    "{{ 1 in 5 }}",
    "{# never closed",
    "{{ ', '.join([1, 2]) }}",
    "{{ 5 | length }}",
};

#define TOOLS \
    "\"tools\":[{\"type\":\"function\",\"function\":{\"name\":\"weather\",\"description\":\"The " \
    "weather.\",\"parameters\":{\"type\":\"object\",\"properties\":{\"city\":{\"type\":\"string\"," \
    "\"description\":\"Where.\"},\"days\":{\"type\":\"integer\"}},\"required\":[\"city\"]}}}]"
#define REST \
    "\"bos_token\":\"<s>\",\"eos_token\":\"</s>\",\"documents\":null,\"now\":1767312000," \
    "\"add_generation_prompt\":true"
#define USER(text) "{\"role\":\"user\",\"content\":\"" text "\"}"
#define CALL \
    "{\"role\":\"assistant\",\"content\":\"\",\"tool_calls\":[{\"id\":\"call00001\",\"type\":" \
    "\"function\",\"function\":{\"name\":\"weather\",\"arguments\":{\"city\":\"Bern\",\"days\":2}}}]}," \
    "{\"role\":\"tool\",\"name\":\"weather\",\"tool_call_id\":\"call00001\",\"content\":\"{\\\"sun\\\": true}\"}"

static const char *const talks[] = {
    "{\"messages\":[" USER("Hi") "],\"tools\":null," REST "}",
    "{\"messages\":[{\"role\":\"system\",\"content\":\"Be kind.\"}," USER(
        "Hi") ",{\"role\":\"assistant\","
              "\"content\":\"Hello\"}," USER("Why?") "],\"tools\":null," REST "}",
    "{\"messages\":[" USER("Hi") "]," TOOLS "," REST "}",
    "{\"messages\":[{\"role\":\"system\",\"content\":\"Be kind.\"}," USER("Sun?") "," CALL
                                                                                  "]," TOOLS
                                                                                  "," REST "}",
    "{\"messages\":[" USER(
        "Sun?") "," CALL ",{\"role\":\"assistant\",\"content\":\"Yes.\",\"reasoning_content\":"
                "\"It said so.\"}," USER(
                    "Sure?") "],\"enable_thinking\":true,\"thinking\":true," TOOLS "," REST "}",
    "{\"messages\":[" USER(
        "Hi") ",{\"role\":\"assistant\",\"content\":\"<think>\\nHm\\n</think>\\n\\nHello\"}"
              "," USER("Why?") "],\"enable_thinking\":false," REST "}",
};

#endif
