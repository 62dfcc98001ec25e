"""Counts the tokens of standard input with tiktoken: prints the count, then seconds per run, one a line.

usage: tiktoken.py VOCABULARY RUNS    (a file of base64 tokens and ranks, as tiktoken itself downloads it)
"""

import base64
import sys
import time

import tiktoken_ext.openai_public as public

import tiktoken


def ranks(path):
    with open(path, "rb") as file:
        pairs = (line.split() for line in file if line.strip())
        return {base64.b64decode(token): int(rank) for token, rank in pairs}


vocabulary, runs = sys.argv[1], int(sys.argv[2])
# The library would download the same file; here it is given.
public.load_tiktoken_bpe = lambda *_args, **_kwargs: ranks(vocabulary)
encoding = tiktoken.Encoding(**public.o200k_base())
text = sys.stdin.buffer.read().decode("utf-8")
print(len(encoding.encode_ordinary(text)))
for _ in range(runs):
    start = time.perf_counter()
    encoding.encode_ordinary(text)
    print(time.perf_counter() - start)
