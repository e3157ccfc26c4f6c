"""How far a run is: a bar in terminals and notebooks, or a function of one's own."""

from __future__ import annotations

import sys
import time

_FIRST_DELAY = 0.5  # seconds; shorter runs show no bar
_WIDTH = 30


def in_notebook():
    """Whether this runs in a notebook, whose cells show what is written to stderr."""
    shell = getattr(sys.modules.get("IPython"), "get_ipython", lambda: None)()
    return shell is not None and hasattr(shell, "kernel")


class _PlainBar:
    """A bar of letters on one line of stderr."""

    def __init__(self, title):
        self._title = title

    def show(self, fraction, what):
        line = f"{self._title} [{'#' * int(fraction * _WIDTH):<{_WIDTH}}] {fraction:4.0%}  {what}"
        sys.stderr.write("\r" + line[:79].ljust(79))
        sys.stderr.flush()

    def close(self):
        sys.stderr.write("\r" + " " * 79 + "\r")
        sys.stderr.flush()


class _TqdmBar:
    """tqdm's bar, which notebooks show as a widget."""

    def __init__(self, title, tqdm):
        self._bar = tqdm(total=1.0, desc=title, leave=False,
                         bar_format="{l_bar}{bar}| {elapsed}<{remaining}{postfix}")

    def show(self, fraction, what):
        self._bar.update(max(0.0, fraction - self._bar.n))
        self._bar.set_postfix_str(what[:40], refresh=False)

    def close(self):
        self._bar.close()


def _new_bar(title):
    try:
        from tqdm.auto import tqdm
    except ImportError:
        return _PlainBar(title)
    import warnings

    with warnings.catch_warnings():  # tqdm says that widgets are missing; its plain bar will do
        warnings.simplefilter("ignore")
        return _TqdmBar(title, tqdm)


class Progress:
    """What a run tells how far it is. As a context it clears its bar at the end.

    `wanted` is a function of the fraction done and of what is being done, True or False for a bar or none, or None:
    a bar where somebody is watching.
    """

    def __init__(self, title, wanted):
        self._title = title
        self._function = wanted if callable(wanted) else None
        self.watched = in_notebook() or sys.stderr.isatty() if wanted is None else bool(wanted)
        self._shows_bar = self.watched and self._function is None
        self._begin = time.monotonic()
        self._bar = None
        self._furthest = 0.0

    def __enter__(self):
        return self

    def __exit__(self, *_):
        if self._bar:
            self._bar.close()

    @property
    def function(self):
        """What is called now and then; None where nobody is to be told."""
        return self._tell if self._function or self._shows_bar else None

    def _tell(self, fraction, what):
        # A stage that turns out longer than was thought must not take back what has been shown.
        self._furthest = max(self._furthest, min(1.0, fraction))
        if self._function:
            self._function(self._furthest, what)
        elif self._bar or time.monotonic() - self._begin > _FIRST_DELAY:
            self._bar = self._bar or _new_bar(self._title)
            self._bar.show(self._furthest, what)

    def announce(self, core_seconds, memory_bytes=0.0, caution=""):
        """Says before a large run what it will take, as the command does."""
        if not self._shows_bar:
            return
        minute, gibibyte = 60.0, 2.0**30
        if memory_bytes >= gibibyte:
            self._say(f"{self._title} will need about {memory_bytes / gibibyte:.1f} GiB of memory")
        if core_seconds >= 2 * minute:
            self._say(f"{self._title} will take about {core_seconds / minute:.2g} core-minutes")
        if caution:
            self._say(caution)

    @staticmethod
    def _say(sentence):
        print(f"onset: {sentence}", file=sys.stderr)
