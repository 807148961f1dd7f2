"""Steps of a client script: each prints one line of JSON with its outcome."""

import json
import sys
import traceback


class Steps:
    """Runs named steps; a step that raises is a failure with its text, and the next one runs all the same."""

    def __call__(self, function):
        name = function.__name__
        try:
            found = function()
            print(json.dumps({"step": name, "ok": True, "found": found}), flush=True)
        except Exception as fault:
            traceback.print_exc(file=sys.stderr)
            print(json.dumps({"step": name, "ok": False, "found": f"{type(fault).__name__}: {fault}"}), flush=True)
        return function
