"""The exceptions with a message for the user."""


class Fault(Exception):
    """An error that the user can fix. Its one sentence says what is wrong, where, and what to do.

    usage: wrong input, exit code 2. Other failures, such as a full disk or too little memory, have exit code 1.
    """

    def __init__(self, message: str, *, usage: bool = False):
        super().__init__(message)
        self.usage = usage


class UsageFault(Fault):
    """A fault of the input."""

    def __init__(self, message: str):
        super().__init__(message, usage=True)
