// An approval that lasts. What it covers is said in words by the server before it is given.
import type { ApiApproval, ApiGrantWish } from '@subluminal/contracts';
import { keepPreviousData, useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { post } from '../../api/ledger.ts';
import { Button } from '../../parts/buttons.tsx';
import { useDebounced } from '../../parts/debounced.ts';
import { Dialog } from '../../parts/dialog.tsx';
import { FailureText } from '../../parts/failure-text.tsx';
import { GrantWords } from '../../parts/grant-words.tsx';
import { Value } from '../../parts/texts.tsx';
import {
  type ArgChoice,
  type ArgsScope,
  firstChoice,
  type GrantChoice,
  type GrantSpan,
  wishOf,
} from './grant-wish.ts';

const SPANS: readonly (readonly [GrantSpan, string])[] = [
  ['once', 'Once more'],
  ['run', 'This run'],
  ['minutes', 'For a time'],
  ['always', 'Always'],
];
const SCOPES: readonly (readonly [ArgsScope, string])[] = [
  ['exact', 'Exactly these'],
  ['pattern', 'Some may differ'],
  ['any', 'Any'],
];
const MINUTES_MAX = 366 * 24 * 60;

interface GrantDialogProps {
  readonly approval: ApiApproval;
  readonly onClose: () => void;
  readonly onGive: (wish: ApiGrantWish) => void;
}

export function GrantDialog({ approval, onClose, onGive }: GrantDialogProps) {
  const [choice, setChoice] = useState(() => firstChoice(approval.request.call.args));
  const change = (part: Partial<GrantChoice>) => setChoice({ ...choice, ...part });
  const wish = wishOf(choice);
  const preview = usePreview(approval, wish);
  const isShown = preview.isSuccess && !preview.isStale;
  return (
    <Dialog
      title="Approve, and grant the like"
      onClose={onClose}
      actions={
        <>
          <Button className="max-md:h-11" onClick={onClose}>
            Cancel
          </Button>
          <Button
            look="primary"
            className="max-md:h-11"
            disabled={!isShown}
            onClick={() => onGive(wish)}
          >
            Approve and grant
          </Button>
        </>
      }
    >
      <Choice
        legend="How long"
        options={SPANS}
        chosen={choice.span}
        onChoose={(span) => change({ span })}
      />
      {choice.span === 'minutes' && (
        <label className="flex items-center gap-2">
          Minutes
          <input
            type="number"
            min={1}
            max={MINUTES_MAX}
            value={choice.minutes}
            onChange={({ target }) => change({ minutes: minutesOf(target.value) })}
            className="h-8 w-24 rounded-4 border border-line bg-page px-2 text-right"
          />
        </label>
      )}
      {choice.span !== 'once' && (
        <Choice
          legend="With which arguments"
          options={SCOPES}
          chosen={choice.scope}
          onChoose={(scope) => change({ scope })}
        />
      )}
      {choice.span !== 'once' && choice.scope === 'pattern' && (
        <ArgLimits args={choice.args} onChange={(args) => change({ args })} />
      )}
      <div aria-live="polite" className="min-h-24">
        <h3 className="pb-1 text-12 text-dim">This would pass without asking</h3>
        {preview.error === null ? (
          <div className={isShown ? '' : 'opacity-50'}>
            <GrantWords covers={preview.covers} />
          </div>
        ) : (
          <FailureText cause={preview.error} />
        )}
      </div>
    </Dialog>
  );
}

function minutesOf(text: string): number {
  return Math.min(MINUTES_MAX, Math.max(1, Math.floor(Number(text)) || 1));
}

function usePreview({ id, request_sha256 }: ApiApproval, wish: ApiGrantWish) {
  const settled = useDebounced(wish);
  const { data, error, isSuccess, isPlaceholderData } = useQuery({
    queryKey: ['grant-preview', id, settled],
    queryFn: () => post('approve', { request_sha256, grant: settled, dry_run: true }, { id }),
    placeholderData: keepPreviousData,
    retry: false,
  });
  const isStale = isPlaceholderData || JSON.stringify(settled) !== JSON.stringify(wish);
  return { covers: data?.grant?.covers ?? [], error, isSuccess, isStale };
}

interface ChoiceProps<V extends string> {
  readonly legend: string;
  readonly options: readonly (readonly [value: V, label: string])[];
  readonly chosen: V;
  readonly onChoose: (value: V) => void;
}

function Choice<V extends string>({ legend, options, chosen, onChoose }: ChoiceProps<V>) {
  return (
    <fieldset className="flex flex-wrap gap-x-4">
      <legend className="pb-1 text-12 text-dim">{legend}</legend>
      {options.map(([value, label]) => (
        <label key={value} className="flex items-center gap-1 max-md:h-11">
          <input
            type="radio"
            name={legend}
            checked={value === chosen}
            onChange={() => onChoose(value)}
          />
          {label}
        </label>
      ))}
    </fieldset>
  );
}

const LIMITS = [
  ['equal', 'exactly'],
  ['like', 'like'],
  ['free', 'anything'],
] as const;

interface ArgLimitsProps {
  readonly args: readonly ArgChoice[];
  readonly onChange: (args: readonly ArgChoice[]) => void;
}

function ArgLimits({ args, onChange }: ArgLimitsProps) {
  const change = (name: string, part: Partial<ArgChoice>) =>
    onChange(args.map((one) => (one.name === name ? { ...one, ...part } : one)));
  return (
    <ul className="max-h-60 overflow-y-auto border-y border-line">
      {args.map(({ name, value, is, glob }) => (
        <li key={name} className="flex flex-wrap items-center gap-2 py-1">
          <span className="w-28 truncate">
            <Value text={name} lengthMax={20} />
          </span>
          <select
            aria-label={`What ${name} may be`}
            value={is}
            onChange={({ target }) => {
              const chosen = LIMITS.find(([limit]) => limit === target.value)?.[0] ?? 'equal';
              change(name, { is: chosen });
            }}
            className="h-7 rounded-4 border border-line bg-page px-1 max-md:h-11"
          >
            {LIMITS.filter(([limit]) => limit !== 'like' || typeof value === 'string').map(
              ([limit, word]) => (
                <option key={limit} value={limit}>
                  {word}
                </option>
              ),
            )}
          </select>
          {is === 'like' ? (
            <input
              aria-label={`What ${name} must be like`}
              value={glob}
              maxLength={1_024}
              onChange={({ target }) => change(name, { glob: target.value })}
              className="h-7 min-w-40 flex-1 rounded-4 border border-line bg-page px-2 font-mono text-12 max-md:h-11"
            />
          ) : (
            <span className="min-w-0 flex-1 truncate text-dim">
              {is === 'equal' && (
                <Value
                  text={typeof value === 'string' ? value : JSON.stringify(value)}
                  lengthMax={48}
                />
              )}
            </span>
          )}
        </li>
      ))}
    </ul>
  );
}
