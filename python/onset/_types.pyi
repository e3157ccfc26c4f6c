# What arguments may be; for stubs only.
from os import PathLike
from typing import Any, Callable, Sequence, Union

import numpy
from numpy.typing import NDArray

from onset import Result

Array = Union[NDArray[Any], Sequence[Any]]
Reals = Union[float, Sequence[float], NDArray[Any], str]
Grid = Union[float, Sequence[float], NDArray[Any], range, str]
Folder = Union[str, PathLike[str], Result]
Progress = Union[bool, Callable[[float, str], object], None]
