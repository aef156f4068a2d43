"""nginx on loopback as config/deploy has it, with paths and ports of its own."""

import os
import shutil
import subprocess
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

import pytest

from tests.served import SECONDS, listening

DEPLOY = Path(__file__).parents[1] / "config" / "deploy"
MAIN = """
daemon off;
pid {folder}/nginx.pid;
error_log {folder}/nginx.log warn;
{user}
events {{}}
http {{
    access_log off;
    client_body_temp_path {folder}/body;
    proxy_temp_path {folder}/proxy;
    fastcgi_temp_path {folder}/fastcgi;
    scgi_temp_path {folder}/scgi;
    uwsgi_temp_path {folder}/uwsgi;
    include {folder}/*.site;
}}
"""


@contextmanager
def nginx(folder: Path, *, port: int, changes: Mapping[str, str]) -> Iterator[str]:
    """Run nginx as the example says, and give its address; skip the test where it is not installed.

    changes: what else of the example's own words is replaced, by what.
    """
    if shutil.which("nginx") is None or shutil.which("openssl") is None:
        pytest.skip("nginx and openssl are not installed: no proxy to try the example of")
    _certificate(folder)
    changes = {
        "listen 80;": f"listen unix:{folder}/plain.sock;",
        "listen 443": f"listen 127.0.0.1:{port}",
        "desk.example.com": "127.0.0.1",
        "/etc/ssl/recon": str(folder),
        "/etc/nginx/": f"{folder}/",
        **changes,
    }
    for name, place in (
        ("nginx-dashboard.conf", "desk.site"),
        ("nginx-oauth2-proxy.conf", "recon-oauth2-proxy.conf"),
    ):
        text = (DEPLOY / name).read_text()
        for said, meant in changes.items():
            text = text.replace(said, meant)
        (folder / place).write_text(text)
    main = folder / "nginx.conf"
    main.write_text(MAIN.format(folder=folder, user="user root;" if os.geteuid() == 0 else ""))
    with (folder / "nginx.out").open("wb") as log:
        process = subprocess.Popen(["nginx", "-p", folder, "-c", main], stdout=log, stderr=log)
        try:
            listening(port, process, folder / "nginx.log")
            yield f"https://127.0.0.1:{port}"
        finally:
            process.terminate()
            process.wait(SECONDS)


def _certificate(folder: Path) -> None:
    command = ["openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-subj", "/CN=127.0.0.1"]
    files = ["-keyout", f"{folder}/key.pem", "-out", f"{folder}/fullchain.pem"]
    subprocess.run([*command, *files], check=True, capture_output=True, timeout=SECONDS)
