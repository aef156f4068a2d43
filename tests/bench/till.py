"""A provider that makes every refund at once, to measure whoever asks for one.

Started as a process of its own by tests/bench/guard.py, so that it takes nothing from what is measured. It
knows no payments and no keys: each POST to /v1/refunds is answered as a refund that went well.
"""

import asyncio
import sys
from itertools import count
from urllib.parse import parse_qsl

DATE = "Fri, 06 Mar 2026 17:00:00 GMT"
AT = 1_772_816_400  # The same.
ROW = (
    '{"id":"re_%(number)024d","object":"refund","amount":%(amount)s,"balance_transaction":null,"charge":null,'
    '"created":%(at)d,"currency":"usd","metadata":{"intent_key":"%(key)s"},"payment_intent":"%(payment)s",'
    '"reason":"requested_by_customer","receipt_number":null,"status":"succeeded"}'
)
NUMBERS = count(1)


def made(form: str) -> bytes:
    """Return the answer to a form that asks for a refund."""
    told = dict(parse_qsl(form))
    body = ROW % {
        "number": next(NUMBERS),
        "amount": told["amount"],
        "at": AT,
        "key": told.get("metadata[intent_key]", ""),
        "payment": told["payment_intent"],
    }
    return body.encode()


async def _serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    """Answer one connection's requests."""
    try:
        while True:
            head = (await reader.readuntil(b"\r\n\r\n")).decode().lower()
            length = head.partition("content-length: ")[2].partition("\r\n")[0]
            body = made((await reader.readexactly(int(length or 0))).decode())
            writer.write(
                f"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: {len(body)}\r\n"
                f"Date: {DATE}\r\nRequest-Id: req_1\r\n\r\n".encode()
                + body
            )
            await writer.drain()
    except (asyncio.IncompleteReadError, ConnectionError):  # The other side has what it wanted.
        pass
    finally:
        writer.close()


async def main() -> None:
    """Serve until the process is ended; the first line of standard output is the address."""
    server = await asyncio.start_server(_serve, "127.0.0.1", 0)
    port = server.sockets[0].getsockname()[1]
    sys.stdout.write(f"http://127.0.0.1:{port}\n")
    sys.stdout.flush()
    async with server:
        await server.serve_forever()


if __name__ == "__main__":
    asyncio.run(main())
