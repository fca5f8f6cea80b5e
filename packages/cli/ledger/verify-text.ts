// The report of `sub ledger verify`, in words.
import type { LedgerFinding, Prune, VerifyReport } from '@subluminal/plane/ledger';
import type { Colors } from '../terminal/io.ts';
import { harmless, plural } from '../terminal/text.ts';

const SHOWN_MAX = 10;
const PRUNES_SHOWN_MAX = 3;
const KEY_SHOWN_LENGTH = 16;

interface Style {
  readonly file: string;
  readonly colors: Colors;
}

export function verifyText(report: VerifyReport, { file, colors }: Style): string {
  const { findings, findingsTotal } = report;
  const first = firstError(report);
  const head =
    first === undefined
      ? colors.green(`✔ ${harmless(file)}: ${verdictOf(report)}.`)
      : colors.red(`✘ ${harmless(file)}: ${wordsOf(first)}`);
  const others = findings.filter((one) => one !== first && one.level !== 'note');
  const shown = others.slice(0, SHOWN_MAX);
  const notes = findings.filter(({ level }) => level === 'note').length;
  const more = findingsTotal - notes - shown.length - (first === undefined ? 0 : 1);
  const lines = [
    head,
    ...shown.map((one) => `  ${one.level}: ${wordsOf(one)}`),
    ...(more > 0 ? [`  … and ${more} more.`] : []),
    ...pruneLines(report),
    `  ${factsOf(report)}`,
  ];
  return `${lines.join('\n')}\n`;
}

/** The error with the lowest event; errors about no event come last. */
export function firstError({ findings }: VerifyReport): LedgerFinding | undefined {
  const place = ({ fromSeq }: LedgerFinding) => fromSeq ?? Number.POSITIVE_INFINITY;
  const errors = findings.filter(({ level }) => level === 'error');
  return errors.reduce<LedgerFinding | undefined>(
    (best, one) => (best === undefined || place(one) < place(best) ? one : best),
    undefined,
  );
}

/** Claims only what was proven: about signed events that were not pruned, and checked rows. */
function verdictOf({ events, signedSeq, tip, prunes, projections }: VerifyReport): string {
  if (events === 0) return 'there are no events';
  const isQuick = projections === 'counted';
  const what = isQuick ? 'no event' : 'nothing';
  const scope = tip.seq > signedSeq ? `up to event ${signedSeq}, ` : '';
  const parts = [
    prunes.total > 0
      ? `${scope}${what} was changed or added, and ${what} removed but what was pruned`
      : `${scope}${what} was changed, removed or added`,
    ...(tip.seq > signedSeq ? [unsignedText(signedSeq + 1, tip.seq)] : []),
    ...(isQuick ? ['rows were only counted'] : []),
  ];
  return parts.join('; ');
}

function unsignedText(from: number, to: number): string {
  return from === to
    ? `event ${from} is not signed yet`
    : `events ${from} to ${to} are not signed yet`;
}

function wordsOf({ kind, message, fromSeq, toSeq }: LedgerFinding): string {
  const place =
    fromSeq === null || message.includes(String(fromSeq))
      ? ''
      : ` (event ${fromSeq}${toSeq === null || toSeq === fromSeq ? '' : `–${toSeq}`})`;
  return harmless(`${kind}: ${message}${place}`);
}

function pruneLines({ prunes }: VerifyReport): readonly string[] {
  const shown = prunes.last.slice(-PRUNES_SHOWN_MAX);
  const before = prunes.total - shown.length;
  return [
    ...(before > 0 ? [`  pruned: ${before} times before.`] : []),
    ...shown.map((one) => `  pruned: ${harmless(pruneText(one))}`),
  ];
}

function pruneText({ seq, atMs, by, runs, events, reason }: Prune): string {
  const when = atMs === null ? '' : `${new Date(atMs).toISOString()}, `;
  const who = by === null ? '' : by === 'retention' ? ', by retention' : ', on request';
  const ofRuns = runs === null ? '' : ` of ${plural(runs, 'run')}`;
  return `${when}${plural(events, 'event')}${ofRuns}${who} (${reason}), as event ${seq} tells.`;
}

function factsOf(report: VerifyReport): string {
  const { events, pruned, heads, signedSeq, signatures, projections, keyId } = report;
  const gone = pruned === 0 ? '' : ` (${pruned} pruned)`;
  const signed = `${plural(heads, 'signed head')} up to event ${signedSeq}`;
  const key = keyId === null ? '' : ` with key ${harmless(keyId.slice(0, KEY_SHOWN_LENGTH))}`;
  const checked =
    signatures === 'checked'
      ? `signatures checked${key}`
      : 'signatures not checked: there is no ledger.key';
  const rows = projections === 'compared' ? 'rows compared' : 'rows only counted';
  return `${plural(events, 'event')}${gone}, ${signed}, ${checked}, ${rows}.`;
}

/** What `--progress` prints, and who reads it. */
export function progressLine(checked: number, total: number): string {
  return `${checked} of ${total} events\n`;
}

export function readProgress(line: string): readonly [checked: number, total: number] | undefined {
  const [, checked, total] = /^(\d{1,15}) of (\d{1,15}) events$/.exec(line) ?? [];
  return checked === undefined ? undefined : [Number(checked), Number(total)];
}
