"""Why each decision changes: plain data, no drawing."""

from fairpatch.explain.concepts import ConceptView, Contributions, concepts, contributions
from fairpatch.explain.proxy import ProxyRisk, proxy_risk
from fairpatch.explain.reasons import Notice, Reason, notices, reasons
from fairpatch.explain.segments import ChangeTree, Segment, f1_by_depth, segments
from fairpatch.explain.stability import Stability, stability

__all__ = [
    "ChangeTree",
    "ConceptView",
    "Contributions",
    "Notice",
    "ProxyRisk",
    "Reason",
    "Segment",
    "Stability",
    "concepts",
    "contributions",
    "f1_by_depth",
    "notices",
    "proxy_risk",
    "reasons",
    "segments",
    "stability",
]
