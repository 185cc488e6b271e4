"""A step of TRL's GRPOTrainer with a model that calls tools, against a server at the address in the first argument.

The second argument is a folder with the tokenizer of a model that speaks ChatML. The model is a small one that has just
been taught to ask once and then to hand in one of the answers in the remaining arguments, each as often.

Prints one JSON object: for each dialogue its reward, what the agent wrote (trained) and what it read (masked), decoded;
and whether the weights moved.
"""

import json
import math
import sys
import tempfile
from typing import ClassVar

import torch
from datasets import Dataset
from transformers import AutoTokenizer, LlamaConfig, LlamaForCausalLM
from transformers.utils import get_json_schema
from trl import GRPOConfig, GRPOTrainer
from trl.chat_template_utils import qwen2_5_chat_template

from tandem_env.grpo import Developer, developer, tool_dataset

DIALOGUES = 8
LEARNED = 0.011  # nats a token; that an answer is one of two cannot be foreseen, which is 0.009 of it
QUESTION = "What is it for?"
url, tokenizer_folder, *answers = sys.argv[1:]
torch.manual_seed(1)
torch.set_num_threads(1)
tokenizer = AutoTokenizer.from_pretrained(tokenizer_folder)
tokenizer.chat_template = qwen2_5_chat_template
tokenizer.eos_token = "<|im_end|>"
tokenizer.pad_token = "<|endoftext|>"
model = LlamaForCausalLM(
    LlamaConfig(
        vocab_size=len(tokenizer),
        hidden_size=128,
        intermediate_size=256,
        num_hidden_layers=2,
        num_attention_heads=4,
        max_position_embeddings=2048,
        tie_word_embeddings=True,
        eos_token_id=tokenizer.eos_token_id,
        pad_token_id=tokenizer.pad_token_id,
    )
)


def call(name: str, **arguments: str) -> dict:
    return {"type": "function", "function": {"name": name, "arguments": arguments}}


def said(message: dict, *before: dict) -> tuple[list[int], list[int]]:
    """Returns the ids before a message of the agent and its own."""
    tools = [get_json_schema(colleague.ask), get_json_schema(colleague.answer)]
    options = {"tools": tools, "tokenize": True, "return_dict": False}
    prompt = tokenizer.apply_chat_template(list(before), add_generation_prompt=True, **options)
    whole = tokenizer.apply_chat_template([*before, message], **options)
    return prompt, whole[len(prompt) :][: whole[len(prompt) :].index(tokenizer.eos_token_id) + 1]


def teach(rows: list[dict]) -> None:
    """Shows the model every dialogue that it is to lead, as often as it takes."""
    request = colleague.reset(task_id=rows[0]["task_id"], seed=0)
    opening = {"role": "user", "content": rows[0]["prompt"][0]["content"] + request}
    asks = {"role": "assistant", "content": "", "tool_calls": [call("ask", question=QUESTION)]}
    reply = {"role": "tool", "name": "ask", "content": colleague.ask(QUESTION)}
    thanks = {"role": "tool", "name": "answer", "content": "Thank you, the task is over."}
    ends = {"role": "assistant", "content": "Bye."}
    shown = []
    for code in answers:
        hands_in = {"role": "assistant", "content": "", "tool_calls": [call("answer", code=code)]}
        messages = [opening, asks, reply, hands_in, thanks, ends]
        prompt, last = said(ends, *messages[:-1])
        ids = torch.tensor(prompt + last)
        own = torch.zeros(len(ids), dtype=torch.bool)
        for index in (1, 3, 5):
            before, by_agent = said(messages[index], *messages[:index])
            own[len(before) : len(before) + len(by_agent)] = True
        shown.append((ids, own[1:]))
    optimizer = torch.optim.AdamW(model.parameters(), lr=4e-3)
    model.train()
    loss = math.inf
    while loss > LEARNED:
        optimizer.zero_grad()
        loss = 0.0
        for ids, own in shown:
            hidden = model.model(input_ids=ids[None]).last_hidden_state[0, :-1]
            part = torch.nn.functional.cross_entropy(model.lm_head(hidden[own]), ids[1:][own]) / len(shown)
            part.backward()
            loss += part.item()
        torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()


class Recorded(GRPOTrainer):
    """Keeps what each dialogue amounted to."""

    dialogues: ClassVar[list[dict]] = []

    def _generate_and_score_completions(self, inputs):
        made = super()._generate_and_score_completions(inputs)
        for ids, real, own, environment in zip(
            made["completion_ids"], made["completion_mask"], made["tool_mask"], self.environments, strict=True
        ):
            texts = {
                name: tokenizer.decode(
                    [id for id, is_real, by in zip(ids, real, own, strict=True) if is_real and by == mine]
                )
                for name, mine in (("agent", 1), ("colleague", 0))
            }
            self.dialogues.append({"reward": environment.get_reward(), **texts})
        return made


rows = tool_dataset(url)
colleague = Developer(url)
teach(rows)
with tempfile.TemporaryDirectory() as folder:
    trainer = Recorded(
        model,
        processing_class=tokenizer,
        train_dataset=Dataset.from_list(rows),
        environment_factory=developer(url),
        args=GRPOConfig(
            output_dir=folder,
            per_device_train_batch_size=DIALOGUES,
            num_generations=DIALOGUES,
            max_steps=1,
            max_completion_length=256,
            learning_rate=1e-3,
            use_cpu=True,
            bf16=False,
            report_to=[],
            save_strategy="no",
            # At 1 a model that has learned so little goes astray now and then, and does not find back.
            temperature=0.3,
            gradient_checkpointing=False,
        ),
    )
    before = [weight.detach().clone() for weight in trainer.model.parameters()]
    trainer.train()
    moved = any(not torch.equal(old, new) for old, new in zip(before, trainer.model.parameters(), strict=True))
print(json.dumps({"dialogues": trainer.dialogues, "moved": moved}))
