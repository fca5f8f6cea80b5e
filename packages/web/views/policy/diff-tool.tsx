// What an edited policy changes: in what it decides, and in its text.
import type { ApiPolicyDiff } from '@subluminal/contracts';
import { keepPreviousData, useQuery } from '@tanstack/react-query';
import { post } from '../../api/ledger.ts';
import { useDebounced } from '../../parts/debounced.ts';
import { FailureText } from '../../parts/failure-text.tsx';
import { plainText } from '../../parts/plain-text.ts';
import { TextDiff } from '../../parts/text-diff.tsx';
import { type GivenPolicy, givenBody } from './given-policy.ts';

export function usePolicyDiff(given: GivenPolicy) {
  return useQuery({
    queryKey: ['policyDiff', given],
    queryFn: () => post('policyDiff', givenBody(given)),
    placeholderData: keepPreviousData,
    gcTime: 0,
    retry: false,
  });
}

interface DiffToolProps {
  readonly given: GivenPolicy;
  readonly before: string;
}

export function DiffTool({ given, before }: DiffToolProps) {
  const settled = useDebounced(given);
  const { data, error } = usePolicyDiff(settled);
  return (
    <div className="flex flex-col gap-3">
      {error !== null && <FailureText cause={error} />}
      {data !== undefined && error === null && <BehaviourDiff diff={data} />}
      {before === settled.text ? (
        <p className="text-dim">The text is the same.</p>
      ) : (
        <TextDiff before={before} after={settled.text} />
      )}
    </div>
  );
}

const INKS = {
  loosens: 'text-danger',
  mixed: 'text-throttle-ink',
  tightens: 'text-allow-ink',
  alters: 'text-dim',
  none: 'text-dim',
} as const;

export function BehaviourDiff({ diff }: { readonly diff: ApiPolicyDiff }) {
  const { loosens, mixed, tightens } = diff.summary;
  if (diff.same) return <p className="text-dim">Nothing changes that a decision depends on.</p>;
  return (
    <div className="flex flex-col gap-1">
      <p>
        {loosens} loosen, {mixed} mixed, {tightens} tighten
      </p>
      <ul>
        {diff.changes.map(({ path, change, effect, summary }) => (
          <li key={`${path} ${change}`} className="flex gap-2 border-t border-line py-1">
            <span className={`w-16 shrink-0 ${INKS[effect]}`}>{effect}</span>
            <span className="min-w-0 flex-1 break-words">
              <span className="font-mono text-12">{plainText(path)}</span>{' '}
              <span className="text-dim">{plainText(summary)}</span>
            </span>
          </li>
        ))}
      </ul>
    </div>
  );
}
