import { type Failure, failure, isFailure } from '@subluminal/contracts';
import { ensurePrivateFolder } from '@subluminal/plane/config';
import { fingerprintsIn } from '@subluminal/plane/governor';
import {
  choice,
  defineCommand,
  EXIT,
  type Outcome,
  optionalMany,
  orThrow,
  printout,
  textOption,
} from '../input/command.ts';
import { STDIO, stdinTwice } from '../input/read-file.ts';
import { loadPolicy } from '../policy/load-policy.ts';
import {
  actionsOnFinding,
  actionsOnVerdict,
  isSuppressed,
  type Judge,
  judgeOf,
  readPlace,
  type SuppressionTarget,
  suppressionsFor,
  suppressionsYaml,
} from '../scan/judge-findings.ts';
import { fileDocument, policyDocument, type Report, reportText } from '../scan/scan-report.ts';
import {
  gateVerdict,
  isHole,
  placesIn,
  readSource,
  type ScanSettings,
  type Source,
  scanWhole,
} from '../scan/scan-source.ts';
import { type SurfaceHome, surfaceHome } from '../surface/surface-home.ts';
import type { Io } from '../terminal/io.ts';
import { reportFailure } from '../terminal/report-failure.ts';

/** A file that could not be read is reported; the others are still scanned. */
type Scanned = Report | (Failure & { readonly name: string });

interface ScanPlan {
  readonly looking: ScanSettings;
  readonly judge: Judge | undefined;
  readonly place: SuppressionTarget | undefined;
  readonly nowMs: number;
}

export const command = defineCommand({
  description:
    'Scans text and JSON as the content gates of a shim do, and reports each finding by its position, its rule and its fingerprint, never by its value. The fingerprints are those that the shims of this home compute, so that the policy can suppress a false alarm.',
  args: { file: optionalMany('Text or JSON files; - or none reads standard input') },
  options: {
    as: choice(
      ['result', 'definition'],
      'What the files are; definitions of tools are judged more strictly (default: result)',
    ),
    policy: textOption(
      'file',
      'Print what the content section of this bundle or snapshot would do',
    ),
    server: textOption('name', 'With --tool: propose suppressions for this server'),
    tool: textOption('name', 'With --server: the tool of the suppressions'),
  },
  examples: [
    'sub scan answer.json',
    'git diff | sub scan',
    'sub scan args.json --policy policy.yaml --server github --tool create_issue',
    'sub scan tools.json --as definition --json',
  ],
  exitCodes: {
    0: 'no finding that the policy does not suppress, and all text was scanned',
    1: 'there are findings, or some text could not be scanned',
    2: 'wrong flags, or a file that cannot be read or is too large',
  },
  run: async ({ args, options }, io) => {
    const paths = args.file.length === 0 ? [STDIO] : args.file;
    orThrow(stdinTwice([...paths, options.policy]));
    const place = orThrow(readPlace(options));
    const home = await surfaceHome();
    const { policy } = options;
    const judge =
      policy === undefined ? undefined : judgeOf(orThrow(await loadPolicy(policy, { io })));
    const prints = openFingerprints(home);
    const looking = { as: options.as ?? 'result', fingerprint: prints.of } as const;
    const plan = { looking, judge, place, nowMs: Date.now() };
    const scanned: Scanned[] = [];
    // One after the other, so that the report keeps the order of the arguments.
    for (const path of paths) {
      const source = await readSource(path, io);
      scanned.push(isFailure(source) ? { ...source, name: path } : reportOf(source, plan));
    }
    for (const one of scanned) if (isFailure(one)) reportFailure(one, io);
    const hasFindings = scanned.some((one) => !isFailure(one) && one.findings.length > 0);
    const trouble = hasFindings ? prints.trouble() : undefined;
    if (trouble !== undefined) reportFailure(trouble, io);
    return scanPrintout(scanned, plan, io);
  },
});

/**
 * The fingerprints, and why they may differ from those of the shims. The home is made when there is
 * something to name, and not before.
 */
function openFingerprints({ home: folder }: SurfaceHome) {
  const prints = fingerprintsIn(folder);
  let home: { readonly problem: Failure | undefined } | undefined;
  const problemOf = () => {
    home ??= { problem: ensurePrivateFolder(folder) };
    return home.problem;
  };
  return {
    of: (text: string) => {
      problemOf();
      return prints.of(text);
    },
    trouble: (): Failure | undefined => {
      const problem = problemOf();
      if (problem !== undefined) {
        const { code, message, fix } = problem;
        return failure(code, `${message.replace(/\.$/, '')}: ${OWN_ONLY}`, fix);
      }
      if (prints.areKept()) return undefined;
      const fix = `Check \`fingerprint.key\` in ${folder}.`;
      return failure('SUB_FILE_WRITE', `their key cannot be read or written: ${OWN_ONLY}`, fix);
    },
  };
}

const OWN_ONLY = 'these fingerprints may not be those of the shims.';

function reportOf(source: Source, { looking, judge, place, nowMs }: ScanPlan): Report {
  const { findings, gaps, scannedUnits } = scanWhole(source, looking);
  const judging = judge && { judge, place, as: looking.as, nowMs };
  const placeOf = placesIn(source.text);
  return {
    kind: 'report',
    name: source.name,
    format: source.json === undefined ? 'text' : 'json',
    as: looking.as,
    scannedUnits,
    findings: findings.map((finding) => ({
      ...finding,
      ...(finding.path === null && placeOf(finding.start)),
      isSuppressed: judging !== undefined && isSuppressed(finding, judging),
      doings: judging === undefined ? {} : actionsOnFinding(finding, judging),
    })),
    gaps,
    doings: judging === undefined ? {} : actionsOnVerdict(gateVerdict(source, looking), judging),
  };
}

function scanPrintout(
  scanned: readonly Scanned[],
  { judge, place, nowMs }: ScanPlan,
  io: Io,
): Outcome {
  const reports = scanned.filter((one) => !isFailure(one));
  const open = reports.flatMap(({ findings }) => findings.filter((one) => !one.isSuppressed));
  const suppressions = place && suppressionsFor(open, place, nowMs);
  const proposal = suppressions?.length
    ? `\n${FALSE_ALARMS}\n\n${suppressionsYaml(suppressions)}`
    : '';
  const document = {
    files: scanned.map((one) => (isFailure(one) ? failedFile(one) : fileDocument(one))),
    policy: judge ? policyDocument(judge) : null,
    ...(suppressions && { suppressions }),
  };
  const text = reports.map((report) => reportText(report, judge, io)).join('') + proposal;
  if (reports.length < scanned.length) return printout(document, text, EXIT.usage);
  const isClean = open.length === 0 && !reports.some(({ gaps }) => gaps.some(isHole));
  return printout(document, text, isClean ? EXIT.fine : EXIT.findings);
}

const FALSE_ALARMS = 'What of this is a false alarm can be put into the policy:';

function failedFile({ name, code, message, fix }: Failure & { readonly name: string }) {
  return { file: name, error: { code, message, fix } };
}
