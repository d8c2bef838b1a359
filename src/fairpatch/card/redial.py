"""The points needed of a patch at hand, found again: after an edit, or on next year's rows."""

from fairpatch.card.confidence import closed, opened
from fairpatch.choose.certificate import Certificate
from fairpatch.choose.choice import choose
from fairpatch.choose.fit import certify_ladder
from fairpatch.choose.frontier import Frontier
from fairpatch.choose.learner import Learned, Patches
from fairpatch.choose.target import Target
from fairpatch.data.rows import Rows
from fairpatch.data.splits import Fresh
from fairpatch.patch import Patch
from fairpatch.patch.encoding import Encoder
from fairpatch.patch.sealed import is_as_learned

EDITED = "lines differ from those that were learned"


def redial(patch: Patch, rows: Rows, target: Target, fresh: Fresh) -> tuple[Patch, Certificate]:
    """The weakest strength that meets the target on these rows and is certified on fresh ones.

    As in a fit; raises where no strength meets the target.
    """
    turning = patch if target.places else opened(patch, rows.f, target.only_between)
    pool, ratios = Patches.of([turning], rows, target.places)
    encoder = Encoder.fit(rows.X, strict=False)
    frontier = Frontier.trace(
        Learned(pool, rows, ratios), encoder, target.metrics, comparisons=target.comparisons,
        costs=target.priced_by,
    )  # fmt: skip
    rungs = certify_ladder(choose(frontier, target), pool, target, fresh)
    certificate = rungs.certificate
    redialled = pool.patch(0, rungs.choice.strength)
    redialled = redialled if target.places else closed(redialled)
    if target.action != redialled.action:
        redialled = type(patch).model_validate({**dict(redialled), "action": target.action})
    if is_as_learned(redialled) or redialled.provenance.edits:
        return redialled, certificate
    noted = redialled.provenance.model_copy(update={"edits": (EDITED,)})
    return redialled.model_copy(update={"provenance": noted}), certificate
