"""Measures transformers' generate() with a cache that grows by a token in each call.

GPT-2 small with random weights by torch.compile(backend="fxjit"), one thread. The
model is called for each token with all keys and values of the tokens before, of which
each call has one more. Beside it the same with transformers' StaticCache, whose sizes
stay, and the time to copy a cache of that length. Prints a table in Markdown: the
token at which Dynamo compiled last, and the median of the later half of the tokens.
"""

import argparse
import statistics
import sys
import time

import torch
from sizes_work import define_once

PROMPT = 16


class Timed:
    """The times of a model's calls, and the graphs compiled when each was over."""

    def __init__(self, forward):
        self.forward, self.times, self.graphs = forward, [], []

    def __call__(self, *args, **kwargs):
        begin = time.perf_counter()
        result = self.forward(*args, **kwargs)
        self.times.append(1e3 * (time.perf_counter() - begin))
        self.graphs.append(
            torch._dynamo.utils.counters["stats"]["unique_graphs"])
        return result

    def last_compiled(self):
        """The number of the last call that compiled; the prompt's is 0."""
        changed = [i for i, count in enumerate(self.graphs)
                   if i == 0 or count != self.graphs[i - 1]]
        return changed[-1]

    def token_ms(self):
        return statistics.median(self.times[len(self.times) // 2:])


def gpt2():
    define_once()
    from transformers import GPT2Config, GPT2LMHeadModel
    torch.manual_seed(0)
    return GPT2LMHeadModel(GPT2Config()).eval()


def generate(batch, tokens, dynamic, cache):
    """The timed calls of a model of its own, and its answer."""
    torch._dynamo.reset()
    torch._dynamo.utils.counters.clear()
    model = gpt2()
    timed = Timed(torch.compile(model.forward, backend="fxjit",
                                dynamic=dynamic, options={"threads": 1}))
    model.forward = timed
    model.generation_config.cache_implementation = cache
    # A static cache is compiled by generate() itself otherwise.
    model.generation_config.disable_compile = True
    torch.manual_seed(1)
    prompt = torch.randint(0, 50000, (batch, PROMPT))
    answer = model.generate(prompt, attention_mask=torch.ones_like(prompt),
                            min_new_tokens=tokens, max_new_tokens=tokens,
                            do_sample=False, pad_token_id=0)
    return timed, answer


def copy_ms(batch, tokens):
    """The time to copy the keys and values of 3/4 of the tokens."""
    length = PROMPT + tokens * 3 // 4
    cache = [torch.randn(batch, 12, length, 64) for _ in range(24)]
    copies = [torch.empty_like(part) for part in cache]
    times = []
    for _ in range(50):
        begin = time.perf_counter()
        for copy, part in zip(copies, cache):
            copy.copy_(part)
        times.append(1e3 * (time.perf_counter() - begin))
    return statistics.median(times)


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--tokens", type=int, default=64)
    parser.add_argument("--batches", type=int, nargs="+", default=[1, 4])
    options = parser.parse_args()
    torch.set_num_threads(1)
    print("| batch | growing cache: compiled last at token | with dynamic=True | "
          "ms a token | static cache | copy of the cache | ratio |")
    print("|---|---|---|---|---|---|---|")
    with torch.no_grad():
        for batch in options.batches:
            run = (batch, options.tokens)
            static, expected = generate(*run, False, "static")
            named, answer = generate(*run, True, "dynamic")
            grown, _ = generate(*run, None, "dynamic")
            if not torch.equal(answer, expected):
                raise SystemExit("the caches give other tokens")
            copy = copy_ms(*run)
            base = static.token_ms() + copy
            print(f"| {batch} | {grown.last_compiled()} | "
                  f"{named.last_compiled()} | {grown.token_ms():.2f} | "
                  f"{static.token_ms():.2f} | {copy:.2f} | "
                  f"{grown.token_ms() / base:.3f} |", flush=True)


if __name__ == "__main__":
    sys.exit(main())
