from dataclasses import dataclass
from datetime import date
from typing import Annotated, Literal, NotRequired, TypedDict

from pydantic import BaseModel, Field

from midcall import Question


class Traveller(BaseModel):
    name: str = Field(min_length=2, title="Name", description="As in the passport")
    born: date
    meal: Literal["meat", "fish", "none"] = "none"


@dataclass
class Luggage:
    pieces: int
    insured: bool = False


class Seat(TypedDict):
    row: Annotated[int, Field(ge=1, le=40)]
    side: NotRequired[Literal["left", "right"]]


QUESTIONS = [
    Question("Who travels?", Traveller),
    Question("What do you take along?", Luggage),
    Question("Where do you sit?", Seat),
    Question("How many nights?", Annotated[int, Field(ge=1)]),
    Question("Which cities?", list[Literal["Oslo", "Bergen", "Narvik"]]),
]
