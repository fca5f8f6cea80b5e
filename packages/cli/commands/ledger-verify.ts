import { type Finding, type VerifyReport, verifyLedger } from '@subluminal/plane/ledger';
import type { LedgerVerifyInput } from '../catalog/ledger.ts';
import { done, type Outcome } from '../command.ts';
import { EXIT } from '../exit-codes.ts';
import { isFailure } from '../failure.ts';
import type { Colors, Io } from '../io.ts';
import { freshen } from '../ledger/fresh.ts';
import { findLedger, findVerifier, withReader } from '../ledger/home.ts';
import { harmless, jsonText, plural } from '../text.ts';

const SHOWN_MAX = 10;

async function run({ options }: LedgerVerifyInput, io: Io): Promise<Outcome> {
  const home = await findLedger();
  if (isFailure(home)) return home;
  await freshen(home, io);
  const verifier = await findVerifier(home.paths.ledgerKey);
  if (isFailure(verifier)) return verifier;
  const { witness } = home;
  const report = await withReader(home, (reader) =>
    verifyLedger(reader, { verifier, witness, deep: options.deep }),
  );
  if (isFailure(report)) return report;
  io.out.write(
    options.json
      ? jsonText(documentOf(report, home.file))
      : textOf(report, { file: home.file, colors: io.out.colors }),
  );
  return done(report.ok ? EXIT.fine : EXIT.findings);
}

function documentOf(report: VerifyReport, file: string) {
  const first = firstError(report);
  return {
    ok: report.ok,
    ledger: file,
    ledger_id: report.ledgerId,
    events: report.events,
    pruned: report.pruned,
    heads: report.heads,
    signed_seq: report.signedSeq,
    tip: report.tip,
    signatures: report.signatures,
    rows: report.projections,
    first: first === undefined ? null : findingOf(first),
    findings: report.findings.map(findingOf),
    findings_total: report.findingsTotal,
  };
}

function findingOf({ kind, level, fromSeq, toSeq, message }: Finding) {
  return { kind, level, from_seq: fromSeq, to_seq: toSeq, message };
}

/** The one with the lowest event; what is not about an event comes last. */
function firstError({ findings }: VerifyReport): Finding | undefined {
  const place = ({ fromSeq }: Finding) => fromSeq ?? Number.POSITIVE_INFINITY;
  const errors = findings.filter(({ level }) => level === 'error');
  return errors.reduce<Finding | undefined>(
    (best, one) => (best === undefined || place(one) < place(best) ? one : best),
    undefined,
  );
}

function textOf(
  report: VerifyReport,
  { file, colors }: { readonly file: string; readonly colors: Colors },
): string {
  const { findings, findingsTotal } = report;
  const first = firstError(report);
  const head =
    first === undefined
      ? colors.green(`✔ ${harmless(file)}: nothing was changed, removed or added.`)
      : colors.red(`✘ ${harmless(file)}: ${wordsOf(first)}`);
  const others = findings.filter((one) => one !== first);
  const shown = others.slice(0, SHOWN_MAX);
  const more = findingsTotal - shown.length - (first === undefined ? 0 : 1);
  const lines = [
    head,
    ...shown.map((one) => `  ${one.level}: ${wordsOf(one)}`),
    ...(more > 0 ? [`  … and ${more} more.`] : []),
    `  ${factsOf(report)}`,
  ];
  return `${lines.join('\n')}\n`;
}

function wordsOf({ kind, message, fromSeq, toSeq }: Finding): string {
  const place =
    fromSeq === null || message.includes(String(fromSeq))
      ? ''
      : ` (event ${fromSeq}${toSeq === null || toSeq === fromSeq ? '' : `–${toSeq}`})`;
  return harmless(`${kind}: ${message}${place}`);
}

function factsOf(report: VerifyReport): string {
  const { events, pruned, heads, signedSeq, signatures, projections } = report;
  const gone = pruned === 0 ? '' : ` (${pruned} pruned)`;
  const signed = `${plural(heads, 'signed head')} up to event ${signedSeq}`;
  const checked =
    signatures === 'checked' ? 'signatures checked' : 'signatures not checked: no ledger.key';
  return `${plural(events, 'event')}${gone}, ${signed}, ${checked}, rows ${projections}.`;
}

export { run };
