// What people decide about proposals. A merge is a commit that says who approved it, and an event. No tool has these
// functions.
import { randomUUID } from 'node:crypto';
import { dirname } from 'node:path';
import { type Failure, isFailure, tableFailure } from '@subluminal/contracts';
import { visible } from '@subluminal/core/visible';
import { sha256Bytes } from '@subluminal/plane/crypto';
import { readRegularFile } from '@subluminal/plane/os';
import {
  type ChangedFiles,
  commitPaths,
  FILE_BYTES_MAX,
  isUncommitted,
  readStewardConfig,
  repositoryProblem,
} from '../config/index.ts';
import { type ExpansionPart, planRevocation, proposalNotes } from '../expansion/index.ts';
import {
  type ChangeDecision,
  ChangeDesk,
  type ChangeRecord,
  type ChangeSet,
  type ChangeView,
  changeSetHash,
  removeEmpty,
  type SeenChange,
  titleOf,
} from '../staging/index.ts';
import { kindOfPaths, type ProposalKind } from './config-paths.ts';
import {
  type ConfigPlace,
  configPaths,
  configProblem,
  configRoots,
  openConfigProposals,
} from './config-proposals.ts';
import { looseningWords } from './loosening.ts';

export interface ProposalDeskOptions extends ConfigPlace {
  readonly record: (record: ChangeRecord) => void;
}

export interface ProposalView extends ChangeView {
  readonly kind: ProposalKind;
  /** What it would let pass that is stopped now. */
  readonly loosens: readonly string[];
  /** What it is about: what a skill holds, what a server or a tool may do. */
  readonly notes: readonly string[];
}

const SUBJECT_LENGTH_MAX = 100;
const LINE_LENGTH_MAX = 200;

export class ProposalDesk {
  readonly #options: ProposalDeskOptions;
  readonly #desk: ChangeDesk;
  /** What the desk of changes has to tell; it is told once git has it too. */
  #untold: ChangeRecord[] = [];

  constructor(options: ProposalDeskOptions) {
    const { folder, store } = options;
    this.#options = options;
    this.#desk = new ChangeDesk({
      store,
      roots: configRoots(folder),
      record: (record) => this.#untold.push(record),
    });
  }

  list(): readonly ChangeSet[] {
    return this.#desk.list();
  }

  kindOf(set: ChangeSet): ProposalKind {
    return kindOfPaths(configPaths(this.#options.folder, set));
  }

  async show(id: string): Promise<ProposalView | Failure> {
    const view = await this.#desk.show(id);
    if (isFailure(view)) return view;
    const { folder } = this.#options;
    const changed = this.#changed(view.set);
    const [before, after] = await Promise.all([
      readStewardConfig(folder),
      readStewardConfig(folder, changed),
    ]);
    const isReadable = before.kind === 'config' && after.kind === 'config';
    const configs = isReadable ? { before, after } : { before: undefined, after: undefined };
    return {
      ...view,
      kind: this.kindOf(view.set),
      loosens: isReadable ? looseningWords(before, after) : [],
      notes: await proposalNotes({ changed, ...configs }),
    };
  }

  /** Writes the files and commits them. When git refuses, the files are as they were. */
  async merge(seen: SeenChange): Promise<ChangeSet | Failure> {
    const { folder, store } = this.#options;
    const unready = await repositoryProblem(folder);
    if (unready !== undefined) return unready;
    const set = store.get(seen.id);
    const broken = set && (await configProblem(folder, this.#changed(set)));
    if (broken !== undefined) return broken;
    const merged = await this.#desk.approve(seen);
    if (isFailure(merged)) return merged;
    const untold = await this.#commit(merged, seen, 'Merge');
    if (!isFailure(untold)) return merged;
    await this.#desk.rollback({ id: seen.id, by: seen.by });
    this.#untold = [];
    return untold;
  }

  /** Puts the user's own text in place of the proposed one; it is still to be merged. */
  modify(
    seen: Pick<SeenChange, 'id' | 'sha256'>,
    edit: { readonly path: string; readonly text: string },
  ): Promise<ChangeSet | Failure> {
    return this.#desk.modify(seen, edit);
  }

  async reject(decision: ChangeDecision): Promise<ChangeSet | Failure> {
    const rejected = await this.#desk.reject(decision);
    if (!isFailure(rejected)) this.#tell(rejected);
    return rejected;
  }

  /** Takes a merged proposal back, unless one of its files has changed since. */
  async rollback(decision: ChangeDecision): Promise<ChangeSet | Failure> {
    const unready = await repositoryProblem(this.#options.folder);
    if (unready !== undefined) return unready;
    const back = await this.#desk.rollback(decision);
    if (isFailure(back)) return back;
    const untold = await this.#commit(back, decision, 'Roll back');
    return isFailure(untold) ? untold : back;
  }

  /** Takes a skill, a server or a tool out of the configuration, at once and on record. */
  async revoke(
    part: ExpansionPart,
    who: Pick<ChangeDecision, 'by' | 'channel'>,
  ): Promise<ChangeSet | Failure> {
    const { folder } = this.#options;
    const config = await readStewardConfig(folder);
    if (config.kind === 'broken') return tableFailure('SUB_STEWARD_FILE', 'Mend it first.');
    const files = planRevocation(part, config);
    if (isFailure(files)) return files;
    const key = randomUUID();
    const why = `Revoked: ${part.kind} ${part.name}.`;
    const proposals = openConfigProposals(this.#options);
    const set = await proposals.propose({ key, runId: key, why, files });
    if (isFailure(set)) return set;
    return this.merge({ id: set.id, sha256: changeSetHash(set), ...who });
  }

  /** Finishes merges that a crash has cut off: a person has approved them. */
  async resume(): Promise<readonly Failure[]> {
    const failures = await this.#desk.resume();
    if (isFailure(failures)) return [failures];
    const begun = this.#untold.flatMap(({ change }) => this.#options.store.get(change.id) ?? []);
    const [last] = this.list()
      .filter(({ state, id }) => state === 'committed' && !begun.some((set) => set.id === id))
      .toSorted((one, other) => (other.decided_at_ms ?? 0) - (one.decided_at_ms ?? 0));
    // Written, and then cut off before git had it. Decisions come one by one, so it can only be the last.
    if (last !== undefined && (await this.#isUncommitted(last))) {
      const { id, by = 'unknown', run_id: runId } = last;
      const change = { id, kind: 'config', state: 'approved', by, title: titleOf(last) } as const;
      this.#untold.push({ runId, change });
      begun.push(last);
    }
    const commits: Failure[] = [];
    for (const set of begun) {
      const untold = await this.#commit(set, { id: set.id, by: set.by ?? 'unknown' }, 'Merge');
      if (isFailure(untold)) commits.push(untold);
    }
    return [...failures, ...commits];
  }

  /** Whether its files are as it has made them, and git does not know. */
  async #isUncommitted(set: ChangeSet): Promise<boolean> {
    const { folder } = this.#options;
    const isWritten = set.files.every(({ path, after }) => {
      const read = readRegularFile(path, { bytesMax: FILE_BYTES_MAX, noFollow: true });
      return (read.kind === 'read' ? sha256Bytes(read.bytes) : undefined) === after;
    });
    return isWritten && isUncommitted(folder, configPaths(folder, set));
  }

  async #commit(
    set: ChangeSet,
    { by, channel }: ChangeDecision,
    verb: 'Merge' | 'Roll back',
  ): Promise<Failure | undefined> {
    const { folder } = this.#options;
    const line = (text: string) => visible(text, LINE_LENGTH_MAX);
    const message = [
      visible(`${verb} ${set.id}: ${configPaths(folder, set).join(', ')}`, SUBJECT_LENGTH_MAX),
      '',
      ...(set.why === '' ? [] : [line(set.why), '']),
      `Approved-by: ${line(by)}${channel === undefined ? '' : ` (${line(channel)})`}`,
      `Proposed-in-run: ${line(set.run_id)}`,
    ].join('\n');
    const commit = await commitPaths(folder, { message, paths: configPaths(folder, set) });
    if (isFailure(commit)) return commit;
    // Git knows no empty folder; here it would be a skill or a tool that cannot be read.
    removeEmpty([...new Set(set.files.map(({ path }) => dirname(path)))].toSorted());
    this.#tell(set, commit);
    return undefined;
  }

  #tell(set: ChangeSet, commit?: string): void {
    const { record } = this.#options;
    const kind = this.kindOf(set);
    const own = this.#untold.filter(({ change }) => change.id === set.id);
    this.#untold = this.#untold.filter(({ change }) => change.id !== set.id);
    for (const { runId, change } of own) {
      const git = commit === undefined ? {} : { commit };
      record({ runId, change: { ...change, kind, title: titleOf(set), ...git } });
    }
  }

  #changed(set: ChangeSet): ChangedFiles {
    const paths = configPaths(this.#options.folder, set);
    return new Map(
      set.files.map(({ after }, at) => {
        const bytes = after === undefined ? undefined : this.#options.store.content(set.id, after);
        // Contents that are missing are told by whoever needs them.
        return [paths[at] ?? '', isFailure(bytes) ? undefined : bytes];
      }),
    );
  }
}
