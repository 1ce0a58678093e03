#!/usr/bin/env python3
"""Write seeds for grammar_fuzz, OUT-...: the number of a kind of grammar, then a grammar of this kind.
usage: grammar_seed.py OUT"""
import struct
import sys

HEAD = struct.Struct("<IIHHHHHH")


def compiled(states, edges, calls):
    body = b"".join(struct.pack("<HBB", *s) for s in states) + b"".join(struct.pack("<BBH", *e) for e in edges)
    body += b"".join(struct.pack("<HHHH", *c) for c in calls)
    return HEAD.pack(0, 0, 1, 0, len(states), len(edges), len(calls), 0) + body


SEEDS = ((0, b'root ::= "a" [b-z]* | list\nlist ::= "[" (root ("," root){0,9})? "]" # end\n'),
         (0, b'root ::= [^"\\\\\\x00-\\x1f]{3,400} . \\u00e4\n'), (0, b'root ::= ("ab"? "\\U0001F600"){40,}'),
         (0, b'root ::= ("a"?){4000} (a | "b")* "a" [ab]{19}\na ::= ("c"? "d"?){900} | ((a "x"+)+)+\n'),
         (1, b'{"$ref":"#/$defs/a","$defs":{"a":{"allOf":[{"$ref":"#/$defs/b"},{"$ref":"#/$defs/b"}]},"b":{"allOf":[{"$ref":"#/$defs/c"},{"$ref":"#/$defs/c"}]},'
             b'"c":{"pattern":"^(a?){400}$"}}}'),
         (1, b'{"type":"object","properties":{"a":{"type":"integer","minimum":-5,"maximum":120},"b":{"$ref":"#/$defs/t"}},'
             b'"required":["a"],"$defs":{"t":{"type":["array","null"],"items":{"enum":["x",1]},"maxItems":3}}}'),
         (1, b'{"anyOf":[{"type":"string","maxLength":9},{"const":{"a":[1,"\\"]"]}},{}]}'),
         (1, b'{"type":"object","properties":["a",{}],"required":["a"],"patternProperties":[{}],"items":[["a"]]}'),
         (2, b"yes|no|yes, please|a\\|b"),
         (3, compiled([(0, 2, 0), (2, 1, 1), (3, 0, 1)], [(97, 122, 0), (1, 0, 0), (48, 57, 1)], [(1, 2, 0, 300)])))
for i, (kind, text) in enumerate(SEEDS):
    with open(f"{sys.argv[1]}-{i}", "wb") as out:
        out.write(bytes([kind]) + text)
