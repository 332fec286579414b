"""Loops that cannot be wrapped, each with its reason."""
import asyncio


def search(items):
    for round in range(3):
        for item in items:
            if check(item):
                return item


def stream(loader):
    for epoch in range(3):
        for batch in loader:
            yield transform(batch)


async def fetch(urls):
    for attempt in range(3):
        for url in urls:
            await get(url)


def configure(settings):
    for source in settings:
        for line in source:
            exec(line)


def jump(rows):
    for row in rows:
        for cell in row:
            use(cell)
        else:
            continue
        break


def cheap(values):
    total = 0
    for row in values:
        for value in row:
            total += int(value)
    return total
