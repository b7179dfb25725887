"""What the rules look at: a module that was followed from top to bottom."""

from __future__ import annotations

import ast
import functools
import os
import re
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

from recordsmith.doctor.lint.edits import Edit, apply_edits, call_span
from recordsmith.doctor.lint.interpreter.values import Call, Item, Object, ProgramClass, Value
from recordsmith.doctor.lint.libraries.models import CompiledModel, compiled_models
from recordsmith.doctor.lint.libraries.tensorflow.parse_specs import ParseSpec, parse_specs
from recordsmith.doctor.lint.libraries.tensorflow.pipelines import Pipeline, Stage, Use
from recordsmith.doctor.lint.libraries.tensorflow.record_paths import are_known, paths_meet, read_paths
from recordsmith.doctor.lint.libraries.tensorflow.written_features import WrittenExample, written_examples
from recordsmith.doctor.lint.project import ProjectInterpreter
from recordsmith.doctor.lint.source_files import SourceFile
from recordsmith.facts.dataset_facts import DatasetFacts
from recordsmith.rules import Finding, Location, Rule, Severity

__all__ = ["Program", "analyse", "is_dropped"]

_FAR = 12  # lines between two edits past which they are not shown in one piece
# What a file mentions that trains, or has to do with its data. Of any other file, imports are not followed.
_CONCERNED = (
    r"tensorflow|torch|keras|sklearn|\bjax|tfrecord|recordsmith|transformers|lightning|dataset|data_?loader|train"
    r"|\.fit\(|numpy|pandas"
)
_TRAINING_NAME = re.compile(r"(^|_)(train|training|trn)", re.IGNORECASE)
# A test of something, and not what makes test data.
_TEST_FUNCTION = re.compile(r"test_(?!data|set|ds|input|load|gen|batch|split|pipeline)")
_TESTING_NAME = re.compile(r"(^|_)(val|valid|validation|test|testing|eval|evaluation|dev|holdout|infer)", re.IGNORECASE)


@dataclass
class Program:
    r"""A module as the rules see it.

    Attributes:
        source: the file.
        calls: every call of a library that was met, in order; the same place counts once for each way that leads there.
        items: every `base[index]` that was met.
        operations: all arithmetic and every comparison.
        attributes: every `base.name` of something that is not of the program.
        pipelines: every dataset, at each of its stages.
        uses: what datasets are used for.
        managed: ids of the nodes of calls that a with-statement closes.
        examples: what the program writes.
        elsewhere: what other modules of the project write.
        data: what is known of the data that it reads; None without.
        cut_short: it is nested too deeply to be followed to its end.
        too_large: it has too many steps to be followed to its end.
        alone: it was given on its own, and not found in a folder.
        classes: the classes of the program.
        instances: the objects of these classes; of a class that is never called, one with unknown arguments.
        modules: the other files that were followed, because it imports them.
        fixes: the edits that certainly fix a finding, by the finding's identity.

    >>> text = "import tensorflow as tf\nds = tf.data.TFRecordDataset('x').batch(8)"
    >>> program = analyse(SourceFile.parse("a.py", text))
    >>> [stage.name for stage in program.finished[0].stages]
    ['batch']
    """

    source: SourceFile
    calls: list[Call]
    items: list[Value]
    operations: list[Value]
    attributes: list[Item]
    pipelines: list[Pipeline]
    uses: list[Use]
    managed: set[int]
    examples: list[WrittenExample]
    elsewhere: list[WrittenExample] = field(default_factory=list)
    data: DatasetFacts | None = None
    cut_short: bool = False
    too_large: bool = False
    alone: bool = True
    classes: list[ProgramClass] = field(default_factory=list)
    instances: list[Object] = field(default_factory=list)
    modules: list[SourceFile] = field(default_factory=list)
    fixes: dict[int, tuple[SourceFile, tuple[Edit, ...]]] = field(default_factory=dict)

    # --- datasets -------------------------------------------------------------------------------------------------

    @property
    def finished(self) -> list[Pipeline]:
        """The datasets as the program uses them, or leaves them where it does nothing more with them."""
        used = {id(use.pipeline): use.pipeline for use in self.uses if not _is_preview(use.pipeline)}
        left = {
            id(one): one
            for one in self.pipelines
            if not one.extended and not _is_preview(one) and not is_dropped(one) and (one.names or not one.looked_at)
        }
        return list({**used, **left}.values())

    def variants(self, pipeline: Pipeline) -> list[Pipeline]:
        """The datasets that the same place makes for the same caller, along the branches before it; itself included."""
        stage = pipeline.stage
        if stage is None:
            return [pipeline]
        return [
            one
            for one in self.pipelines
            if one.stage is not None
            and one.stage.expression is stage.expression
            and one.stage.call.within == stage.call.within
            and one.stage.call.via == stage.call.via
        ]

    def roles(self, pipeline: Pipeline) -> set[str]:
        """What a dataset is used for, as far as the program shows it."""
        found = set()
        for use in self.uses:
            if use.pipeline is pipeline or _is_made_of(use.pipeline, pipeline):
                found.add(use.role)
        return found

    def trained_on(self) -> Iterator[tuple[ast.AST, list[Pipeline]]]:
        """The places that train, each with the datasets that it may be given there."""
        places: dict[int, tuple[ast.AST, list[Pipeline]]] = {}
        for use in self.uses:
            if use.role == "training":
                places.setdefault(id(use.node), (use.node, []))[1].append(use.pipeline)
        yield from places.values()

    @property
    def is_test_code(self) -> bool:
        """It is a test of code: what it trains on is made up, and what fails there would be known."""
        named = re.fullmatch(r"(test_.*|.*_test|conftest)\.py", os.path.basename(self.source.path))
        return named is not None and bool(re.search(r"\bTestCase\b|\bpytest\b|\bdef test_", self.source.text))

    def is_for_testing(self, pipeline: Pipeline) -> bool:
        """It is validated, tested or predicted on, and not trained on; or nothing shows it, and its name says so."""
        roles = self.roles(pipeline)
        if roles & {"validation", "prediction"}:
            return "training" not in roles
        return "training" not in roles and self.named(pipeline) == "testing"

    @staticmethod
    def named(pipeline: Pipeline) -> str | None:
        """What its names, or those of the functions that made it, say: "training", "testing" or nothing. Weak."""
        within = [] if pipeline.stage is None else list(reversed(pipeline.stage.call.within))
        if pipeline.source.kind == "torch" and pipeline.source.call is not None:
            within = [name for name in reversed(pipeline.source.call.within) if "load" in name]
        hooks = [name for name in within if name.endswith("_dataloader")]  # of Lightning: they say it best
        within = [name for name in within if not _TEST_FUNCTION.match(name)]
        for name in map(_with_underscores, (*hooks, *pipeline.all_names, *within)):
            if _TESTING_NAME.search(name) and _TRAINING_NAME.search(name):
                continue  # as `train_and_evaluate`, or `eval_train_loader`: training data that is evaluated
            if _TESTING_NAME.search(name):
                return "testing"
            if _TRAINING_NAME.search(name):
                return "training"
        return None

    @property
    def has_foreign_trainer(self) -> bool:
        """A `Trainer` of a library runs the training loop; a class of the program with this name is followed."""
        own = any(one.definition.name == "Trainer" for one in self.classes)
        return not own and self.mentions(r"\bTrainer\(")

    @functools.cached_property
    def models(self) -> list[CompiledModel]:
        """The models that it compiles, or whose output it gives to a loss; many rules ask for them."""
        return list(compiled_models(self.calls))

    # --- what is read and written ------------------------------------------------------------------------------------

    @property
    def parse_specs(self) -> list[ParseSpec]:
        """What it asks parsers for."""
        return list(parse_specs(self.calls))

    def written_for(self, serialized: Value | None, names: Collection[str]) -> list[WrittenExample]:
        """What the project writes into the files that a serialized record is read from.

        Where the source does not say which files this module writes, or which it reads, examples of this module count
        that have the features that are asked for and no others, but for one on each side.
        """
        read = list(read_paths(serialized))
        everything = (*self.examples, *self.elsewhere)
        found = [one for one in everything if paths_meet(read, one.paths)]
        if found:
            return found
        wanted = set(names)
        alike = [
            one
            for one in self.examples
            if wanted & set(one.features)
            and len(wanted - set(one.features)) <= 1
            and len(set(one.features) - wanted) <= 1
        ]
        return [one for one in alike if not (are_known(read) and are_known(one.paths))]

    # --- findings ---------------------------------------------------------------------------------------------------

    def finding(  # noqa: PLR0913 - a finding has that many parts, each with its name
        self,
        rule: Rule[Any],
        node: ast.AST,
        message: str,
        *,
        advice: str = "",
        edits: Sequence[Edit] | None = None,
        corrected: str | None = None,
        certain: bool = False,
        severity: Severity | None = None,
        evidence: dict[str, Any] | None = None,
        feature: str | None = None,
        count: int = 1,
    ) -> Finding:
        """Make a finding about a piece of source; of a method call, from the method's name on.

        Args:
            rule: whose finding it is.
            node: what it is about.
            message: what is wrong.
            advice: what to do; without it, the rule's own.
            edits: how the source would be right; shown as the corrected lines.
            corrected: the corrected lines, where edits cannot say it.
            certain: the edits may be made without asking.
            severity: other than the rule's.
            evidence: the facts that support it.
            feature: the feature that it is about.
            count: how often it occurs.
        """
        source: SourceFile = getattr(node, "source", self.source)
        begin, end = call_span(source, node) if isinstance(node, ast.Call) else source.span(_without_body(node))
        if edits and not _are_far(source, edits, begin, end):
            begin, end = min(begin, *(edit.begin for edit in edits)), max(end, *(edit.end for edit in edits))
        first, last = source.whole_lines(begin, end)
        if edits and corrected is None and all(first <= edit.begin and edit.end <= last for edit in edits):
            inside = [Edit(edit.begin - first, edit.end - first, edit.text) for edit in edits]
            corrected = apply_edits(source.text[first:last], inside)
        place = source.location(begin, end)
        if feature is not None:
            parts = {**place.to_json(), "feature": feature}
            place = Location(**parts)
        made = rule.finding(
            message,
            location=place,
            advice=advice,
            count=count,
            evidence=evidence,
            quoted=source.text[first:last],
            corrected=corrected,
            severity=severity,
        )
        if edits and certain:
            self.fixes[id(made)] = (source, tuple(edits))
        return made

    def mentions(self, pattern: str) -> bool:
        """Tell whether this program, or a module of the project that it imports, has code that a pattern matches."""
        return any(one.mentions(pattern) for one in (self.source, *self.modules))

    def text(self, node: ast.AST) -> str:
        """The source of a node as it is."""
        source: SourceFile = getattr(node, "source", self.source)
        return source.segment(node)

    def name_of(self, pipeline: Pipeline) -> str:
        """What to call a dataset in a message."""
        names = pipeline.all_names
        return f"`{names[0]}`" if names else "this dataset"

    def source_of(self, stage: Stage) -> SourceFile:
        """The file that a stage is in."""
        source: SourceFile = getattr(stage.expression, "source", self.source)
        return source

    def alias(self, path: str) -> str:
        """How this program spells a thing of TensorFlow, as `tf.data.AUTOTUNE`."""
        for statement in self.source.nodes:
            if isinstance(statement, ast.Import):
                for name in statement.names:
                    if name.name in ("tensorflow", "tensorflow.compat.v1", "tensorflow.compat.v2"):
                        return path.replace("tensorflow", name.asname or name.name, 1)
        return path.replace("tensorflow", "tf", 1)


def analyse(source: SourceFile, *, folder: str | None = None, data: DatasetFacts | None = None) -> Program:
    """Follow a module; `folder` is where the modules are that it may import."""
    interpreter = ProjectInterpreter(folder, follows_imports=source.mentions(_CONCERNED))
    cut_short = False
    try:
        interpreter.run(source.tree)
    except RecursionError:  # what was met until there is still right
        cut_short = True
    return Program(
        source,
        interpreter.calls,
        interpreter.items,
        interpreter.operations,
        interpreter.attributes,
        interpreter.pipelines,
        interpreter.uses,
        interpreter.managed,
        list(written_examples(interpreter.calls)),
        data=data,
        cut_short=cut_short,
        too_large=interpreter.too_large,
        classes=interpreter.classes,
        instances=interpreter.objects,
        modules=interpreter.sources,
    )


def _with_underscores(name: str) -> str:
    """A name as most programs write it: `dataLoaderVal` becomes `data_Loader_Val`."""
    return re.sub(r"(?<=[a-z])(?=[A-Z])", "_", name)


def _without_body(node: ast.AST) -> ast.AST:
    """A loop or a function is quoted by its head."""
    return node.iter if isinstance(node, ast.For | ast.AsyncFor) else node


def _are_far(source: SourceFile, edits: Sequence[Edit], begin: int, end: int) -> bool:
    first = min(begin, *(edit.begin for edit in edits))
    last = max(end, *(edit.end for edit in edits))
    return source.text.count("\n", first, last) > _FAR


def _is_made_of(whole: Pipeline, part: Pipeline) -> bool:
    """Whether one dataset grew out of another, or was zipped or mixed from it."""
    return any(one is part for origin in whole.origins() for one in origin.ancestors())


def is_dropped(pipeline: Pipeline) -> bool:
    """Tell whether a dataset is made by a statement that does nothing with it."""
    return pipeline.stage is not None and isinstance(getattr(pipeline.node, "parent", None), ast.Expr)


def _is_preview(pipeline: Pipeline) -> bool:
    """A `take(3)` beside which the dataset itself goes on: somebody looks at a few elements."""
    stage = pipeline.stage
    if stage is None or stage.name != "take" or pipeline.parent is None:
        return False
    count = stage.constant(0, "count")
    return isinstance(count, int) and count <= 16
