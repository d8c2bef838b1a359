"""Why each decision changes: plain data, no drawing."""

from fairpatch.explain.change_audit import ChangeAudit, change_audit
from fairpatch.explain.change_tree import ChangeTree, f1_by_depth
from fairpatch.explain.concepts import ConceptView, concepts
from fairpatch.explain.contributions import Contributions, contributions
from fairpatch.explain.notices import Notice, notices
from fairpatch.explain.proxy import ProxyRisk, proxy_risk
from fairpatch.explain.reasons import Reason, reasons
from fairpatch.explain.segments import Segment, segments
from fairpatch.explain.stability import Stability, stability

__all__ = [
    "ChangeAudit",
    "ChangeTree",
    "ConceptView",
    "Contributions",
    "Notice",
    "ProxyRisk",
    "Reason",
    "Segment",
    "Stability",
    "change_audit",
    "concepts",
    "contributions",
    "f1_by_depth",
    "notices",
    "proxy_risk",
    "reasons",
    "segments",
    "stability",
]
