// What a server says about itself, looked through before a model reads it.
import { type FullContentSection, isObject, unscannedAction } from '@subluminal/contracts';
import {
  type Actions,
  applyActions,
  type FindingClass,
  scanInstructions,
  scanListed,
  scanToolDefinition,
  suppress,
  type Verdict,
} from '../scan/detect/index.ts';
import type { Memory } from './memory.ts';

interface Definition {
  readonly kind: 'tool' | 'listed' | 'instructions';
  readonly value: unknown;
  /** The tool, prompt or resource; `initialize` for instructions. */
  readonly name: string;
}

interface Judged {
  readonly isBad: boolean;
  readonly tags: readonly string[];
}

const FINE: Judged = { isBad: false, tags: [] };
const CLASSES: readonly FindingClass[] = ['secret', 'personal', 'injection', 'hidden_text'];

/** Looks through one definition, and tells what is odd about it. */
export function judgeDefinition(memory: Memory, definition: Definition, nowMs: number): Judged {
  const { server, enforces } = memory.options;
  const section = memory.content;
  if (section === undefined) return FINE;
  const { verdict } = suppress(scanned(memory, section, definition), section.suppressions, {
    server,
    tool: definition.name,
    nowMs,
  });
  const { action, tags } = applyActions(null, verdict, {
    direction: 'inbound',
    actions: actionsOf(section),
  });
  if (action === 'allow') return FINE;
  const isBad = action === 'block' || action === 'ask';
  const what = definition.kind === 'instructions' ? 'The instructions' : 'The definition';
  const end = isBad && enforces.content ? ENDS[definition.kind] : '';
  memory.board.tell({
    what: 'definition_suspicious',
    enforced: isBad && enforces.content,
    ...(definition.kind !== 'instructions' && { name: definition.name }),
    reason_code: 'DEFINITION_SUSPICIOUS',
    detail: `${what} of the server: ${tags.slice(0, 10).join(', ')}.${end}`,
  });
  return { isBad, tags };
}

const ENDS = {
  tool: ' The tool is not shown.',
  listed: ' It is not shown.',
  instructions: ' Calls to the server are blocked.',
} as const;

function scanned(
  { options }: Memory,
  section: FullContentSection,
  { kind, value }: Definition,
): Verdict {
  const classes = CLASSES.filter((name) => section.definitions[name] !== 'allow');
  const how = { fingerprint: options.fingerprint, classes };
  if (kind === 'tool') return scanToolDefinition(value, how);
  return typeof value === 'string' ? scanInstructions(value, how) : scanListed(value, how);
}

function actionsOf(section: FullContentSection): Actions {
  const { definitions, confidence_min: confidenceMin } = section;
  const unscanned = unscannedAction(section, 'definitions');
  return { outbound: definitions, inbound: definitions, confidenceMin, unscanned };
}

interface Page {
  readonly items: readonly unknown[];
  /** The member that names an item. */
  readonly key: string;
  readonly kind: 'tool' | 'listed';
}

/** The names on a page that must not be shown. A name that is bad once is bad on the whole page. */
export function badNames(
  memory: Memory,
  { items, key, kind }: Page,
  nowMs: number,
): ReadonlySet<string> {
  const bad = new Set<string>();
  if (memory.content === undefined) return bad;
  for (const item of items) {
    const name: unknown = isObject(item) ? item[key] : undefined;
    if (typeof name !== 'string') continue;
    if (judgeDefinition(memory, { kind, value: item, name }, nowMs).isBad) bad.add(name);
  }
  return bad;
}
