"""Scans files with the context scanner of hermes-agent: prints how many have findings, then seconds of CPU time per run.

usage: hermes.py RUNS FILE…
"""

import sys
import time

from tools.threat_patterns import scan_for_threats

runs, paths = int(sys.argv[1]), sys.argv[2:]
texts = []
for path in paths:
    with open(path, "rb") as file:
        texts.append(file.read().decode("utf-8", "replace"))
print(sum(1 for text in texts if scan_for_threats(text, "context")))
for _ in range(runs):
    start = time.process_time()
    for text in texts:
        scan_for_threats(text, "context")
    print(time.process_time() - start)
