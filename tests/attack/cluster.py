"""A Postgres of its own on loopback, stopped and thrown away at the end; asked by psql."""

import os
import shutil
import socket
import subprocess
import tempfile
from pathlib import Path

from pandas.api.types import is_bool_dtype, is_float_dtype, is_integer_dtype


class Cluster:
    """Debian's server, started for a test."""

    def __init__(self):
        self.bin = sorted(Path("/usr/lib/postgresql").glob("*/bin"))[-1]
        self.folder = Path(tempfile.mkdtemp())  # pytest's own folders are closed to other users
        self.shell = ["sh", "-c"]
        if not os.geteuid():  # the server refuses to run as root
            shutil.chown(self.folder, "postgres")
            self.shell = ["su", "postgres", "-c"]
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            port = free.getsockname()[1]
        self._run(f"{self.bin}/initdb -D data -A trust -E UTF8 --locale=C.UTF-8 -N -U postgres")
        options = f"-p {port} -c listen_addresses=127.0.0.1 -c unix_socket_directories="
        self._run(f"{self.bin}/pg_ctl -D data -w -l log -o '{options}' start")
        self.address = f"host=127.0.0.1 port={port} user=postgres dbname=postgres"

    def _run(self, command):
        subprocess.run([*self.shell, command], check=True, cwd=self.folder, capture_output=True)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.stop()

    def ask(self, text):
        """What psql answers, a row a line, columns apart by a bar."""
        words = [f"{self.bin}/psql", "-X", "-At", "-v", "ON_ERROR_STOP=1", "-d", self.address]
        done = subprocess.run(words, input=text, capture_output=True, text=True, check=False)
        assert not done.returncode, done.stderr
        return "\n".join(line for line in done.stdout.splitlines() if not line.isupper())

    run = ask

    def load_frame(self, name, frame):
        """A frame as a table."""
        kinds = {
            column: "boolean" if is_bool_dtype(held) else "bigint" if is_integer_dtype(held)
            else "double precision" if is_float_dtype(held) else "text"
            for column, held in frame.items()
        }  # fmt: skip
        columns = ", ".join(f'"{column}" {kind}' for column, kind in kinds.items())
        rows = frame.to_csv(index=False, header=False)
        self.ask(
            f'create table "{name}" ({columns});\n'
            f'\\copy "{name}" from stdin with (format csv)\n{rows}\\.\n'
        )

    def stop(self):
        """Stop it and throw it away."""
        self._run(f"{self.bin}/pg_ctl -D data -m immediate stop")
        shutil.rmtree(self.folder)
