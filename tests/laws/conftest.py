"""Makes the helpers of this folder importable by its tests and by those of the rooms around it."""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent))
