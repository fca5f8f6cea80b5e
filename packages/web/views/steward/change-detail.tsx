// One change: each file before and after, side by side, and what can be decided about it.
import type { ApiAnswerOf } from '@subluminal/contracts';
import { useQuery } from '@tanstack/react-query';
import { useRef, useState } from 'react';
import { asked, post } from '../../api/ledger.ts';
import { useMay } from '../../api/session.ts';
import { AskFirst } from '../../parts/ask-first.tsx';
import { Button } from '../../parts/buttons.tsx';
import { CodeEditor } from '../../parts/code-editor.tsx';
import { FailureText } from '../../parts/failure-text.tsx';
import { plainText } from '../../parts/plain-text.ts';
import { TextDiff } from '../../parts/text-diff.tsx';
import { Ago, Fact, FactList, Value } from '../../parts/texts.tsx';
import { UnifiedDiff } from '../../parts/unified-diff.tsx';
import { AGAIN_MS, type StewardChange, useDecision } from './use-steward.ts';

type ChangeView = ApiAnswerOf<'stewardChange'>;
type ChangedFile = ChangeView['files'][number];

const STATES: { readonly [state in StewardChange['state']]: { word: string; ink: string } } = {
  open: { word: 'waits', ink: 'text-ask-ink' },
  committing: { word: 'is made', ink: 'text-dim' },
  committed: { word: 'approved', ink: 'text-allow-ink' },
  rejected: { word: 'rejected', ink: 'text-block-ink' },
  rolled_back: { word: 'taken back', ink: 'text-dim' },
};

export function ChangeState({ state }: { readonly state: StewardChange['state'] }) {
  return <span className={STATES[state].ink}>{STATES[state].word}</span>;
}

export function ChangeDetail({ id }: { readonly id: string }) {
  const [edited, setEdited] = useState<string>();
  const { data, error } = useQuery({
    ...asked('stewardChange', { query: { id } }),
    refetchInterval: AGAIN_MS,
  });
  if (data === undefined) return error === null ? null : <FailureText cause={error} />;
  const file = data.files.find(({ path }) => path === edited);
  if (file !== undefined) {
    return <FileEditor view={data} file={file} onClose={() => setEdited(undefined)} />;
  }
  return (
    <>
      <div className="min-h-0 flex-1 overflow-y-auto">
        <div className="flex max-w-[1280px] flex-col gap-4 p-4 max-sm:p-3">
          <Head view={data} />
          {data.files.map((one) => (
            <FileChange
              key={one.path}
              file={one}
              isOpen={data.change.state === 'open'}
              onEdit={() => setEdited(one.path)}
            />
          ))}
        </div>
      </div>
      <Decide view={data} />
    </>
  );
}

function Head({ view: { change, loosens, notes } }: { readonly view: ChangeView }) {
  const { state, why, by, decided_at_ms, proposed_at_ms, is_modified } = change;
  return (
    <div className="flex flex-col gap-2">
      <p className="text-14 break-words whitespace-pre-wrap">{plainText(why)}</p>
      {loosens.length > 0 && (
        <div role="note" className="border-l-2 border-throttle px-3 py-1">
          <p>This lets pass what is stopped now:</p>
          <ul className="list-disc pl-4">
            {loosens.map((words) => (
              <li key={words}>{plainText(words)}</li>
            ))}
          </ul>
        </div>
      )}
      {notes.length > 0 && (
        <ul aria-label="What it is" className="list-disc pl-4">
          {notes.map((words) => (
            <li key={words}>{plainText(words)}</li>
          ))}
        </ul>
      )}
      <FactList>
        <Fact label="State">
          <ChangeState state={state} />
          {by !== null && <span className="text-dim"> by {plainText(by)}</span>}{' '}
          {decided_at_ms !== null && <Ago atMs={decided_at_ms} />}
        </Fact>
        <Fact label="Proposed">
          <Ago atMs={proposed_at_ms} />
          {is_modified && <span className="text-dim">, edited by you</span>}
        </Fact>
      </FactList>
    </div>
  );
}

interface FileChangeProps {
  readonly file: ChangedFile;
  readonly isOpen: boolean;
  readonly onEdit: () => void;
}

function FileChange({ file, isOpen, onEdit }: FileChangeProps) {
  const { path, to, kind, before, after, diff } = file;
  const mayAct = useMay('owner');
  return (
    <figure className="flex flex-col gap-1">
      <figcaption className="flex flex-wrap items-center gap-x-2">
        <span className="text-dim">{kind}</span>
        <Value text={path} lengthMax={100} />
        {to !== null && (
          <>
            <span className="text-dim">to</span> <Value text={to} lengthMax={100} />
          </>
        )}
        {isOpen && mayAct && kind !== 'delete' && after !== null && (
          <Button className="ml-auto" onClick={onEdit}>
            Edit…
          </Button>
        )}
      </figcaption>
      {before === null || after === null ? (
        <UnifiedDiff label={`Change of ${plainText(path)}`} text={diff} />
      ) : (
        <TextDiff before={before} after={after} />
      )}
    </figure>
  );
}

interface FileEditorProps {
  readonly view: ChangeView;
  readonly file: ChangedFile;
  readonly onClose: () => void;
}

/** The user's own text in place of the proposed one; it is still to be approved. */
function FileEditor({ view, file, onClose }: FileEditorProps) {
  const { path } = file;
  const [text, setText] = useState(file.after ?? '');
  const area = useRef<HTMLTextAreaElement>(null);
  // What was seen when the editor was opened.
  const [seen] = useState({ id: view.change.id, sha256: view.sha256 });
  const save = useDecision(() => post('stewardEditChange', { ...seen, path, text }));
  return (
    <div className="flex min-h-0 flex-1 flex-col">
      <p className="border-b border-line px-3 py-1">
        <Value text={path} lengthMax={100} />
      </p>
      <CodeEditor label="Proposed text" text={text} onText={setText} marks={[]} area={area} />
      {save.error !== null && <FailureText cause={save.error} />}
      <div className="flex gap-2 border-t border-line bg-raised px-3 py-2">
        <Button onClick={onClose}>Cancel</Button>
        <Button
          look="primary"
          disabled={save.isPending}
          onClick={() => save.mutate(undefined, { onSuccess: onClose })}
        >
          Keep this text
        </Button>
      </div>
    </div>
  );
}

/** Large enough for a thumb on a phone. */
const THUMB = 'justify-center max-md:h-11 max-md:flex-1 max-md:text-14';

function Decide({ view: { change, sha256 } }: { readonly view: ChangeView }) {
  const { id, state, kind } = change;
  const mayAct = useMay('owner');
  const [isAsking, setAsking] = useState(false);
  const approve = useDecision(() => post('stewardApproveChange', { id, sha256 }));
  const reject = useDecision(() => post('stewardRejectChange', { id }));
  const rollBack = useDecision((is_forced: boolean) =>
    post('stewardRollBackChange', { id, is_forced }),
  );
  if (state !== 'open' && state !== 'committed') return null;
  const failed = approve.error ?? reject.error;
  const isBusy = approve.isPending || reject.isPending;
  return (
    <div className="flex shrink-0 flex-col gap-2 border-t border-line bg-raised px-4 py-3 max-md:px-3">
      {failed !== null && <FailureText cause={failed} />}
      {!mayAct && <p className="text-dim">This page may only look. An owner can decide.</p>}
      {mayAct && state === 'open' && (
        <div className="flex gap-2">
          <Button
            look="danger"
            disabled={isBusy}
            className={THUMB}
            onClick={() => reject.mutate(undefined)}
          >
            Reject
          </Button>
          <Button
            look="primary"
            disabled={isBusy}
            className={THUMB}
            onClick={() => approve.mutate(undefined)}
          >
            {kind === 'files' ? 'Approve' : 'Merge'}
          </Button>
        </div>
      )}
      {mayAct && state === 'committed' && (
        <div className="flex">
          <Button className={THUMB} onClick={() => setAsking(true)}>
            Take back…
          </Button>
        </div>
      )}
      {isAsking && (
        <AskFirst
          title="Take this change back?"
          action={rollBack.error === null || kind !== 'files' ? 'Take back' : 'Take back anyway'}
          error={rollBack.error}
          isPending={rollBack.isPending}
          onNo={() => setAsking(false)}
          onYes={() =>
            rollBack.mutate(rollBack.error !== null && kind === 'files', {
              onSuccess: () => setAsking(false),
            })
          }
        >
          <p>The files are as they were before it. What it brought is gone.</p>
        </AskFirst>
      )}
    </div>
  );
}
