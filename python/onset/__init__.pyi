from typing import Any, NamedTuple, Protocol, Sequence, Union

import numpy
import numpy.typing

__version__: str

Parameter = Union[bool, int, float, str, Sequence[float], numpy.typing.NDArray[Any]]

class InvalidArgument(ValueError): ...
class IoError(OSError): ...

class Estimate(NamedTuple):
    value: float
    error: float
    def __float__(self) -> float: ...

class Result:
    columns: dict[str, str]
    parameters: dict[str, Any]
    summary: dict[str, Any]
    status: str
    reason: str
    notes: list[str]
    artifacts: dict[str, Any]
    @property
    def rows(self) -> list[dict[str, Any]]: ...
    def __getitem__(self, name: str) -> numpy.typing.NDArray[Any]: ...
    def error(self, name: str) -> numpy.typing.NDArray[Any]: ...
    def __len__(self) -> int: ...

class Verb(Protocol):
    def __call__(
        self, *, threads: int | None = None, max_seconds: float | None = None, **parameters: Parameter
    ) -> Result: ...

class Family:
    def __getattr__(self, verb: str) -> Verb: ...

smi: Family
aim: Family
ssi: Family
mha: Family

def run(
    command: str, *, threads: int | None = None, max_seconds: float | None = None, **parameters: Parameter
) -> Result: ...
def verbs() -> list[str]: ...
