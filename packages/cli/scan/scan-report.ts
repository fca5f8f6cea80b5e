// Renders the result of a scan for people and for programs. It holds no scanned value.
import type { Action, ContentFinding, Strictness } from '@subluminal/core/detect';
import type { Colors, Io, Output } from '../terminal/io.ts';
import { tableText } from '../terminal/table.ts';
import { harmless, plural } from '../terminal/text.ts';
import type { Judge, Way, WayActions } from './judge-findings.ts';
import { type Gap, isHole } from './scan-source.ts';

export interface Reported extends ContentFinding {
  /** Of a text; JSON has paths. */
  readonly line?: number;
  readonly column?: number;
  readonly isSuppressed: boolean;
  readonly doings: WayActions;
}

export interface Report {
  readonly kind: 'report';
  readonly name: string;
  readonly format: 'json' | 'text';
  readonly as: Strictness;
  readonly scannedUnits: number;
  readonly findings: readonly Reported[];
  readonly gaps: readonly Gap[];
  readonly doings: WayActions;
}

const GAP_WORDS: { readonly [R in Gap['reason']]: string } = {
  too_long: 'characters behind the limit',
  too_deep: 'values that are nested too deep',
  too_many_nodes: 'values behind the limit, and all that follow',
  too_many_findings: 'findings more than are listed',
  too_much_work: 'characters that would take too much work',
  not_json: 'values that are no JSON',
  binary: 'characters of a file without text, such as an image',
  not_utf8: 'characters that are no UTF-8',
};

export function reportText(report: Report, judge: Judge | undefined, io: Io): string {
  const { colors } = io.out;
  return [
    findingsText(report, judge, io.out),
    ...report.gaps.map((gap) => gapText(report, gap, colors)),
    summaryText(report, colors),
    judge === undefined ? '' : judgeText(report, judge),
  ].join('');
}

function findingsText(report: Report, judge: Judge | undefined, output: Output): string {
  const { findings } = report;
  if (findings.length === 0) return '';
  const ways = judge?.section === undefined ? [] : waysOf(report.as);
  const columns = [
    { title: 'place', widthMin: 24 },
    'class',
    'rule',
    { title: 'confidence', dropped: 1 },
    'fingerprint',
    ...ways,
    { title: 'what it is', widthMin: 12, dropped: 2 },
  ];
  const rows = findings.map((finding) => [
    placeText(report, finding),
    finding.class,
    finding.rule,
    finding.confidence,
    finding.fingerprint,
    ...ways.map((way) => (finding.isSuppressed ? 'suppressed' : (finding.doings[way] ?? ''))),
    finding.label + partText(finding),
  ]);
  const paint = (line: string, index: number) =>
    findings[index]?.isSuppressed === true ? output.colors.dim(line) : line;
  return tableText(columns, rows, { width: output.columns, paint });
}

function waysOf(as: Strictness): readonly Way[] {
  return as === 'definition' ? ['definitions'] : ['outbound', 'inbound'];
}

function placeText({ name }: Report, { path, line, column }: Reported): string {
  return path === null ? `${name}:${line}:${column}` : `${name}: ${path}`;
}

function partText({ part }: ContentFinding): string {
  return part === undefined ? '' : ` (part ${part.index + 1} of ${part.count})`;
}

function gapText({ name }: Report, { reason, path, count }: Gap, colors: Colors): string {
  const place = path === null ? name : `${name}: ${path}`;
  const word = colors.yellow('not scanned:');
  return `${harmless(place)}: ${word} ${count} ${GAP_WORDS[reason]} (${reason})\n`;
}

function summaryText({ name, format, findings, gaps, scannedUnits }: Report, colors: Colors) {
  const open = findings.filter(({ isSuppressed }) => !isSuppressed).length;
  const silenced = findings.length - open;
  const found = open === 0 ? 'nothing found' : plural(open, 'finding');
  const more = silenced === 0 ? '' : `, ${silenced} suppressed`;
  const isFine = open === 0 && !gaps.some(isHole);
  const mark = isFine ? `${colors.green('✔')} ` : '';
  const size = `${format === 'json' ? 'JSON' : 'text'}, ${plural(scannedUnits, 'character')}`;
  return `${mark}${harmless(name)}: ${found}${more} (${size})\n`;
}

const OUTCOMES: { readonly [W in Way]: { readonly [A in Action]: string } } = {
  outbound: {
    allow: 'a call with it is sent',
    tag: 'a call with it is sent, and the finding is recorded',
    redact: 'a call with it is sent with markers in its place',
    ask: 'a call with it waits for a person',
    block: 'a call with it is not sent',
  },
  inbound: {
    allow: 'an answer with it passes',
    tag: 'an answer with it passes, and the finding is recorded',
    redact: 'an answer with it has markers in its place',
    ask: 'an answer with it is held back',
    block: 'an answer with it is held back',
  },
  definitions: {
    allow: 'a tool with it is shown',
    tag: 'a tool with it is shown, and the finding is recorded',
    redact: 'a tool with it is shown, and the finding is recorded',
    ask: 'a tool with it is not shown',
    block: 'a tool with it is not shown',
  },
};

function judgeText({ as, doings }: Report, { name, mode, section }: Judge): string {
  const policy = harmless(name);
  if (section === undefined)
    return `${policy}: it has no section \`content\`: nothing is scanned\n`;
  const lines = waysOf(as).map((way) => {
    const action = doings[way] ?? 'allow';
    const words = action === 'ask' && mode === 'guardrails' ? REFUSED : OUTCOMES[way][action];
    return `${policy}: ${way} ${action}: ${words}\n`;
  });
  const isIdle = mode === 'observe' && Object.values(doings).some((action) => action !== 'allow');
  return lines.join('') + (isIdle ? `${policy}: ${IDLE}\n` : '');
}

const REFUSED = 'a call with it is refused, since nobody is asked in the mode guardrails';
const IDLE = 'its mode is observe, so all of it passes and is only recorded';

export function fileDocument(report: Report) {
  const { name, format, as, scannedUnits, findings, gaps, doings } = report;
  return {
    file: name,
    format,
    as,
    scanned_chars: scannedUnits,
    findings: findings.map(({ isSuppressed, doings: actions, ...finding }) => ({
      ...finding,
      suppressed: isSuppressed,
      actions,
    })),
    unscanned: gaps,
    actions: doings,
  };
}

export function policyDocument({ name, mode, section }: Judge) {
  return { file: name, mode, scans: section !== undefined };
}
