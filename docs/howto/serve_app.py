"""A service that decides about one person a request; what it cannot read it refuses with 422."""

from collections.abc import Callable
from typing import Any

from fastapi import FastAPI, HTTPException

from fairpatch.patch import Patch
from fairpatch.patch.row_scorer import RowScorer


def service(patch: Patch, score: Callable[[dict[str, Any]], float], columns: list[str]) -> FastAPI:
    """The app: ``score`` is the base model's probability, ``columns`` are those that it reads."""
    app, one = FastAPI(), RowScorer(patch)

    @app.post("/decide")
    def decide(person: dict[str, Any]) -> dict[str, Any]:
        missing = [name for name in columns if name not in person]
        if missing:
            raise HTTPException(422, f"the person has no {missing[0]!r}")
        try:
            decided = one.decide(person, score(person))
        except (KeyError, TypeError, ValueError, OverflowError) as error:
            raise HTTPException(422, str(error.args[0] if error.args else error)) from None
        if decided.decision is None:
            raise HTTPException(422, "the base model gives no probability for this person")
        return {"decision": decided.decision, "reason": decided.reason}

    return app
