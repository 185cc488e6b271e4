"""asyncio without sockets: its event loops only sleep."""

import asyncio
import selectors
from time import sleep


class Sleeper(selectors.SelectSelector):
    """For event loops that have nothing to wait for but the clock: there are no sockets here."""

    def select(self, timeout=None):
        # Without a timeout nothing could ever wake the loop: it hangs, and its time runs out.
        sleep(1e6 if timeout is None else max(timeout, 0))
        return []


class SleepingEventLoop(asyncio.SelectorEventLoop):
    """asyncio without the pair of sockets by which other threads wake a loop."""

    def __init__(self, selector=None):
        super().__init__(Sleeper())

    def _write_to_self(self):
        pass

    _make_self_pipe = _close_self_pipe = _write_to_self


class SleepingEventLoopPolicy(asyncio.DefaultEventLoopPolicy):
    _loop_factory = SleepingEventLoop


asyncio.set_event_loop_policy(SleepingEventLoopPolicy())
