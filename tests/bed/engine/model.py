"""Write a tiny Llama checkpoint that counts for ever; run by the engine's own Python: `model.py FOLDER`.

Attention and MLP are zero, so that the next token depends on the last one alone: the row of the head for a token is
the embedding of the token before it. The weights are split over two ranks like those of any Llama.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path

import torch
from safetensors.torch import save_file
from tokenizers import Tokenizer, models, pre_tokenizers

HIDDEN = 256
HEADS = 2
HEAD = 64
MIDDLE = 64
LAYERS = 2
SPECIAL = ("<unk>", "<s>", "</s>", "<pad>")
WORDS = (*SPECIAL, *(f"w{number:02d}" for number in range(60)))


def tokenizer(folder: Path) -> None:
    """A token a word; what is no word of the script is <unk>."""
    made = Tokenizer(models.WordLevel({word: place for place, word in enumerate(WORDS)}, unk_token="<unk>"))
    made.pre_tokenizer = pre_tokenizers.WhitespaceSplit()
    made.save(str(folder / "tokenizer.json"))
    settings = {
        "tokenizer_class": "PreTrainedTokenizerFast", "unk_token": "<unk>", "bos_token": "<s>", "eos_token": "</s>",
        "pad_token": "<pad>", "model_max_length": 4096,
    }  # fmt: skip
    (folder / "tokenizer_config.json").write_text(json.dumps(settings))


def weights() -> dict[str, torch.Tensor]:
    embedding = torch.randn(len(WORDS), HIDDEN, generator=torch.Generator().manual_seed(1))
    embedding /= embedding.norm(dim=1, keepdim=True)
    head = torch.zeros(len(WORDS), HIDDEN)
    first = len(SPECIAL)
    for place in range(first, len(WORDS)):
        after = place + 1 if place + 1 < len(WORDS) else first
        head[after] = 4 * embedding[place]
    for place in range(first):
        head[first] += 4 * embedding[place]
    made = {"model.embed_tokens.weight": embedding, "lm_head.weight": head, "model.norm.weight": torch.ones(HIDDEN)}
    for layer in range(LAYERS):
        for name, (rows, columns) in _SHAPES.items():
            made[f"model.layers.{layer}.{name}.weight"] = torch.zeros(rows, columns)
        for name in ("input_layernorm", "post_attention_layernorm"):
            made[f"model.layers.{layer}.{name}.weight"] = torch.ones(HIDDEN)
    return {name: tensor.to(torch.bfloat16).contiguous() for name, tensor in made.items()}


_SHAPES = {
    **{f"self_attn.{name}_proj": (HEADS * HEAD, HIDDEN) for name in "qkv"},
    "self_attn.o_proj": (HIDDEN, HEADS * HEAD),
    "mlp.gate_proj": (MIDDLE, HIDDEN),
    "mlp.up_proj": (MIDDLE, HIDDEN),
    "mlp.down_proj": (HIDDEN, MIDDLE),
}
CONFIG = {
    "architectures": ["LlamaForCausalLM"], "model_type": "llama", "vocab_size": len(WORDS), "hidden_size": HIDDEN,
    "intermediate_size": MIDDLE, "num_hidden_layers": LAYERS, "num_attention_heads": HEADS,
    "num_key_value_heads": HEADS, "head_dim": HEAD, "max_position_embeddings": 4096, "rms_norm_eps": 1e-6,
    "hidden_act": "silu", "rope_theta": 10000.0, "tie_word_embeddings": False, "torch_dtype": "bfloat16",
    "bos_token_id": 1, "eos_token_id": 2, "pad_token_id": 3,
}  # fmt: skip


def main(folder: Path) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    tokenizer(folder)
    save_file(weights(), folder / "model.safetensors", metadata={"format": "pt"})
    (folder / "config.json").write_text(json.dumps(CONFIG))


if __name__ == "__main__":
    main(Path(sys.argv[1]))
