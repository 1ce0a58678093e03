#!/bin/sh
# curl: with_curl.sh BASE. Each case is a line for table.py: CELL, CASE and `ok` or the error, separated by tabs.
base=$1
question='"messages":[{"role":"user","content":"What is the capital of France?"}]'
schema='{"type":"object","properties":{"count":{"type":"integer"},"share":{"type":"number","minimum":0,"maximum":1},"day":{"type":"string","format":"date"}},"required":["count","share","day"],"additionalProperties":false}'
maps='{"type":"object","properties":{"seats":{"type":"object","additionalProperties":{"type":"integer"},"maxProperties":3},"at":{"type":"array","prefixItems":[{"type":"integer"},{"type":"integer"}],"items":false,"minItems":2},"rank":{"type":"integer","nullable":true,"minimum":1,"maximum":3}},"required":["seats","at","rank"]}'

# PAGE BODY [OPTIONS OF CURL]
post() {
    page=$1 body=$2
    shift 2
    curl -sS -m 120 -H 'Content-Type: application/json' -H 'Authorization: bearer secret' "$@" "$base/$page" --data-binary "$body" 2>&1
}

# CELL CASE PATTERN: tells whether the answer that is piped in, joined to one line, has the pattern. White space between tokens of JSON, also of
# JSON in a text, is removed first, because it may differ.
expect() {
    answer=$(tr -d '\r' | tr '\n\t' '  ' | sed 's/\\n *//g; s/ *\([][{}:,]\) */\1/g')
    case $answer in
        *error*) why=$answer ;;
        *) if printf '%s' "$answer" | grep -Eq "$3"; then why=ok; else why=$answer; fi ;;
    esac
    printf '%s\t%s\t%.600s\n' "$1" "$2" "$why"
}

post v1/chat/completions "{$question,\"max_tokens\":8}" | expect chat "a reply" '"content":"[^"]'
post chat/completions "{$question,\"max_tokens\":4}" | expect chat "a base address without /v1" '"content":"[^"]'
post v1/chat/completions "{$question,\"max_tokens\":4}" -H 'Transfer-Encoding: chunked' -H 'Expect: 100-continue' | expect chat "a body in chunks" '"content":"[^"]'
post v1/chat/completions "{$question,\"max_tokens\":4}" --http2 | expect chat "with an offer of HTTP/2" '"content":"[^"]'
post v1/completions '{"prompt":["Once upon","The end"],"max_tokens":4}' | expect chat "a list of prompts" '"index":1'
curl -sS -m 20 "$base/v1/models" -H 'Authorization: Bearer secret' | expect chat "the models" '"object":"model"'
post v1/chat/completions "{$question,\"max_tokens\":8,\"stream\":true}" -N | expect stream "events" 'data:.*"delta":.*data:\[DONE\]'
post v1/chat/completions "{$question,\"tool_choice\":{\"type\":\"function\",\"function\":{\"name\":\"report\"}},\"tools\":[{\"type\":\"function\",\"function\":{\"name\":\"report\",\"parameters\":$schema}}]}" |
    expect tools "by name: a date, a ranged float, any integer" '"name":"report","arguments":"\{ ?\\"count\\": ?-?[0-9]+, ?\\"share\\": ?[01][^"]*, ?\\"day\\": ?\\"[0-9]{4}-[0-9]{2}-[0-9]{2}\\" ?\}"'
post v1/chat/completions "{$question,\"tool_choice\":\"required\",\"tools\":[{\"type\":\"function\",\"function\":{\"name\":\"report\",\"parameters\":$maps}}]}" |
    expect tools "maps, tuples, nullable" '"arguments":"\{ ?\\"seats\\": ?\{[^}]*\}, ?\\"at\\": ?\[-?[0-9]+, ?-?[0-9]+\], ?\\"rank\\": ?([123]|null) ?\}"'
post v1/chat/completions "{$question,\"response_format\":{\"type\":\"json_schema\",\"json_schema\":{\"name\":\"it\",\"strict\":true,\"schema\":$schema}}}" |
    expect structured "a date, a ranged float, any integer" '"content":"\{ ?\\"count\\": ?-?[0-9]+, ?\\"share\\": ?[01][^"]*, ?\\"day\\": ?\\"[0-9]{4}-[0-9]{2}-[0-9]{2}\\" ?\}"'
post v1/chat/completions "{$question,\"response_format\":{\"type\":\"json_object\",\"schema\":$maps}}" | expect structured "maps, tuples, nullable" '"content":"\{ ?\\"seats\\"'
post v1/chat/completions "{$question,\"response_format\":{\"type\":\"json_object\",\"schema\":$schema},\"tools\":[{\"type\":\"function\",\"function\":{\"name\":\"report\",\"parameters\":$maps}}]}" |
    expect structured "tools beside a structured answer" '"content":"\{ ?\\"count\\"|"arguments":"\{ ?\\"seats\\"'
for input in '"a cat"' '["a cat","a dog"]' '[5,6,7]' '[[5,6],[7]]'; do
    post v1/embeddings "{\"input\":$input}" | expect embeddings "$input" '"embedding":\[-?[0-9]'
done
