"""Calls the client's own loading functions and prints what they give.

usage: hermes_driver.py CWD [TOUCHED ...]

No window is given, so that the limits are those for an unknown model.
"""

import json
import sys

from agent.prompt_builder import build_context_files_prompt, load_soul_md
from agent.subdirectory_hints import SubdirectoryHintTracker

cwd, touched = sys.argv[1], sys.argv[2:]
tracker = SubdirectoryHintTracker(working_dir=cwd)
print(
    json.dumps(
        {
            "soul": load_soul_md(),
            "context": build_context_files_prompt(cwd=cwd, skip_soul=True),
            "touches": [tracker.check_tool_call("read_file", {"path": path}) for path in touched],
        }
    )
)
