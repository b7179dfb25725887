"""Who may talk to the viewer, and what its answers allow a browser to do."""

from __future__ import annotations

import re
import subprocess
import sys

import pytest

from recordsmith.viewer.security import is_loopback
from tests.viewer.conftest import Client, Viewing


@pytest.fixture(scope="module")
def client(viewing: Viewing, pets: str) -> Client:
    return viewing(pets)


def test_it_listens_on_loopback_only(client):
    assert client.server.host == "127.0.0.1"
    assert is_loopback(client.server.host)


@pytest.mark.parametrize("path", ["/", "/d/0/", "/d/0/status", "/d/0/media/0?f=image", "/static/viewer.js", "/nothing"])
def test_without_the_token_there_is_nothing(client, path):
    answer = client.get(path, cookie=False)
    assert answer.status == 403
    assert "pets" not in answer.text


def test_a_wrong_token_is_refused(client):
    assert client.get("/d/0/?token=wrong", cookie=False).status == 403
    assert client.get("/d/0/", cookie=False, Cookie=f"recordsmith-{client.server.port}=wrong").status == 403
    assert client.get("/d/0/", cookie=False, Cookie="\x80=;;;").status == 403


def test_the_token_of_the_link_becomes_a_cookie_that_scripts_and_other_sites_do_not_get(client):
    answer = client.get(client.opened, cookie=False)
    assert answer.status == 200
    cookie = answer.headers["set-cookie"]
    assert {"HttpOnly", "SameSite=Strict", "Path=/"} <= {part.strip() for part in cookie.split(";")}
    assert client.server.token in cookie
    assert client.server.token not in answer.text  # neither in the address that follows


def test_the_token_is_long_and_different_each_time(viewing, pets):
    tokens = {viewing(pets).server.token for _ in range(3)}
    assert len(tokens) == 3
    assert all(len(token) >= 43 for token in tokens)


@pytest.mark.parametrize(
    "host", ["evil.example", "evil.example:80", "127.0.0.1.evil.example", "localhost.evil", "", "[::1"]
)
def test_a_foreign_host_is_refused_even_with_the_cookie(client, host):
    assert client.get("/d/0/status", Host=host).status == 421


@pytest.mark.parametrize("host", ["localhost:9000", "127.0.0.1:1", "[::1]:8000", "LOCALHOST"])
def test_loopback_names_are_accepted_with_any_port_as_behind_an_ssh_tunnel(client, host):
    assert client.get("/d/0/status", Host=host).status == 200


@pytest.mark.parametrize("origin", ["http://evil.example", "null", "https://127.0.0.1", "http://127.0.0.1:1"])
def test_a_foreign_origin_is_refused_even_with_the_cookie(client, origin):
    assert client.get("/d/0/status", Origin=origin).status == 403


def test_the_own_origin_is_accepted(client):
    host = f"127.0.0.1:{client.server.port}"
    assert client.get("/d/0/status", Origin=f"http://{host}", Host=host).status == 200


def test_requests_that_other_sites_cause_are_refused(client):
    assert client.get("/d/0/status", Sec_Fetch_Site="cross-site", Sec_Fetch_Mode="no-cors").status == 403


@pytest.mark.parametrize("method", ["POST", "PUT", "DELETE", "PATCH", "OPTIONS"])
def test_nothing_can_be_changed(client, method):
    assert client.get("/d/0/", method=method).status == 405


@pytest.mark.parametrize("path", ["/", "/d/0/", "/d/0/r/3", "/d/0/media/0?f=image", "/static/viewer.css", "/nothing"])
def test_every_answer_closes_what_a_browser_might_do(client, path):
    headers = client.get(path).headers
    policy = headers["content-security-policy"]
    assert policy.startswith("default-src 'none'; ")
    assert "unsafe" not in policy
    assert "frame-ancestors 'none'" in policy
    assert headers["x-content-type-options"] == "nosniff"
    assert headers["referrer-policy"] == "no-referrer"
    assert "access-control-allow-origin" not in headers


def test_pages_have_no_script_or_style_of_their_own(client):
    for path in ("/d/0/", "/d/0/r/3", "/d/0/findings", "/d/0/facts"):
        text = client.get(path).text
        assert not re.search(r"<style|style=|javascript:|\son\w+=", text)
        assert re.findall(r"<script[^>]*>", text) == ['<script src="/static/viewer.js" type="module">']


@pytest.mark.parametrize(
    "path",
    [
        "/static/../security.py",
        "/static/%2e%2e/security.py",
        "/static/..%2fsecurity.py",
        "/static/%2fetc%2fpasswd",
        "/d/0/../../etc/passwd",
        "/d/7/",
        "/d/-1/",
        "/d/0/r/999999",
        "/d/0/r/-1",
        "/d/0/media/-1?f=image",
    ],
)
def test_there_is_no_path_outside_of_the_dataset(client, path):
    answer = client.get(path)
    assert answer.status == 404
    assert "root:" not in answer.text


def test_an_endless_address_is_refused(client):
    assert client.get("/d/0/?where=" + "x" * 20_000).status == 414


def test_beyond_loopback_the_token_is_still_needed_and_names_of_others_are_refused(viewing, pets):
    client = viewing(pets, host="0.0.0.0")
    assert client.get("/d/0/", cookie=False).status == 403
    assert client.get("/d/0/status", Host="192.0.2.7:8000").status == 200  # an address cannot be rebound
    assert client.get("/d/0/status", Host="evil.example").status == 421


def test_another_program_of_the_machine_gets_nothing(client):
    program = (
        "import urllib.request, urllib.error\n"
        f"try: print(urllib.request.urlopen('http://127.0.0.1:{client.server.port}/d/0/').status)\n"
        "except urllib.error.HTTPError as error: print(error.code)\n"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "403"
