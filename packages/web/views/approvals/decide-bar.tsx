// Approve, reject, and what came of it. It stands at the bottom, where a thumb reaches it.
import type { ApiApproval, ApiDecided, ApiGrantWish } from '@subluminal/contracts';
import { useMutation } from '@tanstack/react-query';
import { useState } from 'react';
import { Link } from '../../address/link.tsx';
import { post } from '../../api/ledger.ts';
import { useMay } from '../../api/session.ts';
import { Button } from '../../parts/buttons.tsx';
import { Dialog } from '../../parts/dialog.tsx';
import { FailureText } from '../../parts/failure-text.tsx';
import { GrantWords } from '../../parts/grant-words.tsx';
import { plainText } from '../../parts/plain-text.ts';
import { useShortcut } from '../../parts/shortcuts.ts';
import { Ago, Value } from '../../parts/texts.tsx';
import { GrantDialog } from './grant-dialog.tsx';
import { useAskAgain } from './use-approvals.ts';

interface BarProps {
  readonly approval: ApiApproval;
  readonly next?: string | undefined;
}

interface ChosenVerdict {
  readonly kind: 'approve' | 'reject';
  readonly grant?: ApiGrantWish | undefined;
}

/** Large enough for a thumb on a phone. */
const THUMB = 'justify-center max-md:h-11 max-md:flex-1 max-md:text-14';

function useDecide({ id, request_sha256 }: ApiApproval, note: string) {
  const askAgain = useAskAgain();
  return useMutation({
    mutationFn: ({ kind, grant }: ChosenVerdict) => {
      const seen = { request_sha256, ...(note.trim() !== '' && { note: note.trim() }) };
      return kind === 'reject'
        ? post('reject', seen, { id })
        : post('approve', { ...seen, ...(grant && { grant }) }, { id });
    },
    onSettled: askAgain,
  });
}

export function DecideBar({ approval, next }: BarProps) {
  const [note, setNote] = useState('');
  const decide = useDecide(approval, note);
  const mayDecide = useMay('owner');
  const isOpen = approval.state === 'pending' && decide.data === undefined;
  if (!isOpen && decide.data === undefined) return null;
  return (
    <div className="flex shrink-0 flex-col gap-2 border-t border-line bg-raised px-4 py-3 max-md:px-3">
      {decide.error !== null && <FailureText cause={decide.error} />}
      {decide.data !== undefined && <Outcome decided={decide.data} next={next} />}
      {isOpen && mayDecide && (
        <Choices
          approval={approval}
          note={note}
          onNote={setNote}
          isBusy={decide.isPending}
          onDecide={(verdict) => decide.mutate(verdict)}
        />
      )}
      {isOpen && !mayDecide && (
        <p className="text-dim">This page may only look. An owner can approve or reject.</p>
      )}
    </div>
  );
}

interface ChoicesProps {
  readonly approval: ApiApproval;
  readonly note: string;
  readonly onNote: (note: string) => void;
  readonly isBusy: boolean;
  readonly onDecide: (verdict: ChosenVerdict) => void;
}

function Choices({ approval, note, onNote, isBusy, onDecide }: ChoicesProps) {
  const [asked, setAsked] = useState<'approve' | 'reject' | 'grant'>();
  useShortcut('a', () => setAsked('approve'));
  useShortcut('r', () => setAsked('reject'));
  const close = () => setAsked(undefined);
  const decide = (verdict: ChosenVerdict) => {
    close();
    onDecide(verdict);
  };
  return (
    <>
      <input
        aria-label="Note"
        placeholder="Note, which is recorded"
        maxLength={2_000}
        value={note}
        onChange={({ target }) => onNote(target.value)}
        className="h-8 min-w-0 rounded-4 border border-line bg-page px-2 max-md:h-11"
      />
      <div className="flex gap-2">
        <Button
          look="danger"
          disabled={isBusy}
          title="Reject (r)"
          className={THUMB}
          onClick={() => decide({ kind: 'reject' })}
        >
          Reject
        </Button>
        <Button disabled={isBusy} className={THUMB} onClick={() => setAsked('grant')}>
          Grant…
        </Button>
        <Button
          look="primary"
          disabled={isBusy}
          title="Approve (a)"
          className={THUMB}
          onClick={() => decide({ kind: 'approve' })}
        >
          Approve
        </Button>
      </div>
      {(asked === 'approve' || asked === 'reject') && (
        <Confirm
          approval={approval}
          kind={asked}
          onClose={close}
          onSure={() => decide({ kind: asked })}
        />
      )}
      {asked === 'grant' && (
        <GrantDialog
          approval={approval}
          onClose={close}
          onGive={(grant) => decide({ kind: 'approve', grant })}
        />
      )}
    </>
  );
}

interface ConfirmProps {
  readonly approval: ApiApproval;
  readonly kind: 'approve' | 'reject';
  readonly onClose: () => void;
  readonly onSure: () => void;
}

/** A key is pressed sooner than a button: it asks once more. The first button has the focus. */
function Confirm({ approval, kind, onClose, onSure }: ConfirmProps) {
  const { call, agent } = approval.request;
  const word = kind === 'approve' ? 'Approve' : 'Reject';
  return (
    <Dialog
      title={`${word} this call?`}
      onClose={onClose}
      actions={
        <>
          <Button
            look={kind === 'approve' ? 'primary' : 'danger'}
            onClick={onSure}
          >{`${word} (Enter)`}</Button>
          <Button onClick={onClose}>Cancel</Button>
        </>
      }
    >
      <p>
        <Value text={`${call.server}/${call.tool}`} lengthMax={120} /> by the agent{' '}
        <Value text={agent.agent_id} />
      </p>
    </Dialog>
  );
}

const DONE = {
  approved: 'Approved.',
  rejected: 'Rejected.',
  expired: 'It has expired.',
  cancelled: 'It was cancelled.',
  pending: 'Nothing was changed.',
} as const;

function Outcome({
  decided,
  next,
}: {
  readonly decided: ApiDecided;
  readonly next: string | undefined;
}) {
  const { changed, approval, grant, lost } = decided;
  const { state, outcome } = approval;
  return (
    <div role="status" className="flex flex-col gap-1">
      {changed ? (
        <p>{DONE[state]}</p>
      ) : (
        <p className="border-l-2 border-throttle px-3">
          Nothing was changed: it had ended before you decided. {DONE[state]}
          {outcome !== null && (
            <>
              {' '}
              By {plainText(outcome.by)} ({plainText(outcome.channel)}){' '}
              <Ago atMs={Date.parse(outcome.at)} />
              {outcome.note !== undefined && `: ${plainText(outcome.note)}`}
            </>
          )}
        </p>
      )}
      {grant !== null && <GrantWords covers={grant.covers} />}
      {lost !== null && <p className="text-danger">No grant was given: {plainText(lost)}</p>}
      {next !== undefined && (
        <Link to={{ path: ['approvals', next] }} className="text-accent max-md:py-3">
          Next call that waits
        </Link>
      )}
    </div>
  );
}
