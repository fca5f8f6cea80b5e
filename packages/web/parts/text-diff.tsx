// Two texts side by side; below each other where there is no room.
import { useMemo, useState } from 'react';
import { type DiffLine, lineDiff } from './line-diff.ts';
import { plainText } from './plain-text.ts';

const CONTEXT = 3;
const LINES_SHOWN = 2_000;

interface Pair {
  readonly left: DiffLine | undefined;
  readonly right: DiffLine | undefined;
}

type Part = readonly Pair[] | { readonly hidden: readonly Pair[] };

export function TextDiff({ before, after }: { readonly before: string; readonly after: string }) {
  const parts = useMemo(() => foldedParts(pairsOf(lineDiff(before, after))), [before, after]);
  return (
    <div
      className="@container overflow-x-auto rounded-4 border border-line font-mono text-12"
      role="table"
      aria-label="Changes"
    >
      {parts.map((part, at) =>
        'hidden' in part ? <Hidden key={at} pairs={part.hidden} /> : <Rows key={at} pairs={part} />,
      )}
    </div>
  );
}

function Hidden({ pairs }: { readonly pairs: readonly Pair[] }) {
  const [isOpen, setOpen] = useState(false);
  if (isOpen) return <Rows pairs={pairs} />;
  return (
    <div role="row">
      <div role="cell">
        <button
          type="button"
          className="block w-full bg-raised px-2 py-1 text-left text-dim hover:bg-hover"
          onClick={() => setOpen(true)}
        >
          {pairs.length} unchanged {pairs.length === 1 ? 'line' : 'lines'}
        </button>
      </div>
    </div>
  );
}

function Rows({ pairs }: { readonly pairs: readonly Pair[] }) {
  const cut = pairs.slice(0, LINES_SHOWN);
  return (
    <>
      {cut.map((pair, at) => (
        <div key={at} role="row" className="grid @2xl:grid-cols-2">
          <Side line={pair.left} number={pair.left?.before} isTwice={pair.left?.kind === 'same'} />
          <Side line={pair.right} number={pair.right?.after} />
        </div>
      ))}
      {pairs.length > cut.length && (
        <p className="px-2 py-1 text-dim">
          {pairs.length - cut.length} further lines are not shown.
        </p>
      )}
    </>
  );
}

const LOOKS = {
  same: { sign: ' ', className: '' },
  removed: { sign: '−', className: 'bg-block/15' },
  added: { sign: '+', className: 'bg-allow/15' },
} as const;

function Side(props: {
  readonly line: DiffLine | undefined;
  readonly number: number | undefined;
  /** Where both sides stand below each other, a line that stayed is shown once. */
  readonly isTwice?: boolean;
}) {
  const { line, number, isTwice = false } = props;
  const hidden = line === undefined || isTwice ? '@max-2xl:hidden' : '';
  const { sign, className } = LOOKS[line?.kind ?? 'same'];
  return (
    <div role="cell" className={`flex min-h-5 min-w-0 ${className} ${hidden}`}>
      <span className="w-10 shrink-0 pr-2 text-right text-dim select-none">{number}</span>
      <span className="w-4 shrink-0 select-none">{sign}</span>
      <span className="min-w-0 flex-1 break-words whitespace-pre-wrap">
        {plainText(line?.text ?? '')}
      </span>
    </div>
  );
}

/** Lines that were taken out stand beside those that were put in. */
function pairsOf(lines: readonly DiffLine[]): readonly Pair[] {
  const pairs: Pair[] = [];
  let removed: DiffLine[] = [];
  let added: DiffLine[] = [];
  const flush = () => {
    for (let at = 0; at < Math.max(removed.length, added.length); at++) {
      pairs.push({ left: removed[at], right: added[at] });
    }
    removed = [];
    added = [];
  };
  for (const line of lines) {
    if (line.kind === 'removed') removed.push(line);
    else if (line.kind === 'added') added.push(line);
    else {
      flush();
      pairs.push({ left: line, right: line });
    }
  }
  flush();
  return pairs;
}

/** What stayed is folded, but for a few lines around each change. */
function foldedParts(pairs: readonly Pair[]): readonly Part[] {
  const isNear = pairs.map(() => false);
  for (const [at, { left }] of pairs.entries()) {
    if (left?.kind === 'same') continue;
    isNear.fill(true, Math.max(0, at - CONTEXT), at + CONTEXT + 1);
  }
  const parts: Part[] = [];
  let from = 0;
  for (let at = 1; at <= pairs.length; at++) {
    if (at < pairs.length && isNear[at] === isNear[from]) continue;
    const part = pairs.slice(from, at);
    parts.push(isNear[from] ? part : { hidden: part });
    from = at;
  }
  return parts;
}
