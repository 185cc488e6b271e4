"""The one exception that a person is meant to read."""


class Fault(Exception):
    """Something is wrong that the user can mend: one sentence that says what, where, and what to do.

    `usage` tells wrong input (a bad configuration, missing data: exit code 2) from a failure while working (a full
    disk, too little memory: exit code 1).
    """

    def __init__(self, message: str, *, usage: bool = False):
        super().__init__(message)
        self.usage = usage
