"""The programs of dgm: those of the package, or of a folder in DGM_PROGRAMS, or in PATH."""

from __future__ import annotations

import json
import os
import pathlib
import shutil
import signal
import subprocess
import sys
from typing import Any, Callable, List, Optional, Sequence


def find(name: str) -> str:
    """The path of a program. FileNotFoundError where it is nowhere."""
    folder = os.environ.get("DGM_PROGRAMS")
    own = (pathlib.Path(folder) if folder else pathlib.Path(__file__).with_name("bin")) / name
    path = str(own) if own.exists() else shutil.which(name)
    if path is None:
        raise FileNotFoundError(f"dgm: {name} is not in {own.parent} nor in PATH: install a wheel of dgm, which has it, or build it "
                                f"in the repository with go build -o {own.parent}/ ./cmd/{name}, or name its folder in DGM_PROGRAMS")
    return path


def document(name: str, arguments: Sequence[str], show: Optional[Callable[[str], None]] = None) -> Any:
    """Runs a program and returns the JSON document that it prints.

    show is called with each line of its messages but those of an error. A KeyboardInterrupt interrupts the program, whose document of what it has
    made so far is returned; a second one ends it. ValueError with its messages where it refuses its input.
    """
    child = subprocess.Popen([find(name), *arguments, "--json"], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                             errors="replace", start_new_session=True)
    assert child.stdout is not None and child.stderr is not None
    messages: List[str] = []
    out: List[str] = []
    import threading

    reader = threading.Thread(target=lambda: out.append(child.stdout.read()), daemon=True)  # type: ignore[union-attr]
    reader.start()
    interrupted = failed = False
    while True:
        try:
            for line in child.stderr:
                messages.append(line.rstrip())
                failed = failed or line.startswith(name + ": ")
                if show and not failed:
                    show(line.rstrip())
            reader.join()
            code = child.wait()
            child.stderr.close()
            child.stdout.close()
            break
        except KeyboardInterrupt:
            if interrupted:
                child.kill()
                raise
            interrupted = True
            child.send_signal(signal.SIGINT)
    if code not in (0, None) and not (interrupted and out and out[0]):
        begin = next((i for i, line in enumerate(messages) if line.startswith(name + ": ")), -12)
        text = "\n".join(messages[begin:]) or f"{name} ended with {code}"
        raise (KeyboardInterrupt(text) if interrupted else ValueError(text))
    return json.loads(out[0])


def printer(name: str) -> Callable[[str], None]:
    """Prints messages to the standard error, progress in one line of a terminal."""

    def show(line: str) -> None:
        print(f"{name}: {line}", file=sys.stderr, flush=True)

    return show
