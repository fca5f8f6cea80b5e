// What Steward proposes to change, and what people decide about it, over the socket: files, and what belongs to its
// configuration.
import { type Failure, isFailure, type StewardAnswers } from '@subluminal/contracts';
import type { ControlHandlers } from '../control/index.ts';
import type { Journal } from '../journal/index.ts';
import type { ProposalDesk, ProposalView } from '../proposals/index.ts';
import {
  type ChangeDesk,
  type ChangeSet,
  type ChangeView,
  changeSetHash,
} from '../staging/index.ts';

type ChangeMethod = Extract<keyof ControlHandlers, `changes${string}`>;
type ToldChange = StewardAnswers['changes/approve'];
type ToldView = StewardAnswers['changes/show'];

export interface ChangeDesks {
  readonly files: ChangeDesk;
  readonly proposals: ProposalDesk;
}

const CHANGES_SHOWN = 500;
const NOTHING_SAID = { loosens: [], notes: [] };

/** `apply` puts the configuration folder in force: what is taken back is gone at once. */
export function changeHandlers(
  desks: ChangeDesks,
  apply: () => Promise<void>,
): Pick<ControlHandlers, ChangeMethod> {
  const { files, proposals } = desks;
  const isProposal = (id: string) => proposals.list().some((set) => set.id === id);
  const told = (set: ChangeSet | Failure): ToldChange | Failure =>
    isFailure(set) ? set : changeAnswer(set, isProposal(set.id) ? proposals.kindOf(set) : 'files');
  const show = async (id: string): Promise<ToldView | Failure> => {
    if (!isProposal(id)) {
      const view = await files.show(id);
      return isFailure(view)
        ? view
        : viewAnswer(view, changeAnswer(view.set, 'files'), NOTHING_SAID);
    }
    const view = await proposals.show(id);
    return isFailure(view) ? view : viewAnswer(view, changeAnswer(view.set, view.kind), view);
  };
  return {
    changes: async () => {
      const staged = files.list().map((set) => changeAnswer(set, 'files'));
      const proposed = proposals.list().map((set) => changeAnswer(set, proposals.kindOf(set)));
      const changes = [...staged, ...proposed].toSorted(
        (left, right) => right.proposed_at_ms - left.proposed_at_ms,
      );
      return { changes: changes.slice(0, CHANGES_SHOWN) };
    },
    'changes/show': ({ id }) => show(id),
    'changes/approve': async ({ id, sha256, person: by, channel }) => {
      const seen = { id, sha256, by, channel };
      return told(await (isProposal(id) ? proposals.merge(seen) : files.approve(seen)));
    },
    'changes/reject': async ({ id, person: by, channel }) => {
      const decision = { id, by, channel };
      return told(await (isProposal(id) ? proposals : files).reject(decision));
    },
    'changes/modify': async ({ id, sha256, path, text }) => {
      const edit = { path, text };
      const edited = await (isProposal(id) ? proposals : files).modify({ id, sha256 }, edit);
      return isFailure(edited) ? edited : show(id);
    },
    'changes/rollback': async ({ id, is_forced: isForced = false, person: by, channel }) => {
      const decision = { id, by, channel };
      if (!isProposal(id)) return told(await files.rollback(decision, { isForced }));
      const back = await proposals.rollback(decision);
      if (!isFailure(back)) await apply();
      return told(back);
    },
  };
}

/** Those that wait for a person and were proposed in this conversation, or by a sub-agent that works for it. */
export function openChangesIn(
  { files, proposals }: ChangeDesks,
  journal: Journal,
  conversationId: string,
): StewardAnswers['updates']['open_changes'] {
  return [...files.list(), ...proposals.list()]
    .filter(({ state, run_id }) => {
      const by = state === 'open' ? journal.conversationOfRun(run_id) : undefined;
      return (by?.parentId ?? by?.id) === conversationId;
    })
    .map((set) => ({ id: set.id, sha256: changeSetHash(set) }));
}

export function changeAnswer(set: ChangeSet, kind: ToldChange['kind']): ToldChange {
  const { id, state, why, run_id, proposed_at_ms } = set;
  return {
    ...{ id, kind, state, why, run_id, proposed_at_ms },
    is_modified: set.is_modified !== undefined,
    by: set.by ?? null,
    decided_at_ms: set.decided_at_ms ?? null,
    paths: set.files.map(({ path }) => path),
  };
}

function viewAnswer(
  { sha256, files }: ChangeView,
  change: ToldChange,
  { loosens, notes }: Pick<ProposalView, 'loosens' | 'notes'>,
): ToldView {
  return {
    ...{ change, sha256, loosens, notes },
    files: files.map(({ path, to = null, kind, texts, diff }) => ({
      ...{ path, to, kind, diff },
      before: texts?.before ?? null,
      after: texts?.after ?? null,
    })),
  };
}
