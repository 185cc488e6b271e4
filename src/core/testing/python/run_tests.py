"""
Runs a developer's own test files with the interpreter that this file is started with: with pytest where it has that,
else with unittest. One module is taken from the job instead of from its file, so that code which is in no file yet can be
tested and nothing in the developer's folder is written.

The job is the JSON file that is named first: `folder` (the working directory), `files` (test files, absolute), `module`
and `text` (the replaced file and its text), `results` (where a line of JSON is written for each test as
soon as it has ended, and a last one with `runner`) and `cache` (a folder for what pytest keeps).
"""

import importlib.machinery
import importlib.util
import inspect
import json
import linecache
import os
import sys
import unittest


def main():
    with open(sys.argv[1], encoding='utf-8') as file:
        job = json.load(file)
    sys.argv[1:] = []
    sys.dont_write_bytecode = True
    # As `python -m pytest` does; the folder of this file is nothing to the tests.
    sys.path[0] = job['folder']
    os.chdir(job['folder'])
    module = ReplacedModule(job['module'], job['text'])
    module.install()
    with open(job['results'], 'w', encoding='utf-8', buffering=1) as results:

        def tell(**line):
            results.write(json.dumps(line) + '\n')

        has_pytest = importlib.util.find_spec('pytest') is not None
        needs_pytest = run_pytest(job, tell) if has_pytest else run_unittest(job, tell)
        runner = 'pytest' if has_pytest else 'unittest'
        tell(runner=runner, imported=module.is_imported, needsPytest=needs_pytest)


class ReplacedModule:
    """Imports of the module get another text than its file holds."""

    def __init__(self, path, text):
        self.path = os.path.realpath(path)
        self.text = text
        self.is_imported = False

    def install(self):
        replaced = self
        from_file = importlib.machinery.SourceFileLoader.get_code

        def get_code(loader, name):
            path = loader.get_filename(name)
            if os.path.realpath(path) != replaced.path:
                return from_file(loader, name)
            replaced.is_imported = True
            # Tracebacks show the text that ran; without a time the file is not looked at again.
            linecache.cache[path] = (len(replaced.text), None, replaced.text.splitlines(True), path)
            return loader.source_to_code(replaced.text.encode(), path)

        importlib.machinery.SourceFileLoader.get_code = get_code


def run_pytest(job, tell):
    import pytest

    class Recorder:
        def pytest_runtest_logreport(self, report):
            if report.when == 'call' or report.outcome != 'passed':
                file, line, name = report.location
                tell(
                    id=report.nodeid,
                    name=name,
                    outcome=report.outcome,
                    file=os.path.join(str(self.root), file),
                    line=failing_line(report) or (line or 0),
                )

        def pytest_collectreport(self, report):
            if report.outcome == 'failed':
                file = str(self.root / report.nodeid)
                tell(id=report.nodeid, name=report.nodeid, outcome='failed', file=file, line=0)

        def pytest_sessionstart(self, session):
            self.root = session.config.rootpath

    def failing_line(report):
        """The line of the test's own file that failed, from 0."""
        crash = getattr(report.longrepr, 'reprcrash', None)
        if crash is None or os.path.basename(crash.path) != os.path.basename(report.location[0]):
            return None
        return crash.lineno - 1

    options = ['--color=no', '-o', f'cache_dir={job["cache"]}']
    # Other processes would import the file as it is, and what is measured would be written into the folder.
    if importlib.util.find_spec('xdist') is not None:
        options.append('-n0')
    if importlib.util.find_spec('pytest_cov') is not None:
        options.append('--no-cov')
    pytest.main([*options, *job['files']], plugins=[Recorder()])
    return False


class RecordingResult(unittest.TextTestResult):
    """Tells of each test how it ended; of one with sub-tests, that it failed once for each of them that did."""

    tell = None
    needs_pytest = False

    def record(self, test, outcome):
        file, line = place_of(test)
        self.tell(id=test.id(), name=test.id().split('.', 1)[-1], outcome=outcome, file=file, line=line)

    def addSuccess(self, test):
        super().addSuccess(test)
        self.record(test, 'passed')

    def addFailure(self, test, error):
        super().addFailure(test, error)
        self.record(test, 'failed')

    def addError(self, test, error):
        super().addError(test, error)
        self.record(test, 'failed')
        # The error of a file that could not be loaded has the text of the first one.
        if isinstance(error[1], ImportError) and "No module named 'pytest'" in str(error[1]):
            self.needs_pytest = True

    def addSubTest(self, test, subtest, error):
        super().addSubTest(test, subtest, error)
        if error is not None:
            self.record(subtest, 'failed')

    def addSkip(self, test, reason):
        super().addSkip(test, reason)
        self.record(test, 'skipped')

    def addExpectedFailure(self, test, error):
        super().addExpectedFailure(test, error)
        self.record(test, 'passed')

    def addUnexpectedSuccess(self, test):
        super().addUnexpectedSuccess(test)
        self.record(test, 'failed')


def place_of(test):
    """The file of a test and its first line, from 0; without a file where Python does not tell."""
    test = getattr(test, 'test_case', test)
    method = getattr(test, getattr(test, '_testMethodName', ''), None)
    try:
        return inspect.getsourcefile(method), inspect.getsourcelines(method)[1] - 1
    except (OSError, TypeError):
        return None, 0


def run_unittest(job, tell):
    names = [os.path.relpath(file, job['folder'])[: -len('.py')].replace(os.sep, '.') for file in job['files']]
    RecordingResult.tell = staticmethod(tell)
    suite = unittest.defaultTestLoader.loadTestsFromNames(names)
    runner = unittest.TextTestRunner(stream=sys.stdout, resultclass=RecordingResult, verbosity=2)
    result = runner.run(suite)
    return result.needs_pytest or result.testsRun == 0


main()
