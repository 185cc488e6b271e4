import { tools } from '../../core/tools/tools';
import { ANSWER, idOf, panelTypes, PARTICIPANT, VENDOR, type CommandName, views } from '../contributions';
import { settings } from '../settings';
import {
  type MenuEntry,
  IN_FOLDER,
  WITHOUT_FOLDER,
  all,
  editor,
  either,
  isSet,
  not,
  type Condition,
  type ViewName,
} from './menus';
import { places } from './places';

// The parts of `package.json` that say what Tandem adds to the editor, and when it wakes. A test writes them there.
// Their sentences are in `package.nls.json`.

interface View {
  readonly initialSize: number;
  readonly visibility?: 'collapsed';
  readonly when?: Condition;
  /** When an empty view shows which text, by its key in `package.nls.json` after `welcome.`. */
  readonly welcome: Readonly<Record<string, Condition>>;
}

const RESTRICTED = all(editor('isWorkspaceTrustEnabled'), not(editor('isWorkspaceTrusted')));

/** These hold, and the workspace is trusted or the editor does not ask for trust. */
const trusted = (...conditions: readonly Condition[]): Condition =>
  either(
    all(...conditions, editor('isWorkspaceTrusted')),
    all(...conditions, not(editor('isWorkspaceTrustEnabled'))),
  );

/** The views of the side bar from top to bottom. Their names are in `package.nls.json`, as `view.` and the name here. */
const shown: Readonly<Record<ViewName, View>> = {
  tasks: {
    initialSize: 4,
    welcome: { 'tasks.noFolder': WITHOUT_FOLDER, tasks: all(IN_FOLDER, isSet('packsAreRead')) },
  },
  trajectories: {
    when: either(isSet('hasDialogues'), isSet('hasSeveralLogs')),
    initialSize: 2,
    welcome: { trajectories: IN_FOLDER },
  },
  models: {
    visibility: 'collapsed',
    initialSize: 2,
    welcome: { 'models.restricted': RESTRICTED, models: trusted() },
  },
  runs: {
    when: isSet('hasRuns'),
    initialSize: 2,
    welcome: { 'runs.restricted': RESTRICTED, runs: trusted(isSet('runsAreRead')) },
  },
};

const PICTURE = 'media/tandem.svg';

const CONTAINER = 'tandem';

const sideBarViews = Object.entries(shown).map(([name, view]) => ({
  name,
  id: views[name as ViewName],
  ...view,
}));

const sideBar = {
  viewsContainers: { activitybar: [{ id: CONTAINER, title: 'Tandem', icon: PICTURE }] },
  views: {
    [CONTAINER]: sideBarViews.map(({ id, name, when, visibility, initialSize }) => ({
      id,
      name: `%view.${name}%`,
      icon: PICTURE,
      when,
      visibility,
      initialSize,
    })),
  },
  viewsWelcome: sideBarViews.flatMap(({ id, welcome }) =>
    Object.entries(welcome).map(([text, when]) => ({ view: id, when, contents: `%welcome.${text}%` })),
  ),
};

const PRODUCT = 'Tandem';

/**
 * Tandem wakes for a restored panel, for stubs in Python, for a log, because its view appears only once Tandem has seen
 * it, for runs that may be queued, and for lessons that continue.
 */
export const activationEvents = [
  ...Object.values(panelTypes).map((type) => `onWebviewPanel:${type}`),
  'onLanguage:python',
  'workspaceContains:.tandem/log',
  'workspaceContains:.tandem/runs',
  'workspaceContains:.tandem/teaching',
];

export const restrictedConfigurations = Object.values(settings)
  .flatMap((group) => Object.entries<object>(group))
  .flatMap(([name, setting]) => ('isRestricted' in setting ? [`tandem.${name}`] : []));

const ran = (...names: readonly CommandName[]): string[] => names.map((name) => `onCommand:${idOf(name)}`);

/** The editor hears of this only once it has loaded the walkthrough, as of commands. */
const is = (condition: Condition): string => `onContext:${condition}`;

/** The steps of the walkthrough, and the events that tick each off. */
const steps: Readonly<Record<string, readonly string[]>> = {
  play: [...ran('playNext', 'playTask'), is(isSet('hasDialogues')), `onView:${views.trajectories}`],
  agent: ran('chooseAgent', 'useAsAgent', 'connectModel', 'addModelFolder'),
  packs: ran('addPack', 'addPackFile', 'downloadPack', 'generateTasks'),
  data: ['onStepSelected'],
  teach: [...ran('teachAgent'), is(isSet('hasRuns')), `onView:${views.runs}`],
  use: ran('compareBlindly', 'useAsAgent'),
  people: ran('assignPack', 'review', 'showAgreement'),
};

const declared = Object.entries(places).map(([name, place]) => ({
  name,
  command: idOf(name as CommandName),
  ...place,
}));

export const contributes = {
  jsonValidation: [{ fileMatch: ['run.json', '*.run.json'], url: './media/run.schema.json' }],
  ...sideBar,
  languageModelChatProviders: [{ vendor: VENDOR, displayName: PRODUCT }],
  chatParticipants: [
    {
      id: PARTICIPANT,
      name: 'tandem',
      fullName: PRODUCT,
      description: '%chat.description%',
      isSticky: true,
      commands: [{ name: ANSWER, description: '%chat.command.answer%' }],
    },
  ],
  commands: declared.map(({ command, name, icon }) => ({
    command,
    title: `%command.${name}%`,
    category: PRODUCT,
    icon: icon && `$(${icon})`,
  })),
  menus: {
    // The palette also lists every command without an entry here.
    commandPalette: declared.flatMap(({ command, palette = 'false' }) =>
      palette === 'always' ? [] : [{ command, when: palette }],
    ),
    'editor/context': entriesOf('editor/context'),
    'editor/title': entriesOf('editor/title'),
    'view/title': entriesOf('view/title'),
    'view/item/context': entriesOf('view/item/context'),
  } satisfies Record<'commandPalette' | MenuEntry['menu'], object[]>,
  keybindings: declared.flatMap(({ command, keys = [] }) => keys.map((key) => ({ command, ...key }))),
  configuration: Object.entries(settings).map(([title, group], index) => ({
    title: `%settings.${title}%`,
    order: index + 1,
    properties: Object.fromEntries(
      Object.entries<object>(group).map(([name, setting], order) => [
        `tandem.${name}`,
        propertyOf(name, setting, order + 1),
      ]),
    ),
  })),
  languageModelTools: Object.entries(tools).map(([name, { description, inputSchema }]) => ({
    ...{ name, displayName: `%tool.${name}%`, userDescription: `%tool.${name}.about%` },
    ...{ modelDescription: description, toolReferenceName: name, canBeReferencedInPrompt: true },
    ...{ icon: '$(type-hierarchy)', tags: ['tandem'], inputSchema },
  })),
  walkthroughs: [
    {
      id: 'start',
      title: '%walkthrough.title%',
      description: '%walkthrough.description%',
      steps: Object.entries(steps).map(([id, events]) => ({
        id,
        title: `%walkthrough.${id}.title%`,
        description: `%walkthrough.${id}.description%`,
        media: { markdown: `media/walkthrough/${id}.md` },
        completionEvents: events,
      })),
    },
  ],
};

function entriesOf(menu: MenuEntry['menu']): { command: string; when: string; group: string }[] {
  return declared.flatMap(({ command, menus = [] }) =>
    menus.flatMap(({ when, group, ...entry }) => (entry.menu === menu ? [{ command, when, group }] : [])),
  );
}

function propertyOf(
  name: string,
  setting: { readonly isRestricted?: boolean; readonly enum?: readonly string[] },
  order: number,
): object {
  const { isRestricted: _, ...schema } = setting;
  return {
    ...schema,
    order,
    markdownDescription: `%setting.${name}%`,
    markdownEnumDescriptions: setting.enum?.map((value) => `%setting.${name}.${value}%`),
  };
}
