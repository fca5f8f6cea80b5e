import { useState } from 'react';
import { goTo } from '../address/address.ts';
import { DAY_MS, momentText } from '../parts/amounts.ts';
import { Button } from '../parts/buttons.tsx';
import { Dialog } from '../parts/dialog.tsx';
import { rangeParams, type ShownRange, SINCE_CHOICES } from './ranges.ts';

const CUSTOM = 'custom';

/** A new range shows its newest calls. */
export function goToRange(range: Parameters<typeof rangeParams>[0]): void {
  goTo({ params: { ...rangeParams(range), at: '' } });
}

export function TimeRangeSelect({ range }: { readonly range: ShownRange }) {
  const [isAsking, setAsking] = useState(false);
  const value = range.kind === 'since' ? range.id : CUSTOM;
  const choose = (id: string) => {
    if (id === CUSTOM) setAsking(true);
    else goToRange({ since: id });
  };
  return (
    <>
      <select
        aria-label="Time range"
        title={range.kind === 'span' ? spanText(range) : undefined}
        value={value}
        onChange={({ target }) => choose(target.value)}
        className="h-7 rounded-4 border border-line bg-page px-1 text-13 max-sm:h-9"
      >
        {SINCE_CHOICES.map(({ id, title }) => (
          <option key={id} value={id}>
            {title}
          </option>
        ))}
        <option value={CUSTOM}>{range.kind === 'span' ? 'Custom' : 'Custom …'}</option>
      </select>
      {range.kind === 'span' && (
        <Button onClick={() => setAsking(true)} className="max-md:hidden">
          {spanText(range)}
        </Button>
      )}
      {isAsking && <SpanDialog range={range} onClose={() => setAsking(false)} />}
    </>
  );
}

function spanText({ fromMs, toMs }: Extract<ShownRange, { kind: 'span' }>): string {
  const text = (ms: number | undefined) => (ms === undefined ? '…' : momentText(ms).slice(5, 19));
  return `${text(fromMs)} – ${text(toMs)}`;
}

function SpanDialog({
  range,
  onClose,
}: {
  readonly range: ShownRange;
  readonly onClose: () => void;
}) {
  const [nowMs] = useState(() => Date.now());
  const start = range.kind === 'span' ? range : { fromMs: nowMs - DAY_MS, toMs: nowMs };
  const [from, setFrom] = useState(inputText(start.fromMs ?? nowMs - DAY_MS));
  const [to, setTo] = useState(inputText(start.toMs ?? nowMs));
  const [fromMs, toMs] = [new Date(from).getTime(), new Date(to).getTime()];
  const isRight = toMs > fromMs;
  const submit = (event: { preventDefault(): void }) => {
    event.preventDefault();
    if (!isRight) return;
    goToRange({ from: fromMs, to: toMs });
    onClose();
  };
  const look = 'h-8 rounded-4 border border-line bg-page px-2';
  const field = { type: 'datetime-local', step: 1, className: look } as const;
  return (
    <Dialog title="Time range" onClose={onClose} actions={<></>}>
      <form onSubmit={submit} className="flex flex-col gap-3">
        <label className="flex items-center gap-2">
          <span className="w-12">From</span>
          <input {...field} value={from} onChange={({ target }) => setFrom(target.value)} />
        </label>
        <label className="flex items-center gap-2">
          <span className="w-12">To</span>
          <input {...field} value={to} onChange={({ target }) => setTo(target.value)} />
        </label>
        <div className="flex justify-end gap-2">
          <Button onClick={onClose}>Cancel</Button>
          <Button type="submit" look="primary" disabled={!isRight}>
            Apply
          </Button>
        </div>
      </form>
    </Dialog>
  );
}

function inputText(ms: number): string {
  return momentText(ms).slice(0, 19).replace(' ', 'T');
}
