"""Models behind the Open Inference Protocol: fxjit-serve on one machine, fxjit.serving.ray on many.

Importing this package needs nothing beside fxjit; fxjit-serve needs fxjit[serve], fxjit.serving.ray
needs fxjit[ray].
"""

from .datatypes import Tensor
from .errors import BadRequest

__all__ = ["BadRequest", "Tensor"]
