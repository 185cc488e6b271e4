"""Writes CLIP ViT-B/32's half that reads pictures with random weights, for `test/bench/run.mjs pages --clip FOLDER`.

    python test/bench/random_clip.py FOLDER     (the trainer's environment)
"""

import sys
from pathlib import Path

import torch
from transformers import CLIPVisionConfig, CLIPVisionModelWithProjection


class Embeddings(torch.nn.Module):
    def __init__(self, model: torch.nn.Module) -> None:
        super().__init__()
        self.model = model

    def forward(self, pixel_values: torch.Tensor) -> torch.Tensor:
        return self.model(pixel_values=pixel_values).image_embeds  # (B, 3, 224, 224) → (B, 512)


file = Path(sys.argv[1]) / "onnx" / "vision_model.onnx"
file.parent.mkdir(parents=True, exist_ok=True)
torch.manual_seed(0)
model = CLIPVisionModelWithProjection(
    CLIPVisionConfig(hidden_size=768, intermediate_size=3072, projection_dim=512, patch_size=32)
).eval()
torch.onnx.export(
    Embeddings(model),
    (torch.zeros(1, 3, 224, 224),),
    file,
    input_names=["pixel_values"],
    output_names=["image_embeds"],
    dynamic_axes={"pixel_values": {0: "batch_size"}, "image_embeds": {0: "batch_size"}},
    opset_version=17,
    dynamo=False,
)
