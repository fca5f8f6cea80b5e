// Lets the like of a refused call pass. What would be done is shown first, and exactly that is done.
import type { ApiHintedCall, ApiPromote, ApiPromoted } from '@subluminal/contracts';
import { keepPreviousData, useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { post } from '../../api/ledger.ts';
import { Button } from '../../parts/buttons.tsx';
import { Dialog } from '../../parts/dialog.tsx';
import { FailureText } from '../../parts/failure-text.tsx';
import { GrantWords } from '../../parts/grant-words.tsx';
import { plainText } from '../../parts/plain-text.ts';
import { Value } from '../../parts/texts.tsx';
import { UnifiedDiff } from '../../parts/unified-diff.tsx';

type PromoteWay = 'policy' | 'policy-run' | 'session';

interface PromoteDialogProps {
  readonly call: ApiHintedCall;
  readonly onClose: () => void;
  readonly onDone: (words: string) => void;
}

export function PromoteDialog({ call, onClose, onDone }: PromoteDialogProps) {
  const [way, setWay] = useState<PromoteWay>('policy');
  const [isAny, setAny] = useState(false);
  const wish = wishOf(way, isAny);
  const ids = { run_id: call.run_id, call_id: call.call_id };
  const client = useQueryClient();
  const { data, error, isPlaceholderData } = useQuery({
    queryKey: ['promote-preview', ids, wish],
    queryFn: () => post('promoteHint', { ...wish, dry_run: true }, ids),
    placeholderData: keepPreviousData,
    gcTime: 0,
    retry: false,
  });
  const isShown = data !== undefined && error === null && !isPlaceholderData;
  const promote = useMutation({
    mutationFn: (shown: ApiPromoted) => {
      const base = shown.policy === null ? {} : { base_sha256: shown.policy.base_sha256 };
      return post('promoteHint', { ...wish, ...base }, ids);
    },
    onSuccess: (given) => onDone(doneWords(given)),
    // After a refusal: the file is another one now, and is shown anew.
    onError: () => void client.invalidateQueries({ queryKey: ['promote-preview', ids] }),
  });
  return (
    <Dialog
      title="Let this call pass from now on?"
      onClose={onClose}
      actions={
        <>
          <Button className="max-md:h-11" onClick={onClose}>
            Cancel
          </Button>
          <Button
            look="primary"
            className="max-md:h-11"
            disabled={!isShown || promote.isPending}
            onClick={() => data !== undefined && promote.mutate(data)}
          >
            {way === 'session' ? 'Grant' : 'Add the rule'}
          </Button>
        </>
      }
    >
      <WayChoice way={way} onWay={setWay} hasEnded={call.run_ended} />
      <label className="flex items-center gap-1 max-md:h-11">
        <input type="checkbox" checked={isAny} onChange={({ target }) => setAny(target.checked)} />
        With any arguments, not only those of the call
      </label>
      <div aria-live="polite" className="max-h-[50vh] min-h-60 overflow-y-auto">
        {error !== null && <FailureText cause={error} />}
        {error === null && data !== undefined && (
          <div className={isShown ? '' : 'opacity-50'}>
            <Preview planned={data} />
          </div>
        )}
      </div>
      {promote.error !== null && <FailureText cause={promote.error} />}
    </Dialog>
  );
}

function wishOf(way: PromoteWay, isAny: boolean): ApiPromote {
  return {
    to: way === 'session' ? 'session' : 'policy',
    ...(way === 'policy-run' && { this_run_only: true }),
    ...(isAny && { any_args: true }),
  };
}

function doneWords({ policy, grant }: ApiPromoted): string {
  if (policy !== null) return plainText(`The rule ${policy.rule_id} is in ${policy.path}.`);
  return plainText(`Granted for the rest of the run: ${grant?.id ?? ''}.`);
}

const WAYS: readonly (readonly [PromoteWay, string])[] = [
  ['policy', 'By a rule in the policy'],
  ['policy-run', 'By a rule for this run only'],
  ['session', 'By a grant for the rest of this run'],
];

interface WayChoiceProps {
  readonly way: PromoteWay;
  readonly onWay: (way: PromoteWay) => void;
  readonly hasEnded: boolean;
}

function WayChoice({ way, onWay, hasEnded }: WayChoiceProps) {
  return (
    <fieldset className="flex flex-col">
      <legend className="pb-1 text-12 text-dim">How</legend>
      {WAYS.map(([value, label]) => {
        const isLate = hasEnded && value !== 'policy';
        return (
          <label
            key={value}
            className={`flex min-h-6 items-center gap-1 max-md:h-11 ${isLate ? 'text-dim' : ''}`}
          >
            <input
              type="radio"
              name="way"
              checked={value === way}
              disabled={isLate}
              onChange={() => onWay(value)}
            />
            {label}
            {isLate && ' (the run has ended)'}
          </label>
        );
      })}
    </fieldset>
  );
}

function Preview({ planned: { policy, grant } }: { readonly planned: ApiPromoted }) {
  if (policy !== null) {
    return (
      <div className="flex flex-col gap-2">
        <p>
          Changes <Value text={policy.path} lengthMax={56} />:
        </p>
        <UnifiedDiff label="Change of the policy" text={policy.diff} />
        <ul className="list-disc pl-4 text-dim">
          {policy.notes.map((note) => (
            <li key={note}>{plainText(note)}</li>
          ))}
        </ul>
      </div>
    );
  }
  return (
    <div>
      <h3 className="pb-1 text-12 text-dim">This would pass without asking</h3>
      <GrantWords covers={grant?.covers ?? []} />
    </div>
  );
}
