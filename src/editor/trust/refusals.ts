import { commands, type CommandId } from '../contributions';
import type { Translate } from '../translate';

/**
 * Commands that work in a workspace that is not trusted: they read, write into the log or the settings what a person
 * says, or come to where what runs is refused with a reason of its own. Every other one connects or runs something.
 */
const ALLOWED = [
  commands.playTask,
  commands.playNext,
  commands.playFirst,
  commands.openPack,
  commands.openReference,
  commands.openTests,
  commands.openGuidelines,
  commands.copyTaskId,
  commands.showDialogues,
  commands.skipTask,
  commands.findTask,
  commands.filterTasks,
  commands.clearTaskFilter,
  commands.addPack,
  commands.addPackFile,
  commands.addStarterPack,
  commands.showSession,
  commands.refresh,
  commands.showMore,
  commands.openTrajectory,
  commands.openReplay,
  commands.openSession,
  commands.compareTrajectory,
  commands.compareTrajectories,
  commands.filterTrajectories,
  commands.clearTrajectoryFilter,
  commands.deleteTrajectories,
  commands.restoreTrajectories,
  commands.exportTrajectories,
  commands.saveExport,
  commands.importTrajectories,
  commands.showStatistics,
  commands.chooseLog,
  commands.openTranscript,
  commands.showUse,
  commands.revealModelFolder,
  commands.removeModel,
  commands.changeConsent,
  commands.deleteMyData,
] as const satisfies CommandId[];

type Refused = Exclude<CommandId, (typeof ALLOWED)[number]>;

/** What each of the others says; a new command does not compile until it is on one side. */
function refusals(t: Translate): Record<Refused, string> {
  const notConnected = t('Models are not connected');
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
    [commands.useAsSimulator]: notConnected,
    [commands.downloadPack]: t('Nothing is downloaded'),
  };
}

/** How `refuseInRestrictedMode` begins when the command is called there; undefined for one that works. */
export function refusalOf(command: CommandId, t: Translate): string | undefined {
  return (refusals(t) as Partial<Record<CommandId, string>>)[command];
}
