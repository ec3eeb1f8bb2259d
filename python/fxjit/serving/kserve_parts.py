"""What is used of KServe. It reads the program's arguments when it is imported, which are not its,
so it is imported here alone."""

import sys

_kept, sys.argv = sys.argv, sys.argv[:1]
try:
    from kserve.model_repository import ModelRepository
    from kserve.model_server import app
    from kserve.protocol.dataplane import DataPlane
    from kserve.protocol.grpc import grpc_predict_v2_pb2 as pb
    from kserve.protocol.model_repository_extension import ModelRepositoryExtension
    from kserve.protocol.rest.server import RESTServer
finally:
    sys.argv = _kept

__all__ = ["DataPlane", "ModelRepository", "ModelRepositoryExtension", "RESTServer", "app", "pb"]
