#!/usr/bin/env python3
"""Write seeds for action_call_fuzz: calls of the target's table of actions. usage: action_call_seed.py OUT"""
import sys

for i, call in enumerate(('{"action":"light","value":"on"}', '{"action":"pulse","line":"lights","ms":500}', ' {"action":"door"}\n',
                          '{ "value" : "\\u006fff", "action" : "lights" }')):
    open(f"{sys.argv[1]}-{i}", "w", encoding="ascii").write(call)
