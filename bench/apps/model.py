#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-only
"""Write a language model of random weights, the same bytes each time, as GGUF.

    model.py SOURCE OUT LAYERS [EXPERTS]

SOURCE is llama.cpp's, whose package gguf writes it. Of Llama's kind: 512 numbers a token, in
8-bit blocks. With EXPERTS, two of which each layer uses for a token, a mixture of these.
"""

import pathlib
import sys

import numpy

WIDTH, INNER, EXPERT, USED, HEADS, MOST = 512, 1408, 704, 2, 8, 256


def words():
    """(text, score, kind) of each token: three that control, and one for each byte."""
    yield from (("<unk>", 0.0, 2), ("<s>", 0.0, 3), ("</s>", 0.0, 3))
    yield from ((f"<0x{byte:02X}>", 0.0, 6) for byte in range(256))


def layer(number, experts):
    """(name, shape) of its matrices; rows come first."""
    yield from ((f"blk.{number}.attn_{part}", (WIDTH, WIDTH)) for part in ("q", "k", "v", "output"))
    if not experts:
        yield f"blk.{number}.ffn_gate", (INNER, WIDTH)
        yield f"blk.{number}.ffn_up", (INNER, WIDTH)
        yield f"blk.{number}.ffn_down", (WIDTH, INNER)
        return
    yield f"blk.{number}.ffn_gate_exps", (experts, EXPERT, WIDTH)
    yield f"blk.{number}.ffn_up_exps", (experts, EXPERT, WIDTH)
    yield f"blk.{number}.ffn_down_exps", (experts, WIDTH, EXPERT)


def describe(writer, layers, experts):
    """What is said of the model."""
    writer.add_context_length(MOST)
    writer.add_embedding_length(WIDTH)
    writer.add_block_count(layers)
    writer.add_feed_forward_length(EXPERT if experts else INNER)
    writer.add_head_count(HEADS)
    writer.add_head_count_kv(HEADS)
    writer.add_layer_norm_rms_eps(1e-5)
    if experts:
        writer.add_expert_count(experts)
        writer.add_expert_used_count(USED)
    texts, scores, kinds = zip(*words())
    writer.add_tokenizer_model("llama")
    writer.add_token_list(texts)
    writer.add_token_scores(scores)
    writer.add_token_types(kinds)
    writer.add_bos_token_id(1)
    writer.add_eos_token_id(2)
    writer.add_unk_token_id(0)


def main(source, out, layers, experts="0"):
    """As the command line has it."""
    sys.path.insert(0, str(pathlib.Path(source) / "gguf-py"))
    import gguf  # pylint: disable=import-outside-toplevel,import-error
    layers, experts = int(layers), int(experts)
    rng = numpy.random.default_rng(24)
    writer = gguf.GGUFWriter(out, "llama")
    describe(writer, layers, experts)
    kind = gguf.GGMLQuantizationType.Q8_0

    def matrix(name, shape):
        numbers = rng.standard_normal(shape, dtype=numpy.float32) * numpy.float32(0.05)
        writer.add_tensor(f"{name}.weight", gguf.quants.quantize(numbers, kind), raw_dtype=kind)

    def norm(name):
        writer.add_tensor(f"{name}.weight", numpy.ones(WIDTH, numpy.float32))

    count = len(list(words()))
    matrix("token_embd", (count, WIDTH))
    for number in range(layers):
        norm(f"blk.{number}.attn_norm")
        norm(f"blk.{number}.ffn_norm")
        if experts:
            writer.add_tensor(f"blk.{number}.ffn_gate_inp.weight",
                              rng.standard_normal((experts, WIDTH), dtype=numpy.float32))
        for name, shape in layer(number, experts):
            matrix(name, shape)
    norm("output_norm")
    matrix("output", (count, WIDTH))
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()


if __name__ == "__main__":
    main(*sys.argv[1:])
