#!/usr/bin/env python3
"""Write seeds for jinja_fuzz: templates with every statement and every kind of expression. usage:
jinja_seed.py OUT"""
import sys

SEEDS = [
    "{{ bos_token }}{% for m in messages %}{% if m.role == 'system' %}<|system|>{{ m.content | trim }}"
    "{% elif m['role'] == 'user' %}<|user|>\n{{ m.content }}<|end|>\n{% else %}<|bot|>"
    "{{ m.content.split('</think>')[-1].lstrip('\\n') }}{{ eos_token }}{% endif %}{% endfor %}"
    "{% if add_generation_prompt %}<|bot|>{% endif %}",
    "{%- macro show(x, by=2, *a) -%}{{ x ~ by }}{{ varargs }}{{ caller(1) if caller }}{%- endmacro -%}"
    "{% call(y) show('a') %}<{{ y }}>{% endcall %}{% set ns = namespace(a=1, b=[]) %}{% set ns.a = 2 %}"
    "{% set t | upper %}text{% endset %}{% with a=1, b=2 %}{{ a + b }}{% endwith %}{% raw %}{{ }}{% endraw %}"
    "{% filter trim | lower %} X {% endfilter %}{# no #}{% generation %}x{% endgeneration %}",
    "{% for k, v in tools[0].function | dictsort if v %}{{ loop.index ~ k }}{% if loop.last %}{% break %}"
    "{% else %}{% continue %}{% endif %}{% else %}none{% endfor %}{% for i in [1, [2]] recursive %}"
    "{{ i if i is number else loop(i) }}{{ loop.cycle('a', 'b') }}{% endfor %}",
    "{{ tools | tojson(indent=2) }}{{ 'a b'.split()[::-1] }}{{ 'é'[0:1] ~ -7 // 2 ~ 7 % -3 ~ 2 ** 3 }}"
    "{{ '%s %d' % ('a', 3) }}{{ '{0} {x}'.format(1, x=2) }}{{ [3, 1] | sort | join(', ') | replace('1', '2') }}"
    "{{ messages | selectattr('role', 'equalto', 'user') | map(attribute='content') | list }}",
    "{{ n is defined and not n is none or n in [1, 2] }}{{ strftime_now('%d %b %Y') }}{{ range(3) | list }}"
    "{{ raise_exception('no') if n == 8 }}{{ {'a': 1, 'b': (1, 2.5e3)}.items() | list }}{{ n | int / 2 | round }}",
]
for i, seed in enumerate(SEEDS):
    with open(sys.argv[1] + (f"-{i}" if i else ""), "w", encoding="utf-8") as f:
        f.write(seed)
