"""Ask a question of a training run after it has ended."""

from ._native import DamagedError as DamagedError
from ._native import InternalError as InternalError
from ._native import StoreError as StoreError
from .answers.api import Answer as Answer
from .answers.api import ask as ask
from .answers.api import diff as diff
from .answers.api import logs as logs
from .answers.api import query as query
from .answers.api import record as record
from .answers.api import replay as replay
from .answers.api import runs as runs
from .answers.api import show as show
from .answers.api import verify as verify
from .answers.columns import Table as Table
from .answers.log import log as log
from .arguments import arg as arg
from .project.script import Unusable as Unusable
from .saving import Saved as Saved
from .saving import flush as flush
from .saving import materialize as materialize
from .saving import save as save
from .writing.writer import background as background

__version__: str
