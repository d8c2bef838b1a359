"""What happens after signing: certify again, monitor for years, refit, and keep one history."""

from fairpatch.life.guarantees import Watch, watch
from fairpatch.life.history import History
from fairpatch.life.ledger import Ledger
from fairpatch.life.monitor import monitor
from fairpatch.life.refit import refit

__all__ = ["History", "Ledger", "Watch", "monitor", "refit", "watch"]
