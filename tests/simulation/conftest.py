"""Makes the fakes of this folder importable by the tests of the rooms around it."""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent))
