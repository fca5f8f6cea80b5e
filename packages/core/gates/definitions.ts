// Definitions and instructions of a server, scanned before a model reads them.
import { type FullContentSection, unscannedAction } from '@subluminal/contracts';
import {
  applyActions,
  type DefinitionOptions,
  type FindingClass,
  type ScanVerdict,
  scanInstructions,
  scanListed,
  scanToolDefinition,
  suppress,
} from '../scan/detect/index.ts';
import type { Memory } from './guard-memory.ts';
import { addNotice } from './notices.ts';
import { nameOf } from './walk.ts';

interface Definition {
  readonly kind: 'tool' | 'listed' | 'instructions';
  readonly value: unknown;
  /** The tool, prompt or resource; `initialize` for instructions. */
  readonly name: string;
}

const CLASSES: readonly FindingClass[] = ['secret', 'personal', 'injection', 'hidden_text'];

/** Scans one definition and notes its findings; true when it must not be shown. */
export function isBadDefinition(memory: Memory, definition: Definition, nowMs: number): boolean {
  const { server, enforces } = memory.options;
  const section = memory.content;
  if (section === undefined) return false;
  const { verdict } = suppress(scanned(memory, section, definition), section.suppressions, {
    server,
    tool: definition.name,
    nowMs,
  });
  const { definitions, confidence_min: confidenceMin } = section;
  // A definition travels whole or not at all, and nobody is asked about one.
  const blockConfidence = confidenceMin;
  const unscanned = unscannedAction(section, 'definitions');
  const how = { confidenceMin, blockConfidence, unscanned };
  const actions = { outbound: definitions, inbound: definitions, ...how };
  const { action, tags } = applyActions(null, verdict, { direction: 'inbound', actions });
  if (action === 'allow') return false;
  const isBad = action === 'block' || action === 'ask';
  const what = definition.kind === 'instructions' ? 'The instructions' : 'The definition';
  const end = isBad && enforces.content ? ENDS[definition.kind] : '';
  addNotice(memory, {
    what: 'definition_suspicious',
    enforced: isBad && enforces.content,
    ...(definition.kind !== 'instructions' && { name: definition.name }),
    reason_code: 'DEFINITION_SUSPICIOUS',
    detail: `${what} of the server: ${tags.slice(0, 10).join(', ')}.${end}`,
  });
  return isBad;
}

const ENDS = {
  tool: ' The tool is not shown.',
  listed: ' It is not shown.',
  instructions: ' Calls to the server are blocked.',
} as const;

/** Definitions in which nothing was found, by their hash: each session of a server lists the same ones again. */
const CLEAN = new Set<string>();
const CLEAN_MAX = 10_000;
const NOTHING: ScanVerdict = { findings: [], unscanned: [], scannedUnits: 0, steps: 0 };

function scanned(
  { options }: Memory,
  section: FullContentSection,
  definition: Definition,
): ScanVerdict {
  const classes = CLASSES.filter((name) => section.definitions[name] !== 'allow');
  const { kind, value } = definition;
  const key = options.sha256(JSON.stringify([kind, classes, value]));
  if (CLEAN.has(key)) return NOTHING;
  const verdict = scan(definition, { fingerprint: options.fingerprint, classes });
  if (verdict.findings.length > 0 || verdict.unscanned.length > 0) return verdict;
  if (CLEAN.size >= CLEAN_MAX) CLEAN.clear();
  CLEAN.add(key);
  return verdict;
}

function scan({ kind, value }: Definition, how: DefinitionOptions): ScanVerdict {
  if (kind === 'tool') return scanToolDefinition(value, how);
  return typeof value === 'string' ? scanInstructions(value, how) : scanListed(value, how);
}

interface ListedItems {
  readonly items: readonly unknown[];
  /** The member that names an item. */
  readonly key: string;
  readonly kind: 'tool' | 'listed';
}

/** The names on a page that must not be shown. A name that is bad once is bad on the whole page. */
export function badNames(
  memory: Memory,
  { items, key, kind }: ListedItems,
  nowMs: number,
): ReadonlySet<string> {
  const bad = new Set<string>();
  if (memory.content === undefined) return bad;
  for (const item of items) {
    const name = nameOf(item, key);
    if (name !== undefined && isBadDefinition(memory, { kind, value: item, name }, nowMs)) {
      bad.add(name);
    }
  }
  return bad;
}
