"""The messages of Triton's extensions to the protocol: the repository, configurations, statistics
and streams. Names of messages do not go over the wire; the numbers and types of fields do.
Fields that nothing here fills in are left out."""

PACKAGE = "fxjit.triton"

# Their names by number. The protocol names datatypes without TYPE_, and TYPE_STRING is its BYTES.
ENUMS = {
    "DataType": (
        "TYPE_INVALID", "TYPE_BOOL", "TYPE_UINT8", "TYPE_UINT16", "TYPE_UINT32", "TYPE_UINT64",
        "TYPE_INT8", "TYPE_INT16", "TYPE_INT32", "TYPE_INT64", "TYPE_FP16", "TYPE_FP32",
        "TYPE_FP64", "TYPE_STRING", "TYPE_BF16"),
    "InstanceKind": ("KIND_AUTO", "KIND_GPU", "KIND_CPU", "KIND_MODEL")}

MESSAGES = {
    "IndexRequest": "string repository_name = 1; bool ready = 2",
    "ModelIndex": "string name = 1; string version = 2; string state = 3; string reason = 4",
    "IndexResponse": "repeated ModelIndex models = 1",
    # The model's name is field 1 for KServe's clients and field 2 for Triton's, which leave
    # field 1, a repository's name, empty. An entry of a map is a message by itself.
    "ModelRequest": "string first = 1; string second = 2; repeated bytes parameters = 3",
    "ModelResponse": "string model_name = 1; bool done = 2",

    "VersionRequest": "string name = 1; string version = 2",
    "ConfigInput": "string name = 1; DataType data_type = 2; repeated int64 dims = 4",
    "ConfigOutput": "string name = 1; DataType data_type = 2; repeated int64 dims = 3",
    "InstanceGroup": "string name = 1; int32 count = 2; InstanceKind kind = 4",
    "DynamicBatching": "uint64 max_queue_delay_microseconds = 2",
    "Config": "string name = 1; string platform = 2; int32 max_batch_size = 4; "
              "repeated ConfigInput input = 5; repeated ConfigOutput output = 6; "
              "repeated InstanceGroup instance_group = 7; "
              "DynamicBatching dynamic_batching = 11; string backend = 17",
    "ConfigResponse": "Config config = 1",

    "Duration": "uint64 count = 1; uint64 ns = 2",
    "InferStatistics": "Duration success = 1; Duration fail = 2; Duration queue = 3; "
                       "Duration compute_input = 4; Duration compute_infer = 5; "
                       "Duration compute_output = 6; Duration cache_hit = 7; "
                       "Duration cache_miss = 8",
    "BatchStatistics": "uint64 batch_size = 1; Duration compute_input = 2; "
                       "Duration compute_infer = 3; Duration compute_output = 4",
    "Statistics": "string name = 1; string version = 2; uint64 last_inference = 3; "
                  "uint64 inference_count = 4; uint64 execution_count = 5; "
                  "InferStatistics inference_stats = 6; repeated BatchStatistics batch_stats = 7",
    "StatisticsResponse": "repeated Statistics model_stats = 1",

    "StreamResponse": "string error_message = 1; inference.ModelInferResponse infer_response = 2",
}
