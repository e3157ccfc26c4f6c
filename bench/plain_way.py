"""Runs one plain way in a process of its own: plain_way.py MODULE.FUNCTION '{"argument": value}'.

Prints {"seconds": .., "values": {name: [value, error or null]}}. Starting Python and importing are not counted. A
function that returns (values, seconds) has timed a unit of its own, say an iteration.
"""

import importlib
import json
import pathlib
import sys
import time

sys.path.insert(0, str(pathlib.Path(__file__).parent))


def main():
    module, _, function = sys.argv[1].partition(".")
    call = getattr(importlib.import_module(f"plain.{module}"), function)
    start = time.process_time()
    values = call(**json.loads(sys.argv[2]))
    seconds = time.process_time() - start
    if isinstance(values, tuple):
        values, seconds = values
    print(json.dumps({"seconds": seconds, "values": values}))


if __name__ == "__main__":
    main()
