// How values are shown: harmless, short, and whole on demand.
import type { ReactNode } from 'react';
import { agoText, momentText } from './amounts.ts';
import { useNow } from './clock.ts';
import { foldedLine, plainLine } from './plain-text.ts';

/** A name or another value of one line, folded in the middle; the whole stands in its title. */
export function Value({
  text,
  lengthMax = 60,
}: {
  readonly text: string;
  readonly lengthMax?: number;
}) {
  const folded = foldedLine(text, lengthMax);
  const whole = plainLine(text.slice(0, 4_096));
  return (
    <span className="font-mono" title={folded === whole ? undefined : whole}>
      {folded}
    </span>
  );
}

const FOLDED_LENGTH_MAX = 240;
const TAIL_LENGTH = 16;

/** A value of one line in a cell: folded in the middle wherever the cell ends; the whole stands in its title. */
export function FoldedValue({ text }: { readonly text: string }) {
  const line = foldedLine(text, FOLDED_LENGTH_MAX);
  const tailAt = Math.max(0, line.length - TAIL_LENGTH);
  return (
    <span className="flex font-mono text-12" title={plainLine(text.slice(0, 4_096))}>
      <span className="min-w-0 truncate whitespace-pre">{line.slice(0, tailAt)}</span>
      <span className="shrink-0 whitespace-pre">{line.slice(tailAt)}</span>
    </span>
  );
}

/** How long ago; exact in its title. */
export function Ago({ atMs }: { readonly atMs: number }) {
  const nowMs = useNow();
  return (
    <time dateTime={new Date(atMs).toISOString()} title={momentText(atMs)}>
      {agoText(atMs, nowMs)}
    </time>
  );
}

/** A pair of a label and what it labels, in a list of them. */
export function Fact({
  label,
  children,
}: {
  readonly label: string;
  readonly children: ReactNode;
}) {
  return (
    <div className="flex min-h-7 items-baseline gap-2 border-b border-line py-1 last:border-b-0">
      <dt className="w-28 shrink-0 text-dim">{label}</dt>
      <dd className="min-w-0 flex-1 break-words">{children}</dd>
    </div>
  );
}

export function FactList({ children }: { readonly children: ReactNode }) {
  return <dl className="text-13">{children}</dl>;
}
