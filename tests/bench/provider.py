"""A provider with very many refunds and a fixed time for each page, to measure whoever reads it.

Started as a process of its own by tests/bench/pull.py, so that it takes nothing from what is measured. It
answers lists of refunds as the provider does, by window, cursor and limit, and counts what it was asked.
"""

import asyncio
import json
import sys
import time
from urllib.parse import parse_qs, urlsplit

NEWEST = 1_772_816_400  # 2026-03-06T17:00:00Z, which is also what the answers' Date says.
DATE = "Fri, 06 Mar 2026 17:00:00 GMT"
DAYS = 44
ROW = (
    '{"id":"re_%(n)024d","object":"refund","amount":4900,"balance_transaction":{"id":"txn_%(n)024d",'
    '"object":"balance_transaction","amount":-4900,"available_on":%(at)d,"created":%(at)d,"currency":"usd",'
    '"description":null,"exchange_rate":null,"fee":0,"fee_details":[],"net":-4900,"reporting_category":'
    '"refund","source":"re_%(n)024d","status":"available","type":"refund"},"charge":"ch_%(n)024d","created":'
    '%(at)d,"currency":"usd","destination_details":{"card":{"reference":"pending","reference_status":'
    '"pending","reference_type":"acquirer_reference_number","type":"refund"},"type":"card"},"metadata":'
    '{"intent_key":"refund_order:%(n)024d"},"payment_intent":"pi_%(n)024d","reason":"requested_by_customer",'
    '"receipt_number":null,"source_transfer_reversal":null,"status":"succeeded","transfer_reversal":null}'
)


class Books:
    """So many refunds, spread evenly over the days before NEWEST; number 0 is the oldest."""

    def __init__(self, number: int, latency_seconds: float) -> None:
        self.number = number
        self.latency_seconds = latency_seconds
        self.pages: list[float] = []

    def at(self, refund: int) -> int:
        """Return when a refund was made."""
        return NEWEST - DAYS * 86_400 + (refund + 1) * DAYS * 86_400 // (self.number + 1)

    def page(self, query: dict[str, list[str]]) -> str:
        """Return the page asked for, newest first."""
        self.pages.append(time.monotonic())
        first, last = (int(query[f"created[{end}]"][0]) for end in ("gte", "lte"))
        limit, after = int(query["limit"][0]), query.get("starting_after")
        low, high = self._count(first), self._count(last + 1)
        if after is not None:
            high = min(high, int(after[0].removeprefix("re_")))
        start = max(low, high - limit)
        rows = (ROW % {"n": each, "at": self.at(each)} for each in range(high - 1, start - 1, -1))
        more = "true" if start > low else "false"
        return f'{{"object":"list","url":"/v1/refunds","has_more":{more},"data":[{",".join(rows)}]}}'

    def _count(self, before: int) -> int:
        """Return how many refunds were made before a second."""
        low, high = 0, self.number
        while low < high:
            middle = (low + high) // 2
            low, high = (middle + 1, high) if self.at(middle) < before else (low, middle)
        return low


async def _serve(books: Books, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    """Answer one connection's requests, each after its time."""
    try:
        while True:
            head = (await reader.readuntil(b"\r\n\r\n")).decode()
            parts = urlsplit(head.split(" ", 2)[1])
            if parts.path == "/v1/refunds":
                due = asyncio.get_running_loop().time() + books.latency_seconds
                body = books.page(parse_qs(parts.query))
                await asyncio.sleep(due - asyncio.get_running_loop().time())
            elif parts.path == "/_bench":
                body = json.dumps(books.pages)
            else:
                body = '{"object":"list","id":"acct_1","data":[],"has_more":false}'
            sent = body.encode()
            writer.write(
                f"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: {len(sent)}\r\n"
                f"Date: {DATE}\r\nRequest-Id: req_1\r\n\r\n".encode()
            )
            writer.write(sent)
            await writer.drain()
    except (asyncio.IncompleteReadError, ConnectionError):  # The other side has what it wanted.
        pass
    finally:
        writer.close()


async def main() -> None:
    """Serve until the process is ended; the first line of standard output is the address."""
    books = Books(int(sys.argv[1]), float(sys.argv[2]))
    server = await asyncio.start_server(lambda reader, writer: _serve(books, reader, writer), "127.0.0.1", 0)
    port = server.sockets[0].getsockname()[1]
    sys.stdout.write(f"http://127.0.0.1:{port}\n")
    sys.stdout.flush()
    async with server:
        await server.serve_forever()


if __name__ == "__main__":
    asyncio.run(main())
