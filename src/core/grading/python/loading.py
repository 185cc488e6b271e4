"""Imports the files of this folder from their texts, for one another and for no one else.

They are in no table of modules, and get a private copy of the built-ins, so that what the untrusted code patches does
not reach them. Needs Python 3.10 or newer, as all of them do.

    namespace = {'__builtins__': dict(vars(builtins)), '__name__': 'tandem_loading'}
    exec(compile(texts['loading'], 'tandem/loading.py', 'exec'), namespace)
    load = namespace['imported_from'](texts)('evaluation').load
"""

import builtins
from types import ModuleType


def imported_from(texts):
    """texts: of the files, by their names without `.py`. Returns the function that imports one of them."""
    modules = {}
    private = dict(vars(builtins))
    import_another = private['__import__']

    def import_one(name, *details):
        if name not in texts:
            return import_another(name, *details)
        if name not in modules:
            module = modules[name] = ModuleType('tandem_' + name)
            module.__builtins__ = private
            exec(compile(texts[name], 'tandem/' + name + '.py', 'exec'), module.__dict__)
        return modules[name]

    private['__import__'] = import_one
    return import_one
