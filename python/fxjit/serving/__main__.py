"""python -m fxjit.serving: the same as fxjit-serve."""

import sys

from .command import main

sys.exit(main())
