import * as vscode from 'vscode';
import type { CriticChoice, KeptCredit, OfferedCritic } from '../credit/critics';
import { OneAtATime, Owner } from '../background';
import type { ShownLog } from '../engines';

export interface CriticsNode {
  readonly kind: 'critics';
  readonly critics: readonly CriticNode[];
}

export interface CriticNode {
  readonly kind: 'critic';
  readonly critic: OfferedCritic;
  /** True when the replays show its credit. */
  readonly isShown: boolean;
}

export class Critics extends Owner {
  private readonly changed = new vscode.EventEmitter<void>();
  private found: readonly OfferedCritic[] = [];
  private readonly looking = new OneAtATime(() => this.lookOnce().catch(this.report));

  readonly onDidChange = this.changed.event;

  constructor(
    private readonly choice: CriticChoice,
    private readonly kept: KeptCredit,
    private readonly log: ShownLog,
    runs: { readonly onDidEnd: vscode.Event<unknown> },
    private readonly report: (error: unknown) => void,
  ) {
    super();
    this.owns(
      this.changed,
      choice.onDidChange(() => {
        this.changed.fire();
        this.look();
      }),
      log.onDidChange(() => this.look()),
      runs.onDidEnd(() => this.look()),
      vscode.workspace.onDidGrantWorkspaceTrust(() => this.look()),
    );
  }

  /** Undefined while there is no critic. */
  get node(): CriticsNode | undefined {
    const chosen = this.choice.chosen?.folder;
    const critics = this.found.map((critic) => ({
      ...{ kind: 'critic' as const, critic, isShown: critic.folder === chosen },
    }));
    return critics.length === 0 ? undefined : { kind: 'critics', critics };
  }

  /** `onDidChange` fires when it is ready. */
  look(): void {
    void this.looking.do();
  }

  /** Counts people's agreement again. */
  async follow(): Promise<void> {
    const { found } = this;
    const { engine } = this.log;
    const followed = found.map(async (critic): Promise<OfferedCritic> => {
      const { figures } = critic;
      if ('problem' in figures) return critic;
      const agreement = await this.kept.agreement(engine, figures.critic.id);
      return { ...critic, figures: { ...figures, agreement } };
    });
    const now = await Promise.all(followed);
    // The list may be newer now.
    if (found === this.found) this.show(now);
  }

  private async lookOnce(): Promise<void> {
    // Nobody asked for them, and the workspace may have brought the folders.
    this.show(vscode.workspace.isTrusted ? await this.choice.offered(this.log.engine) : []);
  }

  private show(found: readonly OfferedCritic[]): void {
    const isSame = JSON.stringify(found) === JSON.stringify(this.found);
    this.found = found;
    if (!isSame) this.changed.fire();
  }
}
