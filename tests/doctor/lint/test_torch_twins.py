# ruff: noqa: E501 - a replaced piece of a program is not broken into several lines
"""A broken PyTorch program of the zoo after its one correction: there is neither an error nor a warning."""

from __future__ import annotations

from pathlib import Path

import pytest

import recordsmith as rs

ZOO = Path(__file__).resolve().parents[2] / "zoo"

# The program, and what its correction replaces.
CORRECTED: dict[str, dict[str, str]] = {
    "last_batch_of_one": {"shuffle=True)": "shuffle=True, drop_last=True)"},
    "hidden_state_keeps_graph": {
        "    loss = loss_func(prediction, y)": "    h_state = h_state.detach()\n    loss = loss_func(prediction, y)",
        "loss.backward(retain_graph=True)": "loss.backward()",
    },
    "best_weights_by_reference": {
        "import torch\nfrom torch import nn": "import copy\n\nimport torch\nfrom torch import nn",
        "best_model_wts, best_acc = model.state_dict(), 0.0": "best_model_wts, best_acc = copy.deepcopy(model.state_dict()), 0.0",
        "            best_model_wts = model.state_dict()": "            best_model_wts = copy.deepcopy(model.state_dict())",
    },
    "sampler_weights_of_classes": {
        "WeightedRandomSampler(class_weights,": "WeightedRandomSampler(class_weights[labels],"
    },
    "other_label_ignored": {"nn.CrossEntropyLoss(ignore_index=-1)": "nn.CrossEntropyLoss()"},
    "padding_is_learnt": {
        "        outputs = model(input_ids=input_ids, attention_mask=attention_mask, labels=input_ids)": "        labels = input_ids.masked_fill(attention_mask == 0, -100)\n        outputs = model(input_ids=input_ids, attention_mask=attention_mask, labels=labels)"
    },
    "stored_example_changed": {"        im = self.images[i]\n": "        im = self.images[i].copy()\n"},
    "one_output_for_classes": {"nn.CrossEntropyLoss()": "nn.BCEWithLogitsLoss()"},
    "length_counts_batches": {"        return len(self.x) // BATCH": "        return len(self.x)"},
    "filtered_alone": {
        "        self.labels = list(labels)": "        self.labels = [label for row, label in zip(readings, labels) if not np.isnan(row).any()]"
    },
    "mask_read_and_dropped": {"mask = self.mask_transforms(image)": "mask = self.mask_transforms(mask)"},
    "transform_not_used": {'"glands/train", tf_val': '"glands/train", tf_train'},
    "splits_share_a_transform": {
        "train_dataset.dataset.transform = augment\nval_dataset.dataset.transform = plain\n": "import copy\nval_dataset.dataset = copy.copy(full)\ntrain_dataset.dataset.transform = augment\nval_dataset.dataset.transform = plain\n"
    },
    "prediction_order_lost": {
        "torch.from_numpy(y_test)), batch_size=100, shuffle=True)": "torch.from_numpy(y_test)), batch_size=100)"
    },
    "rate_destroys_weights": {"lr=10,": "lr=0.01,"},
    "loaders_shuffled_apart": {
        "rgb_loader = DataLoader(TensorDataset(rgb), batch_size=32, shuffle=True)\ndepth_loader = DataLoader(TensorDataset(depth), batch_size=32, shuffle=True)\n": "loader = DataLoader(TensorDataset(rgb, depth), batch_size=32, shuffle=True)\n",
        "    for (image,), (target,) in zip(rgb_loader, depth_loader):": "    for image, target in loader:",
    },
    "subsets_of_two_orders": {"val_idx = np.random.permutation(len(data))[800:]": "val_idx = indices[800:]"},
    "windows_split_by_chance": {
        'windows = Windows(torch.load("load.pt"), 48)\ntrain_set, val_set = random_split(windows, [0.8, 0.2])\n': 'series = torch.load("load.pt")\ntrain_set, val_set = Windows(series[:8000], 48), Windows(series[8000:], 48)\n'
    },
    "accumulated_without_dividing": {"loss = criterion(model(x), y)\n": "loss = criterion(model(x), y) / 8\n"},
    "train_called_in_validation": {"                model.train()\n": ""},
    "validates_in_training_mode": {"        losses = []\n": "        losses = []\n        self.model.eval()\n"},
    "own_loss_broadcasts": {"torch.abs(prediction - target)": "torch.abs(prediction.squeeze(1) - target)"},
    "module_missing_in_groups": {
        '    trainable_params += [{"params": model.head': '    trainable_params += [{"params": model.down.parameters(), "lr": base_lr}]\n    trainable_params += [{"params": model.head'
    },
    "mean_over_whole_dataset": {
        "train_loss / len(train_loader.dataset), valid_loss / len(valid_loader.dataset)": "train_loss / len(train_loader.sampler), valid_loss / len(valid_loader.sampler)"
    },
    "predicts_on_bgr": {
        "    image = cv2.imread(image_path)\n": "    image = cv2.cvtColor(cv2.imread(image_path), cv2.COLOR_BGR2RGB)\n"
    },
    "step_lr_in_batch_loop": {
        "        scheduler.step()\n        total += loss.item()\n": "        total += loss.item()\n    scheduler.step()\n"
    },
    "softmax_over_the_batch": {"dim=0).argmax(dim=1)": "dim=1).argmax(dim=1)"},
    "argmax_without_axis": {"torch.argmax(logits) == labels": "torch.argmax(logits, dim=1) == labels"},
    "read_by_every_process": {
        "    train_loader = DataLoader(train_set, batch_size=128, shuffle=True, num_workers=4)\n": "    sampler = torch.utils.data.distributed.DistributedSampler(train_set)\n    train_loader = DataLoader(train_set, batch_size=128, sampler=sampler, num_workers=4)\n",
        "        model.train()\n": "        sampler.set_epoch(epoch)\n        model.train()\n",
    },
    "scaled_gradients_applied": {"            optimizer.step()\n": "            scaler.step(optimizer)\n"},
    "clipped_before_backward": {
        "        torch.nn.utils.clip_grad_norm_(model.parameters(), 5)\n        cost.backward()\n": "        cost.backward()\n        torch.nn.utils.clip_grad_norm_(model.parameters(), 5)\n"
    },
    "embedding_row_missing": {"Bag(len(stoi))": "Bag(len(stoi) + 1)"},
    "padding_is_a_class": {
        "for _, t in rows], batch_first=True)": "for _, t in rows], batch_first=True, padding_value=-100)"
    },
    "shifted_twice": {
        "torch.LongTensor(sample[:-1]), torch.LongTensor(sample[1:])": "torch.LongTensor(sample), torch.LongTensor(sample)"
    },
    "inference_without_normalize": {
        "T.Compose([T.Resize(size), T.ToTensor()])": "T.Compose([T.Resize(size), T.ToTensor(), T.Normalize(mean=[0.485, 0.456, 0.406], std=[0.229, 0.224, 0.225])])"
    },
}


@pytest.mark.parametrize("name", CORRECTED)
def test_the_corrected_program_is_healthy(name: str, tmp_path: Path) -> None:
    broken = ZOO / "broken" / f"torch_{name}.py"
    text = (broken if broken.exists() else ZOO / "torch_questions" / f"{name}.py").read_text()
    for old, new in CORRECTED[name].items():
        assert old in text
        text = text.replace(old, new)
    program = tmp_path / "program.py"
    program.write_text(text)
    report = rs.lint(program)
    assert report.ok, str(report)
    assert not report.findings or report.findings[0].code == "P099", str(report)
