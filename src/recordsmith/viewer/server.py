"""The server of the viewer: what each address answers, and running it."""

from __future__ import annotations

import contextlib
import re
import socket
import threading
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from recordsmith.errors import RecordsmithError, import_extra
from recordsmith.images import ImageError
from recordsmith.viewer.data.completing import completions
from recordsmith.viewer.data.media import MediaCache
from recordsmith.viewer.data.opened import OpenedDataset
from recordsmith.viewer.data.searching import Search
from recordsmith.viewer.data.state import ViewState
from recordsmith.viewer.pages.batches import SeenBatches
from recordsmith.viewer.pages.cards import card, grid_shape, table_row
from recordsmith.viewer.pages.compare_page import Comparisons
from recordsmith.viewer.pages.facets import found_classes
from recordsmith.viewer.pages.findings_page import batches_page, facts_page, findings_page
from recordsmith.viewer.pages.frame import message_page
from recordsmith.viewer.pages.grid_page import grid_page, side_part
from recordsmith.viewer.pages.program_page import program_page
from recordsmith.viewer.pages.record_page import record_link, record_page, similar_part
from recordsmith.viewer.responses import html_response, media_response, numbers_response, static_response
from recordsmith.viewer.security import Gate, new_token
from recordsmith.viewer.viewed import ViewedDataset
from recordsmith.wording.markup import Markup, joined
from recordsmith.wording.visible_text import printable
from recordsmith.workers.background import start_in_background

if TYPE_CHECKING:
    from starlette.applications import Starlette
    from starlette.requests import Request
    from starlette.responses import Response

__all__ = ["Server"]

_MOST_CELLS = 120  # in one answer
_FIRST_CELLS = 40
_FIRST_HITS = 0.25  # seconds that a page waits for the first hits of a filter
_BACKLOG = 128
_MOST_CONNECTIONS = 256


class Server:
    """Datasets on a port of this machine.

    Args:
        datasets: what to show.
        host: the address to listen on.
        port: the port; 0 for a free one.
        framed: notebooks of this machine may show the pages in a frame.
        seen: batches of a chain over the first dataset, which have a page of their own.
        program: a Python file, notebook or folder that uses the data, whose findings have a page too.
    """

    def __init__(
        self,
        datasets: Sequence[OpenedDataset],
        *,
        host: str = "127.0.0.1",
        port: int = 0,
        framed: bool = False,
        seen: SeenBatches | None = None,
        program: str | None = None,
    ) -> None:
        uvicorn = import_extra("uvicorn", "view", purpose="The viewer")
        import_extra("starlette", "view", purpose="The viewer")
        self._cache = MediaCache()
        self._seen = seen
        self.every = [
            ViewedDataset(number, one, self._cache, has_batches=seen is not None, program=program)
            for number, one in enumerate(datasets)
        ]
        self._comparisons = Comparisons(self.every)
        self.token = new_token()
        self.host = host
        family = socket.AF_INET6 if ":" in host else socket.AF_INET
        self._socket = socket.socket(family, socket.SOCK_STREAM)
        self._socket.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            self._socket.bind((host, port))
        except (OSError, OverflowError) as error:
            self._socket.close()
            raise RecordsmithError(
                f"The viewer cannot listen on {host}, port {port}: {error}.",
                advice="Give another --port, or none for a free one.",
            ) from None
        self.port: int = self._socket.getsockname()[1]
        app = Gate(self._app(), token=self.token, port=self.port, host=host, framed=framed)
        self._server = uvicorn.Server(
            uvicorn.Config(
                app,
                log_config=None,
                access_log=False,
                server_header=False,
                date_header=False,
                lifespan="off",
                ws="none",
                loop="asyncio",
                http="h11",
                backlog=_BACKLOG,
                limit_concurrency=_MOST_CONNECTIONS,
                timeout_graceful_shutdown=1,
            )
        )

    @property
    def url(self) -> str:
        """The address to open, with the token."""
        return f"http://{self._shown_host}:{self.port}/?token={self.token}"

    @property
    def _shown_host(self) -> str:
        host = {"0.0.0.0": socket.gethostname(), "::": socket.gethostname()}.get(self.host, self.host)  # noqa: S104 - compared
        return f"[{host}]" if ":" in host else host

    def run(self, on_start: Callable[[], object] = lambda: None) -> None:
        """Serve until an interrupt, on the main thread."""
        self.begin()
        threading.Thread(target=self._when_ready, args=(on_start,), daemon=True).start()
        try:
            self._server.run(sockets=[self._socket])
        finally:
            self.close()

    def start(self) -> None:
        """Serve in the background, until `stop`."""
        self.begin()
        self._thread = start_in_background(self._run_quietly, name="recordsmith-view-server", stop=self._end)
        while not self._server.started and self._thread.is_alive():
            threading.Event().wait(0.01)

    def stop(self) -> None:
        """End a server that runs in the background."""
        self._end()
        self._thread.join(5)
        self.close()

    def _end(self) -> None:
        self._server.should_exit = True

    def begin(self) -> None:
        """Begin to collect facts."""
        for one in self.every:
            one.begin()

    def close(self) -> None:
        """Stop all work in the background."""
        self._comparisons.close()
        for one in self.every:
            one.close()
        self._socket.close()

    def _run_quietly(self) -> None:
        # Signals belong to whoever runs the program: uvicorn handles them only on the main thread.
        with contextlib.suppress(KeyboardInterrupt):
            self._server.run(sockets=[self._socket])

    def _when_ready(self, call: Callable[[], object]) -> None:
        while not self._server.started and not self._server.should_exit:
            threading.Event().wait(0.01)
        call()

    # --- what each address answers ---

    def _app(self) -> Starlette:
        from starlette.applications import Starlette
        from starlette.responses import RedirectResponse
        from starlette.routing import Route

        def home(_: Request) -> Response:
            return RedirectResponse("/d/0/", 303)

        def comparison(request: Request) -> Response:
            query = request.query_params
            return html_response(self._comparisons.page(query.get("a", ""), query.get("b", "")))

        def batch_image(request: Request) -> Response:
            place = request.path_params
            try:
                if self._seen is None:
                    return self._not_found(request, None)
                return media_response(self._seen.image(place["batch"], place["row"], place["value"]), request)
            except ImageError:
                return self._not_found(request, None)

        def batches(request: Request) -> Response:
            if self._seen is None:
                return self._not_found(request, None)
            return html_response(batches_page(self.every[0], self.every, self._seen))

        pages: list[tuple[str, Callable[[Request, ViewedDataset, ViewState], Response]]] = [
            ("/", self._grid),
            ("/cells", self._cells),
            ("/side", lambda _, viewed, state: html_response(side_part(viewed, state, viewed.search(state).values))),
            ("/classes", self._classes),
            ("/status", self._status),
            ("/complete", self._complete),
            ("/findings", self._findings),
            ("/facts", lambda _, viewed, __: html_response(facts_page(viewed, self.every))),
            ("/program", self._program),
            ("/records.txt", self._numbers),
            ("/r/{number:int}", self._record),
            ("/r/{number:int}/similar", self._similar),
            ("/media/{number:int}", self._media),
        ]
        routes = [Route("/d/{dataset:int}" + path, self._of_dataset(answer)) for path, answer in pages]
        return Starlette(
            routes=[
                Route("/", home),
                Route("/compare", comparison),
                Route("/batches", batches),
                Route("/batches/{batch:int}/{row:int}/{value:int}", batch_image),
                Route("/favicon.ico", static_response),
                Route("/static/{name}", static_response),
                *routes,
            ],
            exception_handlers={404: self._not_found, RecordsmithError: self._failed},
        )

    def _of_dataset(
        self, answer: Callable[[Request, ViewedDataset, ViewState], Response]
    ) -> Callable[[Request], Response]:
        def handle(request: Request) -> Response:
            number = int(request.path_params["dataset"])
            if number >= len(self.every):
                return self._not_found(request, None)
            return answer(request, self.every[number], ViewState.read(request.query_params.multi_items()))

        return handle

    def _not_found(self, _: Request, __: Any) -> Response:
        return html_response(message_page("Not found", "There is no such page or record.", every=self.every), 404)

    def _failed(self, _: Request, error: RecordsmithError) -> Response:
        return html_response(message_page("This cannot be shown", str(error), every=self.every), 500)

    def _grid(self, _: Request, viewed: ViewedDataset, state: ViewState) -> Response:
        search = viewed.search(state)
        search.first_hits.wait(_FIRST_HITS) if state.is_filtered or state.sort else None
        layout = viewed.layout_of(state)
        shape = grid_shape(viewed.dataset.read(range(6)), layout, state.size)
        first = self._rendered(viewed, state, 0, _FIRST_CELLS, layout)
        version, selected = _version(viewed, search), search.values
        page = grid_page(
            viewed, self.every, state, layout=layout, shape=shape, first=first, selected=selected, version=version
        )
        return html_response(page)

    def _cells(self, request: Request, viewed: ViewedDataset, state: ViewState) -> Response:
        start, count = _number(request, "start", 0), _number(request, "count", _FIRST_CELLS)
        return html_response(self._rendered(viewed, state, start, min(count, _MOST_CELLS), viewed.layout_of(state)))

    def _rendered(self, viewed: ViewedDataset, state: ViewState, start: int, count: int, layout: str) -> Markup:
        numbers = viewed.search(state).at(start, count, sample=state.sample)
        records = {one.number: one for one in viewed.dataset.read(numbers)}
        cells = []
        for position, number in enumerate(numbers, start):
            record = records.get(number)
            if record is None:
                continue
            link = record_link(viewed.base, number, state, position)
            named = len(viewed.examination.of_record(number))
            if layout == "table":
                cells.append(table_row(record, position, link, viewed.renderer, viewed.dataset, named))
            else:
                cells.append(card(record, position, link, viewed.renderer, viewed.dataset, state.size, named))
        return joined(cells)

    def _classes(self, request: Request, viewed: ViewedDataset, state: ViewState) -> Response:
        feature, text = request.query_params.get("feature", ""), request.query_params.get("find", "")[:200]
        selected = viewed.search(state).values
        return html_response(found_classes(feature, text, viewed.dataset, viewed.examination, state, selected))

    def _status(self, _: Request, viewed: ViewedDataset, state: ViewState) -> Response:
        from starlette.responses import JSONResponse

        search, examination, program = viewed.search(state), viewed.examination, viewed.program
        report = examination.report
        document = {
            "count": search.count,
            "found": max(search.found, search.count),
            "searched": search.searched,
            "total": search.total,
            "done": search.is_done,
            "filtered": state.is_filtered,
            "indexed": viewed.dataset.indexed,
            "error": None if search.error is None else _error(search.error),
            "facts": _version(viewed, search),
            "damaged": len({one.path for one in viewed.dataset.problems}),
            "phase": examination.phase,
            "share": round(examination.share, 4),
            "findings": None if report is None else len(report.findings),
            "program": None if program is None or program.report is None else len(program.report.findings),
            "busy": bool(examination.phase)
            or (program is not None and program.busy)
            or not search.is_done
            or not viewed.dataset.indexed
            or (state.is_filtered and search.error is None and search.values is None),
        }
        return JSONResponse(document, headers={"Cache-Control": "no-store"})

    def _complete(self, request: Request, viewed: ViewedDataset, _: ViewState) -> Response:
        from starlette.responses import JSONResponse

        text = request.query_params.get("text", "")[:2_000]
        start, found = completions(text, viewed.dataset, viewed.examination)
        items = [{"text": one, "shown": printable(one), "kind": kind} for one, kind in found]
        return JSONResponse({"start": start, "items": items}, headers={"Cache-Control": "no-store"})

    def _findings(self, request: Request, viewed: ViewedDataset, _: ViewState) -> Response:
        if request.query_params.get("run") == "1":
            viewed.examination.ask()
        return html_response(findings_page(viewed, self.every))

    def _program(self, request: Request, viewed: ViewedDataset, _: ViewState) -> Response:
        if viewed.program is None:
            return self._not_found(request, None)
        if request.query_params.get("run") == "1":
            from starlette.responses import RedirectResponse

            viewed.program.start()
            return RedirectResponse(f"{viewed.base}/program", 303)
        return html_response(program_page(viewed, self.every, viewed.program))

    def _record(self, request: Request, viewed: ViewedDataset, state: ViewState) -> Response:
        number = int(request.path_params["number"])
        found = viewed.dataset.read([number])
        if not found:
            return self._not_found(request, None)
        search = viewed.search(state)
        search.first_hits.wait(_FIRST_HITS) if state.is_filtered or state.sort else None
        position = _number(request, "at", number)
        first = max(0, position - 3)
        near = list(enumerate(search.at(first, 7, sample=state.sample), first))
        if (position, number) not in near:  # the selection has changed, or the address was typed
            state, position, first = ViewState(), number, max(0, number - 3)
            search = viewed.search(state)
            near = list(enumerate(search.at(first, 7), first))
        page = record_page(
            viewed,
            self.every,
            found[0],
            state,
            position=position,
            around=near,
            count=search.count,
            renderer=viewed.renderer,
            all_features=request.query_params.get("all") == "1",
        )
        return html_response(page)

    def _similar(self, request: Request, viewed: ViewedDataset, _: ViewState) -> Response:
        found = viewed.dataset.read([int(request.path_params["number"])])
        if not found:
            return self._not_found(request, None)
        asked = request.query_params.get("run") == "1"
        return html_response(similar_part(viewed, found[0], viewed.renderer, asked=asked))

    def _media(self, request: Request, viewed: ViewedDataset, _: ViewState) -> Response:
        from starlette.responses import PlainTextResponse

        query = request.query_params
        try:
            media = viewed.media(
                int(request.path_params["number"]),
                query.get("f", ""),
                query.get("kind", "image"),
                place=_number(request, "i", 0),
                side=_number(request, "side", 384),
                rate=_number(request, "rate", 16_000),
            )
        except (RecordsmithError, ImageError, ValueError, MemoryError) as error:
            return PlainTextResponse(printable(str(error))[:500], 422, headers={"Cache-Control": "no-store"})
        return media_response(media, request)

    def _numbers(self, _: Request, viewed: ViewedDataset, state: ViewState) -> Response:
        search = viewed.search(state)
        while not search.is_done and not search.stopped:
            threading.Event().wait(0.05)
        return numbers_response(search, sample=state.sample)


def _version(viewed: ViewedDataset, search: Search) -> int:
    """Return a number that changes whenever the features next to the grid have something new to show."""
    program = 0 if viewed.program is None else viewed.program.version
    return 2 * (viewed.examination.version + program) + (search.values is not None)


def _number(request: Request, name: str, otherwise: int) -> int:
    text = request.query_params.get(name, "")
    return int(text) if text.isdecimal() and len(text) < 16 else otherwise


def _error(error: RecordsmithError) -> dict[str, str | int | None]:
    column = re.search(r"at column (\d+)", error.problem)
    return {
        "text": printable(error.problem),
        "advice": None if error.advice is None else printable(error.advice),
        "column": int(column[1]) if column is not None else None,
    }
