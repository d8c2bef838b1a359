"""A service that decides about one person a request; what it cannot read it refuses with 422."""

from typing import Any

import pandas as pd
from fastapi import FastAPI, HTTPException

from fairpatch.patch import Patch
from fairpatch.patch.one import OnePerson


def service(patch: Patch, model: Any, columns: list[str]) -> FastAPI:
    """The app: ``model`` is the base model, ``columns`` are those that it reads."""
    app, one = FastAPI(), OnePerson(patch)

    @app.post("/decide")
    def decide(person: dict[str, Any]) -> dict[str, Any]:
        missing = [name for name in columns if name not in person]
        if missing:
            raise HTTPException(422, f"the person has no {missing[0]!r}")
        try:
            score = float(model.predict_proba(pd.DataFrame([person], columns=columns))[0, 1])
            decided = one.decide(person, score)
        except (KeyError, TypeError, ValueError, OverflowError) as error:
            raise HTTPException(422, str(error.args[0] if error.args else error)) from None
        if decided.decision is None:
            raise HTTPException(422, "the base model gives no probability for this person")
        return {"decision": decided.decision, "reason": decided.reason}

    return app
