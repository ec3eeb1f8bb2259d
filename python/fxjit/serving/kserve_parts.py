"""What is used of KServe. It reads the program's arguments when it is imported, which are not its,
so it is imported here alone."""

import sys

_kept, sys.argv = sys.argv, sys.argv[:1]
try:
    from kserve.protocol.grpc import grpc_predict_v2_pb2 as pb
finally:
    sys.argv = _kept

__all__ = ["pb"]
