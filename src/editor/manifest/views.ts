import { views } from '../contributions';
import { IN_FOLDER, WITHOUT_FOLDER, all, editor, either, isSet, not } from './conditions';
import type { Condition, ViewName } from './conditions';

interface View {
  /** Share of the side bar's height, beside the other views. */
  readonly initialSize: number;
  readonly visibility?: 'collapsed';
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
    initialSize: 2,
    welcome: {
      'trajectories.restricted': RESTRICTED,
      'trajectories.noFolder': trusted(WITHOUT_FOLDER),
      trajectories: trusted(IN_FOLDER),
    },
  },
  models: {
    visibility: 'collapsed',
    initialSize: 2,
    welcome: { 'models.restricted': RESTRICTED, models: trusted() },
  },
  runs: {
    initialSize: 2,
    welcome: {
      'runs.restricted': RESTRICTED,
      'runs.noFolder': trusted(WITHOUT_FOLDER),
      runs: trusted(IN_FOLDER, isSet('runsAreRead')),
    },
  },
};

const PICTURE = 'media/tandem.svg';

const CONTAINER = 'tandem';

const declared = Object.entries(shown).map(([name, view]) => ({
  name,
  id: views[name as ViewName],
  ...view,
}));

export const sideBar = {
  viewsContainers: { activitybar: [{ id: CONTAINER, title: 'Tandem', icon: PICTURE }] },
  views: {
    [CONTAINER]: declared.map(({ id, name, visibility, initialSize }) => ({
      id,
      name: `%view.${name}%`,
      icon: PICTURE,
      visibility,
      initialSize,
    })),
  },
  viewsWelcome: declared.flatMap(({ id, welcome }) =>
    Object.entries(welcome).map(([text, when]) => ({ view: id, when, contents: `%welcome.${text}%` })),
  ),
};
