"""The base of every value in the house.

Law: a value is frozen, knows its fields, and refuses others. Schema building is deferred, because 45 models
built at import cost 0.1 s of the first frame. Docstrings of fields are for readers: pydantic can collect them, and
reads the source of every class for that, which cost another 0.1 s.
"""

from pydantic import BaseModel, ConfigDict


class Value(BaseModel):
    """A frozen pydantic model; equality is by content."""

    model_config = ConfigDict(
        frozen=True,
        extra="forbid",
        defer_build=True,
        use_attribute_docstrings=True,
        arbitrary_types_allowed=False,
    )
