#!/usr/bin/env python3
"""Render templates with Jinja, set up as Transformers does. usage: reference.py IN OUT

IN: questions, each a context as JSON, 0x1f, a template, 0x1e. OUT: answers in the same order, each
"=" and the text or "!" and the error, then 0x1e. Exits with 77 if Python has no jinja2."""

import functools
import json
import sys
import time

try:
    import jinja2
    import jinja2.ext
    import jinja2.sandbox
except ImportError:
    sys.exit(77)


class Generation(jinja2.ext.Extension):
    """{% generation %} stands around the model's text, and only opens a scope."""

    tags = {"generation"}

    def parse(self, parser):
        line = next(parser.stream).lineno
        body = parser.parse_statements(["name:endgeneration"], drop_needle=True)
        return jinja2.nodes.CallBlock(self.call_method("_say"), [], [], body).set_lineno(line)

    def _say(self, caller):
        return caller()


def refuse(text):
    raise jinja2.exceptions.TemplateError(text)


def tojson(value, ensure_ascii=False, indent=None, separators=None, sort_keys=False):
    return json.dumps(value, ensure_ascii=ensure_ascii, indent=indent, separators=separators, sort_keys=sort_keys)


@functools.cache
def compiled(template, day):
    """Compile a template only once for all contexts."""
    env = jinja2.sandbox.ImmutableSandboxedEnvironment(trim_blocks=True, lstrip_blocks=True,
                                                       extensions=[Generation, jinja2.ext.loopcontrols])
    env.filters["tojson"] = tojson
    env.globals["raise_exception"] = refuse
    if day is not None:
        env.globals["strftime_now"] = lambda form: time.strftime(form, time.gmtime(day))
    return env.from_string(template)


def render(context, template):
    values = json.loads(context)
    return compiled(template, values.pop("now", None)).render(**values)


answers = []
with open(sys.argv[1], newline="", encoding="utf-8") as f:
    for question in f.read().split("\x1e")[:-1]:
        try:
            answers.append("=" + render(*question.split("\x1f")))
        except Exception as error:  # any error of a template is an answer
            answers.append(f"!{type(error).__name__}: {error}")
with open(sys.argv[2], "w", newline="", encoding="utf-8") as f:
    f.write("".join(a + "\x1e" for a in answers))
