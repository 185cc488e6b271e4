"""The one exception whose message is written for the user."""


class Fault(Exception):
    """An error that the user can fix. Its one sentence says what is wrong, where, and what to do.

    `usage` marks wrong input (a bad configuration, missing data; exit code 2). Other failures, such as a full disk or
    too little memory, have exit code 1.
    """

    def __init__(self, message: str, *, usage: bool = False):
        super().__init__(message)
        self.usage = usage
