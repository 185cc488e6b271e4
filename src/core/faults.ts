/**
 * Every code of a `Fault`: what it means, and what to do. The sentence that is shown names the thing as well, and is
 * written where the fault is; a program that runs `tandem --json` tells faults apart by the code. `docs/faults.md` is
 * written from this table by its test.
 */
export const faults = {
  'chat/empty': ['The request in the chat has no text.', 'Say what you need.'],

  'dialogue/collection-failing': [
    'Many dialogues in a row failed, so the rest of a collection was not tried.',
    'Mend what the last one says, then run the same command again.',
  ],
  'dialogue/empty-reply': ['A reply has no text.', 'Say something.'],
  'dialogue/empty-simulation': [
    'The simulator answered with nothing.',
    'Choose another model, or allow it more tokens.',
  ],
  'dialogue/incomplete': [
    'Some dialogues of a collection failed.',
    'Run the same command again; it tries those.',
  ],
  'dialogue/no-answer': ['The dialogue has no answer to grade.', 'Let the agent answer first.'],
  'dialogue/no-facts': [
    'The task has no facts, from which the rule-based simulator answers.',
    'Add facts, use a model as the simulator, or reply yourself.',
  ],
  'dialogue/no-simulator': ['No simulator is chosen.', 'Choose one, or reply yourself.'],
  'dialogue/not-logged': [
    'A step of a dialogue could not be written to the log.',
    'Free the disk or its rights, then go on.',
  ],
  'dialogue/not-your-turn': [
    'A step does not fit the state of the dialogue.',
    'Look at the dialogue again, then go on.',
  ],
  'dialogue/prompt': ['A prompt file cannot be used.', 'Correct it, or remove it to use the shipped prompt.'],
  'dialogue/prompt-folder': [
    'A folder of prompts cannot be read or has none.',
    'Name a folder that has some, or none.',
  ],
  'dialogue/task-changed': [
    'A task was changed since its dialogues of this collection began.',
    'Give it another id, or log into another data folder.',
  ],
  'dialogue/too-long-reply': ['A reply is longer than the protocol allows.', 'Shorten it.'],

  'editor/critic-unreadable': ['A critic cannot be read.', 'Choose another critic, or train one.'],
  'editor/export-changed': [
    'The log changed between the preview of an export and its writing; nothing was written.',
    'Look at the new preview, then save again.',
  ],
  'editor/key-not-kept': [
    'The editor could not store a key.',
    'Check the system’s key store, then try again.',
  ],
  'editor/model-in-use': ['A model plays at the moment.', 'Let another model play, then remove it.'],
  'editor/no-agent': ['No model here can be taught.', 'Connect a model that is a folder on this machine.'],
  'editor/no-document': ['A document of Tandem no longer exists.', 'Open it from its list again.'],
  'editor/no-facts': ['A model wrote no list of facts.', 'Draft again, or add them yourself.'],
  'editor/no-file': ['A file cannot be opened.', 'Open it yourself; the answer is still in the dialogue.'],
  'editor/no-folder': ['No folder is open.', 'Open a folder; dialogues and runs are kept in it.'],
  'editor/no-function': ['The cursor is not in a function.', 'Put it into a Python function.'],
  'editor/no-guidelines': ['A pack has no guidelines.', 'Write them beside the pack.'],
  'editor/no-pack': ['A file has no line that is a task.', 'Choose a file of tasks.'],
  'editor/no-preview': ['No preview of an export is open.', 'Run “Tandem: Export Trajectories…” first.'],
  'editor/no-run': ['A run no longer exists.', 'Refresh the list of runs.'],
  'editor/no-run-file': ['No configuration of a run is open.', 'Open one, a JSON file.'],
  'editor/no-simulator': ['Nobody answers the agents’ questions.', 'Choose a simulator.'],
  'editor/no-target': ['The file of a dialogue is not known any more.', 'Copy the answer from the session.'],
  'editor/no-task': ['A pack no longer has a task.', 'Choose another task.'],
  'editor/no-tasks': ['There is no task to play.', 'Add a pack in the Tasks view.'],
  'editor/no-top-level': ['A function is nested in something else.', 'Choose a top-level function.'],
  'editor/no-trainer-log': ['A run has no log of its trainer.', 'Start the run; the trainer writes its log.'],
  'editor/no-trajectory': ['The log no longer has a dialogue.', 'Choose another; it may have been deleted.'],
  'editor/not-a-file': [
    'What was dropped is not a file on this machine.',
    'Save it as a file, then drop that.',
  ],
  'editor/not-applied': ['A file could not be changed.', 'Check whether it is read-only, then accept again.'],
  'editor/not-playable': ['A model cannot play here.', 'Make an ONNX graph of it, or serve it.'],
  'editor/not-saved': [
    'A file could not be saved.',
    'Check the folder and its rights, or choose another one.',
  ],
  'editor/not-shown': ['A page asked for something that is not shown.', 'Open the page again.'],
  'editor/not-verified': [
    'A function does not pass the tests of its own task, so the task was not written.',
    'Correct the function or the tests.',
  ],
  'editor/nothing-to-export': ['An export has no rows.', 'Choose other rows.'],
  'editor/other-task': ['Two dialogues are about different tasks.', 'Choose two of the same task.'],
  'editor/pack-exists': ['A different file has the name of a pack.', 'Rename one of the two.'],
  'editor/pack-not-copied': ['A pack could not be copied.', 'Check the folder and its rights.'],
  'editor/pack-not-listed': [
    'The setting tandem.packs leaves a pack out.',
    'Add a pattern that matches the pack.',
  ],
  'editor/pack-name-shared': ['Two packs have one file name.', 'Rename one of the two files.'],
  'editor/pack-not-written': ['A pack could not be written.', 'Check the file and its rights.'],
  'editor/page-message': ['A page sent a message that does not fit.', 'Close the page and open it again.'],
  'editor/page-not-loaded': [
    'A page was not loaded in time; it is loaded again.',
    'Close other programs, or reload the window, if it stays empty.',
  ],
  'editor/restricted': ['The workspace is not trusted.', 'Trust it, then try again.'],
  'editor/settings-changed': ['Another program has just written the settings.', 'Try again in a moment.'],
  'editor/too-few-runs': ['There are too few runs to compare.', 'Make or choose more runs.'],

  'environment/no-episode': ['A step came before an episode was begun.', 'Send reset first.'],
  'environment/over': ['A step came after the end of an episode.', 'Send reset to begin another.'],
  'environment/unknown-split': ['There is no split of that name.', 'Ask for the list of splits.'],
  'environment/unknown-task': ['There is no such task.', 'Ask for the list of tasks of a split.'],

  'grading/boot-failed': ['The interpreter of the grader did not start.', 'Install Tandem again.'],
  'grading/cache-not-readable': [
    'Kept outputs of references cannot be read.',
    'Remove what is there, or choose another folder.',
  ],
  'grading/cache-not-writable': [
    'Outputs of references cannot be kept.',
    'Make the folder writable, or choose another.',
  ],
  'grading/closed': ['The grader was closed while it was asked.', 'Grade again.'],
  'grading/internal': ['The grader failed in a way that is a bug.', 'Report it with its log.'],
  'grading/missing-file': ['The grader lacks a file of its own.', 'Build or install Tandem again.'],
  'grading/native-sandbox': [
    'An answer that needs numpy could not be run in its sandbox.',
    'Look at `tandem doctor`, then grade again.',
  ],
  'grading/native-sandbox-ended': ['The sandbox of answers that need numpy ended.', 'Grade again.'],
  'grading/native-unavailable': [
    'Answers that need numpy cannot be graded on this machine.',
    'Do what the sentence or `tandem doctor` says.',
  ],
  'grading/no-processor-time': ['The machine is too busy to grade.', 'Try again later.'],
  'grading/process-died': ['The grading process died several times.', 'Check the memory, then grade again.'],
  'grading/tampered': [
    'An answer has tampered with its interpreter; it fails.',
    'Nothing: the grade says so.',
  ],
  'grading/unknown-interpreter': [
    'The interpreter is not the one that this Tandem pins.',
    'Install the dependencies again.',
  ],

  'loop/bad-lesson': ['The notes of a lesson cannot be read.', 'Begin another; the dialogues are not lost.'],
  'loop/bad-record': [
    'The record of a loop cannot be read.',
    'Choose another folder; the dialogues are not lost.',
  ],
  'loop/not-trained': [
    'The training of a loop did not end well.',
    'Look at the run’s log; go on by the same command.',
  ],
  'loop/other-precision': ['A model was exported in another precision.', 'Ask for one that it has.'],
  'loop/too-few-tasks': [
    'There are too few different tasks to learn from some and measure on others.',
    'Give more packs, or none to play the starter world.',
  ],

  'model/bad-address': ['The address of a server is not one.', 'Write it like http://127.0.0.1:8000/v1.'],
  'model/bad-answer': ['A server answers in another form.', 'Check the base URL; it usually ends in /v1.'],
  'model/bad-request': [
    'A server or a model refuses the request.',
    'Change the settings, or shorten the dialogue.',
  ],
  'model/bad-script': ['A script of turns cannot be used.', 'Correct the JSON file.'],
  'model/bad-spec': ['The name of a model is not one.', 'Write it as `tandem --help` says.'],
  'model/damaged-folder': ['A file of a model is damaged.', 'Copy or export the model again.'],
  'model/foreign-folder': [
    'A folder is not a model that Tandem can play.',
    'Name another, or do what the sentence says.',
  ],
  'model/inference-ended': ['The process of a local model ended.', 'Check the memory, then try again.'],
  'model/inference-failed': ['A local model could not go on.', 'Try again; if it repeats, report it.'],
  'model/no-folder': ['There is no folder of a model.', 'Check the path.'],
  'model/no-pictures': ['A model reads text only.', 'Leave the picture out, or choose another model.'],
  'model/no-tools': ['A model calls no tools.', 'Choose another model.'],
  'model/none': ['No agent is chosen.', 'Choose one in the Models view.'],
  'model/not-exported': ['A model has no graph that Tandem can run.', 'Make one with `tandem onnx`.'],
  'model/not-finite': [
    'A model computes numbers that are not finite.',
    'Export it again, or take another precision.',
  ],
  'model/rate-limited': [
    'A server refuses more requests for now.',
    'Send fewer at a time, or try again later.',
  ],
  'model/server-error': ['A server failed.', 'Look at its log, or try again later.'],
  'model/timed-out': ['A server took too long.', 'Try again, or allow it more time.'],
  'model/too-large': [
    'A model needs more memory than is allowed.',
    'Export it with fewer bits, or take a smaller one.',
  ],
  'model/too-long': [
    'A dialogue is longer than the context of a model.',
    'Play fewer turns, or take a longer context.',
  ],
  'model/too-long-answer': ['A server writes without an end.', 'Limit the tokens of a turn.'],
  'model/unauthorized': ['A server wants another key.', 'Give a key that it accepts.'],
  'model/unknown-model': ['A server does not have a model.', 'Correct the name.'],
  'model/unreachable': ['A server cannot be reached.', 'Start it, or correct its address.'],

  'publish/findings': [
    'What would be published holds secrets or e-mail addresses.',
    'Take them out, or say that they may be published.',
  ],
  'publish/forbidden': ['The hub does not let this token write.', 'Use a token that may.'],
  'publish/local-data': [
    'A model learned from dialogues that people keep on their machine.',
    'Ask these people first.',
  ],
  'publish/no-repository': ['A name is no repository of the hub.', 'Give owner and name.'],
  'publish/nothing': [
    'What was named is neither exported rows nor a model, or has no card.',
    'Do what the sentence says.',
  ],
  'publish/public-there': ['The repository is public.', 'Name another, or publish publicly.'],
  'publish/refused': ['The hub refuses what was sent; nothing of it appeared.', 'Do what the sentence says.'],
  'publish/unreachable': ['The hub cannot be reached.', 'Check the network, then publish again.'],

  'session/busy': ['A session does something else at the moment.', 'Wait, or stop it.'],
  'session/lost': ['The dialogue of a session is no longer in the log.', 'Open the task again.'],
  'session/no-rating': ['A page sent a rating that does not fit.', 'Rate again.'],
  'session/no-simulator': ['No simulator is chosen for a session.', 'Choose one, or reply yourself.'],
  'session/not-now': ['An action does not fit the state of a session.', 'Nothing: the session goes on.'],
  'session/not-skipped': ['A task could not be skipped.', 'Do what the sentence says.'],
  'session/unreadable-draft': ['A kept draft cannot be read.', 'Write it again.'],

  'serving/address': [
    'A server of Tandem cannot listen at its address.',
    'Choose another host or port; port 0 is any free one.',
  ],
  'serving/stopped': ['A server of Tandem was stopped before its answer.', 'Start it again.'],

  'task/bad-row': ['A line of a pack is not a task.', 'Correct the line.'],
  'task/bad-source': [
    'A folder does not say of which commit its files are.',
    'Choose another folder, or remove it.',
  ],
  'task/bad-token': ['An access token of the hub is not one.', 'Check the token that is set.'],
  'task/disk-full': ['The disk is full.', 'Free some space, then start the download again.'],
  'task/download-damaged': ['What arrived is not what was announced.', 'Start the download again.'],
  'task/file-exists': [
    'Another file is where a download belongs.',
    'Move it away, or choose another folder.',
  ],
  'task/hub-forbidden': ['The hub does not give a file.', 'Give a token that may read it.'],
  'task/hub-no-file': ['The hub has no such file.', 'Do what the sentence says.'],
  'task/hub-protocol': ['What answers is not the hub.', 'Check its address, or sign in to the network.'],
  'task/hub-refused': ['The hub refuses.', 'Try again later.'],
  'task/hub-unreachable': ['The hub cannot be reached.', 'Check the network.'],
  'task/is-folder': ['A folder was named where a file is needed.', 'Name a file in it.'],
  'task/licence-declined': ['A licence was not accepted.', 'Accept it, or use other tasks.'],
  'task/no-file': ['There is no such file.', 'Check the path.'],
  'task/no-permission': ['A file may not be read.', 'Give yourself permission to read it.'],
  'task/not-json-lines': ['A file is not JSON lines.', 'Unpack it, or save it as UTF-8.'],
  'task/not-written': ['A download cannot be written.', 'Choose a folder that you may write to.'],
  'task/other-commit': ['A folder holds files of another commit.', 'Choose another folder.'],
  'task/unreadable': ['A file cannot be read.', 'Check the disk.'],

  'testing/no-python': ['An interpreter could not be started.', 'Choose another for this folder.'],

  'tools/bad-input': ['The input of a tool does not fit.', 'Correct the field that is named.'],
  'tools/no-tasks': [
    'The named packs have no task.',
    'Name others; the list of packs counts the tasks of each.',
  ],
  'tools/unknown-pack': ['There is no such pack.', 'Name one of the list of packs.'],

  'training/bad-configuration': [
    'The configuration of a run is not valid.',
    'Correct the field that is named.',
  ],
  'training/bad-notes': [
    'The notes on a run cannot be read.',
    'Correct `notes.json` in its folder, or remove it.',
  ],
  'training/cannot-convert': ['A model cannot be converted.', 'Do what the sentence says.'],
  'training/cannot-export': ['A model cannot become an ONNX graph.', 'Do what the sentence says.'],
  'training/cannot-track': [
    'A run cannot be shown by that tracker.',
    'Install what the sentence names, or name another run.',
  ],
  'training/cannot-score': ['A critic cannot score a dialogue.', 'Do what the sentence says.'],
  'training/done': ['A run is done.', 'Use its model, or continue it with more epochs.'],
  'training/lost': ['The machine of a run is not heard of any more.', 'Take it over if it is gone.'],
  'training/no-cluster': [
    'No Ray dashboard answers where a cluster is named.',
    'Correct the address, or start the cluster with its dashboard.',
  ],
  'training/no-data': ['A log has nothing to train on.', 'Collect dialogues, or choose others.'],
  'training/no-log': ['There is no log where one is named.', 'Name the data folder.'],
  'training/no-plan': ['The trainer could not plan a run.', 'Do what the sentence says.'],
  'training/no-policy': ['A run has no policy that could be ended.', 'Wait for that stage, or stop the run.'],
  'training/no-python': ['There is no Python that can train.', 'Install one, or name one in the settings.'],
  'training/not-converted': ['A conversion failed.', 'Look at what the trainer says.'],
  'training/not-done': ['A run is not done.', 'Wait for it, or resume it.'],
  'training/not-tracked': ['The figures of a run were not handed over.', 'Do what the sentence says.'],
  'training/not-exported': ['An export failed.', 'Look at what the trainer says.'],
  'training/not-installed': [
    'The packages of the trainer were not installed.',
    'Check the network, then try again.',
  ],
  'training/not-running': ['A run is not running.', 'Resume it, or look at how it ended.'],
  'training/not-scored': ['Scoring failed.', 'Look at what the trainer says.'],
  'training/not-written': ['A run could not be written.', 'Free the disk or its rights, then try again.'],
  'training/nothing-kept': ['A run kept no checkpoint to continue from.', 'Start a new run.'],
  'training/nothing-more': ['A run has had all its epochs.', 'Say how many more it is to have.'],
  'training/other-host': ['A run is on another machine.', 'Stop it there.'],
  'training/packages-missing': [
    'The named Python lacks packages of the trainer.',
    'Install them there, or let Tandem make an environment.',
  ],
  'training/python-not-started': ['The trainer’s Python did not start.', 'Install the environment again.'],
  'training/running': ['A run is at work.', 'Wait for it, or stop it first.'],
  'training/trainer-broken': [
    'The trainer answers in a way that is a bug.',
    'Install the environment again.',
  ],
  'training/unfit-machine': ['The machine cannot train yet.', 'Do what each line says.'],
  'training/unknown-run': ['There is no such run.', 'List them with `tandem runs`.'],

  'trajectory/bad-owner': ['A file of a claim cannot be read.', 'Remove it if no Tandem runs there.'],
  'trajectory/bad-plan': ['The plan of an erasure cannot be read.', 'Do what the sentence says.'],
  'trajectory/bad-row': ['A row of a published log is not one.', 'Correct the line.'],
  'trajectory/claimed': ['Another process works on the same thing.', 'Wait, or close the other Tandem.'],
  'trajectory/closed': ['A log was closed.', 'Open it again.'],
  'trajectory/dataset-info': [
    'An export could not be entered into the dataset_info.json beside it.',
    'Export into another folder, or correct that file.',
  ],
  'trajectory/erasing': ['An erasure is not finished.', 'Finish it by the same command.'],
  'trajectory/export-changed': ['The log changed since a preview.', 'Make the preview again.'],
  'trajectory/export-name': [
    'An export has a name by which its reader would not know it.',
    'Name it as the sentence says.',
  ],
  'trajectory/export-refused': ['An export would show secrets or addresses.', 'Redact them, or allow them.'],
  'trajectory/log-in-use': ['Another process writes to a log.', 'Close it, then run the command again.'],
  'trajectory/no-log': ['A folder has no log.', 'Name the data folder.'],
  'trajectory/no-sqlite': ['This Node or VS Code has no SQLite.', 'Update it.'],
  'trajectory/not-written': ['A log could not be written.', 'Free the disk or its rights, then try again.'],
  'trajectory/repaired-there': ['A repaired log is already there.', 'Name another folder.'],
  'trajectory/task-missing': ['The task of a dialogue is missing in the log.', 'Look at `tandem check`.'],
  'trajectory/task-not-recorded': [
    'A task was not recorded before its dialogue.',
    'This is a bug: report it.',
  ],
  'trajectory/too-long': ['An event is too long for a line of the log.', 'Shorten it.'],
  'trajectory/unknown': ['The log has no such dialogue.', 'Check the id.'],
  'trajectory/unreadable': ['A log cannot be read.', 'Check the folder and its rights.'],

  usage: ['A command is used wrongly.', 'See its `--help`.'],
} as const satisfies Readonly<Record<string, readonly [means: string, remedy: string]>>;

/** Studies, which are not a part of the product, have codes of their own. */
export type FaultCode = keyof typeof faults | `study/${string}`;
