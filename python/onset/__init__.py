"""Onset: where attention models start to learn, how well they can, and which algorithms get there.

    >>> import onset
    >>> result = onset.smi.thresholds(layers=2, tokens=2, skip=1)
    >>> print(result)
    >>> result["alpha"], result.error("alpha")

Every verb of the command `onset` is a function of its family; `help(onset.smi.thresholds)` says what it takes
and what its columns mean. Parameters are those of the command with underscores for hyphens; grids are lists,
arrays or texts such as "0.1:1.2:0.1". Every number has its standard error.
"""

from onset import _onset
from onset._calls import Explanation, families as _families, run, verbs
from onset._calls import _missing
from onset._estimate import Estimate
from onset._figure import Figure, figure, figures
from onset._link import Link, LinkReport
from onset._onset import InvalidArgument, IoError
from onset._result import Result, Unconverged
from onset._study import Store, Study, open_store as open
from onset._table import Table

__version__ = _onset.version
__all__ = ["Estimate", "Explanation", "Figure", "InvalidArgument", "IoError", "Link", "LinkReport", "Result", "Store",
           "Study", "Table", "Unconverged", "figure", "figures", "open", "run", "verbs"]

_modules = _families()
globals().update(_modules)
__all__ += list(_modules)
__getattr__ = _missing("onset", sorted(__all__))
