# ruff: noqa: E501 - a replaced piece of a program is not broken into several lines
"""A healthy PyTorch program with one change that breaks it: the cause is named first."""

from __future__ import annotations

from pathlib import Path

import pytest

import recordsmith as rs

HEALTHY = Path(__file__).resolve().parents[2] / "zoo" / "healthy"

# The program, what is replaced, by what, and the rule that names it.
MUTATIONS = [
    ("cifar_functions", "        optimizer.zero_grad()\n", "", "P101"),
    (
        "cifar_functions",
        "loss.backward()\n        optimizer.step()",
        "optimizer.step()\n        loss.backward()",
        "P102",
    ),
    ("cifar_functions", "        optimizer.step()\n", "", "P102"),
    ("cifar_functions", "        loss.backward()\n", "", "P102"),
    ("cifar_functions", "        optimizer.step()\n        running", "        running", "P102"),
    ("cifar_functions", "    model.train()\n", "", "P103"),
    ("cifar_functions", "    model.eval()\n", "", "P104"),
    ("cifar_functions", "loss.item() * inputs.size(0)", "loss * inputs.size(0)", "P118"),
    ("cifar_functions", "Subset(clean_set, order[45000:])", "Subset(train_set, order[45000:])", "P019"),
    (
        "cifar_functions",
        "ToTensor(), transforms.Normalize(mean, std)])\n    train_set",
        "ToTensor()])\n    train_set",
        "P111",
    ),
    (
        "cifar_functions",
        "train=False, download=True, transform=plain",
        "train=True, download=True, transform=plain",
        "P110",
    ),
    (
        "cifar_functions",
        "train=False, download=True, transform=plain",
        "train=False, download=True, transform=augment",
        "P019",
    ),
    ("cifar_functions", "return self.fc(x)", "return F.softmax(self.fc(x), dim=1)", "P028"),
    ("cifar_functions", "return self.fc(x)", "return torch.sigmoid(self.fc(x))", "P028"),
    ("cifar_functions", "return self.fc(x)", "return self.fc(x).softmax(dim=-1)", "P028"),
    ("cifar_functions", "correct / len(loader.dataset)", "correct / len(loader)", "P120"),
    ("cifar_functions", "criterion(outputs, targets)", "criterion(outputs.argmax(1).float(), targets.float())", "P112"),
    (
        "cifar_functions",
        "outputs = model(inputs)\n        loss",
        "outputs = model(inputs).detach()\n        loss",
        "P112",
    ),
    (
        "cifar_functions",
        "        loss.backward()",
        "        loss = torch.tensor(loss.item(), requires_grad=True)\n        loss.backward()",
        "P112",
    ),
    ("cifar_functions", "    best = 0.0\n", "    model = Net().to(device)\n    best = 0.0\n", "P117"),
    ("cifar_functions", "self.dropout(torch.flatten(x, 1))", "F.dropout(torch.flatten(x, 1), 0.25)", "P116"),
    ("cifar_functions", "DataLoader(val_part, batch", "DataLoader(train_part, batch", "P109"),
    (
        "cifar_functions",
        "inputs, targets = inputs.to(device), targets.to(device)\n        optimizer",
        "inputs.to(device)\n        targets.to(device)\n        optimizer",
        "P119",
    ),
    (
        "cifar_functions",
        "transforms.ToTensor(),\n            transforms.Normalize(mean, std),",
        "transforms.Normalize(mean, std),\n            transforms.ToTensor(),",
        "P125",
    ),
    (
        "cifar_functions",
        "inputs, targets = inputs.to(device), targets.to(device)\n        optimizer",
        "inputs, targets = inputs.to(device) / 255.0, targets.to(device)\n        optimizer",
        "P025",
    ),
    (
        "segmentation_class",
        'sorted(Path(root, split, "images").glob("*.png"))',
        'list(Path(root, split, "images").glob("*.png"))',
        "P049",
    ),
    ("segmentation_class", "(512, 512), interpolation=cv2.INTER_NEAREST", "(512, 512)", "P123"),
    (
        "segmentation_class",
        'augmented = self.transform(image=image, mask=mask)\n            image, mask = augmented["image"], augmented["mask"]',
        'image = self.transform(image=image)["image"]\n            mask = self.transform(image=mask)["image"]',
        "P122",
    ),
    ("segmentation_class", "nn.ModuleList([block(3, 32), block(32, 64)])", "[block(3, 32), block(32, 64)]", "P115"),
    ("segmentation_class", "                    self.model.train()\n", "", "P103"),
    ("segmentation_class", '"val", val_transform', '"val", train_transform', "P019"),
    ("segmentation_class", "                self.optimizer.zero_grad(set_to_none=True)\n", "", "P101"),
    (
        "segmentation_class",
        "return self.out(torch.cat([self.up(deep), skip], dim=1))",
        "return torch.softmax(self.out(torch.cat([self.up(deep), skip], dim=1)), dim=1)",
        "P028",
    ),
    (
        "segmentation_class",
        "A.Normalize(), ToTensorV2()])\n        val",
        "ToTensorV2(), A.Normalize()])\n        val",
        "P125",
    ),
    ("segmentation_class", "DataLoader(val_ds", "DataLoader(train_ds", "P109"),
    ("segmentation_class", "total += loss.item()", "total += loss", "P118"),
    (
        "segmentation_class",
        "        return image, mask.long()",
        "        return torch.from_numpy(cv2.imread(str(self.image_paths[idx])).reshape(3, 512, 512)), mask.long()",
        "P124",
    ),
    ("text_lstm", "texts, batch_first=True, padding", "texts, padding", "P114"),
    (
        "text_lstm",
        "return self.out(self.dropout(last)).squeeze(1)",
        "return torch.sigmoid(self.out(self.dropout(last))).squeeze(1)",
        "P028",
    ),
    ("text_lstm", "nn.BCEWithLogitsLoss()", "nn.BCELoss()", "P028"),
    ("text_lstm", "random.Random(3).shuffle(rows)", "rows = random.Random(3).shuffle(rows)", "P119"),
    ("text_lstm", "for epoch in range(5):\n    model.train()\n", "model.train()\nfor epoch in range(5):\n", "P103"),
    ("text_lstm", "    model.eval()\n", "", "P104"),
    ("text_lstm", "loss = loss_function(scores, labels)", "loss = loss_function((scores > 0).float(), labels)", "P112"),
    (
        "text_lstm",
        "        optimizer.zero_grad()\n        scores = model(texts, lengths)\n        loss = loss_function(scores, labels)\n        loss.backward()\n",
        "        scores = model(texts, lengths)\n        loss = loss_function(scores, labels)\n        loss.backward()\n        optimizer.zero_grad()\n",
        "P102",
    ),
    ("tabular_regression", "torch.tensor(y_train).unsqueeze(1)", "torch.tensor(y_train)", "P113"),
    ("tabular_regression", "prediction = net(xb)", "prediction = net(xb).squeeze()", "P113"),
    (
        "tabular_regression",
        "x_train, x_test, y_train, y_test = train_test_split(x, y",
        "x = StandardScaler().fit_transform(x)\nx_train, x_test, y_train, y_test = train_test_split(x, y",
        "P048",
    ),
    ("tabular_regression", "loss.item() * len(xb)\n", "loss * len(xb)\n", "P118"),
    ("tabular_regression", "        opt.zero_grad()\n", "", "P101"),
    (
        "tabular_regression",
        "        opt.zero_grad()\n        loss.backward()",
        "        loss.backward()\n        opt.zero_grad()",
        "P102",
    ),
    ("tabular_regression", "DataLoader(test_ds", "DataLoader(train_ds", "P109"),
    (
        "tabular_regression",
        "    for xb, yb in train_dl:\n        prediction = net(xb)",
        "    for _ in range(len(train_ds) // 64):\n        xb, yb = next(iter(train_dl))\n        prediction = net(xb)",
        "P105",
    ),
    ("tabular_regression", "    net.eval()\n", "", "P104"),
    ("tabular_regression", "    net.train()\n", "", "P103"),
    ("tabular_regression", "x_test = scaler.transform(x_test)", "x_test = scaler.fit_transform(x_test)", "P212"),
    (
        "phases_transfer",
        "for parameter in backbone.parameters():\n    parameter.requires_grad = False\nbackbone.fc = nn.Linear(backbone.fc.in_features, 2)\nbackbone = backbone.to(device)\noptimizer_ft = optim.SGD(backbone.fc.parameters()",
        "backbone.fc = nn.Linear(backbone.fc.in_features, 2)\nfor parameter in backbone.parameters():\n    parameter.requires_grad = False\nbackbone.to(device)\noptimizer_ft = optim.SGD(backbone.parameters()",
        "P117",
    ),
    (
        "phases_transfer",
        "transforms.CenterCrop(224),\n            transforms.ToTensor(),\n            transforms.Normalize([0.485, 0.456, 0.406], [0.229, 0.224, 0.225]),",
        "transforms.CenterCrop(224),\n            transforms.ToTensor(),",
        "P111",
    ),
    ("phases_transfer", "transforms.CenterCrop(224)", "transforms.RandomCrop(224)", "P019"),
    (
        "phases_transfer",
        '            if phase == "train":\n                model.train()\n            else:\n                model.eval()\n',
        '            if phase == "val":\n                model.eval()\n',
        "P103",
    ),
    ("phases_transfer", "                optimizer.zero_grad()\n", "", "P101"),
    (
        "phases_transfer",
        "backbone.fc = nn.Linear(backbone.fc.in_features, 2)\nbackbone = backbone.to(device)\noptimizer_ft = optim.SGD(backbone.fc.parameters(), lr=0.001, momentum=0.9)",
        "backbone = backbone.to(device)\noptimizer_ft = optim.SGD(backbone.parameters(), lr=0.001, momentum=0.9)\nbackbone.fc = nn.Linear(backbone.fc.in_features, 2)",
        "P117",
    ),
    ("phases_transfer", "loss.item() * inputs.size(0)", "loss * inputs.size(0)", "P118"),
    ("lightning_module", "        return loss\n", "", "P121"),
    ("lightning_module", "        return loss\n", "        return loss.item()\n", "P121"),
    ("lightning_module", "F.dropout(x, 0.3, training=self.training)", "F.dropout(x, 0.3)", "P116"),
    ("lightning_module", "F.log_softmax(", "F.softmax(", "P028"),
    ("lightning_module", "F.log_softmax(self.second(x), dim=1)", "self.second(x)", "P028"),
    ("lightning_module", "DataLoader(self.val_set", "DataLoader(self.train_set", "P109"),
    (
        "lightning_module",
        "self.test_set = MNIST(self.folder, train=False",
        "self.test_set = MNIST(self.folder, train=True",
        "P110",
    ),
    (
        "lightning_module",
        "transforms.Compose([transforms.ToTensor()",
        "transforms.Compose([transforms.RandomRotation(10), transforms.ToTensor()",
        "P019",
    ),
    (
        "streaming_workers",
        "        info = get_worker_info()\n        first, step = (0, 1) if info is None else (info.id, info.num_workers)\n        with open(self.path) as file:\n            for line in itertools.islice(file, first, None, step):",
        "        with open(self.path) as file:\n            for line in file:",
        "P106",
    ),
    (
        "streaming_workers",
        "        start = np.random.randint(",
        "        np.random.seed(0)\n        start = np.random.randint(",
        "P107",
    ),
    ("streaming_workers", "        optimizer.zero_grad()\n", "", "P101"),
    ("distributed_accumulation", "        train_sampler.set_epoch(epoch)\n", "", "P108"),
    (
        "distributed_accumulation",
        "                optimizer.step()\n                optimizer.zero_grad()",
        "                optimizer.step()",
        "P101",
    ),
    ("distributed_accumulation", "        model.eval()\n", "", "P104"),
    ("distributed_accumulation", "        model.train()\n        optimizer", "        optimizer", "P103"),
    ("gan", ", nn.Sigmoid())", ")", "P028"),
    ("gan", "nn.BCELoss()", "nn.BCEWithLogitsLoss()", "P028"),
    ("gan", "torch.optim.Adam(generator.parameters()", "torch.optim.Adam(discriminator.parameters()", "P117"),
    ("gan", "        d_optimizer.step()\n", "", "P102"),
    ("gan", "        d_optimizer.zero_grad()\n", "", "P101"),
    ("characters", "sorted(set(text))", "list(set(text))", "P126"),
    ("characters", "return self.out(output), state", "return torch.softmax(self.out(output), dim=-1), state", "P028"),
    ("characters", "        total += loss.item()", "        total += loss", "P118"),
    (
        "hugging_face_trainer",
        "dataset = dataset.map(tokenize, batched=True)",
        "dataset.map(tokenize, batched=True)",
        "P119",
    ),
    ("hugging_face_trainer", 'eval_dataset=split["test"]', 'eval_dataset=split["train"]', "P109"),
    ("hugging_face_trainer", 'train_dataset=split["train"]', 'train_dataset=dataset["train"]', "P109"),
    ("sensor_windows", ", num_layers=2, batch_first=True", ", num_layers=2", "P114"),
    ("sensor_windows", "output[:, -1]", "output[-1]", "P114"),
    ("sensor_windows", "    forecaster.train()\n", "", "P103"),
]


@pytest.mark.parametrize(("name", "old", "new", "code"), MUTATIONS)
def test_the_cause_comes_first(name: str, old: str, new: str, code: str) -> None:
    source = (HEALTHY / f"torch_{name}.py").read_text()
    assert old in source
    found = rs.lint(source=source.replace(old, new)).findings
    assert found, "nothing was found"
    assert found[0].code == code, str(found[0])
