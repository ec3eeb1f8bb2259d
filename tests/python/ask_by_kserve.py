"""Asks a server for the model perceptron by KServe's clients: ask_by_kserve.py HTTP GRPC, with the
input as JSON on standard input. Prints an output a line: REST, REST with binary data, gRPC."""

import asyncio
import json
import sys

ports = sys.argv[1:]
del sys.argv[1:]  # KServe would read them.
import kserve  # noqa: E402
import numpy as np  # noqa: E402


def request(x, binary):
    one = kserve.InferInput("x", list(x.shape), "FP32")
    one.set_data_from_numpy(x, binary_data=binary)
    return kserve.InferRequest("perceptron", [one], request_id="r",
                               parameters={"binary_data_output": binary})


def show(answer):
    print(json.dumps(answer.outputs[0].as_numpy().tolist()))


async def main():
    x = np.array(json.load(sys.stdin), np.float32)
    url = f"http://127.0.0.1:{ports[0]}"
    client = kserve.InferenceRESTClient(kserve.RESTConfig(protocol="v2"))
    assert await client.is_server_ready(url) and await client.is_model_ready(url, "perceptron")
    for binary in (False, True):
        show(await client.infer(url, request(x, binary), model_name="perceptron"))
    async with kserve.InferenceGRPCClient(f"127.0.0.1:{ports[1]}") as client:
        assert await client.is_server_ready() and await client.is_model_ready("perceptron")
        show(await client.infer(kserve.InferRequest("perceptron", request(x, True).inputs)))


asyncio.run(main())
