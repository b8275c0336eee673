"""Owns the body that makes a corpus: its name and its filter.

It is not what a filter finds, nor how a body is read within its limit (`api.bodies`). An unknown field of a
filter is refused: ignored, it would silently let more through.
"""

from __future__ import annotations

from typing import Annotated, Any

from pydantic import Field, StringConstraints, model_validator

from api.bodies import Body, PathText, ShortText
from api.parameters import Moment
from graphmem.question import Filters, PieceKind

_Word = Annotated[ShortText, StringConstraints(min_length=1)]


class CorpusFilterIn(Body):
    """What belongs to a corpus: everything that passes all that is given; nothing given is everything."""

    since: Moment = None
    until: Moment = Field(default=None, description="exclusive")
    types: list[_Word] = Field(default_factory=list, max_length=50, description="of observations")
    kinds: list[PieceKind] = Field(
        default_factory=list, max_length=50, description="of statements; history: what was done"
    )
    file: PathText | None = Field(default=None, description="observations that touched it; follows renames")
    concept: _Word | None = None
    session: _Word | None = None
    source: _Word | None = None

    @model_validator(mode="before")
    @classmethod
    def _known(cls, value: Any) -> Any:
        strange = set(value) - cls.model_fields.keys() if isinstance(value, dict) else set()
        if strange:
            fields = ", ".join(cls.model_fields)
            raise ValueError(f"a filter has no field {min(map(str, strange))!r}; it takes {fields}")
        return value

    def filters(self) -> Filters:
        """Return the filter."""
        return Filters(
            since=self.since,
            until=self.until,
            types=tuple(dict.fromkeys(self.types)),
            kinds=tuple(dict.fromkeys(kind.value for kind in self.kinds)),
            file=self.file,
            concept=self.concept,
            session=self.session,
            source=self.source,
        )


class CorpusIn(Body):
    """A corpus to make."""

    name: ShortText = Field(
        description="1 to 64 of A-Z, a-z, 0-9, '.', '_', '-'; the first a letter or digit"
    )
    filter: CorpusFilterIn = Field(description="what belongs to it; {} for everything")
