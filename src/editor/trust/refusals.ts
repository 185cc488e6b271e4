import { commands, type CommandId } from '../contributions';
import type { Translate } from '../translate';

/**
 * Commands that work in a workspace that is not trusted: they read, write into the log or the settings what a person
 * says, or come to where what runs is refused with a reason of its own. Every other one connects or runs something.
 */
type Allowed =
  | 'playTask'
  | 'playNext'
  | 'playFirst'
  | 'playNextOfPack'
  | 'removePack'
  | 'toggleCounters'
  | 'openPack'
  | 'openReference'
  | 'openTests'
  | 'openGuidelines'
  | 'copyTaskId'
  | 'showDialogues'
  | 'skipTask'
  | 'findTask'
  | 'filterTasks'
  | 'clearTaskFilter'
  | 'addPack'
  | 'addPackFile'
  | 'addStarterPack'
  | 'generateTasks'
  | 'showSession'
  | 'refresh'
  | 'showMore'
  | 'openTrajectory'
  | 'openReplay'
  | 'openSession'
  | 'compareTrajectory'
  | 'compareTrajectories'
  | 'filterTrajectories'
  | 'clearTrajectoryFilter'
  | 'searchTranscripts'
  | 'groupTrajectories'
  | 'deleteTrajectories'
  | 'restoreTrajectories'
  | 'exportTrajectories'
  | 'saveExport'
  | 'importTrajectories'
  | 'showStatistics'
  | 'chooseLog'
  | 'openTranscript'
  | 'showUse'
  | 'useCritic'
  | 'revealModelFolder'
  | 'removeModel'
  | 'teachAgent'
  | 'openRun'
  | 'unqueueRun'
  | 'openRunConfiguration'
  | 'openRunLog'
  | 'revealRun'
  | 'duplicateRun'
  | 'deleteRun'
  | 'compareRuns'
  | 'writeReport'
  | 'changeConsent'
  | 'deleteMyData'
  | 'acceptAnswer'
  | 'acceptAnswerAnyway'
  | 'rejectAnswer'
  | 'reviewAnswer';

type Refused = (typeof commands)[Exclude<keyof typeof commands, Allowed>];

/** What each of the others says; a new command does not compile until it is on one side. */
function refusals(t: Translate): Record<Refused, string> {
  const notConnected = t('Models are not connected');
  const notTrained = t('Nothing is trained');
  return {
    [commands.chooseAgent]: notConnected,
    [commands.chooseSimulator]: notConnected,
    [commands.chooseCandidates]: notConnected,
    [commands.setApiKey]: notConnected,
    [commands.connectModel]: notConnected,
    [commands.editConnection]: notConnected,
    [commands.testConnection]: t('Servers are not asked'),
    [commands.addModelFolder]: notConnected,
    [commands.useAsAgent]: notConnected,
    [commands.useAsSecondAgent]: notConnected,
    [commands.useAsSimulator]: notConnected,
    [commands.downloadPack]: t('Nothing is downloaded'),
    [commands.collect]: t('Nothing is played'),
    [commands.collaborateOnFunction]: t('Nothing is played'),
    [commands.makeTask]: t('Nothing is graded'),
    [commands.testAnswer]: t('Answers are not graded'),
    [commands.testProposal]: t('Tests are not run'),
    [commands.runTests]: t('Tests are not run'),
    [commands.compareBlindly]: t('Nothing is played'),
    [commands.evaluateRuns]: t('Nothing is played'),
    [commands.newRun]: notTrained,
    [commands.startRunFile]: notTrained,
    [commands.pauseRun]: notTrained,
    [commands.finishRun]: notTrained,
    [commands.killRun]: notTrained,
    [commands.resumeRun]: notTrained,
    [commands.startQueuedRun]: notTrained,
    [commands.advanceQueue]: notTrained,
    [commands.continueRun]: notTrained,
  };
}

/** How `refuseInRestrictedMode` begins when the command is called there; undefined for one that works. */
export function refusalOf(command: CommandId, t: Translate): string | undefined {
  return (refusals(t) as Partial<Record<CommandId, string>>)[command];
}
